"""Shapes: the arrays and objects of a branch, with the obligations of each member worked out.

A shape is where all groups of a branch have been merged: for an array the obligations per position, for an
object those of each known name and of each class ("cell") of open names. Cells are the classes that
the patterns cut the open names into; empty ones are dropped, so their number stays near the number of
patterns. What is decided here: ``unevaluated*``, ``strict_mode``, ``propertyNames``, overlapping patterns.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from ..errors import LimitExceeded
from ..lexeme import Lexeme, complement, intersection
from ..regex.encoding import JSON_STRING, json_string
from .branches import Arrays, Branch, Objects, Obligation
from .emptiness import is_empty
from .groups import ALL, Clause, Contains, HasMember, ItemGroup, Literal, Names, PropertyGroup, Unevaluated
from .members import Asked, Cell, Fitting, Member, Obligations, asked_of, few_names, fitting, matches
from .strings import pattern_lexeme

if TYPE_CHECKING:
    from .builder import Builder
    from .nodes import Node

__all__ = [
    "ArrayShape",
    "Count",
    "ObjectShape",
    "Obligations",
    "array_shape",
    "needs_the_impossible",
    "object_shape",
    "open_keys",
]

MAX_CELLS: Final = 512


@dataclass(slots=True, eq=False)
class ObjectShape:
    """The objects of a branch.

    Attributes:
        members: Known properties that may occur, in order.
        known: All known names, also those that may not occur.
        cells: Classes of other names that may occur.
        musts: Classes of other names of which one member at least has to occur.
        clauses: Of each, one literal at least is met.
        asked: Each is met by some member.
        low, high: Bounds on the number of members.
        place: A node to blame.
    """

    members: list[Member]
    known: set[str]
    cells: list[Cell]
    low: int
    high: int | None
    place: Node | None = None
    musts: list[Cell] = field(default_factory=list)
    clauses: list[list[Literal | Asked]] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Count:
    """Between ``low`` and ``high`` of the items from ``start`` on meet ``obligation``."""

    obligation: Obligation
    start: int
    low: int
    high: int | None


@dataclass(slots=True, eq=False)
class ArrayShape:
    """The arrays of a branch.

    Attributes:
        prefix: Obligations of the first items.
        rest: Obligations of all later items.
        low, high: Bounds on the number of items.
        counts: What `contains` demands.
        unique: Whether all items differ (True), some two are equal (False), or neither (None).
        place: A node to blame.
    """

    prefix: list[Obligations]
    rest: Obligations
    low: int
    high: int | None
    counts: list[Count]
    unique: bool | None = None
    place: Node | None = None


# -- arrays ------------------------------------------------------------------------------------------


def array_shape(builder: Builder, branch: Branch, *, strict: bool) -> ArrayShape:
    """Merge the array atoms of a branch."""
    groups: list[tuple[list[Obligations], Obligations | None, bool]] = []
    shape = ArrayShape([], frozenset(), 0, None, [])
    fixed: dict[int, set[Obligation]] = {}
    for atom in branch.arrays:
        if type(atom) is ItemGroup:
            prefix = [builder.obligations(node) for node in atom.prefix]
            rest = None if atom.rest is None else builder.obligations(atom.rest)
            groups.append((prefix, rest, bool(atom.prefix)))
        elif type(atom) is Contains:
            shape.counts.append(Count(builder.obligation(atom.obligation), atom.start, atom.low, atom.high))
        elif type(atom) is Unevaluated:
            _unevaluated_items(builder, branch, atom, groups, shape)
        elif atom[0] == "min":
            shape.low = max(shape.low, atom[1])
        elif atom[0] == "max":
            shape.high = atom[1] if shape.high is None else min(shape.high, atom[1])
        elif atom[0] == "at":
            fixed.setdefault(atom[1], set()).add(builder.obligation(atom[2]))
            shape.low = max(shape.low, atom[1] + 1)
        else:
            shape.unique = atom[1] if shape.unique in (None, atom[1]) else None
            shape.place = atom[2]
            if shape.unique is None:
                shape.high = -1  # unique and not unique at once
    starts = [count.start for count in shape.counts]
    n_prefix = max([len(g[0]) for g in groups] + [i + 1 for i in fixed] + starts, default=0)
    for index in range(n_prefix):
        merged = _at(groups, index).union(fixed.get(index, ()))
        shape.prefix.append(merged)
    shape.rest = _at(groups, n_prefix)
    if strict and any(group[2] for group in groups) and all(group[1] is None for group in groups):
        listed = max(len(group[0]) for group in groups)
        shape.high = listed if shape.high is None else min(shape.high, listed)
    return shape


def _at(groups: list[tuple[list[Obligations], Obligations | None, bool]], index: int) -> Obligations:
    merged: Obligations = frozenset()
    for prefix, rest, _ in groups:
        if index < len(prefix):
            merged |= prefix[index]
        elif rest is not None:
            merged |= rest
    return merged


def cut_array(builder: Builder, shape: ArrayShape) -> ArrayShape:
    """The shape that ends before the first position whose obligations cannot be met."""
    high = shape.high
    if high is not None and high < shape.low:
        return shape
    prefix = shape.prefix if high is None else shape.prefix[:high]
    for index, obligations in enumerate(prefix):
        if not builder.satisfiable(obligations):
            prefix, high = prefix[:index], index
            break
    if (high is None or high > len(prefix)) and not builder.satisfiable(shape.rest):
        high = len(prefix)
    return replace(shape, prefix=prefix, high=high)


def _unevaluated_items(
    builder: Builder,
    branch: Branch,
    atom: Unevaluated,
    groups: list[tuple[list[Obligations], Obligations | None, bool]],
    shape: ArrayShape,
) -> None:
    listed = 0
    reached: set[Obligation] = set()
    for seen in branch.evaluated.get(atom.scope, ()):
        if type(seen) is ItemGroup:
            if seen.rest is not None:
                return _nothing_left_items(atom, shape)
            listed = max(listed, len(seen.prefix))
        elif type(seen) is Contains:
            reached.add(builder.obligation(seen.obligation))
        elif type(seen) is tuple and seen[0] is ALL and seen[1] is Arrays:
            return _nothing_left_items(atom, shape)
    last = builder.obligation((atom.node, True))
    either = last if not reached else (builder.any_of(frozenset({last, *reached})), True)
    if atom.positive:
        groups.append(([frozenset()] * listed, builder.cleaned([either]), False))
    else:
        shape.counts.append(Count((either[0], not either[1]), listed, 1, None))
    return None


def _nothing_left_items(atom: Unevaluated, shape: ArrayShape) -> None:
    if not atom.positive:
        shape.high = -1


# -- objects -----------------------------------------------------------------------------------------


class _Object:
    """The object atoms of a branch, sorted."""

    def __init__(self, builder: Builder, branch: Branch) -> None:
        self.groups: list[PropertyGroup] = []
        self.fixed: dict[str, set[Obligation]] = {}
        self.names: list[Obligation] = []
        self.has: list[HasMember] = []
        self.clauses: list[list[Literal | HasMember]] = []
        self.low, self.high = 0, None
        self.possible = True
        self.place: Node | None = None
        for atom in branch.objects:
            kind = type(atom)
            if kind is PropertyGroup:
                self.groups.append(atom)
                self.place = self.place or atom.node
            elif kind is Names:
                self.names.append(builder.obligation(atom.obligation))
            elif kind is HasMember:
                self.has.append(atom)
            elif kind is Unevaluated:
                self._unevaluated(builder, branch, atom)
            elif kind is Clause:
                self.clauses.append([_followed(builder, literal) for literal in atom.literals])
            elif atom[0] == "named":
                self.fixed.setdefault(atom[1], set()).add(builder.obligation(atom[2]))
            elif atom[0] == "min":
                self.low, self.place = max(self.low, atom[1]), atom[2]
            else:
                self.high = atom[1] if self.high is None else min(self.high, atom[1])
                self.place = atom[2]

    high: int | None

    def _unevaluated(self, builder: Builder, branch: Branch, atom: Unevaluated) -> None:
        named: dict[str, Node] = {}
        patterns: list[tuple[str, Node]] = []
        for seen in branch.evaluated.get(atom.scope, ()):
            if type(seen) is PropertyGroup:
                if seen.rest is not None:
                    return self._nothing_left(atom)
                named.update(dict.fromkeys(seen.named, builder.anything))
                patterns.extend((pattern, builder.anything) for pattern, _ in seen.patterns)
            elif type(seen) is tuple and seen[0] is ALL and seen[1] is Objects:
                return self._nothing_left(atom)
        if atom.positive:
            self.groups.append(PropertyGroup(atom.scope.node, named, patterns, atom.node))
        else:
            seen_by = PropertyGroup(atom.scope.node, named, patterns, None)
            self.has.append(HasMember(atom.scope.node, outside=(seen_by,), value=(atom.node, False)))
        return None

    def _nothing_left(self, atom: Unevaluated) -> None:
        if not atom.positive:
            self.possible = False


def needs_the_impossible(builder: Builder, branch: Branch) -> bool:
    """Whether a required property has no value: asked first, because it takes less than the whole shape."""
    merged = _Object(builder, branch)
    for name in branch.required:
        obligations = None if name in branch.lacks else _named(builder, merged, name)
        if obligations is None or not builder.satisfiable(obligations):
            return True
    return False


def object_shape(builder: Builder, branch: Branch, *, strict: bool) -> ObjectShape | None:
    """Merge the object atoms of a branch; None if that plainly leaves no object."""
    merged = _Object(builder, branch)
    if not merged.possible or (merged.high is not None and merged.high < merged.low):
        return None
    closes = strict and any(g.named or g.patterns for g in merged.groups)
    known: dict[str, None] = {}
    for group in merged.groups:
        known.update(dict.fromkeys(group.named))
    known.update(branch.required)
    known.update(dict.fromkeys(merged.fixed))
    known.update(branch.lacks)
    asked: list[HasMember] = []
    names: list[str] = []
    if merged.has or merged.clauses:
        asked, names = _asked_for(merged)
    for has in asked:
        for group in has.outside:
            known.update(dict.fromkeys(group.named))
    declared = set(known)
    known.update(dict.fromkeys(names))
    cells = _cells(builder, merged, list(known), closes)
    few: list[str] = []
    fits: list[list[Fitting]] = []
    if asked:
        fits = fitting(builder, asked, cells)
        few = few_names(fits)
        if few:
            known.update(dict.fromkeys(few))
            cells = _cells(builder, merged, list(known), closes)
            fits = fitting(builder, asked, cells)
    members: list[Member] = []
    for name in known:
        required = name in branch.required
        obligations = None if name in branch.lacks else _named(builder, merged, name)
        if closes and name not in declared and not _is_addressed(builder, merged, name):
            obligations = None  # only a clause names it
        if obligations is not None:
            members.append(Member(name, obligations, required, is_listed=name not in few))
        elif required:
            return None
    shape = ObjectShape(members, set(known), cells, merged.low, merged.high, merged.place)
    if asked or merged.clauses:
        met_by = {id(has): asked_of(builder, has, members, one) for has, one in zip(asked, fits, strict=True)}
        shape.asked = [met_by[id(has)] for has in merged.has]
        shape.clauses = [
            [met_by[id(literal)] if isinstance(literal, HasMember) else literal for literal in clause]
            for clause in merged.clauses
        ]
    return shape


def _asked_for(merged: _Object) -> tuple[list[HasMember], list[str]]:
    """What asks for some member, alone or as a literal of a clause, and the names of the other literals."""
    asked, names = list(merged.has), []
    for clause in merged.clauses:
        for literal in clause:
            if isinstance(literal, HasMember):
                asked.append(literal)
            else:
                names.append(literal[0])
    return asked, names


def _followed(builder: Builder, literal: Literal | HasMember) -> Literal | HasMember:
    """A literal with its obligation in the shared form."""
    if isinstance(literal, HasMember):
        return literal
    name, is_there, owed = literal
    return name, is_there, owed and builder.obligation(owed)


def _named(builder: Builder, merged: _Object, name: str) -> Obligations | None:
    """The obligations of a known name's value, or None if the name itself is not allowed."""
    for obligation in merged.names:
        if not builder.meets(builder.cleaned([obligation]), name):
            return None
    found: set[Obligation] = set(merged.fixed.get(name, ()))
    for group in merged.groups:
        own = group.named.get(name)
        matched = own is not None
        if own is not None:
            found |= builder.obligations(own)
        for pattern, node in group.patterns:
            if matches(builder, pattern, group.node, name):
                matched = True
                found |= builder.obligations(node)
        if not matched and group.rest is not None:
            found |= builder.obligations(group.rest)
    return frozenset(found)


def _is_addressed(builder: Builder, merged: _Object, name: str) -> bool:
    """Whether some group says something about a name that no group lists."""
    for group in merged.groups:
        if group.rest is not None:
            return True
        if any(matches(builder, pattern, group.node, name) for pattern, _ in group.patterns):
            return True
    return False


def _cells(builder: Builder, merged: _Object, known: list[str], closes: bool) -> list[Cell]:
    """The classes of open names that the patterns make, with what their values owe."""
    encoding = builder.layout.encoding
    groups = merged.groups
    if not any(group.patterns for group in groups):
        if closes and all(group.rest is None for group in groups):
            return []
        if any(group.rest is not None and group.rest.schema is False for group in groups):
            return []
        key = _allowed_keys(builder, merged, known) if known or merged.names else JSON_STRING
        obligations: Obligations = frozenset()
        for group in groups:
            if group.rest is not None:
                obligations |= builder.obligations(group.rest)
        return [] if merged.names and is_empty(key) else [Cell(key, obligations)]
    places = {pattern: group.node for group in groups for pattern, _ in group.patterns}
    found: list[Cell] = []
    parts: list[tuple[Lexeme, frozenset[str]]] = [(_allowed_keys(builder, merged, known), frozenset())]
    for pattern, node in places.items():
        text = json_string(pattern_lexeme(pattern, encoding, node, "patternProperties"))
        parts = [
            (cut, matched)
            for key, old in parts
            for cut, matched in (
                (intersection(key, text), old | {pattern}),
                (intersection(key, complement(text)), old),
            )
            if not is_empty(cut)
        ]
        if len(parts) > MAX_CELLS:
            raise LimitExceeded(
                "patternProperties overlap in too many ways", resource="classes of names", limit=MAX_CELLS
            )
    for key, matched in parts:
        owed = _cell_obligations(builder, groups, matched, closes)
        if owed is not None:
            found.append(Cell(key, owed))
    return found


def _cell_obligations(
    builder: Builder, groups: list[PropertyGroup], matched: frozenset[str], closes: bool
) -> Obligations | None:
    owed: Obligations = frozenset()
    addressed = False
    for group in groups:
        own = [node for pattern, node in group.patterns if pattern in matched]
        if not own and group.rest is not None:
            own = [group.rest]
        addressed = addressed or bool(own)
        for node in own:
            owed |= builder.obligations(node)
    return None if closes and not addressed else owed


def _allowed_keys(builder: Builder, merged: _Object, known: list[str]) -> Lexeme:
    """Texts of all names that are not known and are allowed as names."""
    key = open_keys(builder, known)
    for obligation in merged.names:
        key = intersection(key, builder.all_strings(builder.cleaned([obligation])))
    return key


def open_keys(builder: Builder, known: list[str]) -> Lexeme:
    """Texts of all names that are not known, quotes included, in the layout's encoding."""
    body = builder.layout.encoding.any_text
    if known:
        body = intersection(body, complement(builder.layout.texts(known)))
    return json_string(body)
