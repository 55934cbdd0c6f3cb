"""Boolean formulas in disjunctive normal form, as the states of an alternating automaton.

Does: and, or, not, with absorption, on formulas over integer atoms; a negated atom is ``~atom``.
Does not: full minimisation. Without negated pairs the form is unique for a monotone function, so
only finitely many formulas arise from finitely many atoms, which is all the automaton needs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

from ..errors import LimitExceeded

__all__ = ["FALSE", "TRUE", "Algebra", "Formula", "atom"]

Clause: TypeAlias = frozenset[int]
#: A set of alternatives, each a set of atoms that must all hold.
Formula: TypeAlias = frozenset[Clause]

FALSE: Final[Formula] = frozenset()
TRUE: Final[Formula] = frozenset([frozenset()])
#: Alternatives in one formula.
_MAX_CLAUSES: Final = 400


def atom(number: int) -> Formula:
    """The formula of one atom."""
    return frozenset([frozenset([number])])


class Algebra:
    """The operations, with a budget for all of them together.

    Args:
        budget: Units of work, each about a microsecond: clauses formed, and what callers add.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._left = budget

    def any_of(self, formulas: Iterable[Formula]) -> Formula:
        """Disjunction."""
        kept = [formula for formula in formulas if formula]
        if len(kept) < 2:
            return kept[0] if kept else FALSE
        return self._absorbed({clause for formula in kept for clause in formula})

    def both(self, left: Formula, right: Formula) -> Formula:
        """Conjunction."""
        if left == TRUE:
            return right
        if right == TRUE:
            return left
        self.spend(len(left) * len(right))
        return self._absorbed(
            {one | other for one in left for other in right if not any(~number in other for number in one)}
        )

    def negated(self, formula: Formula) -> Formula:
        """Negation, multiplied out."""
        out = TRUE
        for clause in formula:
            out = self.both(out, frozenset(frozenset([~number]) for number in clause))
        return out

    def _absorbed(self, clauses: set[Clause]) -> Formula:
        """Drop alternatives that imply a weaker one."""
        kept: list[Clause] = []
        for clause in sorted(clauses, key=len):
            self.spend(len(kept) + 1)
            if not any(other <= clause for other in kept):
                kept.append(clause)
                if len(kept) > _MAX_CLAUSES:
                    raise LimitExceeded(
                        "its look-around needs too many alternatives at one place",
                        resource="look-around alternatives",
                        limit=_MAX_CLAUSES,
                    )
        return frozenset(kept)

    def spend(self, amount: int) -> None:
        """Take from the budget."""
        self._left -= amount
        if self._left < 0:
            raise LimitExceeded(
                "its look-around takes too much work", resource="look-around work", limit=self._budget
            )
