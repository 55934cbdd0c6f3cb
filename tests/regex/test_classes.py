"""Named classes against Python's own Unicode data (of an older or newer version: see the margins)."""

from __future__ import annotations

import re
import unicodedata

import pytest

from maskwright.regex import charset, classes

_SCALARS = [code for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]


def members(ranges: charset.Ranges | None) -> set[int]:
    assert ranges is not None
    return {char for low, high in ranges for char in range(low, high + 1)}


def test_general_categories() -> None:
    by_category: dict[str, set[int]] = {}
    for code in _SCALARS:
        by_category.setdefault(unicodedata.category(chr(code)), set()).add(code)
    for category, known in by_category.items():
        if category != "Cn":
            # A few characters change their category from one version of Unicode to the next.
            assert len(known - members(classes.property_set("gc", category))) <= max(3, len(known) // 200)


def test_groups_of_categories() -> None:
    for group, parts in [("LC", "Lu Ll Lt"), ("L", "Lu Ll Lt Lm Lo"), ("Z", "Zs Zl Zp")]:
        united = charset.unite(*(classes.property_set("gc", part) or () for part in parts.split()))
        assert classes.property_set("", group) == united


def test_categories_cover_everything_once() -> None:
    letters = ["L", "M", "N", "P", "S", "Z", "C"]
    sets = [members(classes.property_set("gc", letter)) for letter in letters]
    assert sum(map(len, sets)) == len(set().union(*sets)) == len(_SCALARS)


@pytest.mark.parametrize(
    ("kind", "name", "inside", "outside"),
    [
        ("Script", "Greek", "αΩ", "a"),
        ("sc", "Grek", "α", "я"),
        ("scx", "Hira", "あー", "ア"),
        ("Script_Extensions", "Hiragana", "ー", "a"),
        ("", "Han", "漢", "あ"),
        ("", "White_Space", " \u00a0\u3000", "\ufeff"),
        ("", "emoji", "😀", "b"),
        ("", "ASCII_Hex_Digit", "09afAF", "gG"),
        ("", "ID Start", "aé漢", "1-"),
        ("", "Changes_When_NFKC_Casefolded", "Aﬁ\u00ad", "a1"),
        ("General_Category", "Decimal_Number", "1٣", "Ⅷ"),
        ("", "punct", "!-", "a$"),
        ("", "Any", "a\U0010ffff", ""),
        ("", "Assigned", "a", "\U000e0000"),
        ("", "ASCII", "\x7f", "\x80"),
    ],
)
def test_properties(kind: str, name: str, inside: str, outside: str) -> None:
    found = classes.property_set(kind, name)
    assert found is not None
    assert all(charset.contains(found, ord(char)) for char in inside)
    assert not any(charset.contains(found, ord(char)) for char in outside)


@pytest.mark.parametrize(
    ("kind", "name"), [("", "Greekish"), ("sc", "Lu"), ("block", "Latin"), ("gc", "Greek")]
)
def test_unknown_properties(kind: str, name: str) -> None:
    assert classes.property_set(kind, name) is None


def test_surrogates_are_an_empty_category() -> None:
    assert classes.property_set("", "Cs") == ()


def test_case_folding_agrees_with_python() -> None:
    for code in _SCALARS[:0x20000]:
        folded = chr(code).casefold()
        if len(folded) == 1 and folded != chr(code):
            assert charset.contains(classes.fold_case(((code, code),)), ord(folded)), hex(code)


@pytest.mark.parametrize(
    ("char", "alike"),
    [("k", "kK\u212a"), ("s", "sS\u017f"), ("i", "iI"), ("ß", "ßẞ"), ("σ", "σςΣ"), ("1", "1")],
)
def test_case_orbits(char: str, alike: str) -> None:
    found = members(classes.fold_case(((ord(char), ord(char)),)))
    assert found >= set(map(ord, alike))
    assert not found & set(map(ord, "\u0130\u0131x"))


def test_shorthands_agree_with_python() -> None:
    for pattern, found in [(r"\d", classes.DIGIT), (r"\w", classes.WORD)]:
        assert members(found) == {code for code in range(128) if re.fullmatch(pattern, chr(code), re.ASCII)}
    digits = {code for code in _SCALARS if re.fullmatch(r"\d", chr(code))}
    assert digits <= members(classes.unicode_digit())
    # Python's \w lacks marks and connectors, and counts all numbers.
    assert {c for c in range(0x250) if chr(c).isalpha() or chr(c) == "_"} <= members(classes.unicode_word())
    assert {ord(char) for char in "\t\n\r \u00a0\ufeff\u2028"} <= members(classes.SPACE)
    assert 0x180E not in members(classes.SPACE)
