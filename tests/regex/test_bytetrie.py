"""Tries spell exactly the characters that they were given."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.regex import charset
from maskwright.regex.bytetrie import ByteTrie, Form, literal_digits
from maskwright.regex.encoding import JSON_ANY_SPELLING, UTF8

_CODE = st.one_of(st.integers(0, 0x10FFFF), st.sampled_from([0x7F, 0x80, 0x7FF, 0x800, 0xFFFF, 0x10000]))
_SPANS = st.lists(st.tuples(_CODE, _CODE).map(sorted).map(tuple), min_size=1, max_size=4)


def walk(trie: ByteTrie, ref: int | None, text: bytes) -> int | None:
    """The target that a spelling leads to."""
    for byte in text:
        if ref is None or ref < 0:
            return None
        ref = next((child for low, high, child in trie.rows[ref] if low <= byte <= high), None)
    return None if ref is None or ref >= 0 else ~ref


@settings(max_examples=60)
@given(_SPANS, st.lists(_CODE, max_size=20))
def test_targets_follow_the_code_point(spans: list[tuple[int, int]], codes: list[int]) -> None:
    ranges = charset.make(spans)
    trie = ByteTrie(UTF8._forms)
    root = trie.root([(low, high, place) for place, (low, high) in enumerate(ranges)])
    for code in {*codes, *(end for span in ranges for end in span)}:
        if not 0xD800 <= code <= 0xDFFF:
            wanted = next((n for n, (low, high) in enumerate(ranges) if low <= code <= high), None)
            assert walk(trie, root, chr(code).encode()) == wanted


def test_spellings_of_one_character_share_their_end() -> None:
    trie = ByteTrie(JSON_ANY_SPELLING._forms)
    root = trie.root([(0x2F, 0x2F, 7), (0x1F600, 0x1F600, 8)])
    for spelling in (b"/", rb"\/", rb"\u002f", rb"\u002F"):
        assert walk(trie, root, spelling) == 7
    for spelling in ("😀".encode(), rb"\ud83d\ude00", rb"\uD83D\uDE00"):
        assert walk(trie, root, spelling) == 8
    assert walk(trie, root, rb"\ud83d\ude01") is None
    assert walk(trie, root, rb"\u002e") is None


def test_equal_tails_are_one_node() -> None:
    trie = ByteTrie(UTF8._forms)
    root = trie.root([(low, high, 0) for low, high in charset.ALL])
    assert root is not None
    # Lead byte; one to three tails; the four leads with a narrower second byte.
    assert len(trie.reachable(root)) == 8


def test_offset_and_radix() -> None:
    form = Form(((100, 107),), (*literal_digits(b"<"), (b"a", b"b"), (b"0", b"1", b"2", b"3xX")), offset=100)
    trie = ByteTrie([form])
    root = trie.root([(103, 104, 1)])
    assert [
        text for text in (b"<a3", b"<ax", b"<aX", b"<b0", b"<b1", b"<a2") if walk(trie, root, text) == 1
    ] == [
        b"<a3",
        b"<ax",
        b"<aX",
        b"<b0",
    ]
    assert trie.root([(0, 99, 1)]) is None
