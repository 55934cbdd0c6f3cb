"""Objects of a shape as an expression, in declared order or in any order.

Declared order. Without bounds, `plain.declared` writes the members from the last to the first. Where
their number is bounded the states also carry how many there are, as lazy rules.

Any order. One loop in one rule whose register holds the names seen. Guards stand where a choice can still be
avoided: a comma is written only while some member is left, and members beyond the required
ones are counted apart, so that the bound on members never shuts a required one out.

Open keys (those that no property lists) are not remembered, so that they may repeat; JSON readers keep
the last. Where a schema counts on them or asks for some open member, they differ: see `open_names`, and
`asking` for objects in which several members may be what is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..rules import Act, Action, Alt, Call, Expr, Repeat, Rule, Seq
from .asking import Asking
from .clauses import Clauses
from .open_names import OpenMembers
from .plain import declared
from .pruning import open_capacity
from .shapes import ObjectShape

if TYPE_CHECKING:
    from .builder import Builder

__all__ = ["any_order_expr", "object_expr"]


def object_expr(builder: Builder, shape: ObjectShape, depth: int) -> Expr:
    """The expression for the objects of a pruned shape, which holds some."""
    layout = builder.layout
    if shape.clauses:
        return Clauses(builder, shape, depth).expr()
    if shape.asked:
        return Asking(builder, shape, depth).expr()
    inner = layout.below(depth)
    n_required = sum(member.required for member in shape.members)
    loose = [] if builder.options.any_order else [one for one in shape.members if not one.is_listed]
    opened = OpenMembers(builder, shape, inner, loose)
    if builder.options.any_order and (len(shape.members) > 1 or (shape.members and opened)):
        members = [(m.name, builder.value(m.obligations, inner), m.required) for m in shape.members]
        # Names that may repeat are never used up, and must not use up the room of the listed ones.
        capacity = open_capacity(shape) if opened.needs_fresh or not opened else None
        return any_order_expr(builder, members, opened, shape.low, shape.high, depth, capacity)
    bounded = shape.high is not None and (opened or shape.high < len(shape.members))
    if bounded or shape.low > max(n_required, 1) or opened.needs_register:
        return _Counted(builder, shape, opened, depth).expr()
    return _Declared(builder, shape, opened, depth).expr(nonempty=shape.low > 0)


class _InOrder:
    """What both ways to write members in declared order go by."""

    def __init__(self, builder: Builder, shape: ObjectShape, opened: OpenMembers, depth: int) -> None:
        self._builder = builder
        self._layout = builder.layout
        self._shape = shape
        self._members = shape.members
        if opened.needs_register and not builder.options.any_order:
            self._members = [member for member in shape.members if member.is_listed]
        self._opened = opened
        self._depth = depth
        self._inner = builder.layout.below(depth)
        self._separator = builder.layout.separator(depth)
        self._close = builder.layout.closing(b"}", depth)


class _Declared(_InOrder):
    """Members in declared order, any number of them."""

    def expr(self, *, nonempty: bool) -> Expr:
        """The whole object."""
        start, after = self._extras()
        members = [
            (self._layout.key(one.name), self._builder.value(one.obligations, self._inner), one.required)
            for one in self._members
        ]
        return declared(self._layout, members, start, after, self._depth, nonempty)

    def _extras(self) -> tuple[Expr | None, Expr]:
        """``S`` and ``A`` behind the last known member."""
        if not self._opened:
            return None, self._close
        more: list[Expr] = self._opened.options((), (self._separator,))
        onward = Seq((Repeat(more[0] if len(more) == 1 else Alt(tuple(more)), 0, None), self._close))
        return self._opened.to_the_end(0, None, self._separator, self._close), onward


class _Counted(_InOrder):
    """Members in declared order, with their number bounded: lazy rules per (candidate, number)."""

    def __init__(self, builder: Builder, shape: ObjectShape, opened: OpenMembers, depth: int) -> None:
        super().__init__(builder, shape, opened, depth)
        self._needed = [0] * (len(self._members) + 1)
        self._needed[-1] = opened.n_needed
        for index in range(len(self._members) - 1, -1, -1):
            self._needed[index] = self._needed[index + 1] + self._members[index].required
        self._rules: dict[tuple[str, int, int], Rule] = {}
        self._capacity = open_capacity(shape)

    def expr(self) -> Expr:
        """The whole object."""
        start = self._start(0, 0) if self._can(0, 0, more=True) else None
        empty = self._shape.low == 0 and self._needed[0] == 0
        return self._layout.container(b"{}", self._depth, start, empty)

    def _can(self, index: int, n_members: int, *, more: bool = False) -> bool:
        """Whether the object can be finished from here (with at least one more member)."""
        shape = self._shape
        # All that is not before the candidate: the known ones among the open ones too.
        left = len(shape.members) - index
        endless = self._capacity is None
        left += self._capacity or 0
        if shape.high is not None and n_members + max(self._needed[index], int(more)) > shape.high:
            return False
        return (endless or left >= int(more)) and (endless or n_members + left >= shape.low)

    def _start(self, index: int, n_members: int) -> Expr:
        return Call(self._rule("start", index, n_members))

    def _after(self, index: int, n_members: int) -> Expr:
        return Call(self._rule("after", index, n_members))

    def _rule(self, kind: str, index: int, n_members: int) -> Rule:
        if self._shape.high is None:
            n_members = min(n_members, self._shape.low)
        key = (kind, index, n_members)
        rule = self._rules.get(key)
        if rule is None:
            body = self._start_body if kind == "start" else self._after_body
            rule = self._rules[key] = Rule("members", lambda: body(index, n_members))
        return rule

    def _start_body(self, index: int, n_members: int) -> Expr:
        """A member from ``index`` on."""
        if index == len(self._members):
            return self._extras(n_members)
        member = self._members[index]
        options: list[Expr] = []
        if self._can(index + 1, n_members + 1):
            value = self._builder.value(member.obligations, self._inner)
            key = self._layout.key(member.name)
            options.append(Seq((*key, value, self._after(index + 1, n_members + 1))))
        if not member.required and self._can(index + 1, n_members, more=True):
            options.append(self._start(index + 1, n_members))
        return options[0] if len(options) == 1 else Alt(tuple(options))

    def _after_body(self, index: int, n_members: int) -> Expr:
        """Behind a member: another one, or the end."""
        options: list[Expr] = []
        if self._can(index, n_members, more=True):
            options.append(Seq((self._separator, self._start(index, n_members))))
        if self._needed[index] == 0 and n_members >= self._shape.low:
            options.append(self._close)
        return options[0] if len(options) == 1 else Alt(tuple(options))

    def _extras(self, n_members: int) -> Expr:
        """One open member or more, to the end."""
        low = max(0, self._shape.low - n_members)
        high = None if self._shape.high is None else self._shape.high - n_members
        return self._opened.to_the_end(low, high, self._separator, self._close)


def any_order_expr(
    builder: Builder,
    members: list[tuple[str, Expr, bool]],
    opened: OpenMembers | None,
    low: int,
    high: int | None,
    depth: int,
    capacity: int | None = 0,
) -> Expr:
    """An object whose members come in any order.

    Args:
        builder: For its layout.
        members: (name, value, whether it is required) of each known property.
        opened: The other members.
        low, high: Bounds on the number of members.
        depth: Depth of the object.
        capacity: How many open members can be written; None for any number.

    The register: the set holds the indexes of the members seen; counter 0 counts all members,
    counter 1 those that are not required.
    """
    layout = builder.layout
    n_required = sum(required for _, _, required in members) + (opened.n_needed if opened else 0)
    most = high
    if capacity is not None:
        most = len(members) + capacity if high is None else min(len(members) + capacity, high)
    spare = None if high is None or (high >= len(members) and not opened) else high - n_required
    count_all = _counter(0, most, low if low > n_required else 0)
    counted: tuple[Expr, ...] = () if spare is None else (Act(Action.COUNT, 1, spare, spare),)
    options: list[Expr] = []
    guards: list[Expr] = []
    for index, (name, value, required) in enumerate(members):
        parts: list[Expr] = [Act(Action.MARK, index)]
        if required:
            guards.append(Act(Action.HAS, index))
        else:
            parts.extend(counted)
        options.append(Seq((*parts, *layout.key(name), value)))
    if opened:
        options.extend(opened.options(counted))
        guards.extend(opened.guards)
    if low > n_required:
        guards.append(Act(Action.AT_LEAST, 0, low))
    member: Expr = options[0] if len(options) == 1 else Alt(tuple(options))
    separator = layout.separator(depth)
    close = layout.closing(b"}", depth)
    empty = n_required == 0 and low == 0
    if not options or most == 0:
        return layout.container(b"{}", depth, None, empty)
    others = Repeat(Seq((*count_all, separator, member)), 0, None)
    full = Seq((*count_all, member, others, *guards, close))
    return layout.container(b"{}", depth, full, empty)


def _counter(index: int, most: int | None, least: int) -> tuple[Expr, ...]:
    """Counts one, failing at ``most``; saturates where counting on makes no difference."""
    if most is None and least == 0:
        return ()
    return (Act(Action.COUNT, index, -1 if most is None else most, max(least, most or 0)),)
