"""References: pointers, anchors, identifiers, dynamic scope, remote documents, recursion."""

from __future__ import annotations

import json
from typing import Any

import pytest
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7, DRAFT202012

from maskwright.errors import LimitExceeded, SchemaError
from tests.schema.language import Language


def test_pointers() -> None:
    """Escapes, percent encoding, array indexes, and any place that holds a schema."""
    schema: dict[str, Any] = {
        "$defs": {
            "a/b": {"~": {"type": "null"}},
            "per%cent": {"type": "integer"},
            "list": {"anyOf": [True, {"const": "x"}]},
        },
        "properties": {
            "a": {"$ref": "#/$defs/a~1b/~0"},
            "b": {"$ref": "#/$defs/per%25cent"},
            "c": {"$ref": "#/$defs/list/anyOf/1"},
            "d": {"$ref": "#/properties/a"},
        },
    }
    language = Language(schema)
    assert language.holds('{"a":null,"b":1,"c":"x","d":null}')
    for text in ('{"a":1}', '{"b":null}', '{"c":"y"}', '{"d":1}'):
        assert not language.holds(text)


@pytest.mark.parametrize(
    "ref", ["#/$defs/b", "#/$defs/a/0", "#/type", "#gone", "other.json", "#/properties/x/y"]
)
def test_dangling_references(ref: str) -> None:
    """Are told with their place before generation."""
    with pytest.raises(SchemaError) as caught:
        Language(
            {"type": "object", "$defs": {"a": {}}, "properties": {"x": {"$ref": ref}}, "required": ["x"]}
        )
    assert caught.value.pointer == "#/properties/x/$ref"


def test_recursion() -> None:
    """Direct, mutual, through arrays, allOf and not."""
    tree = {
        "type": "object",
        "properties": {"value": {"type": "integer"}, "children": {"items": {"$ref": "#"}}},
        "required": ["value"],
        "additionalProperties": False,
    }
    text = '{"value":1,"children":[{"value":2,"children":[]},{"value":3}]}'
    assert Language(tree).holds(text)
    assert not Language(tree).holds(text.replace("3", '"x"'))
    mutual = {
        "$defs": {
            "even": {"type": "array", "items": {"$ref": "#/$defs/odd"}, "maxItems": 1},
            "odd": {"allOf": [{"type": "array"}, {"items": {"$ref": "#/$defs/even"}}], "minItems": 1},
        },
        "$ref": "#/$defs/even",
    }
    language = Language(mutual, strict_mode=False)
    assert language.holds("[]")
    assert language.holds("[[[]]]")
    assert not language.holds("[[]]")
    negated = {
        "$defs": {"n": {"type": "array", "items": {"not": {"$ref": "#/$defs/n"}}}},
        "$ref": "#/$defs/n",
    }
    language = Language(negated)
    assert language.holds("[1,[[]]]")
    assert not language.holds("[[]]")


def test_recursion_without_an_end() -> None:
    """Has no finite value."""
    with pytest.raises(SchemaError, match="no value can meet"):
        Language({"type": "object", "properties": {"x": {"$ref": "#"}}, "required": ["x"]})


def test_identifiers_and_anchors() -> None:
    """Embedded documents have their own base."""
    schema = {
        "$id": "http://example.test/root.json",
        "$defs": {
            "inner": {
                "$id": "folder/inner.json",
                "$defs": {"x": {"$anchor": "here", "type": "null"}},
                "$ref": "#here",
            }
        },
        "properties": {"a": {"$ref": "folder/inner.json"}, "b": {"$ref": "folder/inner.json#/$defs/x"}},
    }
    language = Language(schema)
    assert language.holds('{"a":null,"b":null}')
    assert not language.holds('{"a":1}')


def test_remote_documents() -> None:
    """Come from the caller's registry, each in its own dialect."""
    old = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$ref": "#/definitions/n",
        "type": "string",
        "definitions": {"n": {"type": "integer"}},
    }
    registry = Registry().with_resources(
        [
            ("http://example.test/old", Resource(old, DRAFT7)),
            ("http://example.test/new", Resource({"$ref": "old", "minimum": 3}, DRAFT202012)),
        ]
    )
    language = Language({"$ref": "http://example.test/new"}, registry=registry)
    assert language.holds("3")
    assert not language.holds("2")
    assert not language.holds('"x"')
    with pytest.raises(SchemaError, match="registry"):
        Language({"$ref": "http://example.test/gone"}, registry=registry)


def test_dynamic_references() -> None:
    """A tree whose nodes are those of the schema that extends it."""
    schema = {
        "$id": "http://example.test/strict",
        "$dynamicAnchor": "node",
        "$ref": "tree",
        "unevaluatedProperties": False,
        "$defs": {
            "tree": {
                "$id": "tree",
                "$dynamicAnchor": "node",
                "type": "object",
                "properties": {"kids": {"items": {"$dynamicRef": "#node"}}},
            }
        },
    }
    language = Language(schema, strict_mode=False)
    assert language.holds('{"kids":[{"kids":[]}]}')
    assert not language.holds('{"kids":[{"kidz":[]}]}')


def test_pointers_from_the_top_of_an_embedded_document() -> None:
    """They mean nothing by the standard, and are common; the author's reading is taken."""
    schema = {
        "definitions": {
            "app": {
                "id": "schemata/app",
                "properties": {"n": {"$ref": "#/definitions/app/definitions/n"}},
                "definitions": {"n": {"type": "null"}},
            }
        },
        "$schema": "http://json-schema.org/draft-04/schema#",
        "properties": {"app": {"$ref": "#/definitions/app"}},
    }
    assert Language(schema).holds('{"app":{"n":null}}')
    assert not Language(schema).holds('{"app":{"n":1}}')


def test_siblings_of_references() -> None:
    """Count since 2019-09, and are ignored in the drafts before."""
    schema: dict[str, Any] = {
        "definitions": {"s": {"type": "string"}},
        "properties": {"a": {"$ref": "#/definitions/s", "maxLength": 1}},
    }
    assert not Language(schema).holds('{"a":"xy"}')
    old = {"$schema": "http://json-schema.org/draft-07/schema#", **schema}
    assert Language(old).holds('{"a":"xy"}')


def test_deep_nesting_is_a_typed_error() -> None:
    """Neither a crash nor a hang, whether it is the document or the recursion that is deep."""
    deep: dict[str, Any] = {"type": "null"}
    for _ in range(3000):
        deep = {"type": "object", "properties": {"x": deep}, "required": ["x"]}
    with pytest.raises(LimitExceeded):
        Language(deep)


def test_text_of_a_value_deep_in_a_recursion() -> None:
    """Depth of the value is not bounded by anything in the schema."""
    language = Language({"items": {"$ref": "#"}, "type": "array"})
    assert language.holds("[" * 2000 + "]" * 2000)
    assert json.loads("[[]]") == [[]]
