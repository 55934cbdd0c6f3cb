"""Open names that differ: every small object is judged as jsonschema-rs judges it, in both orders."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import jsonschema_rs
import pytest

from maskwright.errors import LimitExceeded, SchemaError
from tests.schema.language import Language

INTEGER = {"type": "integer"}
OBJECTS: list[dict[str, Any]] = [
    dict(zip(names, values, strict=True))
    for size in range(4)
    for names in itertools.permutations(["a", "b", "xx"], size)
    for values in itertools.product([1, "s", None], repeat=size)
]
SCHEMAS: list[dict[str, Any]] = [
    {"minProperties": 2},
    {"minProperties": 3, "maxProperties": 3},
    {"minProperties": 2, "maxProperties": 2, "properties": {"a": INTEGER}},
    {"minProperties": 3, "properties": {"a": INTEGER}, "required": ["a"]},
    {"minProperties": 2, "patternProperties": {"^[ab]$": INTEGER}, "additionalProperties": False},
    {"minProperties": 2, "propertyNames": {"maxLength": 1}, "additionalProperties": INTEGER},
    {"not": {"additionalProperties": INTEGER}},
    {"not": {"patternProperties": {"^[ab]$": INTEGER}}},
    {"not": {"patternProperties": {"^a$": INTEGER}}, "maxProperties": 2},
    {"not": {"propertyNames": {"maxLength": 1}}, "maxProperties": 2},
    {"properties": {"a": INTEGER}, "not": {"additionalProperties": INTEGER}, "minProperties": 2},
    {
        "allOf": [
            {"not": {"additionalProperties": INTEGER}},
            {"not": {"additionalProperties": {"type": "string"}}},
        ]
    },
]


@pytest.mark.parametrize("any_order", [False, True])
@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_all_small_objects(schema: dict[str, Any], any_order: bool) -> None:
    """In any order: exactly the valid ones. In declared order: listed names come first."""
    schema = {"type": "object", **schema}
    validator = jsonschema_rs.Draft202012Validator(schema)
    language = Language(schema, strict_mode=False, any_order=any_order)
    listed = schema.get("properties", {})
    for instance in OBJECTS:
        names = list(instance)
        in_order = any_order or names == sorted(names, key=lambda name: name not in listed)
        assert language.takes(instance) is (in_order and validator.is_valid(instance)), instance


@pytest.mark.parametrize("any_order", [False, True])
@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_walks_have_no_dead_end_and_end_valid(schema: dict[str, Any], any_order: bool) -> None:
    """No name is repeated where it counts, and something can always be written."""
    schema = {"type": "object", "additionalProperties": {"type": ["integer", "string"]}, **schema}
    validator = jsonschema_rs.Draft202012Validator(schema)
    language = Language(schema, strict_mode=False, max_whitespace_cnt=1, any_order=any_order)
    rng = random.Random(3)
    for _ in range(20):
        text = language.walk(rng)
        assert text is None or validator.is_valid(json.loads(text)), text


def test_equal_names_count_once() -> None:
    """They are one property to a reader, so where names are counted they differ."""
    language = Language({"type": "object", "minProperties": 2})
    assert language.holds('{"a":1,"b":1}')
    assert not language.holds('{"a":1,"a":1}')
    assert language.next_bytes('{"a":1') >= {","}
    assert "}" not in language.next_bytes('{"a":1')
    language = Language({"type": "object", "not": {"additionalProperties": INTEGER}}, strict_mode=False)
    assert language.holds('{"a":"x","b":1}')
    assert not language.holds('{"a":"x","a":1}')


def test_too_few_names() -> None:
    """More members than there are names is a contradiction."""
    for names in ({"enum": ["a", "b"]}, {"pattern": "^[ab]$"}):
        with pytest.raises(SchemaError, match="no value can meet"):
            Language({"type": "object", "propertyNames": names, "minProperties": 3})


def test_the_last_name_is_kept_for_the_member_that_needs_it() -> None:
    """A member that may have any value leaves the last name of a class to the one that must fail."""
    schema = {"type": "object", "not": {"patternProperties": {"^[ab]$": INTEGER}}}
    language = Language(schema, any_whitespace=False, separators=(",", ":"), strict_mode=False)
    assert language.holds('{"a":1,"b":"s"}')
    following = language.next_bytes('{"a":1,"b":1')
    assert "." in following
    assert following.isdisjoint(",}")


def test_too_many_ways_are_refused_not_hung() -> None:
    """An object that is asked for twelve open members, most of which may be one, is a typed error."""
    fails = [{"not": {"patternProperties": {f"^.*{letter}": INTEGER}}} for letter in "abcdefghijkl"]
    with pytest.raises(LimitExceeded, match="too many ways"):
        Language({"type": "object", "allOf": fails, "properties": {"a": {}, "b": {}}}, strict_mode=False)


def test_a_repeated_open_name_leaves_room_for_what_is_required() -> None:
    """There is one open name here, and it may be written any number of times."""
    schema = {"required": ["a", "b"], "minProperties": 2, "patternProperties": {"^$": {}}, "type": "object"}
    schema |= {"additionalProperties": False, "properties": {"a": {}, "b": {}}}
    language = Language(schema, any_order=True)
    assert "," in language.next_bytes('{"a":1,"":2,"":3')
    assert language.holds('{"a":1,"":2,"":3,"":4,"b":5}')
