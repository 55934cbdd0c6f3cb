"""The scanner tells which bytes belong to values, and where these are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskwright.report.json_scanner import JsonScanner, Kind

_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


def scan(text: bytes) -> list[tuple[Kind, tuple[str | int, ...]]]:
    scanner = JsonScanner()
    return [(scanner.feed(byte), scanner.path) for byte in text]


def scalars(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], Any]]:
    if isinstance(value, dict):
        return [found for key, item in value.items() for found in scalars(item, (*path, key))]
    if isinstance(value, list):
        return [found for place, item in enumerate(value) for found in scalars(item, (*path, place))]
    return [(path, value)]


@given(value=_values, ascii_only=st.booleans(), indent=st.none() | st.integers(0, 2))
def test_bytes_of_values_put_together_are_the_values(
    value: Any, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode(errors="surrogatepass")
    found: dict[tuple[str | int, ...], bytes] = {}
    for byte, (kind, path) in zip(text, scan(text), strict=True):
        assert kind is not Kind.WRONG
        if kind in (Kind.INSIDE, Kind.LAST):
            found[path] = found.get(path, b"") + bytes([byte])
    assert [(path, json.loads(part)) for path, part in found.items()] == scalars(value)


def test_the_end_of_strings_words_and_numbers() -> None:
    kinds = [kind for kind, _ in scan(b'["a\\"",true,12 ]')]
    assert kinds[4:7] == [Kind.INSIDE, Kind.LAST, Kind.OUTSIDE]
    assert kinds[7:11] == [Kind.INSIDE, Kind.INSIDE, Kind.INSIDE, Kind.LAST]
    assert kinds[12:] == [Kind.INSIDE, Kind.INSIDE, Kind.AFTER, Kind.OUTSIDE]


@pytest.mark.parametrize(
    "text", [b"x", b"[,", b"{1", b'{"a" 1', b"tru-", b"1x", b'"a"b', b"[1}", b'{"\\q"', b"]"]
)
def test_what_is_no_json_is_noticed(text: bytes) -> None:
    assert scan(text)[-1][0] is Kind.WRONG


def test_a_copy_goes_its_own_way() -> None:
    scanner = JsonScanner()
    for byte in b'{"a": [1':
        scanner.feed(byte)
    twin = scanner.copy()
    assert twin.feed(ord("]")) is Kind.AFTER
    assert (twin.path, scanner.path) == (("a",), ("a", 0))
    assert scanner.feed(ord("2")) is Kind.INSIDE
