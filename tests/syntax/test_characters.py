"""Lexemes as automata over characters, against Python's own UTF-8 codec and the lexeme oracle."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maskwright import lexeme as lexemes
from maskwright.errors import LimitExceeded
from maskwright.regex import JSON_STRING, UTF8, charset
from maskwright.syntax.characters import MAX_DEPTH, NotCharacters, character_automaton
from tests.reference.brute_force import all_texts, lexeme_texts
from tests.strategies import lexemes as random_lexemes

EDGES = [
    0,
    1,
    0x41,
    0x7F,
    0x80,
    0x7FF,
    0x800,
    0xFFF,
    0x1000,
    0xD7FF,
    0xE000,
    0xFFFF,
    0x10000,
    0x3FFFF,
    0x10FFFF,
]


def runs(rows, accepting, text):
    state = 0
    for char in text:
        targets = [target for low, high, target in rows[state] if low <= ord(char) <= high]
        assert len(targets) <= 1
        if not targets:
            return False
        state = targets[0]
    return state in accepting


@settings(deadline=None, max_examples=150)
@given(pairs=st.lists(st.tuples(st.sampled_from(EDGES), st.integers(0, 0x2000)), min_size=1, max_size=4))
def test_a_class_comes_back_as_its_ranges(pairs):
    ranges = charset.make((low, min(low + extra, 0x10FFFF)) for low, extra in pairs)
    rows, accepting = character_automaton(UTF8.chars(ranges))
    # An edge that touches the surrogates from both sides cannot be one range.
    assert charset.make((low, high) for low, high, _ in rows[0]) == ranges
    assert accepting == {1}


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(lexeme=random_lexemes())
def test_random_lexemes_over_ascii(lexeme):
    ascii_only = lexemes.intersection(lexeme, lexemes.star(lexemes.byte_range(0, 127)))
    rows, accepting = character_automaton(ascii_only)
    universe = all_texts(b"ab", 4)
    expected = lexeme_texts(lexeme, universe)
    assert {text for text in universe if runs(rows, accepting, text.decode())} == expected


@pytest.mark.parametrize(
    "bad",
    [
        b"\xff",
        b"\xc0\x80",
        b"\x80",
        b"\xc3",
        b"\xe0\x80\x80",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xc3a",
        b"a\xc3",
    ],
)
def test_bytes_that_are_not_characters(bad):
    with pytest.raises(NotCharacters):
        character_automaton(lexemes.union(UTF8.any_text, lexemes.literal(bad)))


def test_intersection_and_complement():
    lexeme = lexemes.difference(JSON_STRING, lexemes.literals([b'"name"', '"é"'.encode()]))
    rows, accepting = character_automaton(lexeme)
    for text, expected in {
        '"x"': True,
        '"name"': False,
        '"nam"': True,
        '"é"': False,
        '"è"': True,
        '"names"': True,
    }.items():
        assert runs(rows, accepting, text) is expected


def test_what_cannot_end_is_left_out():
    dead = lexemes.concat(
        lexemes.literal(b"ab"), lexemes.intersection(lexemes.literal(b"c"), lexemes.literal(b"d"))
    )
    rows, accepting = character_automaton(lexemes.union(dead, lexemes.literal(b"x")))
    assert rows == [[(ord("x"), ord("x"), 1)], []]
    assert accepting == {1}


def test_size_and_depth_are_bounded():
    both = lexemes.intersection(
        lexemes.repeat(UTF8.any_char, 0, 5000), lexemes.complement(lexemes.literal(b"a"))
    )
    with pytest.raises(LimitExceeded):
        character_automaton(both)
    deep = UTF8.any_char
    for _ in range(MAX_DEPTH + 1):
        deep = lexemes.optional(lexemes.concat(lexemes.literal(b"a"), deep))
    with pytest.raises(LimitExceeded):
        character_automaton(deep)
