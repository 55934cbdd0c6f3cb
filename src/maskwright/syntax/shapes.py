"""Cheap facts about lexemes: what they start with, and whether their end is certain.

What it does: for any lexeme, by structure alone, whether it holds the empty string, the bytes it
may start with, whether no member is the beginning of another (prefix-free: the end is certain once
it is reached), and whether it is wide (long runs of many different bytes, such as free text).

What it does not: decide exactly. "Prefix-free" may be missed, never claimed wrongly; the set of
first bytes may be too large, never too small.

The idea: the conditions under which a grammar is LL(1), applied to regular expressions. A loop
followed by something is prefix-free if body and tail are, and start differently.

Rejected: deciding by derivatives (L and L.anything meet?), which is exact and as expensive as
building the automaton.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final, NamedTuple

from ..lexeme import Lexeme, Op

__all__ = ["Shape", "Shapes"]

_ALL_BYTES: Final = (1 << 256) - 1
#: A run is wide if it may be longer than this, over more different bytes than that.
_LONG_RUN: Final = 16
_MANY_BYTES: Final = 32
#: Most parts of a sequence that may stand behind its wide part and still count as its end.
_LONGEST_END: Final = 6


class Shape(NamedTuple):
    """Facts about one lexeme. ``first`` is a 256-bit mask."""

    nullable: bool
    first: int
    prefix_free: bool
    wide: bool


#: What a number begins with, signs aside.
_DIGITS: Final = sum(1 << byte for byte in b"0123456789")
_EMPTY_STRING: Final = Shape(True, 0, True, False)


class Shapes:
    """Remembers the shapes of lexemes that it has seen."""

    def __init__(self) -> None:
        # The lexeme is kept beside its shape, so that its id stays its own.
        self._known: dict[int, tuple[Lexeme, Shape]] = {}

    def of(self, lexeme: Lexeme) -> Shape:
        """The shape of a lexeme. Iterative: patterns may nest deeper than the stack."""
        todo = [lexeme]
        while todo:
            one = todo[-1]
            below = [part for part in one.args if isinstance(part, Lexeme) and id(part) not in self._known]
            if below and id(one) not in self._known:
                todo.extend(below)
                continue
            todo.pop()
            if id(one) not in self._known:
                self._known[id(one)] = (one, self._make(one))
        return self._known[id(lexeme)][1]

    def _make(self, lexeme: Lexeme) -> Shape:
        op, args = lexeme.op, lexeme.args
        if op is Op.EPSILON:
            return _EMPTY_STRING
        if op is Op.EMPTY:
            return Shape(False, 0, True, False)
        if op is Op.BYTES:
            return Shape(False, args[0], True, False)
        if op in (Op.LITERAL, Op.LITERALS):
            return _texts(args)
        if op is Op.AUTOMATON:
            return _automaton(*args)
        if op is Op.MULTIPLES:
            return Shape(False, _DIGITS, False, False)
        if op is Op.ARRANGEMENT:
            return Shape(False, _ALL_BYTES, False, True)
        parts = [self._known[id(part)][1] for part in args if isinstance(part, Lexeme)]
        if op is Op.CONCAT:
            return _concat(parts, args, self)
        if op is Op.UNION:
            return _union(parts)
        if op is Op.REPEAT:
            return _repeat(parts[0], args[1], args[2])
        if op is Op.INTERSECTION:
            return _intersection(parts)
        return Shape(not parts[0].nullable, _ALL_BYTES, False, True)

    def has_sure_wide_end(self, lexeme: Lexeme) -> bool:
        """Whether it ends with something wide whose end is certain, and is narrow before that."""
        if lexeme.op is not Op.CONCAT:
            whole = self.of(lexeme)
            return whole.wide and whole.prefix_free
        rest = _EMPTY_STRING
        # Delimiters are short: looking at a few parts keeps the growing of long sequences linear.
        for at in range(len(lexeme.args) - 1, max(-1, len(lexeme.args) - 1 - _LONGEST_END), -1):
            part = lexeme.args[at]
            rest = _before(part, self.of(part), rest, self)
            if rest.wide:
                return rest.prefix_free and not any(self.of(before).wide for before in lexeme.args[:at])
        return False

    def loop_body(self, lexeme: Lexeme) -> Shape | None:
        """The shape of what a repetition repeats; None for other lexemes."""
        return self._known[id(lexeme.args[0])][1] if lexeme.op is Op.REPEAT else None


def _texts(texts: tuple[bytes, ...]) -> Shape:
    first = 0
    for text in texts:
        first |= 1 << text[0] if text else 0
    # Sorted: a text that begins others stands right before one of them.
    certain = not any(after.startswith(text) for text, after in pairwise(texts))
    return Shape(b"" in texts, first, certain, False)


def _automaton(rows: tuple[tuple[tuple[int, int, int], ...], ...], accepting: tuple[bool, ...]) -> Shape:
    first = 0
    for low, high, _ in rows[0]:
        first |= (1 << (high + 1)) - (1 << low)
    certain = not any(row for row, ends in zip(rows, accepting, strict=True) if ends)
    n_looping = sum(len(row) for row in rows)
    return Shape(accepting[0], first, certain, not certain and n_looping > _MANY_BYTES)


def _concat(parts: list[Shape], args: tuple[Lexeme, ...], shapes: Shapes) -> Shape:
    rest = _EMPTY_STRING
    for shape, lexeme in zip(reversed(parts), reversed(args), strict=True):
        rest = _before(lexeme, shape, rest, shapes)
    return rest


def _before(lexeme: Lexeme, shape: Shape, rest: Shape, shapes: Shapes) -> Shape:
    """The shape of a lexeme followed by the rest of a sequence."""
    certain = shape.prefix_free and rest.prefix_free
    if not certain and rest.prefix_free and not rest.nullable:
        body = shapes.loop_body(lexeme)
        if body is not None and body.prefix_free and not body.nullable:
            certain = not body.first & rest.first
    return Shape(
        shape.nullable and rest.nullable,
        shape.first | (rest.first if shape.nullable else 0),
        certain,
        shape.wide or rest.wide,
    )


def _union(options: list[Shape]) -> Shape:
    first, certain = 0, True
    for option in options:
        certain = certain and option.prefix_free and not option.nullable and not first & option.first
        first |= option.first
    return Shape(
        any(option.nullable for option in options), first, certain, any(option.wide for option in options)
    )


def _repeat(body: Shape, low: int, high: int) -> Shape:
    many = (high < 0 or high > _LONG_RUN) and body.first.bit_count() > _MANY_BYTES
    return Shape(low == 0 or body.nullable, body.first, low == high and body.prefix_free, body.wide or many)


def _intersection(parts: list[Shape]) -> Shape:
    first = _ALL_BYTES
    for part in parts:
        first &= part.first
    return Shape(
        all(part.nullable for part in parts),
        first,
        any(part.prefix_free for part in parts),
        all(part.wide for part in parts),
    )
