"""Comparing a number with fixed points while its digits are read, most significant first.

`Side` places one magnitude (the sign is somebody else's business) among a sorted list of *points*: on
point ``i`` (cell ``2 * i``) or in the gap after it (cell ``2 * i + 1``). Point 0 is always zero, so every
magnitude has a cell. Whether a cell is allowed is a table; this turns minimum, maximum, the exclusive
forms and any number of excluded values into one automaton of about as many states as the points have digits.

The length of the integer part is unknown while it is read, so a plain reading keeps one slice of points
per possible length: those whose leading digits equal the digits so far. A reading in scientific notation
compares digits without regard to the point (`Side.digit_step`) and leaves the size to the exponent.

It does not read signs, points or exponents: `reading` does. Rejected: one regex per digit position
(``[1-9]\\d{2}|1[0-4]\\d|...``), which is what most engines do; it multiplies out for decimals and cannot be
intersected with a modulus cheaply.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import TypeAlias

from .exponents import ALL, NONE, ExponentSet, shifted, union_of

__all__ = ["DigitState", "FractionState", "IntegerState", "Side", "decimal_digits"]

#: (number of digits read, one (length, low, high) per integer length still possible): points ``low:high`` of
#: that length begin with the digits read; an empty slice stands between two points.
IntegerState: TypeAlias = tuple[int, tuple[tuple[int, int, int], ...]]
#: Decided (is the cell allowed?), or (fraction digits read, low, high).
FractionState: TypeAlias = "bool | tuple[int, int, int]"
#: (significant digits read, low, high) in the sorted digit strings of the points.
DigitState: TypeAlias = tuple[int, int, int]


def decimal_digits(magnitude: Fraction) -> tuple[str, str]:
    """Digits before and after the point of a non-negative finite decimal, without trailing zeros.

    Raises:
        ValueError: The value has no finite decimal spelling (1/3).
    """
    places = _decimal_places(magnitude.denominator)
    scaled = str(magnitude.numerator * 10**places // magnitude.denominator).rjust(places + 1, "0")
    if not places:
        return scaled, ""
    return scaled[:-places], scaled[-places:]


def _decimal_places(denominator: int) -> int:
    twos = (denominator & -denominator).bit_length() - 1
    rest, fives = denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        raise ValueError("a bound or multiple must be a finite decimal")
    return max(twos, fives)


class Side:
    """Magnitudes on one side of zero, placed among sorted points.

    Args:
        points: Magnitudes, in any order; zero is added.
        allowed: Tells whether a magnitude is allowed; must be constant between two points.
    """

    def __init__(self, points: Sequence[Fraction], allowed: Callable[[Fraction], bool]) -> None:
        values = sorted({Fraction(0), *points})
        self.cells: list[bool] = []
        for place, value in enumerate(values):
            after = values[place + 1] if place + 1 < len(values) else value + 2
            self.cells += [allowed(value), allowed((value + after) / 2)]
        digits = [decimal_digits(value) for value in values]
        self._whole = [_values(whole) for whole, _ in digits]
        self._fraction = [_values(fraction) for _, fraction in digits]
        lengths = [len(whole) for whole in self._whole]
        self.start: IntegerState = (
            0,
            tuple(
                (length, lengths.index(length), lengths.index(length) + lengths.count(length))
                for length in sorted(set(lengths))
            ),
        )
        self._below = [sum(length < n for length in lengths) for n in range(lengths[-1] + 2)]
        # Scientific view of the points other than zero: significant digits, power of ten of the first.
        self._powers: list[int] = []
        self._significand_of: list[bytes] = []
        for whole, fraction in digits[1:]:
            text = (whole + fraction).lstrip("0")
            self._powers.append(len(whole) - 1 - (len(whole + fraction) - len(text)))
            self._significand_of.append(_values(text.rstrip("0")))
        self._significands = sorted(set(self._significand_of))
        self.digit_start: DigitState = (0, 0, len(self._significands))
        self.exponents_of_digits = cache(self._exponents_of_digits)

    @property
    def n_points(self) -> int:
        """How many points there are, zero included."""
        return len(self._whole)

    @property
    def only_zero(self) -> bool:
        """Whether nothing but zero is allowed."""
        return not any(self.cells[1:])

    @property
    def top_power(self) -> int | None:
        """No allowed magnitude has its first digit at a higher power of ten; None if there is no limit."""
        return None if self.cells[-1] else max(self._powers, default=0)

    # -- plain notation

    def integer_step(self, state: IntegerState, digit: int) -> IntegerState:
        """Read one digit of the integer part."""
        n_read, groups = state
        if not groups:
            return state
        kept = tuple(
            (length, *_narrow(self._whole, low, high, n_read, digit))
            for length, low, high in groups
            if length > n_read
        )
        return (n_read + 1, kept) if kept else (0, ())

    def integer_cuts(self, state: IntegerState) -> int:
        """The digits (as bits) that continue a point; others are told apart only by their neighbours."""
        n_read, groups = state
        bits = 0
        for length, low, high in groups:
            if length > n_read and low < high:
                bits |= _cuts(self._whole, low, high, n_read)
        return bits

    def integer_end(self, state: IntegerState) -> FractionState:
        """The integer part is over: from here digits are a fraction."""
        n_read, groups = state
        if not groups:
            return self.cells[-1]
        length, low, high = groups[0]
        if length != n_read:  # no point has this many digits
            return self.cells[2 * self._below[n_read] - 1]
        return (0, low, high) if low < high else self.cells[2 * low - 1]

    def fraction_step(self, state: FractionState, digit: int) -> FractionState:
        """Read one digit after the point."""
        if isinstance(state, bool):
            return state
        n_read, low, high = state
        low, high = _narrow(self._fraction, low, high, n_read, digit)
        if low == high:
            return self.cells[2 * low - 1]
        # Beyond the digits of the points only zeros keep the slice, so the count may stop.
        longest = max(len(text) for text in self._fraction[low:high])
        return (min(n_read + 1, longest), low, high)

    def fraction_cuts(self, state: FractionState) -> int:
        """As `integer_cuts`."""
        return 0 if isinstance(state, bool) else _cuts(self._fraction, state[1], state[2], state[0])

    def fraction_allows(self, state: FractionState) -> bool:
        """Whether the number may end here."""
        if isinstance(state, bool):
            return state
        n_read, low, _ = state
        return self.cells[2 * low if len(self._fraction[low]) <= n_read else 2 * low - 1]

    # -- scientific notation

    def digit_step(self, state: DigitState, digit: int) -> DigitState:
        """Read one significant digit; the first one is not zero."""
        n_read, low, high = state
        if low == high:
            return state
        low, high = _narrow(self._significands, low, high, n_read, digit)
        if low == high:
            return (0, low, low)
        longest = max(len(text) for text in self._significands[low:high])
        return (min(n_read + 1, longest), low, high)

    def digit_cuts(self, state: DigitState) -> int:
        """As `integer_cuts`."""
        return _cuts(self._significands, state[1], state[2], state[0])

    def exponents(self, state: DigitState, power: int) -> ExponentSet:
        """Exponents that make an allowed value; ``power`` is that of the first significant digit."""
        n_read, low, high = state
        equal = low < high and len(self._significands[low]) <= n_read
        return shifted(self.exponents_of_digits(low, equal), -power)

    def exponents_of_zero(self) -> ExponentSet:
        """The same for a mantissa of zeros."""
        return ALL if self.cells[0] else NONE

    def _exponents_of_digits(self, low: int, equal: bool) -> ExponentSet:
        """Powers of ten at which digits just below (or equal to) significand ``low`` are allowed."""
        smaller = set(self._significands[:low])
        same = self._significands[low] if equal else None
        parts: list[tuple[int | None, int | None]] = []
        n_below, previous = 0, None  # nonzero points below; the last power dealt with
        for power in sorted(set(self._powers)):
            if self.cells[2 * n_below + 1]:
                parts.append((previous, power - 1))
            here = [text for text, at in zip(self._significand_of, self._powers, strict=True) if at == power]
            n_smaller = n_below + sum(text in smaller for text in here)
            if self.cells[2 * (n_smaller + 1) if same in here else 2 * n_smaller + 1]:
                parts.append((power, power))
            n_below += len(here)
            previous = power + 1
        if self.cells[-1]:
            parts.append((previous, None))
        return union_of(parts)


def _values(text: str) -> bytes:
    """Digits as byte values 0 to 9."""
    return bytes(map(int, text))


def _narrow(texts: Sequence[bytes], low: int, high: int, place: int, digit: int) -> tuple[int, int]:
    """The part of a sorted slice whose digit at ``place`` is ``digit`` (missing digits are zeros)."""
    while low < high and _digit(texts[low], place) < digit:
        low += 1
    end = low
    while end < high and _digit(texts[end], place) == digit:
        end += 1
    return low, end


def _digit(text: bytes, place: int) -> int:
    return text[place] if place < len(text) else 0


def _cuts(texts: Sequence[bytes], low: int, high: int, place: int) -> int:
    """The digits (as bits) at ``place`` in a slice. Digits between two neighbours of these are alike."""
    bits = 0
    for text in texts[low:high]:
        bits |= 1 << _digit(text, place)
    return bits
