"""Plain objects: what is read off a schema is what its one branch says."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.kernel import lexemes as kernel
from maskwright.lexeme import difference
from maskwright.schema.builder import Builder
from maskwright.schema.options import SchemaOptions

S: dict[str, Any] = {"type": "string"}
PLAIN: list[dict[str, Any]] = [
    {"properties": {"a": S, "b": {"type": "object", "properties": {"c": S}}}},
    {"properties": {"a": S, "b": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"title": "x", "items": S}}},
    {
        "properties": {"b": {}, "a": S},
        "required": ["c", "a", "d", "c"],
        "description": "all kinds of members",
    },
    {"properties": {"a": False, "b": True}, "required": ["b"], "additionalProperties": False},
    {"properties": {"a": S}, "required": ["a", "b"], "additionalProperties": False},
    {"properties": {"a": S}, "required": ["b"], "additionalProperties": {"type": "integer"}},
    {"properties": {"a": S, "ü\n": S}, "additionalProperties": True, "x-own": 1},
    {"required": ["a"]},
    {"properties": {}, "required": ["a"]},
    {
        "properties": {"a": S},
        "$schema": "http://json-schema.org/draft-04/schema#",
        "id": "https://example.com",
    },
]
OTHER: list[dict[str, Any]] = [
    {},
    {"type": ["object", "null"], "properties": {"a": S}},
    {"properties": {"a": S}, "maxProperties": 1},
    {"properties": {"a": S}, "patternProperties": {"a": S}},
    {"properties": {"a": S}, "anyOf": [{"required": ["a"]}, {}]},
    {"properties": {"a": S}, "required": True},
    {"properties": {"a": S}, "minLength": 2},
    {"$ref": "#/$defs/x", "properties": {"a": S}, "$defs": {"x": {}}},
]


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("schema", PLAIN, ids=str)
def test_as_the_branch_says(schema: dict[str, Any], strict: bool) -> None:
    builder = Builder({"type": "object", **schema}, SchemaOptions(strict_mode=strict))
    obligations = builder.obligations(builder.documents.root)
    read = builder.plain_object(obligations)
    assert read is not None
    (branch,) = builder.branches(obligations)
    made = builder.object_of(branch)
    assert made is not None
    for shape in (read, made):
        assert (shape.low, shape.high, shape.musts, shape.clauses) == (0, None, [], [])
    assert [(m.name, m.obligations, m.required, m.is_listed) for m in read.members] == [
        (m.name, m.obligations, m.required, m.is_listed) for m in made.members
    ]
    assert read.known == made.known
    assert [cell.obligations for cell in read.cells] == [cell.obligations for cell in made.cells]
    for one, other in zip(read.cells, made.cells, strict=True):
        assert kernel.is_empty(difference(one.key, other.key))
        assert kernel.is_empty(difference(other.key, one.key))


@pytest.mark.parametrize("schema", OTHER, ids=str)
def test_left_to_the_general_way(schema: dict[str, Any]) -> None:
    builder = Builder({"type": "object", **schema}, SchemaOptions())
    assert builder.plain_object(builder.obligations(builder.documents.root)) is None
