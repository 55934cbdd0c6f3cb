"""Lexemes: regular languages over bytes, as plain data.

A lexeme is what a grammar's terminals are made of. This module only *describes* languages;
`maskwright.kernel.lexemes` interns the descriptions and walks them by Brzozowski derivatives
(Brzozowski 1964; Owens, Reppy and Turon 2009), so nothing here builds an automaton and a
counted repetition stays a pair of numbers.

Everything is about **bytes**. Text front-ends spell characters as UTF-8 (or as JSON text)
themselves: see `maskwright.regex.encoding`.

Objects are immutable and compare by identity; the kernel hash-conses them by structure. (Interning
here, in Python, was tried in the design and costs more than the whole compilation.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from math import lcm
from typing import Final

from .records import Lexeme

__all__ = [
    "EMPTY",
    "EPSILON",
    "Lexeme",
    "Op",
    "any_byte",
    "arrangement",
    "automaton",
    "byte_range",
    "byte_set",
    "complement",
    "concat",
    "difference",
    "either",
    "intersection",
    "literal",
    "literals",
    "multiples",
    "optional",
    "plus",
    "repeat",
    "star",
    "union",
]


class Op(IntEnum):
    """Kind of a lexeme; the layout of ``Lexeme.args`` follows from it."""

    EMPTY = 0  #: the empty language; ()
    EPSILON = 1  #: the empty string; ()
    LITERAL = 2  #: one byte string; (bytes,)
    BYTES = 3  #: one byte out of a set; (mask: int of 256 bits,)
    LITERALS = 4  #: a finite set of byte strings; the args are its members: bytes, sorted, distinct
    CONCAT = 5  #: sequence; tuple of Lexeme, two or more
    UNION = 6  #: alternatives; tuple of Lexeme, two or more
    INTERSECTION = 7  #: conjunction; tuple of Lexeme, two or more
    COMPLEMENT = 8  #: all *byte strings* that are not in the operand; (Lexeme,)
    REPEAT = 9  #: counted repetition; (Lexeme, min, max), max -1 for unbounded
    AUTOMATON = 10  #: explicit DFA; (rows, accepting): see `automaton`
    MULTIPLES = 11  #: texts of numbers; see `multiples`
    #: some parts in any order: (parts, required, separator, close, low, high); see `arrangement`
    ARRANGEMENT = 12


EMPTY: Final = Lexeme(Op.EMPTY)
EPSILON: Final = Lexeme(Op.EPSILON)
_ALL_BYTES: Final = (1 << 256) - 1


def literal(text: bytes) -> Lexeme:
    """The language of exactly one byte string."""
    return Lexeme(Op.LITERAL, (text,)) if text else EPSILON


def byte_set(mask: int | Iterable[int]) -> Lexeme:
    """One byte out of a set, given as a 256-bit mask (bit b = byte b) or as byte values."""
    if not isinstance(mask, int):
        mask = sum(1 << byte for byte in set(mask))
    if not 0 <= mask <= _ALL_BYTES:
        raise ValueError("a byte set holds values 0 to 255")
    return Lexeme(Op.BYTES, (mask,)) if mask else EMPTY


def byte_range(low: int, high: int) -> Lexeme:
    """One byte between two values, both included."""
    return byte_set(((1 << (high + 1)) - 1) ^ ((1 << low) - 1))


any_byte: Final = Lexeme(Op.BYTES, (_ALL_BYTES,))


def literals(texts: Iterable[bytes]) -> Lexeme:
    """A finite set of byte strings: one trie in the kernel, so thousands of members are cheap."""
    members = tuple(sorted(set(texts)))
    if not members:
        return EMPTY
    return literal(members[0]) if len(members) == 1 else Lexeme(Op.LITERALS, members)


def concat(*parts: Lexeme) -> Lexeme:
    """The parts one after another."""
    flat: list[Lexeme] = []
    for part in parts:
        if part.op is Op.EMPTY:
            return EMPTY
        if part.op is Op.CONCAT:
            flat.extend(part.args)
        elif part.op is not Op.EPSILON:
            flat.append(part)
    if len(flat) < 2:
        return flat[0] if flat else EPSILON
    return Lexeme(Op.CONCAT, tuple(flat))


def union(*parts: Lexeme) -> Lexeme:
    """Any of the parts."""
    kept = [part for part in parts if part.op is not Op.EMPTY]
    if len(kept) < 2:
        return kept[0] if kept else EMPTY
    return Lexeme(Op.UNION, tuple(kept))


def either(parts: Iterable[Lexeme]) -> Lexeme:
    """Any of the parts, with all their texts as one set of literals."""
    fixed: set[bytes] = set()
    rest: list[Lexeme] = []
    for part in parts:
        if part.op is Op.LITERAL:
            fixed.add(part.args[0])
        elif part.op is Op.LITERALS:
            fixed.update(part.args)
        else:
            rest.append(part)
    return union(literals(fixed), *rest)


def intersection(*parts: Lexeme) -> Lexeme:
    """All of the parts at once. At least one part is needed."""
    if not parts:
        raise ValueError("an intersection needs at least one part")
    if any(part.op is Op.EMPTY for part in parts):
        return EMPTY
    return parts[0] if len(parts) == 1 else Lexeme(Op.INTERSECTION, parts)


def complement(part: Lexeme) -> Lexeme:
    """All byte strings that the part does not hold (also those that are not UTF-8)."""
    return part.args[0] if part.op is Op.COMPLEMENT else Lexeme(Op.COMPLEMENT, (part,))


def difference(keep: Lexeme, drop: Lexeme) -> Lexeme:
    """What the first holds and the second does not."""
    return keep if drop.op is Op.EMPTY else intersection(keep, complement(drop))


def repeat(part: Lexeme, low: int, high: int | None) -> Lexeme:
    """``low`` to ``high`` times the part; ``None`` for no upper bound."""
    if low < 0 or (high is not None and high < low):
        raise ValueError(f"a repetition cannot run from {low} to {high}")
    if high == 0 or part.op is Op.EPSILON:
        return EPSILON
    if part.op is Op.EMPTY:
        return EPSILON if low == 0 else EMPTY
    if low == 1 and high == 1:
        return part
    return Lexeme(Op.REPEAT, (part, low, -1 if high is None else high))


def star(part: Lexeme) -> Lexeme:
    """Any number of times the part."""
    return repeat(part, 0, None)


def plus(part: Lexeme) -> Lexeme:
    """Once or more the part."""
    return repeat(part, 1, None)


def optional(part: Lexeme) -> Lexeme:
    """The part or nothing."""
    return repeat(part, 0, 1)


def automaton(rows: Sequence[Sequence[tuple[int, int, int]]], accepting: Iterable[int]) -> Lexeme:
    """An explicit deterministic automaton; state 0 is the start.

    Args:
        rows: For each state its transitions ``(low byte, high byte, target state)``, both bytes
            included, ranges of one state disjoint. A byte without a range is a dead end.
        accepting: The states in which the language may end.

    Raises:
        ValueError: A range or a state number is out of bounds.
    """
    n_states = len(rows)
    ends = frozenset(accepting)
    for row in rows:
        for low, high, target in row:
            if not (0 <= low <= high <= 255 and 0 <= target < n_states):
                raise ValueError(f"bad transition {(low, high, target)}")
    if not all(0 <= state < n_states for state in ends):
        raise ValueError("an accepting state is out of bounds")
    table = tuple(tuple(tuple(entry) for entry in row) for row in rows)
    return Lexeme(Op.AUTOMATON, (table, tuple(state in ends for state in range(n_states))))


#: No number of `multiples` may be larger, so that 64 bits hold ten times what is read.
LARGEST_MULTIPLE: Final = 10**17


def multiples(
    wanted: int,
    *,
    unwanted: Iterable[int] = (),
    excluded: Iterable[int] = (),
    decimals: int = 0,
    low: int = 0,
    high: int | None = None,
    point: bool = True,
) -> Lexeme:
    """Decimal texts, without sign and exponent, of ``n / 10**decimals`` for many whole numbers n.

    Integers are written as JSON writes them; with ``point`` decimals may follow, closing zeros included.
    States are made as they are visited, so a multiple of a billion costs what one of ten costs.

    Args:
        wanted: n is a multiple of it.
        unwanted: n is a multiple of none of these.
        excluded: n is none of these.
        decimals: How many decimals count.
        low, high: Least and greatest n; None for no end.
        point: Whether a point may be written; without, ``decimals`` is 0.

    Raises:
        ValueError: A number is negative, a multiple is 0, or one is beyond `LARGEST_MULTIPLE`.

    >>> multiples(3).op.name
    'MULTIPLES'
    """
    others = tuple(sorted(set(unwanted)))
    apart = tuple(sorted(set(excluded)))
    base = max([low, *(value + 1 for value in apart)])
    if min(wanted, *others, *(value + 1 for value in apart), low + 1) < 1 or (decimals and not point):
        raise ValueError("multiples are positive, bounds and excluded values at least 0")
    if max(lcm(wanted, *others), base, high or 0, 10**decimals) > LARGEST_MULTIPLE:
        raise ValueError(f"numbers are at most {LARGEST_MULTIPLE}")
    if high is not None and high < low:
        return EMPTY
    return Lexeme(Op.MULTIPLES, (wanted, others, apart, decimals, low, -1 if high is None else high, point))


def arrangement(
    parts: Sequence[Lexeme],
    separator: Lexeme,
    close: Lexeme,
    *,
    required: Iterable[int] = (),
    low: int = 1,
    high: int | None = None,
) -> Lexeme:
    """Some of the parts in any order, each at most once, a separator between any two, and then the close.

    States are made as they are visited, so twenty parts do not cost a million.

    Args:
        parts: What is arranged. Neither these nor ``separator`` and ``close`` hold the empty string.
        separator: Stands between two parts.
        close: Stands behind the last.
        required: Indexes of the parts that must be there.
        low, high: Least and greatest number of parts; None for no bound.

    Raises:
        ValueError: ``low`` is less than 1, or an index is out of bounds.

    >>> from maskwright.kernel.lexemes import accepts
    >>> both = arrangement([literal(b"a"), literal(b"b")], literal(b","), literal(b"]"), required=[0])
    >>> [accepts(both, text) for text in (b"a]", b"b,a]", b"b]", b"a,a]")]
    [True, True, False, False]
    """
    needed = frozenset(required)
    if low < 1 or not all(0 <= index < len(parts) for index in needed):
        raise ValueError("an arrangement has at least one part, and requires only parts that it has")
    if any(parts[index].op is Op.EMPTY for index in needed) or close.op is Op.EMPTY:
        return EMPTY
    kept = [index for index, part in enumerate(parts) if part.op is not Op.EMPTY]
    if max(low, len(needed)) > (len(kept) if high is None else min(high, len(kept))):
        return EMPTY
    must = tuple(place for place, index in enumerate(kept) if index in needed)
    arranged = tuple(parts[index] for index in kept)
    return Lexeme(Op.ARRANGEMENT, (arranged, must, separator, close, low, -1 if high is None else high))
