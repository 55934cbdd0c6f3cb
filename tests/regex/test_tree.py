"""Constructors that fold keep the language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskwright.regex import UTF8
from maskwright.regex.lower import lower
from maskwright.regex.tree import (
    EPSILON,
    NEVER,
    Chars,
    Look,
    Repeat,
    Union,
    alternatives,
    negation,
    repetition,
    sequence,
)
from tests.lexeme_oracle import accepts

A, B = Chars(((97, 97),)), Chars(((98, 98),))
_COUNTS = st.tuples(st.integers(0, 3), st.one_of(st.none(), st.integers(0, 3))).filter(
    lambda pair: pair[1] is None or pair[0] <= pair[1]
)


@given(_COUNTS, _COUNTS, _COUNTS)
def test_nested_counts(
    inner: tuple[int, int | None], middle: tuple[int, int | None], outer: tuple[int, int | None]
) -> None:
    folded, plain = A, A
    for low, high in (inner, middle, outer):
        folded = repetition(folded, low, high)
        plain = Repeat(plain, low, high) if high != 0 else EPSILON
    for n in range(30):
        assert accepts(lower(folded, UTF8), b"a" * n) == accepts(lower(plain, UTF8), b"a" * n), n


def test_nested_stars_do_not_pile_up() -> None:
    node = A
    for _ in range(1_000):
        node = repetition(node, 0, None)
    assert isinstance(node, Repeat)
    assert node.body is A


def test_alternatives() -> None:
    joined = alternatives([A, B])
    assert isinstance(joined, Chars)
    assert joined.ranges == ((97, 98),)
    assert alternatives([NEVER]) is NEVER
    mixed = alternatives([sequence([A, B]), A, EPSILON, B])
    assert isinstance(mixed, Union)
    assert mixed.nullable
    assert len(mixed.parts) == 3


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, None)])
def test_optional_tests_are_dropped(low: int, high: int | None) -> None:
    test = Look(A, behind=False, negative=False)
    assert repetition(test, low, high) is EPSILON
    assert repetition(test, 2, 3) is test


def test_nothing_swallows_a_sequence() -> None:
    assert sequence([A, NEVER, B]) is NEVER
    assert sequence([]) is EPSILON
    assert repetition(NEVER, 0, 5) is EPSILON
    assert repetition(NEVER, 1, 5) is NEVER
    assert negation(negation(A)) is A
