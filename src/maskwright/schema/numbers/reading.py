"""Reading JSON number text with every constraint at once: the automaton of a set of numbers.

`NumberReader` runs the comparison and the multiples side by side over ``-?digits(.digits)?`` and, at an
``e``, asks `mantissa` for the exponents that may follow: a set of integers, read by the same comparison
machine (`ExponentReader`). `explore` turns the reader into explicit states, breadth first and metered.

Digits that no part of the reader tells apart are stepped once: see `_classes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from ...errors import LimitExceeded
from ...lexeme import Lexeme
from .comparing import FractionState, IntegerState, Side
from .dfa import EXPONENT, MINUS, PLUS, POINT, Rows, to_lexeme
from .exponents import ExponentSet, intersection_of
from .mantissa import Mantissa, MantissaReader, ScienceLimits, Test
from .modulus import PlainState

__all__ = ["MAX_STATES", "NumberReader", "explore"]

MAX_STATES: Final = 20_000

#: ``(phase, ...)``: ("start",), ("sign",); ("zero" | "int" | "point" | "frac", side, Plain | None, Mantissa |
#: None); ("e", set), ("e sign", set), ("e zero", set), ("e digits", set, IntegerState).
State: TypeAlias = tuple[Any, ...]
Moves: TypeAlias = Iterable[tuple[int, State]]

_START: Final[State] = ("start",)
_SIGN: Final[State] = ("sign",)


class Plain(NamedTuple):
    """What is known of a number read as an ordinary decimal."""

    order: Any  # IntegerState, after the point FractionState
    multiples: tuple[PlainState, ...]


@lru_cache(maxsize=4096)
def _classes(cuts: int, moduli: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Digits that lead to the same state, given those (as bits) that comparisons tell apart."""
    # Zero is always a class of its own: leading and closing zeros are special.
    groups: dict[tuple[int, ...], list[int]] = {}
    for digit in range(10):
        # Twice the cuts below, plus one on a cut: digits between two neighbouring cuts share it.
        place = 2 * (cuts & ((1 << digit) - 1)).bit_count() + (cuts >> digit & 1)
        groups.setdefault((digit > 0, place, *(digit % modulus for modulus in moduli)), []).append(digit)
    return tuple(map(tuple, groups.values()))


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
        self._mantissas = [MantissaReader(side, self._tests, science) for side in sides] if science else None
        self._exponents = ExponentReader()
        # If the sign does not matter, both sides are the first.
        self._negative = int(sides[0].cells != sides[1].cells or sides[0].n_points + sides[1].n_points > 2)
        moduli = {test.plain.modulus for test in tests} | {test.science.modulus for test in tests}
        self._moduli = tuple(sorted(moduli))

    @property
    def start(self) -> State:
        """Nothing read."""
        return _START

    def accepts(self, state: State) -> bool:
        """Whether the text may end here."""
        phase = state[0]
        if phase in ("zero", "int", "frac"):
            _, number, plain, _ = state
            return plain is not None and self._plain_accepts(phase, self._sides[number], plain)
        return self._exponents.accepts(state)

    def moves(self, state: State) -> Moves:
        """Successors by symbol."""
        phase = state[0]
        if phase == "start":
            return [*self._first_digits(0), (MINUS, _SIGN)]
        if phase == "sign":
            return self._first_digits(self._negative)
        if phase in ("zero", "int"):
            return self._integer_moves(state)
        if phase in ("point", "frac"):
            return self._fraction_moves(state)
        return self._exponents.moves(state)

    # -- before the point

    def _first_digits(self, number: int) -> Moves:
        side = self._sides[number]
        plain = Plain(side.start, tuple(test.plain.start for test in self._tests))
        mantissa = self._mantissas[number].start if self._mantissas else None
        yield 0, self._integer_step(("zero", number, plain, mantissa), 0)
        state = ("int", number, plain, mantissa)
        yield from ((digit, target) for digit, target in self._integer_digits(state) if digit)

    def _integer_moves(self, state: State) -> Moves:
        phase, number, plain, mantissa = state
        if phase == "int":
            yield from self._integer_digits(state)
        if not self._whole_only:
            after = self._plain_point(self._sides[number], plain) if plain else None
            fraction = self._mantissas[number].point(mantissa) if self._mantissas and mantissa else None
            if after or fraction:
                yield POINT, ("point", number, after, fraction)
        yield from self._exponent_moves(number, mantissa)

    def _integer_digits(self, state: State) -> Moves:
        _, number, plain, mantissa = state
        cuts = self._sides[number].integer_cuts(plain.order) if plain else 0
        if self._mantissas and mantissa:
            cuts |= self._mantissas[number].cuts(mantissa)
        for group in _classes(cuts, self._moduli):
            target = self._integer_step(state, group[0])
            yield from ((digit, target) for digit in group)

    def _integer_step(self, state: State, digit: int) -> State:
        phase, number, plain, mantissa = state
        multiples = [
            test.plain.integer_step(part, digit)
            for test, part in zip(self._tests, plain.multiples, strict=True)
        ]
        plain = Plain(self._sides[number].integer_step(plain.order, digit), tuple(multiples))
        if self._mantissas and mantissa:
            mantissa = self._mantissas[number].integer_step(mantissa, digit)
        return (phase, number, plain, mantissa)

    def _plain_point(self, side: Side, plain: Plain) -> Plain | None:
        multiples = [
            test.plain.integer_end(part) for test, part in zip(self._tests, plain.multiples, strict=True)
        ]
        return self._living(side.integer_end(plain.order), multiples)

    def _living(self, order: FractionState, multiples: list[PlainState]) -> Plain | None:
        """None as soon as no further decimals can help."""
        if order is False:
            return None
        for test, part in zip(self._tests, multiples, strict=True):
            if part is False and test.wanted:
                return None
        return Plain(order, tuple(multiples))

    # -- after the point

    def _fraction_moves(self, state: State) -> Moves:
        phase, number, plain, mantissa = state
        side = self._sides[number]
        cuts = side.fraction_cuts(plain.order) if plain else 0
        if self._mantissas and mantissa:
            cuts |= self._mantissas[number].cuts(mantissa)
        for group in _classes(cuts, self._moduli):
            target = self._fraction_step(state, group[0])
            if target[2] or target[3]:
                yield from ((digit, target) for digit in group)
        if phase == "frac":
            yield from self._exponent_moves(number, mantissa)

    def _fraction_step(self, state: State, digit: int) -> State:
        _, number, plain, mantissa = state
        if plain:
            order = self._sides[number].fraction_step(plain.order, digit)
            parts = [
                test.plain.fraction_step(part, digit)
                for test, part in zip(self._tests, plain.multiples, strict=True)
            ]
            plain = self._living(order, parts)
        if self._mantissas and mantissa:
            mantissa = self._mantissas[number].fraction_step(mantissa, digit)
        return ("frac", number, plain, mantissa)

    def _plain_accepts(self, phase: str, side: Side, plain: Plain) -> bool:
        order = plain.order if phase == "frac" else side.integer_end(plain.order)
        return side.fraction_allows(order) and all(
            test.plain.is_multiple(part) == test.wanted
            for test, part in zip(self._tests, plain.multiples, strict=True)
        )

    def _exponent_moves(self, number: int, mantissa: Mantissa | None) -> Moves:
        if self._mantissas and mantissa:
            exponents = self._mantissas[number].exponents(mantissa)
            if exponents:
                yield EXPONENT, ("e", exponents)


class ExponentReader:
    """Reads the integers of a set, leading zeros allowed, behind an ``e``."""

    def __init__(self) -> None:
        self._sides: dict[ExponentSet, Side] = {}

    def accepts(self, state: State) -> bool:
        """Whether the exponent may end here."""
        if state[0] == "e zero":
            return self._side(state[1]).cells[0]
        if state[0] == "e digits":
            side = self._side(state[1])
            return side.fraction_allows(side.integer_end(state[2]))
        return False

    def moves(self, state: State) -> Moves:
        """Successors by symbol."""
        phase, exponents = state[0], state[1]
        if phase == "e":
            yield from self._sign_moves(exponents)
            return
        side = self._side(exponents)
        if phase != "e digits":
            yield 0, ("e zero", exponents)
        reached: IntegerState = state[2] if phase == "e digits" else side.start
        for group in _classes(side.integer_cuts(reached), ()):
            if group == (0,) and phase != "e digits":
                continue
            target = ("e digits", exponents, side.integer_step(reached, group[0]))
            yield from ((digit, target) for digit in group)

    def _sign_moves(self, exponents: ExponentSet) -> Moves:
        upward = intersection_of(exponents, ((0, None),))
        downward = intersection_of(exponents, ((None, 0),))
        if upward:
            yield PLUS, ("e sign", upward)
            yield from self.moves(("e sign", upward))
        if downward:
            mirrored = [(-(high or 0), None if low is None else -low) for low, high in reversed(downward)]
            yield MINUS, ("e sign", tuple(mirrored))

    def _side(self, exponents: ExponentSet) -> Side:
        """The comparison machine of a set of natural numbers."""
        side = self._sides.get(exponents)
        if side is None:
            edges = [Fraction(edge) for interval in exponents for edge in interval if edge is not None]

            def holds(value: Fraction) -> bool:
                return any((low or 0) <= value and (high is None or value <= high) for low, high in exponents)

            side = self._sides[exponents] = Side(edges, holds)
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
