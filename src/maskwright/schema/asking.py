"""Objects that ask for some member of several that may be it: who met what is kept in the register.

One rule, a bit for each thing that is asked for. A member is written as one of the things that its value may
be made to meet: nothing, one, several at once. Which of these a text turns out to be is left to the
automaton, which follows all. So a dozen of things that any of nine members may meet are a hundred options,
and not 9^12 objects.

No dead ends. What an endless class of open names may meet can be met later, whatever is written. What only
known members, and classes that may run out of names, can meet is guarded: a member is passed by, or written
without meeting it, only while it is met or another of them is left. One guard per thing suffices: every
member could meet all of them at once (`pruning` sees to that), so whoever is left can meet what is left.

In declared order the listed members stand one after another, each perhaps skipped, and the others in a loop
behind them; in any order all are in the loop.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from ..errors import LimitExceeded
from ..lexeme import Lexeme, difference
from ..rules import NOTHING, Act, Action, Alt, Expr, Fresh, Lex, Repeat, Seq
from .emptiness import is_empty, size_of
from .members import Asked, Cell, Obligations, cut_key, one_spelling
from .shapes import ObjectShape

if TYPE_CHECKING:
    from .builder import Builder

__all__ = ["Asking", "Met", "open_ways"]

#: Options of one member, or of one class of open ones.
_MAX_OPTIONS: Final = 256
#: Counters: all members, those of the loop, and then one per class that may run out of names.
_ALL: Final = 0
_LOOP: Final = 1
_FIRST_CLASS: Final = 2

Met = frozenset[int]


class Asking:
    """The members of one object.

    Args:
        builder: Makes the values.
        shape: The object, pruned, without an upper bound on the number of members.
        depth: Depth of the object.
    """

    def __init__(self, builder: Builder, shape: ObjectShape, depth: int) -> None:
        self._builder = builder
        self._layout = builder.layout
        self._shape = shape
        self._depth = depth
        self._inner = builder.layout.below(depth)
        self._separator = builder.layout.separator(depth)
        members = shape.members
        is_free = builder.options.any_order
        self._declared = [] if is_free else [i for i, member in enumerate(members) if member.is_listed]
        self._loose = [i for i in range(len(members)) if i not in set(self._declared)]
        self._started = len(members) + len(shape.asked)  # the bit that says that some member was written
        self._is_fresh = shape.low > 1 or any(one.opened for one in shape.asked)
        self._sizes = [size_of(one_spelling(cell.key)) if self._is_fresh else None for cell in shape.cells]
        self._counters = self._numbered()
        self._last = [self._last_declared(one) for one in shape.asked]

    def expr(self) -> Expr:
        """The whole object."""
        parts: list[Expr] = []
        is_started = False
        for position in range(len(self._declared)):
            parts.append(self._slot(position, is_started=is_started))
            is_started = is_started or self._shape.members[self._declared[position]].required
        parts.append(self._loop(is_started=is_started))
        parts.extend(Act(Action.HAS, self._bit(number)) for number in range(len(self._shape.asked)))
        parts.extend(Act(Action.HAS, i) for i in self._loose if self._shape.members[i].required)
        if self._shape.low > 1:
            parts.append(Act(Action.AT_LEAST, _ALL, self._shape.low))
        parts.append(self._layout.closing(b"}", self._depth))
        return self._layout.container(b"{}", self._depth, Seq(tuple(parts)), empty=False)

    # -- what is left ------------------------------------------------------------------------------------

    def _bit(self, number: int) -> int:
        return len(self._shape.members) + number

    def _last_declared(self, one: Asked) -> int | None:
        """The position of the last member that may meet it; None if the loop may, too."""
        members = self._shape.members
        if one.opened or any(members[i].name in one.named for i in self._loose):
            return None
        return max(p for p, i in enumerate(self._declared) if members[i].name in one.named)

    def _guards_behind(self, position: int, met: Met) -> list[Expr]:
        """What must have been met before, because nobody behind this position can."""
        return [
            Act(Action.HAS, self._bit(number))
            for number, last in enumerate(self._last)
            if last == position and number not in met
        ]

    def _numbered(self) -> dict[int, int]:
        """The counters of the classes that may run out of names, by the identity of the class."""
        finite = [cell for cell, size in zip(self._shape.cells, self._sizes, strict=True) if size is not None]
        return {id(cell): _FIRST_CLASS + number for number, cell in enumerate(finite)}

    def _guards_beside(self, written: int | Cell, met: Met) -> list[Expr]:
        """What must have been met before, or be left to another member of the loop.

        Args:
            written: The index of a known member, or a class of open ones.
            met: What the member meets itself.
        """
        members = self._shape.members
        guards: list[Expr] = []
        for number, one in enumerate(self._shape.asked):
            named = [i for i in self._loose if members[i].name in one.named]
            if number in met or one.endless or (written not in named and written not in one.opened):
                continue
            options: list[Expr] = [Act(Action.HAS, self._bit(number))]
            options.extend(Act(Action.LACKS, i) for i in named if i != written)
            for cell, size in zip(self._shape.cells, self._sizes, strict=True):
                if cell in one.opened and size is not None:
                    room = size - (cell is written)  # a test alone: it counts up to nothing
                    options.append(Act(Action.COUNT, self._counters[id(cell)], room, 0))
            guards.append(_either(options))
        return guards

    def _capacity(self) -> int | None:
        """How many members of the loop there may be; None for any number."""
        if not self._is_fresh:
            return None if self._shape.cells else len(self._loose)
        if None in self._sizes:
            return None
        return len(self._loose) + sum(size for size in self._sizes if size is not None)

    # -- members -----------------------------------------------------------------------------------------

    def _counted(self) -> tuple[Expr, ...]:
        low = self._shape.low
        return (Act(Action.COUNT, _ALL, -1, low),) if low > 1 else ()

    def _adding(self, met: Met) -> list[Expr]:
        return [Act(Action.ADD, self._bit(number)) for number in sorted(met)]

    def _slot(self, position: int, *, is_started: bool) -> Expr:
        """A listed member in its place, or none."""
        index = self._declared[position]
        member = self._shape.members[index]
        options: list[Expr] = []
        for met, owed in self._ways(index):
            acts = [*self._guards_behind(position, met), *self._adding(met), *self._counted()]
            written = (*self._layout.key(member.name), self._builder.value(owed, self._inner))
            starts = Act(Action.ADD, self._started)
            if position and not is_started:
                options.append(Seq((*acts, Act(Action.HAS, self._started), self._separator, *written)))
                starts_now = (Act(Action.LACKS, self._started), starts)
                options.append(Seq((*acts, *starts_now, *written)))
            else:
                lead: tuple[Expr, ...] = (self._separator,) if is_started else (starts,)
                options.append(Seq((*acts, *lead, *written)))
        if not member.required:
            options.append(Seq((*self._guards_behind(position, frozenset()), *self._enough_behind(position))))
        return _either(options)

    def _enough_behind(self, position: int) -> list[Expr]:
        """That the object can still have as many members as it needs without the one that is skipped."""
        capacity = self._capacity()
        if capacity is None or self._shape.low <= 1:
            return []
        wanted = self._shape.low - (len(self._declared) - position - 1) - capacity
        return [Act(Action.AT_LEAST, _ALL, wanted)] if wanted > 0 else []

    def _loop(self, *, is_started: bool) -> Expr:
        """The members that come in any order."""
        options: list[Expr] = []
        for index in self._loose:
            name = self._shape.members[index].name
            for met, owed in self._ways(index):
                acts = [*self._guards_beside(index, met), Act(Action.MARK, index), *self._adding(met)]
                value = self._builder.value(owed, self._inner)
                options.append(Seq((*acts, *self._layout.key(name), value)))
        for cell, size in zip(self._shape.cells, self._sizes, strict=True):
            options.extend(self._opened(cell, size))
        if not options:
            return NOTHING
        lead: Expr = self._separator
        if not is_started:
            first = Seq((Act(Action.LACKS, self._started), Act(Action.ADD, self._started)))
            lead = Alt((Seq((Act(Action.HAS, self._started), self._separator)), first))
        capacity = self._capacity()
        room = () if capacity is None else (Act(Action.COUNT, _LOOP, capacity, capacity),)
        return Repeat(Seq((*room, *self._counted(), lead, _either(options))), 0, None)

    def _opened(self, cell: Cell, size: int | None) -> list[Expr]:
        """The members of a class of open names."""
        found: list[Expr] = []
        count = () if size is None else (Act(Action.COUNT, self._counters[id(cell)], size, size),)
        for met, key, owed in open_ways(self._builder, cell, enumerate(self._shape.asked)):
            name: Expr = Fresh(one_spelling(key), 0) if self._is_fresh else Lex(key)
            value = self._builder.value(owed, self._inner)
            acts = (*self._guards_beside(cell, met), *count, *self._adding(met))
            found.append(Seq((*acts, name, self._layout.colon, value)))
        return found

    # -- what a member may meet --------------------------------------------------------------------------

    def _ways(self, index: int) -> list[tuple[Met, Obligations]]:
        """What a known member may be made to meet, and what its value owes then."""
        member = self._shape.members[index]
        found: dict[Obligations, Met] = {member.obligations: frozenset()}
        for number, one in enumerate(self._shape.asked):
            if member.name not in one.named:
                continue
            for owed, met in list(found.items()):
                more = self._builder.cleaned(owed | one.owed)
                if more == owed:
                    found[owed] = met | {number}
                elif self._builder.satisfiable(more):
                    found[more] = found.get(more, frozenset()) | met | {number}
            _check(len(found))
        return [(met, owed) for owed, met in found.items()]


def open_ways(
    builder: Builder, cell: Cell, asked: Iterable[tuple[int, Asked]]
) -> list[tuple[Met, Lexeme, Obligations]]:
    """What a member of a class may be made to meet, the names that can, and what its value owes then.

    Args:
        builder: Knows what has values.
        cell: The class.
        asked: What is asked for, with its number.
    """
    found: list[tuple[Met, Lexeme, Obligations]] = [(frozenset(), cell.key, cell.obligations)]
    for number, one in asked:
        if cell not in one.opened:
            continue
        ways = found
        found = []
        for met, key, owed in ways:
            inside = cut_key(builder, one.has, key)
            more = builder.cleaned(owed | one.owed)
            is_met = more == owed and (inside is key or is_empty(difference(key, inside)))
            if not is_met:
                found.append((met, key, owed))
            if is_met or (not is_empty(inside) and builder.satisfiable(more)):
                found.append((met | {number}, key if is_met else inside, more))
        _check(len(found))
    return found


def _check(n_options: int) -> None:
    if n_options > _MAX_OPTIONS:
        raise LimitExceeded(
            "objects that ask for some open member can meet that in too many ways",
            resource="options of a member",
            limit=_MAX_OPTIONS,
            hint="simplify not and oneOf over patternProperties or additionalProperties",
        )


def _either(options: list[Expr]) -> Expr:
    return options[0] if len(options) == 1 else Alt(tuple(options))
