"""Members of an object: known ones, classes of open ones, and what is asked of some one of them.

"Some member whose name no property lists fails S" is met by any of the names that fit. Which one it
will be is left open until it is written: an `Asked` names who may meet it, and the object remembers whether
somebody has (`asking`). Classes of which only a few names fit are listed name by name, so that whoever
counts what is left counts names.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..lexeme import Lexeme, complement, intersection
from ..regex.encoding import JSON_STRING, JSON_STRING_CANONICAL, json_string
from .branches import Obligation
from .emptiness import holds_text, is_empty, size_of, texts_of
from .groups import HasMember
from .strings import pattern_lexeme
from .values import string_text

if TYPE_CHECKING:
    from .builder import Builder
    from .nodes import Node

__all__ = [
    "Asked",
    "Cell",
    "Fitting",
    "Member",
    "Obligations",
    "asked_of",
    "cut_key",
    "few_names",
    "fitting",
    "matches",
    "one_spelling",
]

Obligations = frozenset[Obligation]
#: A class with at most so many names is listed name by name.
_FEW: Final = 64


@dataclass(slots=True, eq=False)
class Member:
    """A known property.

    Attributes:
        name: Its name.
        obligations: What its value owes.
        required: Whether it has to be there.
        is_listed: Whether the schema lists it. Where properties come in declared order, the others stand
            among the open ones.
    """

    name: str
    obligations: Obligations
    required: bool
    is_listed: bool = True


@dataclass(slots=True, eq=False)
class Cell:
    """A class of open property names; ``key`` is their text with quotes."""

    key: Lexeme
    obligations: Obligations


@dataclass(slots=True, eq=False)
class Asked:
    """Some member meets this, be it a known one or an open one.

    Attributes:
        has: Where it comes from.
        owed: What the member's value owes for it.
        named: Names of the known members that may be it.
        opened: Classes of open names some of which may be it.
        endless: Those of these classes that never run out of such names.
    """

    has: HasMember
    owed: Obligations
    named: list[str]
    opened: list[Cell]
    endless: list[Cell]


@dataclass(slots=True, eq=False)
class Fitting:
    """Those names of a class of open ones that are asked for, each in one spelling; None for endless ones."""

    cell: Cell
    key: Lexeme
    n_names: int | None


def fitting(builder: Builder, asked: list[HasMember], cells: list[Cell]) -> list[list[Fitting]]:
    """For each thing that is asked for: which open names may be it."""
    sizes: dict[int, int | None] = {}  # of whole classes, which most that is asked for leaves as they are
    found: list[list[Fitting]] = []
    for has in asked:
        fits: list[Fitting] = []
        for cell in cells:
            cut = cut_key(builder, has, cell.key)
            key = one_spelling(cut)
            if cut is not cell.key:
                size = size_of(key)
            elif id(cell) in sizes:
                size = sizes[id(cell)]
            else:
                size = sizes[id(cell)] = size_of(key)
            if size != 0 or not is_empty(key):
                fits.append(Fitting(cell, key, size))
        found.append(fits)
    return found


def few_names(fits: list[list[Fitting]]) -> list[str]:
    """The open names that are asked for in classes of which only a few fit, in order of their texts."""
    found: set[bytes] = set()
    for one in itertools.chain.from_iterable(fits):
        if one.n_names is not None and one.n_names <= _FEW:
            found.update(texts_of(one.key, _FEW) or ())  # the number may have been a guess from below
    return [json.loads(text) for text in sorted(found)]


def asked_of(builder: Builder, has: HasMember, members: list[Member], fits: list[Fitting]) -> Asked:
    """Who may meet what is asked for."""
    owed: Obligations = frozenset() if has.value is None else builder.cleaned([has.value])
    named = [member.name for member in members if _name_fits(builder, has, member.name)]
    endless = [one.cell for one in fits if one.n_names is None]
    return Asked(has, owed, named, [one.cell for one in fits], endless)


def one_spelling(key: Lexeme) -> Lexeme:
    """The names of a class, each in one spelling."""
    return JSON_STRING_CANONICAL if key is JSON_STRING else intersection(key, JSON_STRING_CANONICAL)


def matches(builder: Builder, pattern: str, node: Node, name: str) -> bool:
    """Whether a pattern of ``patternProperties`` finds something in a name."""
    lexeme = pattern_lexeme(pattern, builder.layout.encoding, node, "patternProperties")
    return holds_text(json_string(lexeme), string_text(name))


def _name_fits(builder: Builder, has: HasMember, name: str) -> bool:
    if has.pattern is not None and not matches(builder, has.pattern, has.node, name):
        return False
    if has.name is not None and not builder.meets(builder.cleaned([has.name]), name):
        return False
    for group in has.outside:
        if name in group.named:
            return False
        if any(matches(builder, pattern, group.node, name) for pattern, _ in group.patterns):
            return False
    return True


def cut_key(builder: Builder, has: HasMember, key: Lexeme) -> Lexeme:
    """Those of a class of open names that may be what is asked for."""
    encoding = builder.layout.encoding
    parts = [key]
    if has.pattern is not None:
        parts.append(json_string(pattern_lexeme(has.pattern, encoding, has.node, "patternProperties")))
    if has.name is not None:
        parts.append(builder.all_strings(builder.cleaned([has.name])))
    for group in has.outside:
        for pattern, _ in group.patterns:
            text = json_string(pattern_lexeme(pattern, encoding, group.node, "patternProperties"))
            parts.append(complement(text))
    return key if len(parts) == 1 else intersection(*parts)
