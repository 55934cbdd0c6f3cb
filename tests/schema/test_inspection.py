"""What cannot be enforced is refused before the first token, and nothing else is worked out for that."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import SchemaError
from maskwright.schema import SchemaOptions, rules_from_schema

#: Refused wherever it is worked out: no registry has the document.
BAD: dict[str, Any] = {"not": {"$ref": "https://example.com/unknown"}}
PLAIN: dict[str, Any] = {"type": "object", "properties": {"p": {"type": "object", "required": ["q"]}}}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": BAD}},
        {"properties": {"a": {"type": "array", "items": BAD}}},
        {"additionalProperties": {"properties": {"b": BAD}}},
        {"prefixItems": [True, {"properties": {"b": BAD}}]},
        {"anyOf": [{"type": "null"}, {"properties": {"b": BAD}}]},
        {"oneOf": [{"type": "null"}, {"type": "object", "properties": {"b": BAD}}]},
        {
            "oneOf": [
                {"properties": {"k": {"const": 1}, "b": BAD}, "required": ["k"], "type": "object"},
                {"properties": {"k": {"const": 2}}, "required": ["k"], "type": "object"},
            ]
        },
        {"oneOf": [{"properties": {"b": BAD}}, {"properties": {"b": {"type": "null"}}, "required": ["b"]}]},
        {"allOf": [{"properties": {"a": {"items": BAD}}}, {"properties": {"a": {"minItems": 1}}}]},
        {"properties": {"a": {"patternProperties": {"^x": BAD}}}},
        {"properties": {"a": {"contains": BAD}}},
        {"properties": {"a": {"if": {"type": "object"}, "then": {"properties": {"b": BAD}}}}},
        {
            "properties": {"a": {"$ref": "#/$defs/x"}},
            "$defs": {"x": {"items": {"$ref": "#/$defs/y"}}, "y": BAD},
        },
        {"properties": {"a": {"$ref": "#"}, "b": {"properties": {"c": BAD}}}},
        {"properties": {"a": {"$id": "https://example.com/a", "properties": {"b": BAD}}}},
    ],
    ids=str,
)
def test_refused_wherever_it_is(schema: Any, indent: int | None) -> None:
    options = SchemaOptions(any_whitespace=indent is None, indent=indent)
    with pytest.raises(SchemaError, match="not in the registry"):
        rules_from_schema({**PLAIN, **schema}, options=options)


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": {"x": BAD}},
        {"properties": {"a": {"type": "string", "x-own": BAD}}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "prefixItems": [BAD]},
        {"properties": {"a": {"not": {}, "items": BAD}}},
    ],
    ids=str,
)
def test_what_nothing_leads_to_is_not_refused(schema: Any) -> None:
    rules_from_schema({**PLAIN, **schema})


def test_plain_parts_stay_for_later() -> None:
    corner = {"oneOf": [{"type": "integer"}, {"type": "number", "multipleOf": 3}]}
    names = [f"p{number}" for number in range(50)]
    schema = {
        "type": "object",
        "properties": {**dict.fromkeys(names, PLAIN), "way": {"properties": {"corner": corner}}},
    }
    _, report = rules_from_schema(schema)
    met = {entry.pointer for entry in report.entries}
    assert "#/properties/way/properties/corner/oneOf" in met
    assert not any(pointer.startswith("#/properties/p") for pointer in met)
    met = {entry.pointer for entry in report.complete().entries}
    assert any(pointer.startswith("#/properties/p0") for pointer in met)


@pytest.mark.parametrize(
    "corner",
    [
        {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        {"type": "integer", "multipleOf": 5},
        {"oneOf": [{"type": "string"}, {"type": "null"}]},
        {"oneOf": [{"const": 1}, {"const": 2}]},
    ],
    ids=str,
)
def test_harmless_uses_are_not_worked_out(corner: Any) -> None:
    _, report = rules_from_schema({"type": "object", "properties": {"a": PLAIN, "b": {"items": corner}}})
    assert not any(entry.pointer.startswith("#/properties/b/items") for entry in report.entries)
