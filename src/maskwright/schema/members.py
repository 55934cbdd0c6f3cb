"""Members of an object: known ones, classes of open ones, and what is asked of some one of them.

"Some member whose name no property lists fails S" is met by any of the names that fit. Which one it
will be is left open until it is written: an `Asked` names who may meet it, and the object remembers whether
somebody has (`asking`). Classes of which only a few names fit are listed name by name, so that whoever
counts what is left counts names.
"""

from __future__ import annotations

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
    "Member",
    "Obligations",
    "asked_of",
    "cut_key",
    "few_names",
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
        is_endless: Whether one of these classes never runs out of such names.
    """

    has: HasMember
    owed: Obligations
    named: list[str]
    opened: list[Cell]
    is_endless: bool


def few_names(builder: Builder, asked: list[HasMember], cells: list[Cell]) -> list[str]:
    """The open names that are asked for in classes of which only a few fit, in order of their texts."""
    found: set[bytes] = set()
    for has in asked:
        for cell in cells:
            key = one_spelling(cut_key(builder, has, cell.key))
            size = size_of(key)
            if size is not None and 0 < size <= _FEW:
                found.update(texts_of(key, _FEW) or ())  # the size may have been a guess from below
    return [json.loads(text) for text in sorted(found)]


def asked_of(builder: Builder, has: HasMember, members: list[Member], cells: list[Cell]) -> Asked:
    """Who may meet what is asked for."""
    owed: Obligations = frozenset() if has.value is None else builder.cleaned([has.value])
    named = [member.name for member in members if _name_fits(builder, has, member.name)]
    opened: list[Cell] = []
    is_endless = False
    for cell in cells:
        key = cut_key(builder, has, cell.key)
        if not is_empty(key):
            opened.append(cell)
            is_endless = is_endless or size_of(one_spelling(key)) is None
    return Asked(has, owed, named, opened, is_endless)


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
    return intersection(*parts)
