"""Sets of integers made of finitely many intervals: the exponents that suit a mantissa.

A set is a sorted tuple of ``(low, high)``, both included, None for no end, with at least one integer
between neighbours; so equal sets are equal tuples and can name automaton states.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

__all__ = [
    "ALL",
    "NONE",
    "ExponentSet",
    "at_least",
    "complement_of",
    "intersection_of",
    "shifted",
    "union_of",
]

ExponentSet: TypeAlias = tuple[tuple[int | None, int | None], ...]

NONE: Final[ExponentSet] = ()
ALL: Final[ExponentSet] = ((None, None),)


def at_least(low: int) -> ExponentSet:
    """All integers from ``low`` on."""
    return ((low, None),)


def shifted(exponents: ExponentSet, by: int) -> ExponentSet:
    """Every member plus ``by``."""
    return tuple(
        (None if low is None else low + by, None if high is None else high + by) for low, high in exponents
    )


def union_of(parts: Iterable[tuple[int | None, int | None]]) -> ExponentSet:
    """The canonical form of ascending, disjoint (perhaps touching or empty) intervals."""
    merged: list[tuple[int | None, int | None]] = []
    for low, high in parts:
        if low is not None and high is not None and low > high:
            continue
        if merged:
            before_low, before_high = merged[-1]
            if low is None or before_high is None or low <= before_high + 1:
                merged[-1] = (before_low, high)
                continue
        merged.append((low, high))
    return tuple(merged)


def complement_of(exponents: ExponentSet) -> ExponentSet:
    """All integers that are not in the set."""
    parts: list[tuple[int | None, int | None]] = []
    start: int | None = None
    for low, high in exponents:
        if low is not None:
            parts.append((start, low - 1))
        if high is None:
            return union_of(parts)
        start = high + 1
    return union_of([*parts, (start, None)])


def intersection_of(left: ExponentSet, right: ExponentSet) -> ExponentSet:
    """Integers that are in both sets."""
    parts: list[tuple[int | None, int | None]] = []
    for low, high in left:
        for other_low, other_high in right:
            start = low if other_low is None else other_low if low is None else max(low, other_low)
            end = high if other_high is None else other_high if high is None else min(high, other_high)
            if start is None or end is None or start <= end:
                parts.append((start, end))
    return union_of(parts)
