"""The text tokens of a vocabulary as three flat arrays, in the order of a trie.

The kernel builds its token trie from these in one pass: in lexicographic order, tokens with a
common prefix are neighbours. There is no Python object per token in the result.

Sorting takes most of the time. numpy sorts by the first eight bytes, read as one big-endian
number; only the tokens that tie there (a fifth, in real vocabularies) are compared in Python.
A token shorter than eight bytes is padded with zeros: it can then tie with, but never overtake,
a longer one.

Rejected: numpy's sort of fixed-width byte strings. It drops trailing zero bytes, which are real
content here, and pads a vocabulary with one 128-byte token to 128 bytes per token.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["TokenTable", "build_token_table"]

#: Bytes of all tokens (uint8), n + 1 offsets into them (int64), n token ids (int32).
TokenTable = tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64], npt.NDArray[np.int32]]

_KEY_BYTES: Final = 8


def build_token_table(decoded: Sequence[bytes], excluded: Collection[int]) -> TokenTable:
    """Arrays of the non-empty tokens outside `excluded`, sorted by bytes, then by id.

    Args:
        decoded: Bytes of each token, by id.
        excluded: Ids to leave out.

    Returns:
        ``(flat, offsets, ids)``: token ``i`` has the bytes ``flat[offsets[i]:offsets[i + 1]]`` and
        the id ``ids[i]``. The arrays are read-only.
    """
    lengths = np.fromiter(map(len, decoded), np.int64, len(decoded))
    wanted = lengths > 0
    dropped = np.fromiter(excluded, np.int64, len(excluded))
    wanted[dropped[dropped < len(decoded)]] = False
    ids = _sorted_ids(decoded, lengths, np.flatnonzero(wanted)).astype(np.int32)
    flat = np.frombuffer(b"".join([decoded[token_id] for token_id in ids.tolist()]), dtype=np.uint8)
    offsets = np.zeros(len(ids) + 1, dtype=np.int64)
    np.cumsum(lengths[ids], out=offsets[1:])
    for array in (offsets, ids):
        array.flags.writeable = False
    return flat, offsets, ids


def _sorted_ids(
    decoded: Sequence[bytes], lengths: npt.NDArray[np.int64], ids: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    keys = _leading_bytes(decoded, lengths)[ids]
    # Stable, and `ids` ascends: equal tokens stay in the order of their ids.
    order = np.argsort(keys, kind="stable")
    ids, keys = ids[order], keys[order]
    tied = np.zeros(len(ids), dtype=bool)
    same = keys[1:] == keys[:-1]
    tied[1:] |= same
    tied[:-1] |= same
    # All ties are sorted together: groups of equal keys are in order already, so each token
    # comes back into the places of its own group, equal ones (a stable sort) still by id.
    ids[tied] = sorted(ids[tied].tolist(), key=decoded.__getitem__)
    return ids


def _leading_bytes(decoded: Sequence[bytes], lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """The first eight bytes of each token as a big-endian number, padded with zeros."""
    # Eight bytes past the end keep the reads of the last tokens inside the buffer.
    flat = np.frombuffer(b"".join(decoded) + bytes(_KEY_BYTES), dtype=np.uint8)
    starts = np.cumsum(lengths) - lengths
    keys = np.zeros(len(decoded), dtype=np.uint64)
    for position in range(_KEY_BYTES):
        byte = np.where(lengths > position, flat[starts + position], 0).astype(np.uint64)
        keys = (keys << np.uint64(8)) | byte
    return keys
