"""Lexemes of plain trees: against the `regex` package, and their shapes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from maskwright.lexeme import Op
from maskwright.regex import JSON_ANY_SPELLING, JSON_CANONICAL, UTF8, Encoding
from maskwright.regex.ecma import parse_ecma
from maskwright.regex.lower import fixed_text, lower
from tests.lexeme_oracle import accepts
from tests.regex.patterns import EXAMPLES, expected, patterns, texts


@pytest.mark.parametrize("encoding", [UTF8, JSON_CANONICAL, JSON_ANY_SPELLING], ids=repr)
@settings(max_examples=EXAMPLES // 2)
@given(pattern=patterns(look=False), subjects=texts())
def test_agrees_with_the_regex_package(encoding: Encoding, pattern: str, subjects: list[str]) -> None:
    lexeme = lower(parse_ecma(pattern), encoding)
    for text in subjects:
        spelled = text if encoding is UTF8 else json.dumps(text, ensure_ascii=encoding.single is False)[1:-1]
        wanted = expected(pattern, text, search=False)
        if wanted is not None:
            assert accepts(lexeme, spelled.encode()) == wanted, text


@pytest.mark.parametrize(
    ("pattern", "op", "args"),
    [
        ("foo", Op.LITERAL, (b"foo",)),
        ("f(?:o(?:o))", Op.LITERAL, (b"foo",)),
        ("foo|bar|foo", Op.LITERALS, (b"bar", b"foo")),
        ("[ab]{2,7000}", Op.REPEAT, None),
        ("[a-z]", Op.BYTES, None),
        ("", Op.EPSILON, ()),
        ("[]", Op.EMPTY, ()),
    ],
)
def test_shapes(pattern: str, op: Op, args: tuple[bytes, ...] | None) -> None:
    lexeme = lower(parse_ecma(pattern), UTF8)
    assert lexeme.op is op
    assert args is None or lexeme.args == args


def test_any_text_is_one_object() -> None:
    assert lower(parse_ecma("[^]*"), JSON_CANONICAL) is JSON_CANONICAL.any_text


def test_fixed_text() -> None:
    assert fixed_text(parse_ecma("abc")) == "abc"
    assert fixed_text(parse_ecma("")) == ""
    assert fixed_text(parse_ecma("a[bc]")) is None
