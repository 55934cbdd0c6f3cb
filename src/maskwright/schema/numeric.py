"""Numbers of a branch as one lexeme: bounds, multiples, integer or not, excluded values."""

from __future__ import annotations

from functools import lru_cache
from math import lcm
from typing import TYPE_CHECKING, Any, Literal

from ..errors import GrammarError, LimitExceeded
from ..lexeme import EMPTY, Lexeme
from ..rules import Lex
from .numbers import number_language, number_lexeme
from .report import Report, Status
from .spelling import any_number
from .values import FRACTION, INTEGER, NUMBER, decimal_of, is_number

if TYPE_CHECKING:
    from .branches import Branch

__all__ = ["any_integer", "number_meets", "numbers_lexeme", "plainly_has_number"]

Spelling = Literal["plain", "json"]


@lru_cache(maxsize=2)
def any_integer(spelling: Spelling) -> Lex:
    """Every integer, in a spelling."""
    return Lex(number_lexeme(integer=True, integer_spelling=spelling))


def plainly_has_number(branch: Branch) -> bool:
    """Whether some number meets the branch, as far as that is plain without an automaton.

    A multiple of whole numbers lies in every range that is as wide as their least common multiple.
    """
    if not branch.types & INTEGER or branch.excluded:
        return False
    step, is_open = 1, False
    low = high = None
    for kind, value, _ in branch.numbers:
        if kind == "plain":
            continue
        if not isinstance(value, int) or kind == "not_multiple":
            return False
        if kind == "multiple":
            step = lcm(step, value)
        elif kind in ("min", "xmin"):
            low = value if low is None else max(low, value)
        else:
            high = value if high is None else min(high, value)
        is_open = is_open or kind in ("xmin", "xmax")
    return low is None or high is None or high - low >= (2 * step if is_open else step)


def numbers_lexeme(branch: Branch, spelling: Spelling, report: Report) -> Lexeme:
    """The numbers of a branch; `EMPTY` if there are none."""
    kinds = branch.types & NUMBER
    excluded = [_exact(value) for value in branch.excluded.values() if is_number(value)]
    if not kinds:
        return EMPTY
    if not branch.numbers and not excluded:
        if kinds == NUMBER:
            return any_number()
        if kinds == INTEGER:
            return any_integer(spelling).lexeme
    bounds: dict[str, Any] = {}
    multiples: list[Any] = []
    not_multiples: list[Any] = []
    for kind, value, _ in branch.numbers:
        if kind == "plain":  # draft 4: 1.0 is no integer
            spelling = "plain"
        elif kind == "multiple":
            multiples.append(value)
        elif kind == "not_multiple":
            not_multiples.append(value)
        else:
            name, better = _BOUNDS[kind]
            bounds[name] = value if name not in bounds else better(bounds[name], value)
    try:
        found = number_language(
            **bounds,
            integer=kinds == INTEGER,
            not_integer=kinds == FRACTION,
            multiple_of=multiples,
            not_multiple_of=not_multiples,
            excluded=excluded,
            integer_spelling=spelling,
            # Exponents of a bounded number take an automaton of thousands of states, and models rarely
            # write them; the report says that they are left out.
            exponents=spelling == "json",
        )
    except LimitExceeded:
        raise
    except (GrammarError, ValueError) as error:
        raise branch.numbers[0][2].error(f"this number cannot be enforced: {error}", "type") from error
    if found.left_out is not None and branch.numbers and not (spelling == "plain" and kinds == INTEGER):
        node = branch.numbers[0][2]
        keyword = next((k for k in _KEYWORDS if k in node.schema), "type")
        report.note(node.pointer, keyword, Status.ENFORCED, f"never written: {found.left_out}")
    return found.lexeme


def _exact(value: Any) -> Any:
    return value if isinstance(value, int) else decimal_of(value)


_BOUNDS: dict[str, tuple[str, Any]] = {
    "min": ("minimum", max),
    "max": ("maximum", min),
    "xmin": ("exclusive_minimum", max),
    "xmax": ("exclusive_maximum", min),
}
_KEYWORDS = ("multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


def number_meets(branch: Branch, value: Any) -> bool:
    """Whether a number meets the constraints of a branch (its type is checked elsewhere)."""
    from fractions import Fraction

    exact = Fraction(_exact(value))
    for kind, bound, _ in branch.numbers:
        limit = Fraction(bound)
        if kind == "plain":
            continue
        if kind == "multiple":
            good = (exact / limit).denominator == 1
        elif kind == "not_multiple":
            good = (exact / limit).denominator != 1
        elif kind == "min":
            good = exact >= limit
        elif kind == "max":
            good = exact <= limit
        elif kind == "xmin":
            good = exact > limit
        else:
            good = exact < limit
        if not good:
            return False
    return True
