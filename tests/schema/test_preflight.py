"""Malformed schemas: each is told with its place before anything is expanded, wherever it is."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import SchemaError
from maskwright.schema.preflight import preflight

MALFORMED: list[tuple[Any, str]] = [
    ({"type": "strng"}, "#/type"),
    ({"type": 3}, "#/type"),
    ({"type": ["string", None]}, "#/type"),
    ({"properties": []}, "#/properties"),
    ({"properties": {"a/b": 3}}, "#/properties/a~1b"),
    ({"required": "a"}, "#/required"),
    ({"required": [1]}, "#/required"),
    ({"enum": "a"}, "#/enum"),
    ({"minLength": -1}, "#/minLength"),
    ({"maxItems": 1.5}, "#/maxItems"),
    ({"maxItems": True}, "#/maxItems"),
    ({"minimum": "0"}, "#/minimum"),
    ({"minimum": True}, "#/minimum"),
    ({"pattern": 1}, "#/pattern"),
    ({"pattern": "(["}, "#/pattern"),
    ({"pattern": "(a)\\1"}, "#/pattern"),
    ({"patternProperties": {"*": True}}, "#/patternProperties"),
    ({"format": 1}, "#/format"),
    ({"anyOf": []}, "#/anyOf"),
    ({"allOf": {}}, "#/allOf"),
    ({"oneOf": [True, 3]}, "#/oneOf/1"),
    ({"not": "x"}, "#/not"),
    ({"items": [True, "x"]}, "#/items/1"),
    ({"$ref": 3}, "#/$ref"),
    ({"$ref": "#/$defs/gone"}, "#/$ref"),
    ({"$ref": "#/$defs/a/type/x", "$defs": {"a": {"type": "null"}}}, "#/$ref"),
    ({"uniqueItems": "yes"}, "#/uniqueItems"),
    ({"dependentRequired": {"a": [1]}}, "#/dependentRequired"),
    ({"dependencies": []}, "#/dependencies"),
]


@pytest.mark.parametrize(("schema", "pointer"), MALFORMED, ids=str)
def test_malformed(schema: Any, pointer: str) -> None:
    """At the root and deep in a definition that a property nobody need write refers to."""
    with pytest.raises(SchemaError) as caught:
        preflight(schema)
    assert caught.value.pointer == pointer
    if "$ref" not in schema:
        with pytest.raises(SchemaError) as caught:
            preflight({"properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"items": schema}}})
        assert caught.value.pointer == pointer.replace("#", "#/$defs/x/items", 1)


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {},
        {"type": ["string", "null"], "minLength": 2.0, "maxLength": 3},
        {
            "enum": [{"type": "strng"}],
            "const": {"pattern": "(["},
            "default": {"type": 3},
            "examples": [{"$ref": 1}],
        },
        {"properties": {"type": {"type": "string"}, "pattern": {"enum": ["(["]}, "$ref": {"const": 1}}},
        {"exclusiveMinimum": True, "minimum": 1},
        {"prefixItems": [], "items": False},
        {"$ref": "#/properties/a", "properties": {"a": {"type": "null"}}},
        {"x-own": {"type": "strng"}},
    ],
    ids=str,
)
def test_well_formed(schema: Any) -> None:
    """What only looks like a keyword, and unusual but legal forms, pass."""
    preflight(schema)


def test_lenient_lets_patterns_through() -> None:
    """They are widened later, and reported."""
    preflight({"pattern": "(a)\\1"}, lenient=True)


def test_findings() -> None:
    """What later stages want to know."""
    assert not preflight({"properties": {"a": {"anyOf": [{"type": "null"}, {"pattern": "^a"}]}}}).risky
    assert preflight({"properties": {"a": {"uniqueItems": True}}}).risky
    assert preflight({"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"not": {}}}}).risky
    assert not preflight({"$defs": {"a": {"not": {}}}}).risky  # nothing refers to it
    assert not preflight({"minProperties": 1}).risky
    assert preflight({"minProperties": 2}).risky
    assert preflight({"items": {"pattern": "a", "format": "uri"}}).risky
    assert not preflight({"oneOf": [{"type": "null"}, {"type": "string"}]}).risky
    assert preflight({"oneOf": [{"type": "number"}, {"type": "integer"}]}).risky
    assert preflight({"oneOf": [{"type": ["number", "null"]}, {"type": "string"}]}).risky
    assert preflight({"$dynamicRef": "#x", "$defs": {"a": {"$dynamicAnchor": "x"}}}).is_dynamic
    assert not preflight({"type": "object"}).is_dynamic


def test_the_schema_is_left_alone() -> None:
    """Nothing is written into it."""
    schema = {"properties": {"a": {"oneOf": [{"type": "null"}, {"minimum": 1}]}}}
    before = repr(schema)
    preflight(schema)
    assert repr(schema) == before
