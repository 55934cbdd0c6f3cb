"""Which subschemas speak about a place."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.schema.nodes import Documents
from maskwright.schema.places import subschemas_at

SCHEMA = {
    "type": "object",
    "properties": {"a": {"$ref": "#/$defs/d"}, "tuple": {"prefixItems": [{"const": 1}], "items": {"const": 2}}},
    "patternProperties": {"^x": {"type": "integer"}, "y$": {"minimum": 3}},
    "additionalProperties": {"type": "null"},
    "allOf": [{"properties": {"a": {"minLength": 1}}}],
    "if": {"required": ["a"]},
    "then": {"properties": {"a": {"maxLength": 5}}},
    "$defs": {"d": {"anyOf": [{"type": "string"}, {"$ref": "#"}]}},
}  # fmt: skip


def pointers(schema: Any, *path: str | int) -> list[str]:
    return [node.pointer for node in subschemas_at(Documents(schema).root, path)]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ((), ["#", "#/allOf/0", "#/then"]),
        (
            ("a",),
            [
                "#/properties/a", "#/$defs/d", "#/$defs/d/anyOf/0", "#/$defs/d/anyOf/1", "#", "#/allOf/0", "#/then",
                "#/allOf/0/properties/a", "#/then/properties/a",
            ],
        ),
        (("xy",), ["#/patternProperties/^x", "#/patternProperties/y$"]),
        (("z",), ["#/additionalProperties"]),
        (("tuple", 0), ["#/properties/tuple/prefixItems/0"]),
        (("tuple", 1), ["#/properties/tuple/items"]),
        (("tuple", "no"), []),
    ],
)  # fmt: skip
def test_subschemas(path: tuple[str | int, ...], expected: list[str]) -> None:
    assert pointers(SCHEMA, *path) == expected


def test_older_drafts() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "items": [{"type": "string"}, {"$ref": "#/definitions/n", "minimum": 3}],
        "additionalItems": {"type": "null"},
        "definitions": {"n": {"type": "number"}},
    }
    assert pointers(schema, 1) == ["#/items/1", "#/definitions/n"]
    assert pointers(schema, 2) == ["#/additionalItems"]


def test_a_reference_to_itself_ends() -> None:
    assert pointers({"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}) == ["#", "#/$defs/a"]


def test_dynamic_references() -> None:
    schema = {
        "$id": "https://tree.example/tree",
        "$dynamicAnchor": "node",
        "properties": {"children": {"items": {"$dynamicRef": "#node"}}},
    }
    found = pointers(schema, "children", 0, "children", 0)
    assert len(found) == 2
    assert found[0].endswith("/properties/children/items")
