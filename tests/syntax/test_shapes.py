"""Shapes of lexemes: never claimed wrongly, and found where it matters."""

import pytest
from hypothesis import HealthCheck, given, settings

from maskwright import lexeme as lexemes
from maskwright.regex import JSON_STRING, JSON_STRING_CANONICAL, UTF8, compile_regex
from maskwright.syntax.shapes import Shapes
from tests.reference.brute_force import all_texts, lexeme_texts
from tests.strategies import ALPHABET
from tests.strategies import lexemes as random_lexemes

UNIVERSE = all_texts(ALPHABET[:3], 4)


@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(lexeme=random_lexemes())
def test_what_is_said_is_true(lexeme):
    shape = Shapes().of(lexeme)
    members = lexeme_texts(lexeme, UNIVERSE)
    assert shape.nullable is (b"" in members)
    assert all(shape.first >> text[0] & 1 for text in members if text)
    if shape.prefix_free:
        assert not any(one != two and two.startswith(one) for one in members for two in members)


@pytest.mark.parametrize(
    "lexeme", [JSON_STRING, JSON_STRING_CANONICAL, compile_regex('"([^"\\\\]|\\\\["\\\\nu])*"')]
)
def test_quoted_strings_are_wide_with_a_certain_end(lexeme):
    shape = Shapes().of(lexeme)
    assert shape.wide
    assert shape.prefix_free


def test_other_lexemes():
    shapes = Shapes()
    assert not shapes.of(UTF8.any_text).prefix_free
    assert shapes.of(UTF8.any_text).wide
    assert shapes.of(UTF8.any_char).prefix_free
    assert not shapes.of(compile_regex("[a-z]+;")).wide
    assert shapes.of(compile_regex("[a-z]+;")).prefix_free
    assert not shapes.of(compile_regex("a*ab")).prefix_free
    assert not shapes.of(lexemes.literals([b"a", b"ab"])).prefix_free


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ('"[^"]*"', True),
        ('(a|ab)? *"[^"]*"', True),
        ('"[^"]*" *', False),
        ('"[^"]*', False),
        ('[^]*"[^"]*"', False),
        ("[a-z]*;", False),
        ('"[^"]{0,100}"', True),
        ('"[^"]*""', True),
    ],
)
def test_sure_wide_ends(pattern, expected):
    assert Shapes().has_sure_wide_end(compile_regex(pattern)) is expected


def test_deep_lexemes_do_not_recurse():
    deep = lexemes.literal(b"a")
    for _ in range(20_000):
        deep = lexemes.Lexeme(lexemes.Op.CONCAT, (lexemes.literal(b"("), deep))
    assert Shapes().of(deep).prefix_free
