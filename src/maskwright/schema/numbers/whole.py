"""Whole numbers in a range, written with digits alone: the common case, without an automaton.

``minimum``, ``maximum`` and nothing else is what most schemas say of an integer. Such a range is a
union of a few blocks "these digits, one digit of a range, then so many digits", which costs some
microseconds to write down where the general construction explores and minimises an automaton.
Multiples, excluded values, decimals and exponents are left to it.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from ...lexeme import Lexeme, byte_range, concat, literal, repeat, union

__all__ = ["whole_range"]

_DIGIT = byte_range(0x30, 0x39)


def whole_range(
    minimum: Fraction | None, above: Fraction | None, maximum: Fraction | None, below: Fraction | None
) -> Lexeme:
    """The whole numbers within all bounds that are given, as ``-?(0|[1-9][0-9]*)``; -0 is 0.

    >>> whole_range(Fraction(3), None, Fraction(2), None).op.name
    'EMPTY'
    """
    lows = [ceil(bound) for bound in (minimum,) if bound is not None]
    lows += [floor(bound) + 1 for bound in (above,) if bound is not None]
    highs = [floor(bound) for bound in (maximum,) if bound is not None]
    highs += [ceil(bound) - 1 for bound in (below,) if bound is not None]
    low, high = max(lows, default=None), min(highs, default=None)
    blocks: list[Lexeme] = []
    if high is None or high >= 0:
        blocks += _natural(max(low or 0, 0), high)
    # The magnitudes of what is below zero, and zero itself once more for "-0".
    if low is None or low <= 0:
        if high is None or high >= 0:
            negative = _natural(0, None if low is None else -low)
        else:
            negative = _natural(-high, None if low is None else -low)
        blocks += [concat(literal(b"-"), block) for block in negative]
    return union(*blocks)


def _natural(low: int, high: int | None) -> list[Lexeme]:
    """Blocks of the numbers from ``low`` to ``high``, both included and not negative."""
    if high is not None and high < low:
        return []
    blocks: list[Lexeme] = []
    n_digits = len(str(low))
    if high is None and low <= 1:
        positive = concat(byte_range(0x31, 0x39), repeat(_DIGIT, 0, None))
        return [positive] if low else [literal(b"0"), positive]
    if high is None:
        # All longer numbers at once.
        blocks.append(concat(byte_range(0x31, 0x39), repeat(_DIGIT, n_digits, None)))
        high = 10**n_digits - 1
    while n_digits <= len(str(high)):
        last = min(high, 10**n_digits - 1)
        blocks += _same_length(str(low), str(last))
        low, n_digits = 10**n_digits, n_digits + 1
    return blocks


def _same_length(low: str, high: str) -> list[Lexeme]:
    """Blocks of the numbers between two with the same number of digits."""
    shared = 0
    while shared < len(low) and low[shared] == high[shared]:
        shared += 1
    if shared == len(low):
        return [literal(low.encode())]
    # Stay on the lower bound as long as possible, then on the upper; what lies between is free.
    blocks = [
        _block(low[:place], int(low[place]) + 1, 9, len(low) - place - 1)
        for place in range(len(low) - 1, shared, -1)
        if low[place] != "9"
    ]
    first, last = int(low[shared]), int(high[shared])
    if last - first > 1:
        blocks.append(_block(low[:shared], first + 1, last - 1, len(low) - shared - 1))
    blocks += [
        _block(high[:place], 0, int(high[place]) - 1, len(high) - place - 1)
        for place in range(shared + 1, len(high))
        if high[place] != "0"
    ]
    return [literal(low.encode()), *blocks, literal(high.encode())]


def _block(digits: str, first: int, last: int, n_free: int) -> Lexeme:
    return concat(
        literal(digits.encode()), byte_range(0x30 + first, 0x30 + last), repeat(_DIGIT, n_free, n_free)
    )
