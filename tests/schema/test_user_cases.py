"""Schemas on which users of other engines were let down: each must do the right thing here."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import SchemaError
from tests.schema.language import STANDARD, Language

CASES: dict[str, tuple[dict[str, Any], list[str], list[str]]] = {
    "siblings of anyOf": (
        {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "additionalProperties": False,
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        ['{"a":1}', '{"b":1}', '{"a":1,"b":2}'],
        ['{"zzz":1}', "{}"],
    ),
    "allOf of two": ({"allOf": [{"type": "integer"}, {"minimum": 3}]}, ["3", "10"], ['"x"', "2"]),
    "pattern beside a length": (
        {"type": "string", "pattern": "^x*$", "maxLength": 3},
        ['"xxx"', '""'],
        ['"xxxx"', '"y"'],
    ),
    "patternProperties beside properties": (
        {
            "properties": {"id": {"type": "string"}},
            "required": ["id"],
            "patternProperties": {"^x_": {"type": "integer"}},
            "additionalProperties": False,
        },
        ['{"id":"a","x_1":2}'],
        ['{"id":"a","x_1":"b"}', '{"id":1}', '{"x_1":2}', '{"id":"a","y":2}'],
    ),
    "overlapping patternProperties": (
        {"patternProperties": {"^a": {"type": "integer"}, "b$": {"minimum": 5}}},
        ['{"ab":5}', '{"ac":1}', '{"cb":"x"}'],
        ['{"ab":1}', '{"ab":"x"}', '{"cb":1}'],
    ),
    "patternProperties on a named property": (
        {
            "properties": {"n": {"multipleOf": 5}},
            "required": ["n"],
            "additionalProperties": False,
            "patternProperties": {"^n$": {"type": "integer"}},
        },
        ['{"n":10}', '{"n":0}'],
        ['{"n":3}', '{"n":2.5}', '{"n":"x"}', "{}"],
    ),
    "exclusiveMinimum of numbers": ({"type": "number", "exclusiveMinimum": 0}, ["0.5", "1e3"], ["0", "-1"]),
    "negative minimum": ({"type": "integer", "minimum": -5}, ["-3", "-5", "7"], ["-6"]),
    "multipleOf of decimals": ({"type": "number", "multipleOf": 0.25}, ["0.5", "1.25", "3"], ["0.3"]),
    "uniqueItems": (
        {"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True},
        ["[1,2]", "[2]", "[]"],
        ["[1,1]", "[1,2,1]"],
    ),
    "dependentRequired": (
        {"type": "object", "properties": {"c": {}, "d": {}}, "dependentRequired": {"c": ["d"]}},
        ['{"c":1,"d":2}', '{"d":1}', "{}"],
        ['{"c":1}'],
    ),
    "overlapping oneOf": (
        {"oneOf": [{"type": "string", "minLength": 2}, {"type": "string", "maxLength": 4}]},
        ['"a"', '"abcde"'],
        ['"abc"', "1"],
    ),
    "counted items": (
        {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
        ["[1,2]"],
        ["[1]", "[1,2,3]"],
    ),
    "keyword beside a list of types": (
        {"type": ["integer", "null"], "multipleOf": 4},
        ["8", "null"],
        ["7", '"8"'],
    ),
    "tuple items": (
        {"type": "array", "items": [{"type": "string"}, {"type": "integer"}]},
        ['["a",1]', '["a"]', '["a",1,null]'],
        ["[1]", '["a","b"]'],
    ),
    "enum beyond ASCII": ({"enum": ["é", "北"]}, ['"é"', '"北"'], ['"Ã©"', '"e"']),
    "pattern classes": ({"type": "string", "pattern": "^v\\d+$"}, ['"v12"'], ['"v"', '"vx"', '"xv1"']),
    "pattern is searched": ({"type": "string", "pattern": "[A-Z]"}, ['"abcDef"'], ['"abc"']),
    "look-ahead": ({"type": "string", "pattern": "^(?=.*\\d)[a-z0-9]+$"}, ['"ab1"'], ['"abc"', '"1-"']),
    "sibling of $ref": (
        {"$defs": {"s": {"type": "string"}}, "$ref": "#/$defs/s", "maxLength": 2},
        ['"ab"'],
        ['"abc"', "1"],
    ),
    "escaped pointer": (
        {"$defs": {"a/b~c": {"type": "null"}}, "$ref": "#/$defs/a~1b~0c"},
        ["null"],
        ["1"],
    ),
    "two definitions": (
        {
            "$defs": {"s": {"type": "string"}, "i": {"type": "integer"}},
            "properties": {"a": {"$ref": "#/$defs/s"}, "b": {"$ref": "#/$defs/i"}},
        },
        ['{"a":"x","b":1}'],
        ['{"a":1}', '{"b":"x"}'],
    ),
    "members in another order": (
        {"properties": {"a": {}, "b": {}}, "required": ["a", "b"]},
        ['{"b":1,"a":2}', '{"a":1,"b":2}'],
        ['{"b":1}', '{"b":1,"b":2}'],
    ),
    "boolean exclusiveMinimum": (
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "type": "integer",
            "minimum": 3,
            "exclusiveMinimum": True,
        },
        ["4"],
        ["3"],
    ),
    "long strings": (
        {"type": "string", "maxLength": 2000},
        [f'"{"x" * 2000}"'],
        [f'"{"x" * 2001}"'],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    """The valid texts are in the language, the others are not."""
    schema, valid, invalid = CASES[name]
    language = Language(schema, **STANDARD)
    assert [text for text in valid if not language.holds(text)] == []
    assert [text for text in invalid if language.holds(text)] == []


def test_refusals_name_the_place() -> None:
    """What is wrong is told by pointer and keyword, however deep."""
    with pytest.raises(SchemaError) as caught:
        Language({"properties": {"a": {"items": {"type": "strng"}}}})
    assert caught.value.pointer == "#/properties/a/items/type"
    assert caught.value.keyword == "type"
    with pytest.raises(SchemaError) as caught:
        Language({"properties": {"a": {"pattern": "(["}}})
    assert caught.value.pointer == "#/properties/a/pattern"


def test_escaped_names_of_known_properties_are_no_open_names() -> None:
    """No spelling of a listed name passes as an additional one."""
    schema = {"properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "string"}}
    for options in ({}, {"any_spelling": True}):
        language = Language(schema, strict_mode=False, **options)
        assert not language.holds('{"\\u0061":"x"}')
        assert language.holds('{"b":"x"}')
