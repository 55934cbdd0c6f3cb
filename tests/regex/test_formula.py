"""The algebra of formulas against truth tables."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskwright.errors import LimitExceeded
from maskwright.regex.formula import FALSE, TRUE, Algebra, Formula, atom

_ATOMS = (1, 2, 3)
_LITERAL = st.sampled_from([atom(number) for number in _ATOMS] + [atom(~number) for number in _ATOMS])
_ALGEBRA = Algebra(10**9)
_FORMULA = st.recursive(
    st.one_of(_LITERAL, st.sampled_from([TRUE, FALSE])),
    lambda inner: st.one_of(
        st.builds(_ALGEBRA.both, inner, inner),
        st.lists(inner, max_size=3).map(_ALGEBRA.any_of),
        inner.map(_ALGEBRA.negated),
    ),
    max_leaves=8,
)


def table(formula: Formula) -> list[bool]:
    rows = []
    for values in product([False, True], repeat=len(_ATOMS)):
        world = dict(zip(_ATOMS, values, strict=True))
        rows.append(any(all(world[n] if n >= 0 else not world[~n] for n in clause) for clause in formula))
    return rows


@given(_FORMULA, _FORMULA)
def test_operations_are_those_of_logic(left: Formula, right: Formula) -> None:
    pairs = list(zip(table(left), table(right), strict=True))
    assert table(_ALGEBRA.both(left, right)) == [one and other for one, other in pairs]
    assert table(_ALGEBRA.any_of([left, right])) == [one or other for one, other in pairs]
    assert table(_ALGEBRA.negated(left)) == [not one for one, _ in pairs]


def test_absorption_makes_monotone_formulas_unique() -> None:
    one = _ALGEBRA.any_of([atom(1), _ALGEBRA.both(atom(1), atom(2))])
    assert one == atom(1)
    assert _ALGEBRA.both(atom(1), atom(~1)) == FALSE


def test_work_is_bounded() -> None:
    algebra = Algebra(100)
    with pytest.raises(LimitExceeded, match="too much work"):
        algebra.negated(frozenset(frozenset([n, n + 100]) for n in range(50)))
    with pytest.raises(LimitExceeded, match="alternatives"):
        Algebra(10**9).any_of([atom(n) for n in range(1_000)])
