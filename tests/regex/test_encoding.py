"""Spellings, judged by Python's own UTF-8 and JSON decoders."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.kernel.lexemes import is_empty
from maskwright.lexeme import EMPTY, Op, difference
from maskwright.regex import (
    JSON_ANY_SPELLING,
    JSON_CANONICAL,
    JSON_STRING,
    JSON_STRING_CANONICAL,
    UTF8,
    Encoding,
    json_string,
    string_of_length,
)
from maskwright.regex.classes import property_set
from tests.lexeme_oracle import accepts, nodes

ENCODINGS = [UTF8, JSON_CANONICAL, JSON_ANY_SPELLING]
_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
_TRICKY = st.text('"\\/\x00\x08\x0c\n\r\t\x1f\x7fa\u2028é😀\ud7ff\ue000\uffff', max_size=6)


def spell(encoding: Encoding, text: str) -> bytes:
    return text.encode() if encoding is UTF8 else json.dumps(text, ensure_ascii=False)[1:-1].encode()


@st.composite
def json_spellings(draw: st.DrawFn, text: str) -> str:
    """The inside of a JSON string for a text, each character in a random spelling."""
    out = []
    for char in text:
        units = char.encode("utf-16-be")
        hexes = "".join(rf"\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
        options = [json.dumps(char, ensure_ascii=False)[1:-1], hexes, hexes.upper().replace("U", "u")]
        out.append(draw(st.sampled_from([*options, r"\/"] if char == "/" else options)))
    return "".join(out)


@pytest.mark.parametrize("encoding", ENCODINGS, ids=repr)
@settings(max_examples=80)
@given(text=st.one_of(_TEXT, _TRICKY))
def test_every_text_has_its_spelling(encoding: Encoding, text: str) -> None:
    spelled = spell(encoding, text)
    assert accepts(encoding.any_text, spelled)
    assert accepts(encoding.text(text), spelled)
    assert accepts(string_of_length(len(text), len(text), encoding), spelled)
    assert not accepts(string_of_length(len(text) + 1, None, encoding), spelled)


@settings(max_examples=300)
@given(st.binary(max_size=6))
def test_utf8_is_what_python_decodes(raw: bytes) -> None:
    try:
        raw.decode()
        valid = True
    except UnicodeDecodeError:
        valid = False
    assert accepts(UTF8.any_text, raw) == valid


@settings(max_examples=200)
@given(st.data(), st.one_of(_TEXT, _TRICKY))
def test_any_spelling_decodes_to_the_text(data: st.DataObject, text: str) -> None:
    spelled = data.draw(json_spellings(text))
    assert json.loads(f'"{spelled}"') == text
    assert accepts(JSON_ANY_SPELLING.text(text), spelled.encode())
    assert accepts(JSON_ANY_SPELLING.texts(["other", text, text + "x"]), spelled.encode())
    assert accepts(JSON_STRING, f'"{spelled}"'.encode())
    assert accepts(string_of_length(len(text), len(text), JSON_ANY_SPELLING), spelled.encode())
    assert accepts(JSON_CANONICAL.text(text), spelled.encode()) == (
        spelled == json.dumps(text, ensure_ascii=False)[1:-1]
    )


_BROKEN = st.text('"\\/u0dD89aAcCfFé\n\x1f', max_size=14)


@settings(max_examples=400)
@given(st.one_of(_BROKEN, _BROKEN.map(lambda tail: "\\u" + tail), _BROKEN.map(lambda tail: "\\ud8" + tail)))
def test_json_string_is_what_json_loads_takes(inside: str) -> None:
    try:
        decoded = json.loads(f'"{inside}"')
        valid = not any("\ud800" <= char <= "\udfff" for char in decoded)
    except ValueError:
        valid = False
    assert accepts(JSON_STRING, f'"{inside}"'.encode()) == valid
    if valid:
        canonical = json.dumps(decoded, ensure_ascii=False)
        assert accepts(JSON_STRING_CANONICAL, f'"{inside}"'.encode()) == (canonical == f'"{inside}"')


@pytest.mark.parametrize(
    "inside", [r"\ud800", r"\udc00", r"\ud800\u0041", r"\udc00\ud800", r"\x41", r"\u12", "\\"]
)
def test_broken_escapes_are_not_text(inside: str) -> None:
    assert not accepts(JSON_STRING, f'"{inside}"'.encode())


@pytest.mark.parametrize("encoding", ENCODINGS, ids=repr)
@pytest.mark.parametrize(
    "ranges",
    [
        ((0x61, 0x7A),),
        ((0x20, 0x10FFFF),),
        ((0x22, 0x22), (0x5C, 0x5C)),
        ((0, 0x1F),),
        ((0x7F, 0x7F), (0x800, 0x801), (0xFFFF, 0x10000)),
        property_set("", "Lu") or (),
        property_set("sc", "Greek") or (),
    ],
)
def test_a_class_holds_its_members_only(encoding: Encoding, ranges: tuple[tuple[int, int], ...]) -> None:
    lexeme = encoding.chars(ranges)
    assert encoding.chars(ranges) is lexeme
    edges = {code for low, high in ranges for code in (low - 1, low, high, high + 1)}
    for code in edges | {0, 0x2F, 0x41, 0x391, 0xE000}:
        if 0 <= code < 0x110000 and not 0xD800 <= code <= 0xDFFF:
            inside = any(low <= code <= high for low, high in ranges)
            assert accepts(lexeme, spell(encoding, chr(code))) == inside


def test_classes_are_compact() -> None:
    assert UTF8.chars(((0x61, 0x7A),)).op is Op.BYTES
    assert len(nodes(UTF8.any_char)) < 30
    assert UTF8.chars(property_set("", "L") or ()).op is Op.AUTOMATON
    assert UTF8.text("né").args == ("né".encode(),)
    assert JSON_CANONICAL.text('a"\n').args == (rb"a\"\n",)


def test_lone_surrogates_have_no_spelling() -> None:
    assert UTF8.text("a\ud800") is EMPTY
    assert JSON_ANY_SPELLING.text("\udfff") is EMPTY
    assert UTF8.chars([(0xD800, 0xDFFF)]) is EMPTY
    assert UTF8.texts(["\ud800", "a"]).args == (b"a",)


@pytest.mark.parametrize("encoding", ENCODINGS, ids=repr)
def test_texts(encoding: Encoding) -> None:
    words = ["", "a", "ab", "é", 'q"', "b"]
    lexeme = encoding.texts(words)
    for word in [*words, "abc", "c", "aé"]:
        assert accepts(lexeme, spell(encoding, word)) == (word in words)
    assert encoding.texts([]) is EMPTY


@pytest.mark.parametrize("encoding", ENCODINGS, ids=repr)
def test_character_automaton(encoding: Encoding) -> None:
    # An even number of non-ASCII characters, quotes ignored.
    others, wide = [(0, 0x7F)], [(0x80, 0xD7FF), (0xE000, 0x10FFFF)]
    rows = [
        [*((low, high, 0) for low, high in others), *((low, high, 1) for low, high in wide)],
        [*((low, high, 1) for low, high in others), *((low, high, 0) for low, high in wide)],
    ]
    lexeme = encoding.automaton(rows, [0])
    for text in ["", "é", "éé", 'a"é"é', "\n😀", "😀a😀\x00"]:
        assert accepts(lexeme, spell(encoding, text)) == (sum(char > "\x7f" for char in text) % 2 == 0)


@pytest.mark.parametrize("encoding", ENCODINGS, ids=repr)
def test_an_automaton_of_kinds_is_the_automaton_of_its_ranges(encoding: Encoding) -> None:
    cover = [(0, 0x60, 0), (0x61, 0x7A, 1), (0x7B, 0x2FFF, 0), (0x3000, 0xD7FF, 2), (0xE000, 0x10FFFF, 1)]
    # From the third state nothing but kind 2 leads on; to the fourth nothing leads that ends.
    table = [[0, 1, 2], [1, 2, -1], [-1, -1, 1], [3, 3, 3], [3, 0, 3]]
    rows = [[(low, high, row[kind]) for low, high, kind in cover if row[kind] >= 0] for row in table]
    one, other = encoding.automaton_of_kinds(cover, table, [1, 2]), encoding.automaton(rows, [1, 2])
    assert is_empty(difference(one, other))
    assert is_empty(difference(other, one))
    assert accepts(one, spell(encoding, "A\u3000\u3000z"))
    assert not accepts(one, spell(encoding, "A\u3000z"))


def test_quotes() -> None:
    assert accepts(json_string(JSON_CANONICAL.text("x")), b'"x"')


def test_many_threads_share_an_encoding() -> None:
    sets = [((0x61 + n, 0x3000 + 61 * n),) for n in range(60)]
    fresh = type(JSON_ANY_SPELLING)("fresh", JSON_ANY_SPELLING._forms, single=False)
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(fresh.chars, sets * 4))
    for ranges, lexeme in zip(sets, made, strict=False):
        low, high = ranges[0]
        for code in (low - 1, low, high, high + 1):
            assert accepts(lexeme, rf"\u{code:04x}".encode()) == (low <= code <= high)
