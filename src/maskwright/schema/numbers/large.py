"""Multiples with too many residues for an automaton: `lexeme.multiples`, whose states are made when visited.

All values are counted in units of one decimal place, the finest that a multiple has, so that bounds, excluded
values and multiples are whole numbers. What lies between two units is no multiple of any kind.

Numbers that are only *not* multiples of something have any decimals: whoever asks cuts those off first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from fractions import Fraction
from math import ceil, floor, lcm
from typing import TypeAlias

from ...lexeme import EMPTY, Lexeme, concat, literal, multiples, union
from ..emptiness import is_empty
from .comparing import decimal_digits

__all__ = ["Bound", "large_multiples"]

#: A bound, and whether it is in the range itself.
Bound: TypeAlias = tuple[Fraction, bool]


def large_multiples(
    multiple: Fraction,
    not_multiples: Collection[Fraction],
    excluded: Iterable[Fraction],
    low: Bound | None,
    high: Bound | None,
    *,
    whole_only: bool,
) -> Lexeme | None:
    """Plain decimals of the multiples in a range; None if a number is too large for the kernel.

    Args:
        multiple: What the numbers are multiples of.
        not_multiples: What they are no multiples of; none divides `multiple`.
        excluded: Numbers left out.
        low, high: The range.
        whole_only: Whether no point may be written; `multiple` is whole then.

    >>> seven = (Fraction(7), True)
    >>> large_multiples(Fraction(2), (), (), seven, seven, whole_only=True).op.name
    'EMPTY'
    """
    decimals = 0 if whole_only else max(_n_decimals(value) for value in (multiple, *not_multiples))
    unit = 10**decimals
    wanted = int(multiple * unit)
    # Among the multiples of one number, those of another are those of both.
    unwanted = [lcm(wanted, (value * unit).numerator) for value in not_multiples]
    apart = [int(value * unit) for value in excluded if (value * unit).denominator == 1]
    first = None if low is None else ceil(low[0] * unit) if low[1] else floor(low[0] * unit) + 1
    last = None if high is None else floor(high[0] * unit) if high[1] else ceil(high[0] * unit) - 1

    def side(sign: int, start: int | None, end: int | None) -> Lexeme:
        """The magnitudes on one side of zero, itself included."""
        if end is not None and end < 0:
            return EMPTY
        found = multiples(
            wanted,
            unwanted=unwanted,
            excluded=[value * sign for value in apart if value * sign >= 0],
            decimals=decimals,
            low=max(start or 0, 0),
            high=end,
            point=not whole_only,
        )
        return EMPTY if is_empty(found) else found

    try:
        positive = side(1, first, last)
        negative = side(-1, None if last is None else -last, None if first is None else -first)
    except ValueError:  # beyond 64 bits
        return None
    return union(positive, concat(literal(b"-"), negative))


def _n_decimals(value: Fraction) -> int:
    return len(decimal_digits(value)[1])
