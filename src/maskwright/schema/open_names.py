"""Members with open names that must differ: what counting them, or asking for some of them, needs.

A reader keeps the last of two members with one name, so a count of members, or "some member is an integer",
is only true of what was written if no open name repeats. Here keys are `Fresh` texts in one spelling, in a
rule that also counts. Classes with few names have a counter each, so that a comma is written only
while some name is left, and a class that a needed member draws on keeps one name for it.

In declared order, known names that the schema does not list stand among the open ones, each once.

Refused: several needed members that draw on the same names, of which there are many but not endless ones.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..errors import SchemaError
from ..lexeme import Lexeme, difference, intersection
from ..rules import Act, Action, Alt, Call, Expr, Fresh, Lex, Repeat, Rule, Seq
from .emptiness import is_empty, size_of
from .members import Cell, Member, one_spelling
from .shapes import ObjectShape

if TYPE_CHECKING:
    from .builder import Builder
    from .nodes import Node

__all__ = ["OpenMembers"]

#: Counters of an object: all members, those that are not needed, and then one per class of few names.
ALL: Final = 0
SPARE: Final = 1
_FIRST_CLASS: Final = 2


@dataclass(frozen=True, slots=True)
class _Class:
    """Open members that are written alike.

    Attributes:
        key: Their names, and the colon.
        value: Their values.
        counter: Where they are counted, if there are few names.
        most: How many there may be then.
        mark: Of a known name and of a member that is needed: the bit that says that it is there.
        is_spare: Whether it is none of those that are needed.
    """

    key: tuple[Expr, ...]
    value: Expr
    counter: int = 0
    most: int | None = None
    mark: int | None = None
    is_spare: bool = True


class OpenMembers:
    """The open members of an object.

    Args:
        builder: Makes the values.
        shape: The object, pruned; nothing is asked for but its ``musts``.
        depth: Depth of the members.
        loose: Known members that stand among the open ones.

    Attributes:
        needs_fresh: Whether open names must differ.
        n_needed: How many members there have to be.
    """

    def __init__(self, builder: Builder, shape: ObjectShape, depth: int, loose: list[Member]) -> None:
        self._layout = builder.layout
        self.needs_fresh = needs_fresh(shape)
        self.n_needed = len(shape.musts) + sum(member.required for member in loose)
        marks = itertools.count(len(shape.members))  # the bits that no other member uses
        self._needed_marks: list[int] = []
        self._classes: list[_Class] = []
        self._n_counters = _FIRST_CLASS
        for member in loose:
            key, value = self._layout.key(member.name), builder.value(member.obligations, depth)
            self._add_marked(key, value, next(marks), member.required)
        if not self.needs_fresh:
            for cell in shape.cells:
                value = builder.value(cell.obligations, depth)
                self._classes.append(_Class((Lex(cell.key), self._layout.colon), value))
            return
        musts = [(one_spelling(must.key), must) for must in shape.musts]
        few = [(key, size) for key, _ in musts if (size := size_of(key)) is not None]
        _check_apart([key for key, _ in musts], few, shape.place)
        for names, must in musts:
            self._add_marked(self._fresh(names), builder.value(must.obligations, depth), next(marks), True)
        for cell in shape.cells:
            self._cut(cell, builder.value(cell.obligations, depth), few)

    def _add_marked(self, key: tuple[Expr, ...], value: Expr, mark: int, is_needed: bool) -> None:
        self._classes.append(_Class(key, value, mark=mark, is_spare=not is_needed))
        if is_needed:
            self._needed_marks.append(mark)

    def _fresh(self, key: Lexeme) -> tuple[Expr, ...]:
        return (Fresh(key, 0), self._layout.colon)

    def _cut(self, cell: Cell, value: Expr, few: list[tuple[Lexeme, int]]) -> None:
        """A class, cut where a needed member draws on few of its names: one of those is kept for it."""
        rest = one_spelling(cell.key)
        for key, n_names in few:
            inside = intersection(rest, key)
            if is_empty(inside):
                continue
            if n_names > 1:
                self._add(inside, value, n_names - 1)
            rest = difference(rest, key)
        if not is_empty(rest):
            self._add(rest, value, size_of(rest))

    def _add(self, key: Lexeme, value: Expr, most: int | None) -> None:
        self._classes.append(_Class(self._fresh(key), value, self._n_counters, most))
        self._n_counters += most is not None

    def __bool__(self) -> bool:
        return bool(self._classes)

    @property
    def needs_register(self) -> bool:
        """Whether what was written of them has to be remembered."""
        return self.needs_fresh or any(one.mark is not None for one in self._classes)

    @property
    def guards(self) -> list[Expr]:
        """What the end of the object asks for."""
        return [Act(Action.HAS, mark) for mark in self._needed_marks]

    def options(self, spare: tuple[Expr, ...], lead: tuple[Expr, ...] = ()) -> list[Expr]:
        """All ways to write a member: ``spare`` counts one that is not needed, ``lead`` precedes the key."""
        found: list[Expr] = []
        for one in self._classes:
            parts: list[Expr] = []
            if one.mark is not None:
                parts.append(Act(Action.MARK, one.mark))
            if one.is_spare:
                parts.extend(spare)
            if one.most is not None:
                parts.append(Act(Action.COUNT, one.counter, one.most, one.most))
            found.append(Seq((*parts, *lead, *one.key, one.value)))
        return found

    def to_the_end(self, low: int, high: int | None, separator: Expr, close: Expr) -> Expr:
        """One open member or more and the end of the object, ``low`` to ``high`` in all."""
        if not self.needs_register:
            member = _either(self.options(()))
            most = None if high is None else high - 1
            return Seq((member, Repeat(Seq((separator, member)), max(0, low - 1), most), close))
        return Call(Rule("open members", lambda: self._counted(low, high, separator, close)))

    def _counted(self, low: int, high: int | None, separator: Expr, close: Expr) -> Expr:
        spare: tuple[Expr, ...] = ()
        total: tuple[Expr, ...] = ()
        if high is not None:
            most = high - self.n_needed
            spare = (Act(Action.COUNT, SPARE, most, most),)
        if low > self.n_needed:
            total = (Act(Action.COUNT, ALL, -1, low),)
        guards = self.guards
        if total:
            guards.append(Act(Action.AT_LEAST, ALL, low))
        first = _either(self.options(spare))
        more = Repeat(Seq((*total, _either(self.options(spare, (separator,))))), 0, None)
        return Seq((*total, first, more, *guards, close))


def needs_fresh(shape: ObjectShape) -> bool:
    """Whether open names must differ: the object asks for some, or counts on more than one."""
    if shape.musts or not shape.cells or shape.low < 2:
        return bool(shape.musts)
    return shape.low > sum(member.required for member in shape.members) + 1


def _either(options: list[Expr]) -> Expr:
    return options[0] if len(options) == 1 else Alt(tuple(options))


def _check_apart(keys: list[Lexeme], few: list[tuple[Lexeme, int]], place: Node | None) -> None:
    """Refuse needed members that may use up each other's names."""
    for key, _ in few:
        if any(one is not key and not is_empty(intersection(one, key)) for one in keys):
            raise SchemaError(
                "several open properties are asked for that draw on the same few names",
                pointer=place.pointer if place is not None else "#",
                keyword=None,
                hint="list the properties",
            )
