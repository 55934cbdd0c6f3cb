"""Members with open names that must differ: what counting them, or asking for some of them, needs.

A reader keeps the last of two members with one name, so a count of members, or "some member is an integer",
is only true of what was written if no open name repeats. Here keys are `Fresh` texts in one spelling, in a
rule that also counts. Classes with few names have a counter each, so that a comma is written only
while some name is left, and a class that a needed member draws on keeps one name for it.

Refused: several needed members that draw on the same few names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..errors import SchemaError
from ..lexeme import Lexeme, difference, intersection
from ..regex.encoding import JSON_STRING, JSON_STRING_CANONICAL
from ..rules import Act, Action, Alt, Call, Expr, Fresh, Lex, Repeat, Rule, Seq
from .emptiness import is_empty, size_of
from .shapes import Cell, ObjectShape

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
        key: Their names' texts.
        value: Their values.
        counter: Where they are counted, if there are few names.
        most: How many there may be then.
        mark: Of the one member that is needed: the bit that says that it is there.
    """

    key: Lexeme
    value: Expr
    counter: int
    most: int | None
    mark: int | None = None


class OpenMembers:
    """The open members of an object.

    Args:
        builder: Makes the values.
        shape: The object, pruned.
        depth: Depth of the members.
        first_mark: The first bit of the register that no other member uses.
    """

    def __init__(self, builder: Builder, shape: ObjectShape, depth: int, first_mark: int) -> None:
        self._layout = builder.layout
        self.needs_fresh = needs_fresh(shape)
        self.n_needed = len(shape.musts)
        self._marks = range(first_mark, first_mark + self.n_needed)
        self._classes: list[_Class] = []
        if not self.needs_fresh:
            for cell in shape.cells:
                self._classes.append(_Class(cell.key, builder.value(cell.obligations, depth), 0, None))
            return
        self._n_counters = _FIRST_CLASS
        musts = [(_one_spelling(must.key), must) for must in shape.musts]
        few = [(key, size) for key, _ in musts if (size := size_of(key)) is not None]
        _check_apart([key for key, _ in musts], few, shape.place)
        for (key, must), mark in zip(musts, self._marks, strict=True):
            value = builder.value(must.obligations, depth)
            self._classes.append(_Class(key, value, 0, None, mark))
        for cell in shape.cells:
            self._cut(cell, builder.value(cell.obligations, depth), few)

    def _cut(self, cell: Cell, value: Expr, few: list[tuple[Lexeme, int]]) -> None:
        """A class, cut where a needed member draws on few of its names: one of those is kept for it."""
        rest = _one_spelling(cell.key)
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
        self._classes.append(_Class(key, value, self._n_counters, most))
        self._n_counters += most is not None

    def __bool__(self) -> bool:
        return bool(self._classes)

    @property
    def guards(self) -> list[Expr]:
        """What the end of the object asks for."""
        return [Act(Action.HAS, mark) for mark in self._marks]

    def options(self, spare: tuple[Expr, ...], lead: tuple[Expr, ...] = ()) -> list[Expr]:
        """All ways to write a member: ``spare`` counts one that is not needed, ``lead`` precedes the key."""
        found: list[Expr] = []
        for one in self._classes:
            parts: list[Expr] = []
            if one.mark is not None:
                parts.append(Act(Action.MARK, one.mark))
            else:
                parts.extend(spare)
            if one.most is not None:
                parts.append(Act(Action.COUNT, one.counter, one.most, one.most))
            key = Fresh(one.key, 0) if self.needs_fresh else Lex(one.key)
            found.append(Seq((*parts, *lead, key, self._layout.colon, one.value)))
        return found

    def to_the_end(self, low: int, high: int | None, separator: Expr, close: Expr) -> Expr:
        """One open member or more and the end of the object, ``low`` to ``high`` in all."""
        if not self.needs_fresh:
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


def _one_spelling(key: Lexeme) -> Lexeme:
    return JSON_STRING_CANONICAL if key is JSON_STRING else intersection(key, JSON_STRING_CANONICAL)


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
