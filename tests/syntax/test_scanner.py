"""Tokens, escapes and positions."""

import pytest

from maskwright.errors import GrammarSyntaxError
from maskwright.syntax.scanner import EBNF, GBNF, Source, class_ranges, literal_text, scan


def kinds(text, dialect=EBNF):
    return [(token.kind, token.text) for token in scan(Source(text, dialect))]


def test_tokens():
    text = 'root ::= a-b "x" # note\n  | [a\\]]{2,3} ( Token(1, 2) )?'
    assert kinds(text) == [
        ("head", "root"), ("name", "a-b"), ("string", '"x"'), ("|", "|"), ("klass", "[a\\]]"), ("range", "{2,3}"),
        ("(", "("), ("name", "Token"), ("(", "("), ("int", "1"), (",", ","), ("int", "2"), (")", ")"), (")", ")"),
        ("?", "?"), ("end", ""),
    ]  # fmt: skip


def test_dots_belong_to_names_in_ebnf_and_stand_alone_in_gbnf():
    assert kinds("a.b")[0] == ("name", "a.b")
    assert kinds("a.b", GBNF)[:3] == [("name", "a"), (".", "."), ("name", "b")]


def test_a_head_is_only_a_head_at_the_start_of_a_line():
    assert [kind for kind, _ in kinds("a ::= b\n  c ::= d")] == ["head", "name", "head", "name", "end"]
    with pytest.raises(GrammarSyntaxError, match="start a line"):
        kinds("a ::= b c ::= d")


def test_options_of_a_head():
    head = next(scan(Source('a[capture="]", lazy] ::= b', EBNF)))
    assert (head.text, head.options) == ("a", '[capture="]", lazy]')


def test_offsets_count_code_points():
    source = Source('a ::= "é😀" b', EBNF)
    assert [token.offset for token in scan(source)] == [0, 6, 11, 12]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("[a-c]", ((97, 99),)), ("[ca-b]", ((97, 99),)), (r"[a\-c]", ((45, 45), (97, 97), (99, 99))),
     ("[^]", ((0, 0xD7FF), (0xE000, 0x10FFFF))), ("[^\\u0000-z]", ((123, 0xD7FF), (0xE000, 0x10FFFF))),
     ("[\\uD7FF-\\uE000]", ((0xD7FF, 0xD7FF), (0xE000, 0xE000)))],
)  # fmt: skip
def test_class_ranges(text, expected):
    source = Source(text, EBNF)
    assert class_ranges(source, next(scan(source))) == expected


def test_a_hexadecimal_escape_takes_what_its_dialect_says():
    for dialect, expected in ((EBNF, "\u0123"), (GBNF, "\x0123")):
        source = Source(r'"\x0123"', dialect)
        assert literal_text(source, next(scan(source))) == expected


def test_a_megabyte_of_digits_is_refused_quickly():
    source = Source('"\\x' + "9" * 1_000_000 + '"', EBNF)
    with pytest.raises(GrammarSyntaxError, match="above"):
        literal_text(source, next(scan(source)))
