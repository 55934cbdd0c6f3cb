"""Cheap proofs that two schemas share no value, so that ``oneOf`` can be read as ``anyOf``.

A proof looks at what a schema says on the surface (through ``$ref`` and ``allOf``): its types, its finite
values, and the discriminating properties (required, with finite values) of its objects. "No" only means
"not proved": the caller then subtracts. Nothing here changes the language.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Final

from ..errors import SchemaError
from .values import ANY, OBJECT, json_key, type_bit

if TYPE_CHECKING:
    from .nodes import Node

__all__ = ["are_disjoint"]

_DEPTH: Final = 6


class _Surface:
    """What is plain to see: types, finite values, required names, finite property values."""

    __slots__ = ("closed", "properties", "required", "types", "values")

    def __init__(self) -> None:
        self.types = ANY
        self.values: set[Any] | None = None
        self.required: set[str] = set()
        self.properties: dict[str, list[Node]] = {}
        self.closed: list[set[str]] = []


def are_disjoint(
    one: Node,
    other: Node,
    depth: int = _DEPTH,
    *,
    types: int = ANY,
    required: Collection[str] = (),
) -> bool:
    """Whether it is plain that no value meets both schemas.

    Args:
        one, other: The schemas.
        depth: How far to look.
        types: Only values of these types are asked about,
        required: and of objects only those with these properties.
    """
    left, right = _surface(one, depth), _surface(other, depth)
    common = left.types & right.types & types
    if not common:
        return True
    if left.values is not None and right.values is not None and not left.values & right.values:
        return True
    if common != OBJECT or depth <= 0:
        return False
    needed = left.required.union(right.required, required)
    if any(needed - names for names in (*left.closed, *right.closed)):
        return True
    for name in needed:
        for first in left.properties.get(name, ()):
            for second in right.properties.get(name, ()):
                if are_disjoint(first, second, depth - 3):
                    return True
    return False


def _surface(node: Node, depth: int) -> _Surface:
    """The surface of a node; remembered, since each option of ``oneOf`` is held against all others."""
    if node.surfaces is None:
        node.surfaces = {}
    found: _Surface | None = node.surfaces.get(depth)
    if found is None:
        found = _Surface()
        try:
            _collect(node, found, depth, set())
        except (SchemaError, KeyError, TypeError, ValueError):
            found = _Surface()  # malformed: expansion will say so
        node.surfaces[depth] = found
    return found


def _collect(node: Node, found: _Surface, depth: int, seen: set[Node]) -> None:
    from .keywords import type_mask

    schema = node.schema
    if node in seen or depth < 0:
        return
    seen.add(node)
    if schema is False:
        found.types = 0
    if not isinstance(schema, dict):
        return
    dialect = node.resource.dialect
    if "$ref" in schema:
        _collect(node.documents.resolve(node, schema["$ref"]), found, depth - 1, seen)
        if dialect.ref_overrides:
            return
    if "type" in schema:
        found.types &= type_mask(node, schema["type"])
    finite = [schema["const"]] if "const" in schema and "const" in dialect.keywords else schema.get("enum")
    if isinstance(finite, list):
        _bound(found, finite)
    for name in schema.get("required", ()):
        found.required.add(name)
    for name in schema.get("properties", ()):
        found.properties.setdefault(name, []).append(node.child("properties", name))
    if schema.get("additionalProperties") is False and not schema.get("patternProperties"):
        found.closed.append(set(schema.get("properties", ())))
    for index in range(len(schema.get("allOf", ()))):
        _collect(node.child("allOf", index), found, depth - 1, seen)


def _bound(found: _Surface, values: list[Any]) -> None:
    keys = {json_key(value) for value in values}
    found.values = keys if found.values is None else found.values & keys
    mask = 0
    for value in values:
        mask |= type_bit(value)
    found.types &= mask
