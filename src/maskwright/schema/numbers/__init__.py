"""Numbers with constraints, as one lexeme over their JSON text.

`number_language` takes every constraint a schema can put on a number (bounds, multiples, integer or not,
excluded values, and the negations of all these) and returns the exact language of its spellings: a DFA that
compares digits with the bounds and keeps residues for the multiples. Values are exact decimals of any size;
nothing is ever rounded. A set of constraints that no number satisfies gives `lexeme.EMPTY`, always.

A few spellings in scientific notation cannot be told apart by a finite automaton; those are refused, never
wrongly accepted, and named in `NumberLexeme.left_out`. See ``docs/numbers.md``.

Files: `comparing` (bounds), `modulus` (multiples), `reading` (both at once, through the JSON grammar),
`mantissa` and `exponents` (scientific notation), `dfa` (minimising), `large` (multiples with too many
residues). Rejected: an intersection of one lexeme per constraint, which would leave the product, its
emptiness and its dead ends to be found while decoding.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from math import ceil, floor
from typing import Final, Literal, TypeAlias

from ...errors import LimitExceeded
from ...lexeme import EMPTY, Lexeme, concat, literal, literals, optional, plus, star, union
from .comparing import Side, decimal_digits
from .large import large_multiples
from .mantissa import ScienceLimits, Test
from .modulus import PlainModulus, ScientificModulus, common_multiple
from .reading import NumberReader, explore
from .whole import whole_range

__all__ = ["Exact", "NumberLexeme", "number_language", "number_lexeme"]

#: A number without rounding. Floats are not taken: parse JSON with ``parse_float=decimal.Decimal``.
Exact: TypeAlias = int | Decimal | Fraction

MAX_DIGITS: Final = 4_096  # of a bound, before and after the point
MAX_RESIDUES: Final = 5_000  # of the digits by the multiples
MAX_LISTED: Final = 10_000  # multiples in a bounded range that are spelled out one by one
_FEW_RESIDUES: Final = 200  # up to here an automaton is always better than a list
#: Up to here an automaton is better than states made when visited, where these are little more than the
#: residues: below a bound they are the numbers themselves.
_FEW_IN_ENDLESS: Final = 7
_SCIENCE_BUDGET: Final = 1_000  # residues times decimals of a mantissa


@dataclass(frozen=True, slots=True)
class NumberLexeme:
    """A set of numbers.

    Attributes:
        lexeme: JSON text of exactly these numbers; `lexeme.EMPTY` if there are none.
        left_out: Which spellings of these numbers the lexeme does not hold, in words; None if it holds all.
    """

    lexeme: Lexeme
    left_out: str | None


@dataclass(frozen=True, slots=True)
class _Constraints:
    """Normalised arguments: the cache key."""

    minimum: Fraction | None
    above: Fraction | None
    maximum: Fraction | None
    below: Fraction | None
    multiple: Fraction | None
    not_multiples: tuple[Fraction, ...]
    excluded: frozenset[Fraction]
    whole_only: bool
    exponents: bool

    def in_range(self, value: Fraction) -> bool:
        return (
            (self.minimum is None or value >= self.minimum)
            and (self.above is None or value > self.above)
            and (self.maximum is None or value <= self.maximum)
            and (self.below is None or value < self.below)
            and value not in self.excluded
        )

    def ends(self) -> tuple[Fraction | None, Fraction | None]:
        """The closed range, exclusive ends included."""
        lows = [bound for bound in (self.minimum, self.above) if bound is not None]
        highs = [bound for bound in (self.maximum, self.below) if bound is not None]
        return max(lows, default=None), min(highs, default=None)


def number_language(
    *,
    integer: bool = False,
    not_integer: bool = False,
    minimum: Exact | None = None,
    maximum: Exact | None = None,
    exclusive_minimum: Exact | None = None,
    exclusive_maximum: Exact | None = None,
    multiple_of: Iterable[Exact] = (),
    not_multiple_of: Iterable[Exact] = (),
    excluded: Iterable[Exact] = (),
    integer_spelling: Literal["plain", "json"] = "json",
    exponents: bool = True,
) -> NumberLexeme:
    """The numbers that satisfy all constraints.

    Args:
        integer: Only whole numbers.
        not_integer: Only numbers that are not whole (the dual of ``type: integer``).
        minimum, maximum: Bounds, included.
        exclusive_minimum, exclusive_maximum: Bounds, not included; may stand beside the included ones.
        multiple_of: Positive numbers; the value is a multiple of each.
        not_multiple_of: Positive numbers; the value is a multiple of none.
        excluded: Values that the number must differ from.
        integer_spelling: With ``integer``: "json" allows every JSON spelling of a whole number (``1.0``,
            ``1e2``), "plain" only digits with an optional minus sign.
        exponents: Whether scientific notation may be used.

    Raises:
        TypeError: A float or a bool was given for a number.
        ValueError: A multiple is not positive, or a number is not a finite decimal.
        LimitExceeded: The multiples need too many states and the range does not make them few.

    Example:
        >>> number_language(minimum=0).left_out is None
        True
        >>> number_lexeme(integer=True, exclusive_minimum=0, exclusive_maximum=1) is EMPTY
        True
    """
    multiples = {_exact(value) for value in multiple_of}
    not_multiples = {_exact(value) for value in not_multiple_of}
    if any(value <= 0 for value in multiples | not_multiples):
        raise ValueError("a multiple must be positive")
    whole_only = integer and integer_spelling == "plain"
    if integer:
        multiples.add(Fraction(1))
    if not_integer:
        not_multiples.add(Fraction(1))
    return _language(
        _Constraints(
            minimum=None if minimum is None else _exact(minimum),
            above=None if exclusive_minimum is None else _exact(exclusive_minimum),
            maximum=None if maximum is None else _exact(maximum),
            below=None if exclusive_maximum is None else _exact(exclusive_maximum),
            multiple=common_multiple(sorted(multiples)) if multiples else None,
            not_multiples=_least(not_multiples),
            excluded=frozenset(_exact(value) for value in excluded),
            whole_only=whole_only,
            exponents=exponents and not whole_only,
        )
    )


def number_lexeme(
    *,
    integer: bool = False,
    not_integer: bool = False,
    minimum: Exact | None = None,
    maximum: Exact | None = None,
    exclusive_minimum: Exact | None = None,
    exclusive_maximum: Exact | None = None,
    multiple_of: Iterable[Exact] = (),
    not_multiple_of: Iterable[Exact] = (),
    excluded: Iterable[Exact] = (),
    integer_spelling: Literal["plain", "json"] = "json",
    exponents: bool = True,
) -> Lexeme:
    """The lexeme of `number_language`, same arguments; `lexeme.EMPTY` if no number is left."""
    return number_language(
        integer=integer,
        not_integer=not_integer,
        minimum=minimum,
        maximum=maximum,
        exclusive_minimum=exclusive_minimum,
        exclusive_maximum=exclusive_maximum,
        multiple_of=multiple_of,
        not_multiple_of=not_multiple_of,
        excluded=excluded,
        integer_spelling=integer_spelling,
        exponents=exponents,
    ).lexeme


def _exact(value: Exact) -> Fraction:
    """A finite decimal of bearable length, as a fraction in lowest terms."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal | Fraction):
        raise TypeError(f"{value!r} is not an exact number: use int, Decimal or Fraction")
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError(f"{value} is not a number")
        if not value:
            return Fraction(0)
        exponent = value.as_tuple().exponent
        # Looked at before the fraction is made, which would write out all zeros of 1e999999999.
        if max(abs(value.adjusted()), abs(int(exponent))) > MAX_DIGITS:
            raise _too_long()
    exact = Fraction(value)
    if max(abs(exact.numerator), exact.denominator).bit_length() > MAX_DIGITS * 4:
        raise _too_long()
    decimal_digits(abs(exact))
    return exact


def _too_long() -> LimitExceeded:
    return LimitExceeded(
        "a number in a constraint has too many digits",
        resource="digits of a number",
        limit=MAX_DIGITS,
        hint="leave the bound out, or write one that is not so far from zero",
    )


def _least(not_multiples: set[Fraction]) -> tuple[Fraction, ...]:
    """Without those that are multiples of others: what is no multiple of 3 is none of 6."""
    kept: list[Fraction] = []
    for value in sorted(not_multiples):
        if not any((value / other).denominator == 1 for other in kept):
            kept.append(value)
    return tuple(kept)


@lru_cache(maxsize=512)
def _language(constraints: _Constraints) -> NumberLexeme:
    multiple = constraints.multiple
    if multiple is not None and any((multiple / v).denominator == 1 for v in constraints.not_multiples):
        return NumberLexeme(EMPTY, None)
    if constraints.whole_only and multiple == 1:
        multiple = None  # without a point every number is whole
        bounds = (constraints.minimum, constraints.above, constraints.maximum, constraints.below)
        if any(bound is not None for bound in bounds) and not (
            constraints.not_multiples or constraints.excluded
        ):
            found = whole_range(*bounds)
            return NumberLexeme(
                found, None if found is EMPTY else _left_out(constraints, None, sizeless=False)
            )
    plain = PlainModulus(multiple) if multiple is not None else None
    others = [PlainModulus(value) for value in constraints.not_multiples]
    n_residues = 1
    for modulus in [*([plain] if plain else []), *others]:
        n_residues *= modulus.n_states
    if multiple is not None and n_residues > _FEW_RESIDUES:
        listed = _listed(constraints, multiple)
        if listed is not None:
            return listed
    if n_residues > _residues_of_automata(constraints):
        large = _large(constraints)
        if large is not None:
            return NumberLexeme(large, _left_out(constraints, None, sizeless=False))
        finer = _by_decimals(constraints)
        if finer is not None:
            return finer
    if n_residues > MAX_RESIDUES:
        raise LimitExceeded(
            f"multiples of {_shown(multiple, constraints.not_multiples)} need too large an automaton",
            resource="residues of a number",
            limit=MAX_RESIDUES,
            hint=f"bound the range with minimum and maximum, so that it holds at most {MAX_LISTED} multiples",
        )
    return _explored(constraints, multiple, plain, others)


def _residues_of_automata(constraints: _Constraints) -> int:
    """How many residues are worked out as an automaton before anything is visited."""
    if constraints.exponents:
        return MAX_RESIDUES
    low, high = constraints.ends()
    is_endless = high is None and (low is None or 0 <= low <= _FEW_RESIDUES)
    return _FEW_IN_ENDLESS if is_endless else _FEW_RESIDUES


def _by_decimals(constraints: _Constraints) -> NumberLexeme | None:
    """Of numbers that are only *not* multiples: those with as many decimals as the multiples, and all others.

    The first are whole numbers of one unit, and counted as such; the others are multiples of nothing here.
    """
    if constraints.multiple is not None:
        return None
    n_decimals = max(len(decimal_digits(value)[1]) for value in constraints.not_multiples)
    unit = Fraction(1, 10**n_decimals)
    counted: Lexeme | None = EMPTY
    if unit not in constraints.not_multiples:
        counted = _large(replace(constraints, multiple=unit))
    if counted is None:
        return None
    finer = _language(replace(constraints, not_multiples=(unit,)))
    left_out = [f"numbers of up to {n_decimals} decimals written with an exponent"]
    if counted is EMPTY:
        left_out = []
    if finer.left_out is not None:
        left_out.append(f"of numbers with more than {n_decimals} decimals: {finer.left_out}")
    return NumberLexeme(union(counted, finer.lexeme), "; ".join(left_out) or None)


def _large(constraints: _Constraints) -> Lexeme | None:
    """By a lexeme that keeps residues only where they are visited; None if that cannot hold the numbers."""
    if constraints.multiple is None:
        return None
    lows = [
        (bound, is_in)
        for bound, is_in in ((constraints.minimum, True), (constraints.above, False))
        if bound is not None
    ]
    highs = [
        (bound, is_in)
        for bound, is_in in ((constraints.maximum, True), (constraints.below, False))
        if bound is not None
    ]
    return large_multiples(
        constraints.multiple,
        constraints.not_multiples,
        constraints.excluded,
        # Of two equal bounds the one that leaves itself out is the narrower one.
        max(lows, key=lambda low: (low[0], not low[1]), default=None),
        min(highs, default=None),
        whole_only=constraints.whole_only,
    )


def _shown(multiple: Fraction | None, not_multiples: tuple[Fraction, ...]) -> str:
    values = [*([multiple] if multiple is not None else []), *not_multiples]
    texts = [".".join(filter(None, decimal_digits(value))) for value in values]
    return " and ".join(text if len(text) <= 40 else f"{text[:37]}..." for text in texts)


def _explored(
    constraints: _Constraints,
    multiple: Fraction | None,
    plain: PlainModulus | None,
    others: list[PlainModulus],
) -> NumberLexeme:
    """By automaton."""
    tests = (
        [] if multiple is None or plain is None else [Test(plain, ScientificModulus(multiple), wanted=True)]
    )
    for value, modulus in zip(constraints.not_multiples, others, strict=True):
        tests.append(Test(modulus, ScientificModulus(value), wanted=False))
    bounds = (constraints.minimum, constraints.above, constraints.maximum, constraints.below)
    points = [point for point in bounds if point is not None] + sorted(constraints.excluded)
    sides = (
        Side([point for point in points if point > 0], constraints.in_range),
        Side([-point for point in points if point < 0], lambda magnitude: constraints.in_range(-magnitude)),
    )
    science = _science_limits(tests) if constraints.exponents else None
    sizeless = not tests and all(side.n_points == 1 for side in sides)
    reader = NumberReader(sides, tests, whole_only=constraints.whole_only, science=science)
    found = explore(reader)
    return NumberLexeme(found, None if found is EMPTY else _left_out(constraints, science, sizeless))


def _science_limits(tests: list[Test]) -> ScienceLimits | None:
    """How long a mantissa may be: shorter the more residues there are to tell apart."""
    if not tests:
        return ScienceLimits(whole=3, decimals=None, zeros=16)
    n_residues = 1
    for test in tests:
        n_residues *= test.science.modulus
    decimals = min(16, _SCIENCE_BUDGET // n_residues)
    if not decimals:
        return None
    return ScienceLimits(whole=3 if n_residues <= 30 else 1, decimals=decimals, zeros=decimals)


def _left_out(constraints: _Constraints, science: ScienceLimits | None, sizeless: bool) -> str | None:
    if constraints.whole_only:
        return "whole numbers written with a point or an exponent"
    if science is None:
        return "numbers written with an exponent"
    if sizeless:
        return None
    digits = "3 digits" if science.whole == 3 else "1 digit"
    if science.decimals is None:
        decimals = f"any decimals (not more than {science.zeros} zeros after '0.')"
    else:
        decimals = f"up to {science.decimals} decimals (no closing zeros, but any number if all are zeros)"
    return (
        f"numbers with an exponent, unless the mantissa has up to {digits} and no point, "
        f"or 1 digit and {decimals}"
    )


def _listed(constraints: _Constraints, multiple: Fraction) -> NumberLexeme | None:
    """By writing all multiples in the range down; None if it is unbounded or there are too many."""
    low, high = constraints.ends()
    if low is None or high is None:
        return None
    first, last = ceil(low / multiple), floor(high / multiple)
    if last - first >= MAX_LISTED:
        return None
    candidates = (multiple * factor for factor in range(first, last + 1))
    values = [
        value
        for value in islice(candidates, MAX_LISTED)
        if constraints.in_range(value)
        and not any((value / other).denominator == 1 for other in constraints.not_multiples)
    ]
    if not values:
        return NumberLexeme(EMPTY, None)
    whole: list[bytes] = [b"-0"] if Fraction(0) in values else []
    broken: list[bytes] = []
    for value in values:
        before, after = decimal_digits(abs(value))
        text = f"{'-' if value < 0 else ''}{before}".encode()
        if after:
            broken.append(text + b"." + after.encode())
        else:
            whole.append(text)
    if constraints.whole_only:
        return NumberLexeme(literals(whole), "whole numbers written with a point or an exponent")
    zero = literal(b"0")
    lexeme = union(
        concat(literals(whole), optional(concat(literal(b"."), plus(zero)))),
        concat(literals(broken), star(zero)),
    )
    return NumberLexeme(lexeme, "numbers written with an exponent")
