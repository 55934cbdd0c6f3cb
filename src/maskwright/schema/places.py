"""Which subschemas speak about a place in a document.

For explanations: it follows references and whatever combines subschemas, and takes all alternatives of an
``anyOf``, also those that the document has ruled out. Generation does not use it: there the same question
is answered exactly, by branches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ..regex.encoding import JSON_CANONICAL, json_string
from .emptiness import holds_text
from .nodes import Node
from .strings import pattern_lexeme
from .values import string_text

__all__ = ["subschemas_at"]

#: Subschemas of one place that are looked at; a schema with more of them explains nothing.
_MAX_NODES: Final = 256
_LISTS: Final = ("allOf", "anyOf", "oneOf")
_SINGLE: Final = ("then", "else")


def subschemas_at(root: Node, path: Iterable[str | int]) -> list[Node]:
    """The subschemas for the value at a path, in the order in which they are met.

    Args:
        root: The schema of the whole document.
        path: Keys and indexes from there.

    Raises:
        SchemaError: A reference leads nowhere, or a pattern is malformed.
    """
    found = _spread([root])
    for part in path:
        found = _spread(child for node in found for child in _below(node, part))
    return found


def _spread(nodes: Iterable[Node]) -> list[Node]:
    """These and all that hold or may hold for the same value."""
    found: dict[Node, None] = {}
    waiting = list(nodes)[::-1]
    while waiting and len(found) < _MAX_NODES:
        node = waiting.pop()
        if node not in found:
            found[node] = None
            waiting.extend(list(_beside(node))[::-1])
    return list(found)


def _beside(node: Node) -> Iterator[Node]:
    schema = node.schema
    if not isinstance(schema, dict):
        return
    if isinstance(schema.get("$ref"), str):
        yield node.documents.resolve(node, schema["$ref"])
        if node.resource.dialect.ref_overrides:
            return
    if isinstance(schema.get("$dynamicRef"), str):
        yield node.documents.resolve_dynamic(node, schema["$dynamicRef"])
    if "$recursiveRef" in schema:
        yield node.documents.resolve_recursive(node)
    for keyword in _LISTS:
        for index in range(len(schema.get(keyword, ()))):
            yield node.child(keyword, index)
    for keyword in _SINGLE:
        if keyword in schema:
            yield node.child(keyword)
    for name in schema.get("dependentSchemas", ()):
        yield node.child("dependentSchemas", name)


def _below(node: Node, part: str | int) -> Iterator[Node]:
    if isinstance(node.schema, dict):
        yield from _item(node, part) if isinstance(part, int) else _member(node, part)


def _member(node: Node, name: str) -> Iterator[Node]:
    schema = node.schema
    matched = False
    if name in schema.get("properties", ()):
        matched = True
        yield node.child("properties", name)
    for pattern in schema.get("patternProperties", ()):
        lexeme = json_string(pattern_lexeme(pattern, JSON_CANONICAL, node, "patternProperties"))
        if holds_text(lexeme, string_text(name)):
            matched = True
            yield node.child("patternProperties", pattern)
    if not matched:
        for keyword in ("additionalProperties", "unevaluatedProperties"):
            if keyword in schema:
                yield node.child(keyword)


def _item(node: Node, index: int) -> Iterator[Node]:
    schema = node.schema
    items = schema.get("items")
    prefix, rest = ("items", "additionalItems") if isinstance(items, list) else ("prefixItems", "items")
    if index < len(schema.get(prefix, ())):
        yield node.child(prefix, index)
    else:
        for keyword in (rest, "unevaluatedItems"):
            if keyword in schema:
                yield node.child(keyword)
    if "contains" in schema:
        yield node.child("contains")
