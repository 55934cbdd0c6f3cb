"""Objects: order, required names, counts, open names, strict mode."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from maskwright.errors import SchemaError
from tests.schema.language import Language

NAMES = ["a", "b", "c", "d"]


@pytest.mark.parametrize("required", [[], ["a"], ["b"], ["d"], ["a", "c"], NAMES])
@pytest.mark.parametrize("low", [0, 1, 2, 4])
@pytest.mark.parametrize("high", [None, 1, 2, 3])
def test_all_subsets_in_declared_order(required: list[str], low: int, high: int | None) -> None:
    """Exactly the subsets that hold the required names and have an allowed size, in order."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {key: {"type": "null"} for key in NAMES},
        "required": required,
        "minProperties": low,
        "additionalProperties": False,
    }
    if high is not None:
        schema["maxProperties"] = high
    most = len(NAMES) if high is None else high
    possible = max(low, len(required)) <= most
    if not possible:
        with pytest.raises(SchemaError, match="no value can meet"):
            Language(schema)
        return
    declared, free = Language(schema), Language(schema, any_order=True)
    for size in range(len(NAMES) + 1):
        for names in itertools.permutations(NAMES, size):
            text = json.dumps(dict.fromkeys(names))
            valid = set(required) <= set(names) and low <= size <= most
            assert free.holds(text) is valid, text
            assert declared.holds(text) is (valid and list(names) == sorted(names)), text
    for language in (declared, free):
        assert not language.holds('{"a":null,"a":null}')


def test_members_of_merged_objects_come_in_the_order_of_the_document() -> None:
    """Not in that of a set of objects, which depends on where they lie in memory."""
    inner = [
        {"properties": {name: {"properties": {f"{name}{part}": True for part in parts}} for name in NAMES}}
        for parts in ([3, 1], [2, 0])
    ]
    keep = []
    for _ in range(8):
        keep.append([object() for _ in range(1000)])  # other addresses for the next one
        language = Language({"allOf": inner})
        for name in NAMES:
            members = [f"{name}{part}" for part in (3, 1, 2, 0)]
            assert language.takes({name: dict.fromkeys(members)})
            assert not language.takes({name: dict.fromkeys([members[2], members[0]])})


def test_a_comma_is_offered_only_if_a_member_can_follow() -> None:
    """The masks after each member say what is left."""
    schema = {
        "type": "object",
        "properties": {"a": {"type": "null"}, "b": {"type": "null"}, "c": {"type": "null"}},
        "required": ["b"],
        "maxProperties": 2,
        "additionalProperties": False,
    }
    for options in ({}, {"any_order": True}):
        language = Language(schema, any_whitespace=False, separators=(",", ":"), **options)
        assert language.next_bytes("{") == {'"'}
        assert language.next_bytes('{"a":null') == {","}
        assert language.next_bytes('{"a":null,"') == {"b"}
        assert language.next_bytes('{"a":null,"b":null') == {"}"}


def test_strict_mode_closes_what_is_silent() -> None:
    """Objects with listed properties are closed unless the schema says something about other names."""
    listed = {"type": "object", "properties": {"a": {}}}
    assert not Language(listed).holds('{"b":1}')
    assert Language(listed, strict_mode=False).holds('{"b":1}')
    assert Language({"type": "object"}).holds('{"b":1}')
    assert Language({**listed, "additionalProperties": True}).holds('{"b":1}')
    assert Language({**listed, "additionalProperties": {"type": "null"}}).holds('{"b":null}')
    joined = Language({"allOf": [listed, {"properties": {"b": {}}}]})
    assert joined.holds('{"a":1,"b":2}')
    assert not joined.holds('{"c":1}')


def test_required_names_that_are_not_listed() -> None:
    """They have to occur, with any value."""
    language = Language({"type": "object", "properties": {"a": {}}, "required": ["z"]})
    assert language.holds('{"a":1,"z":2}')
    assert not language.holds('{"a":1}')


def test_a_property_that_can_have_no_value_is_never_started() -> None:
    """Optional: left out. Required: the whole is refused, and the error says where."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "good": {"type": "null"},
            "never": {"type": "string", "minLength": 3, "maxLength": 2},
            "nor": {"$ref": "#/$defs/endless"},
            "not": False,
        },
        "$defs": {
            "endless": {"type": "object", "properties": {"x": {"$ref": "#/$defs/endless"}}, "required": ["x"]}
        },
    }
    language = Language(schema, any_whitespace=False)
    assert language.next_bytes('{"') == {"g"}
    with pytest.raises(SchemaError, match="no value can meet") as caught:
        Language({**schema, "required": ["never"]})
    assert caught.value.pointer == "#/properties/never"


def test_many_optional_properties() -> None:
    """A thousand of them, in both orders."""
    names = [f"p{index}" for index in range(1000)]
    schema = {
        "type": "object",
        "properties": {key: {"type": "null"} for key in names},
        "additionalProperties": False,
    }
    language = Language(schema)
    assert language.holds(json.dumps(dict.fromkeys(names[::7])))
    assert not language.holds(json.dumps(dict.fromkeys(reversed(names[:3]))))
    free = Language(schema, any_order=True)
    assert free.holds(json.dumps(dict.fromkeys(reversed(names[:100]))))
    assert not free.holds('{"p1":null,"p2":null,"p1":null}')


def test_pattern_properties_cut_the_open_names() -> None:
    """Each name owes what its patterns say; names that no pattern matches owe additionalProperties."""
    schema = {
        "patternProperties": {"^a": {"type": "integer"}, "b$": {"type": "null"}},
        "additionalProperties": {"type": "string"},
    }
    language = Language(schema)
    for text in ('{"a":1}', '{"b":null}', '{"c":"x"}', '{"c":"x","ax":2,"xb":null}'):
        assert language.holds(text), text
    for text in ('{"a":null}', '{"b":1}', '{"c":1}', '{"ab":1}', '{"ab":null}'):
        assert not language.holds(text), text


def test_property_names() -> None:
    """Names are strings with constraints; listed names are judged by them too."""
    schema = {
        "properties": {"ok": {}, "toolong": {}},
        "additionalProperties": True,
        "propertyNames": {"maxLength": 3, "pattern": "^[a-z]"},
    }
    language = Language(schema)
    assert language.holds('{"ok":1,"abc":2}')
    assert not language.holds('{"toolong":1}')
    assert not language.holds('{"abcd":1}')
    assert not language.holds('{"1":1}')


def test_failing_object_keywords() -> None:
    """``not`` asks for an object that breaks the rule, in every way in which it can be broken."""
    cases: list[tuple[dict[str, Any], list[str], list[str]]] = [
        ({"not": {"required": ["a"]}, "type": "object"}, ["{}", '{"b":1}'], ['{"a":1}']),
        (
            {"not": {"properties": {"a": {"type": "integer"}}}},
            ['{"a":"x"}', '{"b":1,"a":null}'],
            ['{"a":1}', "{}", "3"],
        ),
        ({"not": {"patternProperties": {"^a": {"type": "integer"}}}}, ['{"ab":"x"}'], ['{"ab":1}', "{}"]),
        (
            {"not": {"properties": {"a": {}}, "additionalProperties": False}},
            ['{"b":1}', '{"a":1,"c":2}'],
            ['{"a":1}', "{}", "[]"],
        ),
        ({"not": {"propertyNames": {"maxLength": 1}}}, ['{"ab":1}', '{"a":1,"bc":2}'], ['{"a":1}', "{}"]),
        ({"not": {"minProperties": 1}}, ["{}"], ['{"a":1}', "[]"]),
        ({"not": {"dependentRequired": {"a": ["b"]}}}, ['{"a":1}'], ['{"a":1,"b":2}', "{}"]),
        ({"not": {"const": {"a": 1}}, "type": "object"}, ["{}", '{"a":2}', '{"a":1,"b":2}'], ['{"a":1}']),
        (
            {"not": {"properties": {"a": {}}, "unevaluatedProperties": False}},
            ['{"b":1}', '{"a":1,"b":2}'],
            ['{"a":1}', "{}"],
        ),
    ]
    for schema, valid, invalid in cases:
        language = Language(schema, strict_mode=False, any_order=True)
        assert [text for text in valid if not language.holds(text)] == [], schema
        assert [text for text in invalid if language.holds(text)] == [], schema
