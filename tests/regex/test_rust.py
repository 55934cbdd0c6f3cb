"""Rust and Python syntax: what patterns match as a whole, and where malformed ones fail."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.errors import RegexError
from maskwright.regex import UTF8, compile_regex
from tests.lexeme_oracle import accepts

#: pattern, texts that it matches, texts that it does not; separated by blanks
WHOLE = [
    (r"(?i)straße", "STRAßE straẞe", "STRASSE"),
    (r"(?i:a)b", "Ab ab", "AB"),
    (r"a(?i)b|c", "aB C c", "AB"),
    (r"(?-i)a(?s).", "a\n", "A\n"),
    (r"(?P<x>a)(?<y>b)", "ab", "a"),
    (r"\d\w", "1a ٣é", "a1"),
    (r"(?-u)\w", "a", "é"),
    (r"(?-u:\d)\d", "1٣", "٣1"),
    (r"[[:alpha:]--[aeiou]]+", "bcd Z", "abc"),
    (r"[a-z&&[^m-p]]", "a z", "n A"),
    (r"[a-m~~g-z]", "a z", "h"),
    (r"[^[:^digit:]]", "7", "a"),
    (r"[]a]", "] a", "b"),
    (r"[^]a]", "b", "] a"),
    (r"[a-]", "a -", "b"),
    (r"[\[\]&~]", "[ ] & ~", "a"),
    (r"\x41\x{42}\u0043\u{1F600}\U0001F600", "ABC😀😀", "ABC"),
    (r"\pL\p{Greek}\p{sc!=Greek}", "aαb", "aαα"),
    (r"\P{^Lu}", "A", "a"),
    (r"\Aab\z", "ab", "abc"),
    (r"ab\Z", "ab", "ab\n"),
    (r"a{2}b{,2}c{1,}", "aac aabbcc", "abc aabbbc"),
    (r"a{x", "a{x", "a"),
    (r"a\&\~\-\_\ b", "", "a&~-_b"),
    (r"(?x) a b # note", "ab", "a"),
    (r"(?x: a [ b c ] )", "ab", "a"),
    (r"a(?#note)b", "ab", "a"),
    (r".", "a \r \u2028", "\n"),
    (r"(?=a)\w+(?<!b)", "aa", "ab ba"),
    (r"\b{start}a\b{end}", "a", "b"),
    (r"\b{start-half}\b{end-half}", "", "a"),
    (r"a\b{start}", "", "a"),
    (r"(?U)a+?", "a aa", "b"),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "matched", "missed"), WHOLE)
def test_whole_match(pattern: str, matched: str, missed: str) -> None:
    lexeme = compile_regex(pattern, flavour="rust")
    for text in matched.split(" ") if matched else []:
        assert accepts(lexeme, text.encode()), text
    for text in missed.split(" ") if missed else []:
        assert not accepts(lexeme, text.encode()), text


@pytest.mark.parametrize(
    ("pattern", "matched", "missed"),
    [
        ("[a-c]+&~(.*b.*)", "ac a", "ab abc"),
        ("~a", "b aa é", "a"),
        ("~~a", "a", "b"),
        ("(a|b)*&.{2}&~(aa)|x", "ab ba bb x", "aa a"),
        (r"a\&b\~", "a&b~", "ab"),
        ("~(?s:.*x.*)y", "ay y", "xy y1"),
        ("(?:a&b)c", "", "ac bc c"),
    ],
)
def test_operators(pattern: str, matched: str, missed: str) -> None:
    lexeme = compile_regex(pattern, flavour="rust-ext")
    for text in matched.split(" ") if matched else []:
        assert accepts(lexeme, text.encode()), text
    for text in missed.split(" ") if missed else []:
        assert not accepts(lexeme, text.encode()), text


def test_complement_stays_in_text() -> None:
    assert not accepts(compile_regex("~a", flavour="rust-ext"), b"\xff")
    assert accepts(compile_regex("a&b", flavour="rust"), b"a&b")


@pytest.mark.parametrize(
    ("pattern", "offset", "message"),
    [
        (r"(a)\1", 3, "back-reference"),
        (r"(?P<n>a)(?P=n)", 8, "back-reference"),
        ("(?>a)", 0, "atomic"),
        ("x(?(1)a|b)", 1, "conditional"),
        ("a++", 2, "possessive"),
        ("(?q)a", 2, "flag"),
        ("(?)a", 2, "without flags"),
        ("[z-a]", 1, "out of order"),
        ("[a", 0, "never closed"),
        ("[a[b]", 0, "never closed"),
        (r"a\y", 1, "not an escape"),
        (r"\p{Nope}", 0, "property"),
        (r"\x4", 0, "hex digits"),
        (r"\x{110000}", 0, "code point"),
        ("+a", 0, "nothing to repeat"),
        ("(?P<1n>a)", 2, "group name"),
        ("a(?#b", 1, "comment"),
        ("(?*a)", 0, "unknown kind"),
    ],
)
def test_errors_name_the_place(pattern: str, offset: int, message: str) -> None:
    with pytest.raises(RegexError) as caught:
        compile_regex(pattern, flavour="rust")
    assert caught.value.offset == offset
    assert message in caught.value.message


def test_nothing_after_a_complement() -> None:
    with pytest.raises(RegexError, match="nothing follows"):
        compile_regex("a~|b", flavour="rust-ext")


def test_look_around_inside_operators_is_refused() -> None:
    with pytest.raises(RegexError, match="combined"):
        compile_regex("(?=a)b*&(?!b)a*", flavour="rust-ext")


_PIECES = [
    "a",
    "B",
    "é",
    "[ab]",
    "[^a]",
    ".",
    r"\w",
    r"\s",
    "(?:a|B)",
    "(?i:a)",
    "(?s:.)",
    "(?P<n>b|)",
    r"\b",
]


@settings(max_examples=150)
@given(
    st.lists(st.tuples(st.sampled_from(_PIECES), st.sampled_from(["", "*", "+?", "{1,2}"])), max_size=4),
    st.sets(st.sampled_from("ims")),
    st.lists(st.text("aAbBé \n", max_size=4), min_size=8, max_size=8),
)
def test_agrees_with_python(pieces: list[tuple[str, str]], flags: set[str], texts: list[str]) -> None:
    pattern = "".join(
        piece.replace("<n>", f"<n{place}>") + ("" if piece == r"\b" else quantifier)
        for place, (piece, quantifier) in enumerate(pieces)
    )
    inline = f"(?{''.join(sorted(flags))})" if flags else ""
    compiled = re.compile(inline + pattern)
    lexeme = compile_regex(pattern, flavour="rust", flags="".join(flags), encoding=UTF8)
    for text in texts:
        assert accepts(lexeme, text.encode()) == bool(compiled.fullmatch(text)), text
