"""Reading a number as the mantissa of scientific notation: which exponents may follow?

`MantissaReader` follows the digits beside the plain reading of `reading` and is asked at an ``e``. To judge
a value by its exponent one must know where the first digit stands and how many decimals there are, and
counting without end is not regular; so a mantissa has to keep to `ScienceLimits`, or the reading is
given up (None). Constraints that do not need the size of the number (none at all, or only its sign) know
no such limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from .comparing import DigitState, Side
from .exponents import ALL, NONE, ExponentSet, complement_of, intersection_of
from .modulus import MantissaState, PlainModulus, ScientificModulus

__all__ = ["Mantissa", "MantissaReader", "ScienceLimits", "Test"]


@dataclass(frozen=True)
class ScienceLimits:
    """Mantissas that may be followed by an exponent.

    Attributes:
        whole: Most digits of a mantissa without a point.
        decimals: Most decimals of a mantissa of one digit and a point, whose last decimal is then not a zero
            unless all are; None: any decimals, but no more than ``zeros`` zeros right after ``0.``.
        zeros: See ``decimals``.
    """

    whole: int
    decimals: int | None
    zeros: int


class Test:
    """Multiples of a number, or (``wanted`` false) everything but its multiples."""

    def __init__(self, plain: PlainModulus, science: ScientificModulus, *, wanted: bool) -> None:
        self.plain: Final = plain
        self.science: Final = science
        self.wanted: Final = wanted

    def exponents(self, state: MantissaState) -> ExponentSet:
        """Exponents with which the test holds."""
        found = self.science.exponents(state)
        return found if self.wanted else complement_of(found)


class Mantissa(NamedTuple):
    """What is known of the digits so far.

    Attributes:
        n_digits: Digits of the integer part; after the point: of the fraction. Zero where nothing is counted.
        power: Power of ten of the first digit that is not zero.
        significant: Whether there was such a digit.
        closing_zero: Whether the fraction ends in a zero that hides what the multiples need to know.
        order: Comparison with the points.
        multiples: One state per test.
    """

    n_digits: int
    power: int
    significant: bool
    closing_zero: bool
    order: DigitState
    multiples: tuple[MantissaState, ...]


class MantissaReader:
    """The transition function of mantissas on one side of zero."""

    def __init__(self, side: Side, tests: Sequence[Test], limits: ScienceLimits) -> None:
        self._side = side
        self._tests = tests
        self._limits = limits
        # Without points other than zero and without tests, the size and so the counts do not matter.
        self._ordered = side.n_points > 1
        self._counted = self._ordered or bool(tests)
        self._most = limits.zeros if limits.decimals is None else limits.decimals
        powers = [test.science.least_power for test in tests if test.wanted]
        self._longest: int | None = None  # digits from the first to the last of a number in range
        if powers and side.top_power is not None:
            self._longest = side.top_power - max(powers) + 1
        self.start: Final = Mantissa(
            0, 0, False, False, side.digit_start, tuple(test.science.start for test in tests)
        )

    def cuts(self, state: Mantissa) -> int:
        """Digits (as bits) that are told apart."""
        return self._side.digit_cuts(state.order) | 1

    def integer_step(self, state: Mantissa, digit: int) -> Mantissa | None:
        """Read one digit of the integer part."""
        if not self._counted:
            return state._replace(significant=state.significant or digit > 0)
        if state.n_digits == self._limits.whole or (digit and self._side.only_zero):
            return None
        return Mantissa(
            state.n_digits + 1,
            state.power + 1 if state.significant and self._ordered else 0,
            state.significant or digit > 0,
            False,
            self._order_step(state, digit),
            tuple(
                [
                    test.science.integer_step(part, digit)
                    for test, part in zip(self._tests, state.multiples, strict=True)
                ]
            ),
        )

    def point(self, state: Mantissa) -> Mantissa | None:
        """The integer part is over and a fraction begins."""
        if not self._counted:
            return state
        return state._replace(n_digits=0) if state.n_digits == 1 else None

    def fraction_step(self, state: Mantissa, digit: int) -> Mantissa | None:
        """Read one digit after the point."""
        if not self._counted:
            return state._replace(significant=state.significant or digit > 0)
        if self._tests:
            only_zeros = not digit and all(kind != "m" for kind, _, _ in state.multiples)
            n_digits = state.n_digits + 1
        else:
            # Behind the first significant digit nothing is counted any more.
            only_zeros = state.significant or not digit
            n_digits = 0 if state.significant else state.n_digits + 1
        if n_digits > self._most and not only_zeros:
            return None
        first = digit > 0 and not state.significant
        if self._hopeless(state, n_digits, digit):
            return None
        return Mantissa(
            min(n_digits, self._most),
            -n_digits if first and self._ordered else state.power,
            state.significant or digit > 0,
            not digit and not only_zeros,
            self._order_step(state, digit),
            tuple(
                [
                    test.science.fraction_step(part, digit, self._most)
                    for test, part in zip(self._tests, state.multiples, strict=True)
                ]
            ),
        )

    def _hopeless(self, state: Mantissa, n_digits: int, digit: int) -> bool:
        """Whether no exponent will ever do: too many digits between bound and multiple."""
        if not digit:
            return False
        if self._side.only_zero:
            return True
        power = state.power if state.significant else -n_digits
        return self._longest is not None and power + n_digits + 1 > self._longest

    def _order_step(self, state: Mantissa, digit: int) -> DigitState:
        if state.significant or digit:
            return self._side.digit_step(state.order, digit)
        return state.order

    def exponents(self, state: Mantissa) -> ExponentSet:
        """Exponents that may follow."""
        if state.closing_zero:
            return NONE
        if not state.significant:
            found = self._side.exponents_of_zero()
        elif self._ordered:
            found = self._side.exponents(state.order, state.power)
        else:
            found = ALL if self._side.cells[1] else NONE
        for test, part in zip(self._tests, state.multiples, strict=True):
            found = intersection_of(found, test.exponents(part))
        return found
