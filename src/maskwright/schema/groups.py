"""What a schema object says about the members of arrays and objects, as atoms of a branch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .branches import Obligation, Scope
    from .nodes import Node

__all__ = ["ALL", "Clause", "Contains", "HasMember", "ItemGroup", "Names", "PropertyGroup", "Unevaluated"]


@dataclass(slots=True, eq=False)
class PropertyGroup:
    """``properties``, ``patternProperties`` and ``additionalProperties`` of one schema object.

    Attributes:
        node: The schema object.
        named: Schema of each listed name, in order.
        patterns: (pattern, schema) pairs; all that match apply.
        rest: Schema of all other names, or None where the schema is silent.
    """

    node: Node
    named: dict[str, Node]
    patterns: list[tuple[str, Node]]
    rest: Node | None


@dataclass(slots=True, eq=False)
class ItemGroup:
    """``prefixItems`` and ``items`` (or their older forms) of one schema object.

    Attributes:
        node: The schema object.
        prefix: Schema of each of the first items.
        rest: Schema of all later items, or None where the schema is silent.
        is_tuple: Whether the schema lists positions at all.
    """

    node: Node
    prefix: list[Node]
    rest: Node | None


@dataclass(slots=True, eq=False)
class Contains:
    """Between ``low`` and ``high`` of the items from index ``start`` on meet an obligation."""

    obligation: Obligation
    start: int
    low: int
    high: int | None
    evaluates: bool = False


@dataclass(slots=True, eq=False)
class Names:
    """Every property name, taken as a string value, meets the obligation."""

    obligation: Obligation


@dataclass(slots=True, eq=False)
class HasMember:
    """Some property has a name in a class and a value that meets ``value``.

    Attributes:
        pattern: The name matches this pattern, if there is one.
        outside: The name is not listed in, and matches no pattern of, these groups.
        name: The name, as a string value, meets this obligation, if there is one.
        value: What the value meets, or None for anything.
        node: Where this comes from.
    """

    node: Node
    pattern: str | None = None
    outside: tuple[PropertyGroup, ...] = ()
    scope: Scope | None = None
    name: Obligation | None = None
    value: Obligation | None = None


@dataclass(slots=True, eq=False)
class Unevaluated:
    """``unevaluatedProperties`` or ``unevaluatedItems``: decided when a branch is complete.

    Attributes:
        scope: Where the evaluated members are recorded.
        node: The keyword's schema.
        positive: Whether all unevaluated members meet it, or some one fails it.
    """

    scope: Scope
    node: Node
    positive: bool


Literal = tuple[str, bool, "Obligation | None"]


@dataclass(slots=True, eq=False)
class Clause:
    """At least one literal is met.

    Attributes:
        literals: (name, True, obligation or None): the property is there, and its value meets the
            obligation; (name, False, None): it is not there. Or: some property has a name in a class.
    """

    literals: list[Literal | HasMember]


class _All:
    """Recorded in a scope when every member is evaluated."""

    __slots__ = ()


ALL: Final = _All()
