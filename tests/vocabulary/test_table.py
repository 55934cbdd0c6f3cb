"""The flat token table against plain sorting."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from maskwright.vocabulary.table import TokenTable, build_token_table

# Few letters and zero bytes: many shared prefixes, ties in the first eight bytes, equal tokens.
TOKENS = st.lists(st.binary(max_size=3) | st.text("a\0", max_size=18).map(str.encode), max_size=60)


def tokens_of(table: TokenTable) -> list[tuple[bytes, int]]:
    flat, offsets, ids = table
    raw = flat.tobytes()
    return [(raw[offsets[i] : offsets[i + 1]], int(token_id)) for i, token_id in enumerate(ids)]


@given(TOKENS, st.sets(st.integers(0, 70)))
def test_table_is_the_sorted_vocabulary(decoded: list[bytes], excluded: set[int]) -> None:
    table = build_token_table(decoded, excluded)
    wanted = [(raw, i) for i, raw in enumerate(decoded) if raw and i not in excluded]
    assert tokens_of(table) == sorted(wanted)


def test_types_and_immutability() -> None:
    flat, offsets, ids = build_token_table([b"b", b"a"], ())
    assert (flat.dtype, offsets.dtype, ids.dtype) == (np.uint8, np.int64, np.int32)
    assert not any(array.flags.writeable for array in (flat, offsets, ids))


def test_empty() -> None:
    flat, offsets, ids = build_token_table([], ())
    assert (flat.size, offsets.tolist(), ids.size) == (0, [0], 0)
