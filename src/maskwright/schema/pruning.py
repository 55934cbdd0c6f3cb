"""Objects without what cannot be: members without a value, and who can meet what is asked for.

What is asked for is settled as far as it is plain: one that is met anyway is dropped, one that only one
known member can meet makes that member required. The rest stays as it is (see `asking`), as long as it can
be met member by member: every member could meet all that only known members may meet. Where two of
those contradict each other in one member, the object splits on whether that member meets the one.

Where the number of members is bounded from above, or demands on a class that may run out of names contradict
each other, who meets what is not a matter of one member at a time; there the object splits into the ways to
meet all that is asked for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ..errors import LimitExceeded
from ..lexeme import difference
from ..regex.encoding import is_spellable
from .emptiness import is_empty, size_of
from .members import Asked, Cell, Member, Obligations, cut_key, fitting
from .shapes import ObjectShape

if TYPE_CHECKING:
    from .builder import Builder

__all__ = ["holds_object", "open_capacity", "pruned_objects"]

#: Shapes that the objects of one may split into.
_MAX_WAYS: Final = 3000


def pruned_objects(builder: Builder, shape: ObjectShape, *, splits_all: bool = False) -> list[ObjectShape]:
    """The objects of a shape without members that can have no value, as shapes that hold some.

    Args:
        builder: Knows what has values.
        shape: The objects.
        splits_all: Whether nothing may be left that is asked for.

    Raises:
        LimitExceeded: There are too many ways to meet what is asked for.
    """
    pruned = _pruned(builder, shape)
    if pruned is None:
        return []
    if not (pruned.asked or pruned.clauses):
        return [pruned]
    found: list[ObjectShape] = []
    stack = [pruned]
    n_ways = 0
    while stack:
        one = _settled(builder, stack.pop())
        if one is None:
            continue
        ways = _split(builder, one, splits_all)
        if ways is None:
            if not one.clauses or _meets_clauses(builder, one):
                found.append(one)
            continue
        stack.extend(reversed(ways))
        n_ways += len(ways)
        if n_ways > _MAX_WAYS:
            raise LimitExceeded(
                "objects that ask for some open member can meet that in too many ways",
                resource="object shapes",
                limit=_MAX_WAYS,
                hint="simplify not and oneOf over patternProperties or additionalProperties",
            )
    return found


def _pruned(builder: Builder, shape: ObjectShape) -> ObjectShape | None:
    """The shape without members that can have no value; None if it plainly holds no object."""
    members: list[Member] = []
    n_needed = len(shape.musts)
    for member in shape.members:
        if _can_be(builder, member):
            members.append(member)
            n_needed += member.required
        elif member.required:
            return None
    if not all(builder.satisfiable(must.obligations) for must in shape.musts):
        return None
    cells = [cell for cell in shape.cells if builder.satisfiable(cell.obligations)]
    if shape.high is not None and (shape.high < n_needed or shape.high < shape.low):
        return None
    capacity = _capacity(cells, shape.low - len(members))
    if capacity is not None and len(members) + capacity < shape.low:
        return None
    # Not `dataclasses.replace`, which takes longer than all that is above for a small object.
    return ObjectShape(
        members,
        shape.known,
        cells,
        shape.low,
        shape.high,
        shape.place,
        shape.musts,
        shape.clauses,
        shape.asked,
    )


def _can_be(builder: Builder, member: Member) -> bool:
    """Whether a member can be written: it has a value, and its name has UTF-8."""
    return is_spellable(member.name) and builder.satisfiable(member.obligations)


def _meets_clauses(builder: Builder, shape: ObjectShape) -> bool:
    from .clauses import Clauses

    return Clauses(builder, shape, 0).is_possible()


# -- what is asked for -------------------------------------------------------------------------------


def _settled(builder: Builder, shape: ObjectShape) -> ObjectShape | None:
    """The shape without what is met anyway, and with what only one member can meet as that member's."""
    members = {member.name: member for member in shape.members}
    asked = shape.asked
    again = True
    while again:
        again = False
        kept: list[Asked] = []
        for one in asked:
            able = _able(builder, members, one)
            if not able.named and not able.opened:
                return None
            if any(members[n].required and one.owed <= members[n].obligations for n in able.named):
                continue
            if len(able.named) == 1 and not able.opened:
                members[able.named[0]] = _with(members[able.named[0]], one.owed)
                again = True
            else:
                kept.append(able)
        asked = kept
    n_needed = len(shape.musts) + sum(member.required for member in members.values())
    if shape.high is not None and n_needed > shape.high:
        return None
    settled = replace(shape, members=list(members.values()), asked=_without_implied(asked))
    may_run_out = any(one.opened and not one.endless for one in asked)
    return (
        _in_parts(builder, settled) if may_run_out and shape.high is None and not shape.clauses else settled
    )


def _able(builder: Builder, members: dict[str, Member], one: Asked) -> Asked:
    """Who can meet it."""

    def can(owed: Obligations) -> bool:
        return builder.satisfiable(builder.cleaned(owed | one.owed))

    named = [name for name in one.named if name in members and can(members[name].obligations)]
    opened = [cell for cell in one.opened if can(cell.obligations)]
    return Asked(one.has, one.owed, named, opened, [cell for cell in opened if cell in one.endless])


def _with(member: Member, owed: Obligations) -> Member:
    return Member(member.name, member.obligations | owed, True, member.is_listed)


def _without_implied(asked: list[Asked]) -> list[Asked]:
    """Without what known members alone meet whenever they meet another that is asked for."""
    kept: list[Asked] = []
    for one in sorted(asked, key=lambda one: (len(one.opened), len(one.named))):
        if not any(_implies(other, one) for other in kept):
            kept.append(one)
    return kept


def _implies(one: Asked, other: Asked) -> bool:
    return not one.opened and other.owed <= one.owed and set(one.named) <= set(other.named)


def _split(builder: Builder, shape: ObjectShape, splits_all: bool) -> list[ObjectShape] | None:
    """The shape as several in which less is asked for; None if that is not needed."""
    if not shape.asked:
        return None
    if shape.clauses:
        # What is met by a known member, or by any value at all, is one clause more.
        one = next((one for one in shape.asked if one.opened and one.owed), None)
        if one is None:
            return None
        return _ways(builder, replace(shape, asked=[other for other in shape.asked if other is not one]), one)
    if splits_all or shape.high is not None or shape.musts or _is_at_odds(builder, shape):
        return _ways(builder, replace(shape, asked=shape.asked[1:]), shape.asked[0])
    for index, member in enumerate(shape.members):
        owed = member.obligations
        for one in shape.asked:
            if one.endless or member.name not in one.named:
                continue
            owed |= one.owed
            if not builder.satisfiable(builder.cleaned(owed)):
                return _with_or_without(shape, index, one)
    return None


def _is_at_odds(builder: Builder, shape: ObjectShape) -> bool:
    """Whether no value can meet all that is asked of a class that may run out of names."""
    for cell in shape.cells:
        asked = [one for one in shape.asked if cell in one.opened and not one.endless]
        owed = cell.obligations.union(*(one.owed for one in asked))
        if asked and not builder.satisfiable(builder.cleaned(owed)):
            return True
    return False


def _in_parts(builder: Builder, shape: ObjectShape) -> ObjectShape:
    """The shape with classes cut so that what may run out of names is asked of whole classes."""
    cells, asked = list(shape.cells), list(shape.asked)
    for number in range(len(asked)):
        for cell in asked[number].opened if not asked[number].endless else ():
            inside = cut_key(builder, asked[number].has, cell.key)
            outside = difference(cell.key, inside)
            if inside is cell.key or is_empty(outside):
                continue
            parts = [Cell(inside, cell.obligations), Cell(outside, cell.obligations)]
            cells[cells.index(cell) : cells.index(cell) + 1] = parts
            asked = [_of_parts(builder, one, cell, parts) for one in asked]
    return replace(shape, cells=cells, asked=asked)


def _of_parts(builder: Builder, one: Asked, cell: Cell, parts: list[Cell]) -> Asked:
    """What is asked for, of the parts of a class instead of the class."""
    if cell not in one.opened:
        return one
    fits = fitting(builder, [one.has], parts)[0]
    opened = [other for other in one.opened if other is not cell] + [fit.cell for fit in fits]
    endless = [other for other in one.endless if other is not cell]
    endless += [fit.cell for fit in fits if fit.n_names is None]
    return replace(one, opened=opened, endless=endless)


def _with_or_without(shape: ObjectShape, index: int, one: Asked) -> list[ObjectShape]:
    """A member that meets what is asked for, or leaves it to the others."""
    name = shape.members[index].name
    others = [other for other in shape.asked if other is not one]
    left = replace(one, named=[other for other in one.named if other != name])
    return [
        replace(shape, members=_forced(shape, index, one.owed), asked=others),
        replace(shape, asked=[*others, left]),
    ]


def _forced(shape: ObjectShape, index: int, owed: Obligations) -> list[Member]:
    members = list(shape.members)
    members[index] = _with(members[index], owed)
    return members


def _ways(builder: Builder, shape: ObjectShape, one: Asked) -> list[ObjectShape]:
    """All ways in which a shape can have a member that meets what is asked for."""
    node = one.has.node
    found = [
        replace(shape, members=_forced(shape, index, one.owed), place=node)
        for index, member in enumerate(shape.members)
        if member.name in one.named
    ]
    for cell in one.opened:
        must = Cell(cut_key(builder, one.has, cell.key), cell.obligations | one.owed)
        found.append(replace(shape, musts=[*shape.musts, must], place=node))
    for index, must in enumerate(shape.musts):  # one member may be what several ask for
        key = cut_key(builder, one.has, must.key)
        owed = must.obligations | one.owed
        if not is_empty(key) and builder.satisfiable(builder.cleaned(owed)):
            musts = list(shape.musts)
            musts[index] = Cell(key, owed)
            found.append(replace(shape, musts=musts, place=node))
    return found


# -- whether there is an object ----------------------------------------------------------------------


def holds_object(builder: Builder, shape: ObjectShape) -> bool:
    """Whether the shape holds some object; looks at optional members only as far as it must."""
    needed = [member for member in shape.members if member.required]
    n_needed = len(needed) + len(shape.musts)
    if shape.high is not None and (shape.high < n_needed or shape.high < shape.low):
        return False
    if not all(_can_be(builder, member) for member in needed):
        return False
    if not all(builder.satisfiable(must.obligations) for must in shape.musts):
        return False
    if shape.clauses or (shape.asked and shape.high is not None):
        return bool(pruned_objects(builder, shape))
    if shape.asked and not _can_meet(builder, shape):
        return False
    if n_needed >= shape.low:
        return True
    cells = [cell for cell in shape.cells if builder.satisfiable(cell.obligations)]
    capacity = _capacity(cells, shape.low - n_needed)
    if capacity is None or len(needed) + capacity >= shape.low:
        return True
    known = sum(m.required or _can_be(builder, m) for m in shape.members)
    return known + capacity >= shape.low


def _can_meet(builder: Builder, shape: ObjectShape) -> bool:
    """Whether known members can meet all at once that no open member can."""
    members = {member.name: member for member in shape.members}
    left = [able for one in shape.asked if not (able := _able(builder, members, one)).endless]
    if any(one.opened for one in left):
        return bool(pruned_objects(builder, shape))
    left.sort(key=lambda one: len(one.named))

    def can(index: int, owed: dict[str, Obligations]) -> bool:
        if index == len(left):
            return True
        one = left[index]
        for name in one.named:
            merged = owed.get(name, members[name].obligations) | one.owed
            if builder.satisfiable(builder.cleaned(merged)) and can(index + 1, {**owed, name: merged}):
                return True
        return False

    return can(0, {})


def open_capacity(shape: ObjectShape) -> int | None:
    """How many open members an object can have: None for more than anybody counts to.

    Asked only where it matters; elsewhere "some" is one.
    """
    counts = shape.musts or shape.low > 1
    return _capacity(shape.cells, max(2, shape.low) if counts else 1)


def _capacity(cells: list[Cell], wanted: int) -> int | None:
    if wanted <= 1:
        return None if cells else 0
    sizes = [size_of(cell.key) for cell in cells]
    return None if None in sizes else sum(size for size in sizes if size is not None)
