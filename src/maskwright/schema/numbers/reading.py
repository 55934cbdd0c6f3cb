"""Reading JSON number text with every constraint at once: the automaton of a set of numbers.

`NumberReader` runs the comparison and the multiples side by side over ``-?digits(.digits)?`` and, at an ``e``,
asks each for the exponents that it can live with; what is left is a set of integers, read by the same
comparison machine. `explore` turns the reader into explicit states, breadth first and metered.

Whether ``m * 10**e`` is in a range is not regular for arbitrary mantissas (the number of digits before the
point must be weighed against the exponent), so in scientific notation a reader keeps to `ScienceLimits`.
Constraints that do not need the size of the number (none at all, or only its sign) have no such limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias

from ...errors import LimitExceeded
from ...lexeme import Lexeme
from .comparing import DigitState, FractionState, IntegerState, Side
from .dfa import EXPONENT, MINUS, PLUS, POINT, Rows, to_lexeme
from .exponents import ALL, NONE, ExponentSet, complement_of, intersection_of
from .modulus import MantissaState, PlainModulus, PlainState, ScientificModulus

__all__ = ["MAX_STATES", "NumberReader", "ScienceLimits", "Test", "explore"]

MAX_STATES: Final = 20_000

State: TypeAlias = tuple[Any, ...]


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
    """Multiples of a number, or everything but its multiples."""

    def __init__(self, plain: PlainModulus, science: ScientificModulus, *, wanted: bool) -> None:
        self.plain: Final = plain
        self.science: Final = science
        self.wanted: Final = wanted

    def exponents(self, state: MantissaState) -> ExponentSet:
        found = self.science.exponents(state)
        return found if self.wanted else complement_of(found)


@dataclass(frozen=True)
class _Plain:
    """What is known of a number read as an ordinary decimal. ``order`` is compared, ``multiples`` per test."""

    order: IntegerState | FractionState
    multiples: tuple[PlainState, ...]


@dataclass(frozen=True)
class _Science:
    """What is known of it read as a mantissa. ``power``: of ten, of the first digit that is not zero."""

    n_digits: int  # of the integer part; after the point: of the fraction
    power: int
    significant: bool  # a digit other than zero was read
    last_is_zero: bool
    order: DigitState
    multiples: tuple[MantissaState, ...]


class NumberReader:
    """The transition function.

    Args:
        sides: Comparison for numbers without and with a minus sign.
        tests: Multiples, wanted and unwanted.
        whole_only: No point may be written.
        science: Limits in scientific notation; None: no exponent may be written.
    """

    def __init__(
        self,
        sides: tuple[Side, Side],
        tests: Sequence[Test],
        *,
        whole_only: bool,
        science: ScienceLimits | None,
    ) -> None:
        self._sides = sides
        self._tests = tuple(tests)
        self._whole_only = whole_only
        self._limits = science
        # Without points and multiples the exponent does not matter, so nothing needs to be counted.
        self.sizeless = not tests and all(side.n_points == 1 for side in sides)
        self._exponent_sides: dict[ExponentSet, Side] = {}

    # Phases: ("start",), ("sign",), ("zero"|"int", negative, plain, science),
    # ("point"|"frac", negative, plain, science), ("e", set), ("esign", set), ("e0", set), ("edigits", set, state)

    start: Final[State] = ("start",)

    def accepts(self, state: State) -> bool:
        """Whether the text may end here."""
        phase = state[0]
        if phase in ("zero", "int", "frac"):
            return self._plain_accepts(state)
        if phase == "e0":
            return self._exponent_side(state[1]).cells[0]
        if phase == "edigits":
            side = self._exponent_side(state[1])
            return side.fraction_allows(side.integer_end(state[2]))
        return False

    def moves(self, state: State) -> list[tuple[int, State]]:
        """Successors by symbol."""
        phase = state[0]
        if phase in ("start", "sign"):
            negative = phase == "sign"
            found = [(digit, self._first_digit(negative, digit)) for digit in range(10)]
            return found if negative else [*found, (MINUS, ("sign",))]
        if phase in ("zero", "int", "point", "frac"):
            return self._mantissa_moves(state)
        return self._exponent_moves(state)

    # -- mantissa

    def _first_digit(self, negative: bool, digit: int) -> State:
        side = self._sides[negative]
        plain = _Plain(side.start, tuple(test.plain.start for test in self._tests))
        science = None
        if self._limits:
            science = _Science(
                0, 0, False, False, side.digit_start, tuple(test.science.start for test in self._tests)
            )
        state: State = ("int" if digit else "zero", negative, plain, science)
        return self._integer_step(state, digit)

    def _mantissa_moves(self, state: State) -> list[tuple[int, State]]:
        phase, negative, plain, science = state
        found: list[tuple[int, State]] = []
        if phase == "int":
            found += [(digit, self._integer_step(state, digit)) for digit in range(10)]
        elif phase != "zero":
            found += [(digit, self._fraction_step(state, digit)) for digit in range(10)]
        if phase in ("zero", "int") and not self._whole_only:
            found.append(
                (POINT, ("point", negative, self._plain_point(negative, plain), self._at_point(science)))
            )
        if phase != "point" and science is not None:
            exponents = self._exponents(phase, negative, science)
            if exponents:
                found.append((EXPONENT, ("e", exponents)))
        return found

    def _integer_step(self, state: State, digit: int) -> State:
        phase, negative, plain, science = state
        side = self._sides[negative]
        plain = _Plain(
            side.integer_step(plain.order, str(digit)),
            tuple(
                test.plain.integer_step(part, digit)
                for test, part in zip(self._tests, plain.multiples, strict=True)
            ),
        )
        if science is not None and not self.sizeless:
            science = self._science_integer_step(side, science, digit)
        elif science is not None and digit:
            science = _Science(0, 0, True, False, science.order, ())
        return (phase, negative, plain, science)

    def _science_integer_step(self, side: Side, science: _Science, digit: int) -> _Science | None:
        assert self._limits is not None
        if science.n_digits == self._limits.whole:
            return None
        return _Science(
            science.n_digits + 1,
            science.power + 1 if science.significant else 0,
            science.significant or digit > 0,
            digit == 0,
            side.digit_step(science.order, str(digit)) if science.significant or digit else science.order,
            tuple(
                test.science.integer_step(part, digit)
                for test, part in zip(self._tests, science.multiples, strict=True)
            ),
        )

    def _plain_point(self, negative: bool, plain: _Plain) -> _Plain:
        order: Any = plain.order
        return _Plain(
            self._sides[negative].integer_end(order),
            tuple(
                test.plain.integer_end(part) for test, part in zip(self._tests, plain.multiples, strict=True)
            ),
        )

    def _at_point(self, science: _Science | None) -> _Science | None:
        if science is None or self.sizeless:
            return science
        if science.n_digits != 1:
            return None
        return _Science(0, science.power, science.significant, False, science.order, science.multiples)

    def _fraction_step(self, state: State, digit: int) -> State:
        _, negative, plain, science = state
        side = self._sides[negative]
        plain = _Plain(
            side.fraction_step(plain.order, str(digit)),
            tuple(
                test.plain.fraction_step(part, digit)
                for test, part in zip(self._tests, plain.multiples, strict=True)
            ),
        )
        if science is not None and not self.sizeless:
            science = self._science_fraction_step(side, science, digit)
        elif science is not None and digit:
            science = _Science(0, 0, True, False, science.order, ())
        return ("frac", negative, plain, science)

    def _science_fraction_step(self, side: Side, science: _Science, digit: int) -> _Science | None:
        limits = self._limits
        assert limits is not None
        counted = limits.zeros if limits.decimals is None else limits.decimals
        only_zeros = digit == 0 and (not science.significant or self._zeros_so_far(science))
        if (
            not only_zeros
            and science.n_digits >= counted
            and (limits.decimals is not None or not science.significant)
        ):
            return None
        return _Science(
            0 if limits.decimals is None and science.significant else min(science.n_digits + 1, counted),
            -science.n_digits - 1 if digit and not science.significant else science.power,
            science.significant or digit > 0,
            digit == 0 and not only_zeros,
            side.digit_step(science.order, str(digit)) if science.significant or digit else science.order,
            tuple(
                test.science.fraction_step(part, digit, counted)
                for test, part in zip(self._tests, science.multiples, strict=True)
            ),
        )

    def _zeros_so_far(self, science: _Science) -> bool:
        """Whether no test has met a fraction digit other than zero (then trailing zeros change nothing)."""
        return all(kind != "m" for kind, _, _ in science.multiples)

    def _plain_accepts(self, state: State) -> bool:
        phase, negative, plain, _ = state
        side = self._sides[negative]
        order = plain.order if phase == "frac" else side.integer_end(plain.order)
        return side.fraction_allows(order) and all(
            test.plain.is_multiple(part) == test.wanted
            for test, part in zip(self._tests, plain.multiples, strict=True)
        )

    # -- exponent

    def _exponents(self, phase: str, negative: bool, science: _Science) -> ExponentSet:
        side = self._sides[negative]
        if not science.significant:
            found = side.exponents_of_zero()
        elif self.sizeless:
            found = ALL if side.cells[1] else NONE
        else:
            if phase == "frac" and science.last_is_zero and self._tests:
                return NONE  # a residue with trailing zeros says too little
            found = side.exponents(science.order, science.power)
        for test, part in zip(self._tests, science.multiples, strict=True):
            found = intersection_of(found, test.exponents(part))
        return found

    def _exponent_moves(self, state: State) -> list[tuple[int, State]]:
        phase, exponents = state[0], state[1]
        if phase == "e":
            upward = intersection_of(exponents, ((0, None),))
            downward = intersection_of(exponents, ((None, 0),))
            mirrored = tuple(
                (-(high or 0), None if low is None else -low) for low, high in reversed(downward)
            )
            found = self._exponent_moves(("esign", upward)) if upward else []
            if upward:
                found.append((PLUS, ("esign", upward)))
            if mirrored:
                found.append((MINUS, ("esign", mirrored)))
            return found
        side = self._exponent_side(exponents)
        if phase != "edigits":
            digits = [
                (d, ("edigits", exponents, side.integer_step(side.start, str(d)))) for d in range(1, 10)
            ]
            return [(0, ("e0", exponents)), *digits]
        return [(d, ("edigits", exponents, side.integer_step(state[2], str(d)))) for d in range(10)]

    def _exponent_side(self, exponents: ExponentSet) -> Side:
        """The comparison machine of a set of natural numbers."""
        side = self._exponent_sides.get(exponents)
        if side is None:
            edges = [Fraction(edge) for low, high in exponents for edge in (low, high) if edge is not None]

            def holds(value: Fraction) -> bool:
                return any(
                    (low is None or low <= value) and (high is None or value <= high)
                    for low, high in exponents
                )

            side = self._exponent_sides[exponents] = Side(edges, holds)
        return side


def explore(reader: NumberReader) -> Lexeme:
    """The lexeme of everything a reader accepts.

    Raises:
        LimitExceeded: More than `MAX_STATES` states are needed.
    """
    numbers: dict[State, int] = {reader.start: 0}
    queue: list[State] = [reader.start]
    rows: Rows = []
    accepting: list[bool] = []
    for state in queue:  # grows while it is read
        accepting.append(reader.accepts(state))
        row: dict[int, int] = {}
        for symbol, target in reader.moves(state):
            number = numbers.get(target)
            if number is None:
                number = numbers[target] = len(queue)
                queue.append(target)
            row[symbol] = number
        rows.append(row)
        if len(queue) > MAX_STATES:
            raise LimitExceeded(
                "the numeric constraints need too large an automaton",
                resource="lexeme states",
                limit=MAX_STATES,
                hint="bound the range with minimum and maximum, or use a smaller multipleOf",
            )
    return to_lexeme(rows, accepting)
