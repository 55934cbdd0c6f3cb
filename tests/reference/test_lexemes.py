"""Derivatives against set algebra over all short texts."""

import pytest
from hypothesis import given, settings

from maskwright import lexeme as lx
from maskwright.reference.lexemes import DerivativeTable, accepts, is_empty
from tests.reference.brute_force import all_texts, lexeme_texts
from tests.strategies import ALPHABET, lexemes

UNIVERSE = all_texts(ALPHABET, 4)


@settings(deadline=None, max_examples=200)
@given(lexeme=lexemes())
def test_membership_is_what_set_algebra_says(lexeme):
    table = DerivativeTable()
    start = table.start(lexeme)
    found = set()
    for text in UNIVERSE:
        state = start
        for byte in text:
            state = table.step(state, byte)
        if table.nullable(state):
            found.add(text)
    assert found == lexeme_texts(lexeme, UNIVERSE)


@settings(deadline=None, max_examples=200)
@given(lexeme=lexemes())
def test_emptiness_agrees_with_a_search_over_all_256_bytes(lexeme):
    """The search here uses no byte classes and no shortcut for plain expressions."""
    table = DerivativeTable()
    queue = [table.start(lexeme)]
    seen = set(queue)
    for state in queue:
        for byte in range(256):
            following = table.step(state, byte)
            if following not in seen:
                seen.add(following)
                queue.append(following)
    assert table.is_empty(queue[0]) == (not any(table.nullable(state) for state in queue))


@settings(deadline=None, max_examples=100)
@given(lexeme=lexemes())
def test_bytes_of_one_class_lead_to_the_same_state(lexeme):
    table = DerivativeTable()
    state = table.start(lexeme)
    targets: dict[int, set[int]] = {}
    for byte, number in enumerate(table.byte_classes(state)):
        targets.setdefault(number, set()).add(table.step(state, byte))
    assert all(len(states) == 1 for states in targets.values())
    assert len(table.representatives(state)) == len(targets)


def test_large_counts_stay_numbers():
    counted = lx.repeat(lx.byte_set(b"ab"), 3, 20_000)
    assert accepts(counted, b"ab" * 2)
    assert not accepts(counted, b"ab")
    assert accepts(counted, b"a" * 20_000)
    assert not accepts(counted, b"a" * 20_001)


def test_deep_expressions_need_no_deep_stack():
    deep = lx.literal(b"a")
    for _ in range(20_000):
        deep = lx.Lexeme(lx.Op.COMPLEMENT, (lx.union(deep, lx.EPSILON, lx.literal(b"b")),))
    assert isinstance(accepts(deep, b"a"), bool)
    nested = lx.EPSILON
    for _ in range(5_000):
        nested = lx.optional(lx.concat(lx.literal(b"("), nested, lx.literal(b")")))
    assert accepts(nested, b"(" * 50 + b")" * 50)
    assert not accepts(nested, b"(" * 50 + b")" * 49)


@pytest.mark.parametrize(
    ("lexeme", "empty"),
    [
        (lx.EMPTY, True),
        (lx.EPSILON, False),
        (lx.intersection(lx.plus(lx.literal(b"aa")), lx.repeat(lx.literal(b"a"), 3, 3)), True),
        (lx.intersection(lx.plus(lx.literal(b"aa")), lx.repeat(lx.literal(b"a"), 4, 5)), False),
        (lx.difference(lx.star(lx.any_byte), lx.complement(lx.literal(b"x"))), False),
        (lx.complement(lx.star(lx.any_byte)), True),
        (lx.automaton([[(97, 97, 1)], [(98, 98, 1)]], []), True),
        (lx.automaton([[(97, 97, 1)], [(98, 98, 1)]], [1]), False),
        (lx.automaton([], []), True),
        (lx.concat(lx.literal(b"x"), lx.automaton([[]], [])), True),
    ],
)
def test_emptiness(lexeme, empty):
    assert is_empty(lexeme) is empty
