"""Whether a number is a multiple, decided while its digits are read.

A multiple ``m`` is split as ``rest * 2**twos * 5**fives`` with ``rest`` prime to ten. `PlainModulus` reads
ordinary decimals: it keeps the residue of the (scaled) digits, and counts the trailing zeros that a factor
of ten asks for instead of carrying them in the residue, so that a multiple of 1e308 takes 309 states and not
1e308. `ScientificModulus` reads a mantissa and says from which exponent on the value is a multiple: with
trailing zeros stripped, a mantissa has factors two or factors five but never both, hence one threshold.

Neither knows about signs (a multiple stays one) or about the point and exponent as text: `reading` does.
Rejected: residues alone. They are one line of code, and ``"multipleOf": 1e20`` would not finish.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import TypeAlias

from .comparing import decimal_digits
from .exponents import ALL, NONE, ExponentSet, at_least

__all__ = ["MantissaState", "PlainModulus", "PlainState", "ScientificModulus", "common_multiple"]

#: (residue, trailing zeros) in the integer part; (residue, fraction digits) after the point; or, once all
#: digits that count are read: whether the value is a multiple if only zeros follow.
PlainState: TypeAlias = "tuple[int, int] | bool"

#: (kind, residue, n): "0" nothing but zeros; "i" integer digits, residue without trailing zeros, n of these;
#: "z" one digit and n zeros after the point; "m" residue of all digits, n of them after the point.
MantissaState: TypeAlias = tuple[str, int, int]


def common_multiple(values: list[Fraction]) -> Fraction:
    """The smallest number that is a multiple of all values."""
    result = values[0]
    for value in values[1:]:
        ratio = result / value
        result = value * ratio.numerator
    return result


def _split(multiple: Fraction) -> tuple[int, int, int]:
    """``(rest, twos, fives)`` with ``multiple == rest * 2**twos * 5**fives``; powers may be negative."""
    decimal_digits(multiple)  # raises for what is not a finite decimal
    number, powers = multiple.numerator, []
    for prime in (2, 5):
        power, denominator = 0, multiple.denominator
        while number % prime == 0:
            number, power = number // prime, power + 1
        while denominator % prime == 0:
            denominator, power = denominator // prime, power - 1
        powers.append(power)
    return number, powers[0], powers[1]


class PlainModulus:
    """Multiples among numbers without an exponent."""

    def __init__(self, multiple: Fraction) -> None:
        _, twos, fives = _split(multiple)
        self.decimals = max(0, -twos, -fives)  # fraction digits that count
        self.tens = max(0, min(twos, fives))  # trailing zeros asked for
        self.modulus: int = int(multiple * 10**self.decimals) // 10**self.tens
        self._unit: int = 10**self.decimals % self.modulus
        self.start: PlainState = (0, self.tens)  # zero has as many trailing zeros as one likes

    @property
    def n_states(self) -> int:
        """Upper bound of the states that a reading goes through."""
        after_point = (
            self.modulus // gcd(10 ** (self.decimals - n_read), self.modulus)
            for n_read in range(1, self.decimals)
        )
        return self.modulus // gcd(self._unit, self.modulus) * (self.tens + 1) + sum(after_point)

    def integer_step(self, state: PlainState, digit: int) -> PlainState:
        """Read one digit of the integer part."""
        assert not isinstance(state, bool)
        residue, zeros = state
        if not self.tens:
            return ((residue * 10 + digit * self._unit) % self.modulus, 0)
        if digit:
            return ((residue * 10 ** (zeros + 1) + digit) % self.modulus, 0)
        if zeros == self.tens:
            return (residue * 10 % self.modulus, zeros)
        # Zeros so far do not count in the residue; once there are enough of them they are kept apart.
        return (residue, zeros + 1)

    def integer_end(self, state: PlainState) -> PlainState:
        """The integer part is over."""
        assert not isinstance(state, bool)
        return (state[0], 0) if self.decimals else self.is_multiple(state)

    def fraction_step(self, state: PlainState, digit: int) -> PlainState:
        """Read one digit after the point."""
        if isinstance(state, bool):
            return state and digit == 0
        residue, n_read = state
        n_read += 1
        residue = (residue + digit * 10 ** (self.decimals - n_read)) % self.modulus
        return residue == 0 if n_read == self.decimals else (residue, n_read)

    def is_multiple(self, state: PlainState) -> bool:
        """Whether the number is a multiple if it ends here."""
        if isinstance(state, bool):
            return state
        residue, zeros = state
        return residue == 0 and (zeros == self.tens or self.decimals > 0)


@dataclass(frozen=True)
class _Need:
    """The threshold of a residue: see `ScientificModulus`."""

    rest: int
    twos: int
    fives: int

    @property
    def base(self) -> int:
        """The prime that is in excess."""
        return 2 if self.twos >= self.fives else 5

    @property
    def excess(self) -> int:
        return abs(self.twos - self.fives)

    def exponents(self, residue: int) -> ExponentSet:
        """Powers of ten that make digits of this residue a multiple."""
        if residue % self.rest:
            return NONE
        found = 0
        while found < self.excess and residue % self.base ** (found + 1) == 0:
            found += 1
        return at_least(max(self.twos, self.fives) - found)


class ScientificModulus:
    """Multiples among numbers with an exponent: mantissa digits to a set of exponents."""

    def __init__(self, multiple: Fraction) -> None:
        self._need = _Need(*_split(multiple))
        self.modulus = self._need.rest * self._need.base**self._need.excess
        self.start: MantissaState = ("0", 0, 0)

    @property
    def least_power(self) -> int:
        """The last digit of a multiple, zeros aside, stands at this power of ten or a higher one."""
        return min(self._need.twos, self._need.fives)

    def integer_step(self, state: MantissaState, digit: int) -> MantissaState:
        """Read one digit of the integer part."""
        kind, residue, zeros = state
        if kind == "0" and not digit:
            return state
        if not digit:
            return ("i", residue, zeros + 1)
        return ("i", (residue * 10 ** (zeros + 1) + digit) % self.modulus, 0)

    def fraction_step(self, state: MantissaState, digit: int, most: int) -> MantissaState:
        """Read one digit after the point; the integer part had one digit. Counts stop above ``most``."""
        kind, residue, n_read = state
        if kind == "i":
            kind, n_read = "z", 0
        if not digit and kind in "0z":
            return (kind, residue, min(n_read + 1, most + 1))
        shift = 1 if kind == "m" else n_read + 1
        places = min(n_read + 1, most + 1)
        return ("m", (residue * 10**shift + digit) % self.modulus, places)

    def exponents(self, state: MantissaState) -> ExponentSet:
        """Exponents that make the value a multiple. In kind "m" the last digit must not be zero."""
        kind, residue, n_read = state
        if kind == "0":
            return ALL
        low = self._need.exponents(residue)
        moved = n_read if kind == "m" else -n_read if kind == "i" else 0
        return tuple((None if start is None else start + moved, end) for start, end in low)
