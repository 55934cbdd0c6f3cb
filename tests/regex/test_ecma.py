"""ECMA-262 syntax: what patterns match, and where malformed ones fail."""

from __future__ import annotations

import pytest

from maskwright.errors import LimitExceeded, RegexError
from maskwright.regex import check_ecma, compile_regex
from maskwright.regex.ecma import parse_ecma
from tests.lexeme_oracle import accepts

#: pattern, texts in which it is found, texts in which it is not
SEARCHES = [
    ("a", "a ba ab", "b é"),
    (r"^\d{2,3}?$", "12 123", "1 1234 ١٢"),
    (r"^\w+$", "aZ_09", "é - ſ"),
    (r"^\W$", "é - 😀", "a _"),
    (r"^\s$", "\u00a0 \ufeff \u2029 \u3000 \n", "a \u180e \u200b"),
    (r"^\S+$", "a\u200bb", "\u00a0"),
    (r"^.$", "a é 😀 \x00 \x85", "\n \r \u2028 \u2029 ab"),
    (r"^[^]$", "a \n 😀", "ab"),
    (r"[]", "", "a b"),
    (r"^[\w-]$", "a - _", "é"),
    (r"^[a\-z]$", "a - z", "b"),
    (r"^[\b]$", "\b", "b"),
    (r"^[^a-c\d]$", "d é", "a 1"),
    (r"^\cJ\t\v\f\r\0$", "\n\t\v\f\r\0", "x"),
    (r"^\x41\u0042\u{43}\u{1F600}\uD83D\uDE00$", "ABC😀😀", "ABC😀"),
    (r"^[\u{1F600}-\u{1F64F}]$", "😀", "a"),
    (r"^\uD83D$", "", "😀 a"),
    (r"^\p{Lu}\P{Lu}$", "Ab É1", "ab AB"),
    (r"^[\p{L}\p{Nd}]+$", "aé漢٣", "a-"),
    (r"^\p{Script=Greek}+\p{sc=Cyrl}$", "αя", "aя"),
    (r"^[^\P{Lu}]$", "A", "a"),
    (r"^(?<year>\d{4})-(?:\d\d)$", "2024-01", "24-01"),
    (r"^a|b$", "ax xb", "xa bx"),
    (r"(^|,)x(,|$)", "x x,a b,x,y", "ax xa ax,"),
    (r"a$b", "", "ab a\nb"),
    (r"^$", "", "a"),
    (r"$^", "", "a"),
    (r"\bfoo\b", "foo a-foo-b foo,", "xfoo foox foo_ foo1"),
    (r"\Bo\B", "foot", "oo o x-o"),
    (r"^(?=.*\d)(?=.*[a-z]).{3,}$", "a1b 1ab", "abc 123 a1"),
    (r"^(?!.*foo)bar", "bar barfo", "barfoo"),
    (r"(?<=\$)\d+(?!\d|\.)", "$12", "12 $ a12"),
    (r"(?<!\$)\b\d{2}$", "12 a-12", "$12 112"),
    (r"^((?!ab).)*$", "ba acb", "ab xaby"),
    (r"^(?:(?!ab).)*c", "bac c", "ab abc"),
    (r"(?<=(?<!x)ab{2,})c", "abbc yabbbc", "xabbc abc"),
    (r"^(?<=a)b|(?<=^a)b", "ab", "b xab"),
    (r"^[a-z]+(?<!-)(?<!ing)$", "run singer", "running"),
    (r"^(?i:aß)b$", "Aßb aẞb", "aßB"),
    (r"^(?s:.)(?-s:.)$", "\na", "a\n"),
    (r"^(?m:^a$)", "a", "ab"),
    (r"(?m:^a$)", "b\na\r a", "ba ab"),
    (r"^(?:a*)*?b{0,2}$", "aab bb", "bbb"),
    (r"^(?:|a)+$", "aa", "b"),
]  # fmt: skip

#: the same for what only the older syntax of Annex B allows
LEGACY = [
    (r"^\-\_\@\Z$", "-_@Z", "-_@"),
    (r"^a{$", "a{", "a"),
    (r"^{,3}]}$", "{,3}]}", ""),
    (r"^[\w-z]$", "a - z", "é"),
    (r"^\-\101\7\8$", "-A\x078", "-A7"),
    (r"^[\-\01]$", "- \x01", "0"),
    (r"^\-\c$", "-\\c", "-c"),
    (r"^\-[\c_]$", "-\x1f", "-c"),
    (r"^\-\x4\u12$", "-x4u12", "-4"),
    (r"^\-(?=a)*b$", "-b", "-ab"),
    (r"^\-\k$", "-k", "-"),
    (r"^\-\1$", "-\x01", "-1"),
]


@pytest.mark.parametrize(("pattern", "found", "missed"), SEARCHES + LEGACY)
def test_search(pattern: str, found: str, missed: str) -> None:
    lexeme = compile_regex(pattern, search=True)
    for text in _split(found):
        assert accepts(lexeme, text.encode()), text
    for text in _split(missed):
        assert not accepts(lexeme, text.encode()), text


def _split(texts: str) -> list[str]:
    return texts.split(" ") if texts else []


#: pattern, offset of the error, part of the message
ERRORS = [
    ("(a", 0, "never closed"),
    ("a)b", 1, "closes no group"),
    ("x[a-", 1, "never closed"),
    ("[b-a]", 1, "out of order"),
    ("*a", 0, "nothing to repeat"),
    ("a**", 2, "nothing to repeat"),
    ("a|{2}", 2, "`{`"),
    ("a{3,2}", 0, "out of order"),
    ("(?<1>a)", 2, "group name"),
    ("(?<n>a", 0, "never closed"),
    ("(?>a)", 0, "unknown kind of group"),
    ("^*", 1, "cannot be repeated"),
    (r"a\b+", 3, "cannot be repeated"),
    ("(?<=a)*", 6, "cannot be repeated"),
    ("ab\\", 3, "lone backslash"),
    (r"\u{110000}\u{", 0, "code point"),
    (r"x\p{Nope}", 1, "no Unicode property"),
    (r"\p{Script=Latin", 0, "never closed"),
    (r"(a)b\1", 4, "back-reference"),
    (r"\2(a)(b)", 0, "back-reference"),
    (r"(?<n>a)\k<n>", 7, "back-reference"),
    (r"[(]a\-(x)\1", 9, "back-reference"),
    ("a(?i)b", 1, "flags"),
    ("(?ii:a)", 2, "flag"),
    ("(?x:a)", 2, "flag"),
]


@pytest.mark.parametrize(("pattern", "offset", "message"), ERRORS)
def test_errors_name_the_place(pattern: str, offset: int, message: str) -> None:
    with pytest.raises(RegexError) as caught:
        compile_regex(pattern, search=True)
    assert (caught.value.offset, caught.value.pattern) == (offset, pattern)
    assert message in caught.value.message
    assert "^" in str(caught.value)


def test_huge_counts_stay_counts() -> None:
    assert compile_regex("[ab]{0,100000}").args[1:] == (0, 100_000)
    with pytest.raises(LimitExceeded) as caught:
        compile_regex("a{99999999999999999999}")
    assert caught.value.resource == "repetition count"


@pytest.mark.parametrize("pattern", ["(" * 60_000 + ")" * 60_000, "(?:a|" * 60_000, "(?=" * 60_000])
def test_deep_nesting_is_an_error(pattern: str) -> None:
    with pytest.raises(LimitExceeded) as caught:
        compile_regex(pattern)
    assert caught.value.resource == "group nesting"


@pytest.mark.parametrize("pattern", ["(" * 900 + "a" + "?b)*" * 900, "(?=" * 900 + "a" + ")" * 900])
def test_allowed_nesting_needs_no_stack(pattern: str) -> None:
    compile_regex(pattern, search=True)


def test_flags() -> None:
    assert accepts(compile_regex("a.", flags="is"), b"A\n")
    with pytest.raises(ValueError, match="flags 'x'"):
        compile_regex("a", flags="x")


def test_extensions_for_what_authors_write() -> None:
    assert accepts(compile_regex("(?i)ab(?P<n>c)"), b"aBC")


@pytest.mark.parametrize(
    "pattern", ["[a-z]+$", r"(?<n>a)\k<n>\p{L}", r"\cA", "[]", "[^]", "(?<=a+)b", r"(a)\1"]
)
def test_check_takes_all_of_the_standard(pattern: str) -> None:
    check_ecma(pattern)


@pytest.mark.parametrize("pattern", [r"\a", r"^\S\Z", "(?i)abc", "(?P<n>a)", "a{2", "]", "(?<=a)*", "["])
def test_check_refuses_what_is_not_in_unicode_mode(pattern: str) -> None:
    with pytest.raises(RegexError):
        check_ecma(pattern)


def test_check_can_take_the_older_syntax() -> None:
    check_ecma(r"\a{", unicode_mode=False)


def test_trees_of_one_character_are_shared() -> None:
    assert parse_ecma("a") is parse_ecma("a")
