"""Objects of a shape as an expression, in declared order or in any order.

Declared order. ``A(i)`` is what may follow once a member was written and the next candidate is member ``i``;
``S(i)`` is a member from ``i`` on. Both are shared rules where two places lead to them, so the number of
edges is linear in the number of properties, and a run of required properties is one flat sequence. Where
the number of members is bounded the states also carry how many there are, as lazy rules.

Any order. One loop in one rule whose register holds the names seen. Guards stand where a choice can still be
avoided: a comma is written only while some member is left, and members beyond the required
ones are counted apart, so that the bound on members never shuts a required one out.

Open keys (those that no property lists) are not remembered, so that they may repeat; JSON readers keep
the last. Where a schema counts members or asks for some open member, see `_check_distinct`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ..errors import SchemaError
from ..lexeme import Lexeme, difference, intersection
from ..rules import Act, Action, Alt, Call, Expr, Lex, Repeat, Rule, Seq
from .clauses import Clauses
from .emptiness import is_empty
from .report import Status
from .shapes import Cell, ObjectShape

if TYPE_CHECKING:
    from .builder import Builder
    from .nodes import Node

__all__ = ["any_order_expr", "object_expr"]


def object_expr(builder: Builder, shape: ObjectShape, depth: int) -> Expr:
    """The expression for the objects of a pruned shape, which holds some."""
    layout = builder.layout
    if shape.clauses:
        return Clauses(builder, shape, depth).expr()
    _check_distinct(shape)
    if shape.musts and shape.place is not None:
        _note_order(builder, shape.place)
    inner = layout.below(depth)
    n_required = sum(member.required for member in shape.members)
    if builder.options.any_order and (len(shape.members) > 1 or (shape.members and shape.cells)):
        members = [(m.name, builder.value(m.obligations, inner), m.required) for m in shape.members]
        cells = [(cell.key, builder.value(cell.obligations, inner)) for cell in shape.cells]
        musts = [(cell.key, builder.value(cell.obligations, inner)) for cell in shape.musts]
        return any_order_expr(builder, members, cells, musts, shape.low, shape.high, depth)
    bounded = shape.high is not None and (shape.cells or shape.musts or shape.high < len(shape.members))
    n_needed = n_required + len(shape.musts)
    if bounded or shape.low > max(n_needed, 1):
        return _Counted(builder, shape, depth).expr()
    return _Declared(builder, shape, depth).expr(nonempty=shape.low > 0)


def _check_distinct(shape: ObjectShape) -> None:
    """Refuse what needs open keys to be distinct: the reader drops all but the last of equal ones."""
    n_sure = sum(member.required for member in shape.members) + len(shape.musts)
    if not shape.cells and len(shape.musts) < 2:
        return
    if shape.low > n_sure + 1 or (len(shape.musts) > 1):
        pointer = shape.place.pointer if shape.place is not None else "#"
        raise SchemaError(
            "counting open property names needs them to be distinct, which cannot be enforced yet",
            pointer=pointer,
            keyword="minProperties",
            hint="list the properties, or lower minProperties to one more than the required ones",
        )


def _note_order(builder: Builder, place: Node) -> None:
    """Tell the report what is valid and still not written where some open member is asked for."""
    schema = place.schema if isinstance(place.schema, dict) else {}
    keyword = next((word for word in _OPEN_KEYWORDS if word in schema), "not")
    why = "never written: behind the member that has to fail it, another open one that meets it"
    builder.report.note(place.pointer, keyword, Status.ENFORCED, why)


_OPEN_KEYWORDS: Final = (
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "unevaluatedProperties",
)


class _Declared:
    """Members in declared order, any number of them."""

    def __init__(self, builder: Builder, shape: ObjectShape, depth: int) -> None:
        self._builder = builder
        self._layout = builder.layout
        self._shape = shape
        self._depth = depth
        self._inner = builder.layout.below(depth)
        self._separator = builder.layout.separator(depth)
        self._close = builder.layout.closing(b"}", depth)

    def expr(self, *, nonempty: bool) -> Expr:
        """The whole object."""
        members = self._shape.members
        start, after = self._extras()
        colon = self._layout.colon
        may_end = not self._shape.musts  # nothing required from here on
        # From the end: `after` is A(i + 1), `start` is S(i + 1).
        for index in range(len(members) - 1, -1, -1):
            member = members[index]
            value = self._builder.value(member.obligations, self._inner)
            key = self._layout.key(member.name)
            if member.required:
                may_end = False
                wants_start = index == 0 or not members[index - 1].required
                if wants_start and index:
                    after = _as_rule(after)  # both A(i) and S(i) lead to it
                start = _chain((key, colon, value), after) if wants_start else None
                if index:
                    after = _chain((self._separator, key, colon, value), after)
            else:
                step = _chain((key, colon, value), after)
                start = step if start is None else Alt((step, start))
                if index:
                    start = _as_rule(start)  # both A(i) and S(i - 1) lead to it
                    onward = Seq((self._separator, start))
                    after = Alt((onward, self._close)) if may_end else onward
        empty = may_end and not nonempty
        return self._layout.container(b"{}", self._depth, start, empty)

    def _extras(self) -> tuple[Expr | None, Expr]:
        """``S`` and ``A`` behind the last known member."""
        shape = self._shape
        separator = self._separator
        extra = _cells_expr(self._builder, self._layout.colon, shape.cells, self._inner)
        if shape.musts:
            must = _cells_expr(self._builder, self._layout.colon, shape.musts[:1], self._inner)
            assert must is not None
            # No later member may have a name of the class: the reader would keep that one.
            others = [*_outside(shape.cells, shape.musts[0]), shape.musts[0]]
            later = _cells_expr(self._builder, self._layout.colon, others, self._inner)
            assert later is not None
            last = Seq((must, Repeat(Seq((separator, later)), 0, None), self._close))
            if extra is None:
                return last, Seq((separator, last))
            before = Repeat(Seq((extra, separator)), 0, None)
            return Seq((before, last)), Seq((separator, before, last))
        if extra is None:
            return None, self._close
        more = Repeat(Seq((separator, extra)), 0, None)
        return Seq((extra, more, self._close)), Seq((more, self._close))


def _cells_expr(builder: Builder, colon: Expr, cells: list[Cell], depth: int) -> Expr | None:
    """One member with an open key."""
    options: list[Expr] = [
        Seq((Lex(cell.key), colon, builder.value(cell.obligations, depth))) for cell in cells
    ]
    if not options:
        return None
    return options[0] if len(options) == 1 else Alt(tuple(options))


def _outside(cells: list[Cell], must: Cell) -> list[Cell]:
    """The classes without the names of one class."""
    found = [replace(cell, key=difference(cell.key, must.key)) for cell in cells]
    return [cell for cell in found if not is_empty(cell.key)]


def _as_rule(expr: Expr) -> Expr:
    """An expression that two places lead to, as a rule."""
    if isinstance(expr, (Call, Lex)):
        return expr
    return Call(Rule("members", expr))


def _chain(member: tuple[Expr, ...], after: Expr) -> Expr:
    """A member and what follows, flat while the sequence is short."""
    if isinstance(after, Seq):
        if len(after.parts) < 64:
            return Seq(member + after.parts)
        after = _as_rule(after)
    return Seq((*member, after))


class _Counted:
    """Members in declared order, with their number bounded: lazy rules per (candidate, number)."""

    def __init__(self, builder: Builder, shape: ObjectShape, depth: int) -> None:
        self._builder = builder
        self._layout = builder.layout
        self._shape = shape
        self._depth = depth
        self._inner = builder.layout.below(depth)
        self._separator = builder.layout.separator(depth)
        self._close = builder.layout.closing(b"}", depth)
        self._needed = [0] * (len(shape.members) + 1)
        self._needed[-1] = len(shape.musts)
        for index in range(len(shape.members) - 1, -1, -1):
            self._needed[index] = self._needed[index + 1] + shape.members[index].required
        self._rules: dict[tuple[str, int, int], Rule] = {}

    def expr(self) -> Expr:
        """The whole object."""
        start = self._start(0, 0) if self._can(0, 0, more=True) else None
        empty = self._shape.low == 0 and self._needed[0] == 0
        return self._layout.container(b"{}", self._depth, start, empty)

    def _can(self, index: int, n_members: int, *, more: bool = False) -> bool:
        """Whether the object can be finished from here (with at least one more member)."""
        shape = self._shape
        left = len(shape.members) - index
        endless = bool(shape.cells or shape.musts)
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
        shape = self._shape
        if index == len(shape.members):
            return self._extras(n_members)
        member = shape.members[index]
        options: list[Expr] = []
        if self._can(index + 1, n_members + 1):
            value = self._builder.value(member.obligations, self._inner)
            key, colon = self._layout.key(member.name), self._layout.colon
            options.append(Seq((key, colon, value, self._after(index + 1, n_members + 1))))
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
        shape = self._shape
        low = max(0, shape.low - n_members)
        high = None if shape.high is None else shape.high - n_members
        colon = self._layout.colon
        extra = _cells_expr(self._builder, colon, shape.cells, self._inner)
        if shape.musts:
            must = _cells_expr(self._builder, colon, shape.musts[:1], self._inner)
            assert must is not None
            if extra is None:
                return Seq((must, self._close))
            most = None if high is None else high - 1
            before = Repeat(Seq((extra, self._separator)), max(0, low - 1), most)
            return Seq((before, must, self._close))
        assert extra is not None
        more = Repeat(Seq((self._separator, extra)), max(0, low - 1), None if high is None else high - 1)
        return Seq((extra, more, self._close))


def any_order_expr(
    builder: Builder,
    members: list[tuple[str, Expr, bool]],
    cells: list[tuple[Lexeme, Expr]],
    musts: list[tuple[Lexeme, Expr]],
    low: int,
    high: int | None,
    depth: int,
) -> Expr:
    """An object whose members come in any order.

    Args:
        members: (name, value, whether it is required) of each known property.
        cells: (key lexeme, value) of each class of open properties.
        musts: The same for a class of open properties of which one member has to occur.
        low, high: Bounds on the number of members.
        depth: Depth of the object.

    The register: the set holds the indexes of the members seen; counter 0 counts all members,
    counter 1 those that are not required.
    """
    layout = builder.layout
    n_required = sum(required for _, _, required in members) + len(musts)
    most = high if cells or musts else min(len(members), high if high is not None else len(members))
    spare = None if high is None or (high >= len(members) and not cells) else high - n_required
    count_all = _counter(0, most, low if low > n_required else 0)
    options: list[Expr] = []
    guards: list[Expr] = []
    for index, (name, value, required) in enumerate(members):
        parts: list[Expr] = [Act(Action.MARK, index)]
        if required:
            guards.append(Act(Action.HAS, index))
        elif spare is not None:
            parts.append(Act(Action.COUNT, 1, spare, spare))
        options.append(Seq((*parts, layout.key(name), layout.colon, value)))
    counted: tuple[Expr, ...] = () if spare is None else (Act(Action.COUNT, 1, spare, spare),)
    for key, value in cells:
        options.extend(_free_members(key, value, counted, musts, len(members), layout.colon))
    for key, value in musts:
        # The first one is needed, more are spare.
        mark = len(members)
        first = Seq((Act(Action.MARK, mark), Lex(key), layout.colon, value))
        more = Seq((Act(Action.HAS, mark), *counted, Lex(key), layout.colon, value))
        options.extend((first, more))
        guards.append(Act(Action.HAS, mark))
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


def _free_members(
    key: Lexeme,
    value: Expr,
    counted: tuple[Expr, ...],
    musts: list[tuple[Lexeme, Expr]],
    mark: int,
    colon: Expr,
) -> list[Expr]:
    """Members of an open class; once the needed member is there, none may have a name of its class."""
    if not musts:
        return [Seq((*counted, Lex(key), colon, value))]
    inside, outside = intersection(key, musts[0][0]), difference(key, musts[0][0])
    found: list[Expr] = []
    if not is_empty(outside):
        found.append(Seq((*counted, Lex(outside), colon, value)))
    if not is_empty(inside):
        found.append(Seq((Act(Action.LACKS, mark), *counted, Lex(inside), colon, value)))
    return found


def _counter(index: int, most: int | None, least: int) -> tuple[Expr, ...]:
    """Counts one, failing at ``most``; saturates where counting on makes no difference."""
    if most is None and least == 0:
        return ()
    return (Act(Action.COUNT, index, -1 if most is None else most, max(least, most or 0)),)
