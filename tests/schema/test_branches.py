"""Combinators, against jsonschema-rs on small values, and how many branches they cost."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

from maskwright.errors import LimitExceeded, SchemaError
from tests.schema.language import STANDARD, Language

VALUES: list[Any] = [
    *(None, True, False, 0, 1, 2, -1, 7, 1.5, "", "a", "ab", "abc", "é", [], [1], ["a"], [1, "a"], {}),
    *({"a": 1}, {"a": "x"}, {"b": 1}, {"a": 1, "b": 2}, {"a": 1, "b": "x"}, {"c": []}, {"a": {"a": 1}}),
    *(
        {"a": None},
        {"a": True},
        {"a": False},
        {"a": True, "b": 1},
        {"a": "x", "b": 1},
        {"a": "y"},
        {"b": "x"},
    ),
]
S: dict[str, Any] = {"type": "string"}
N: dict[str, Any] = {"type": "integer"}
B: dict[str, Any] = {"type": "boolean"}
HAS_B: dict[str, Any] = {"required": ["b"]}
CLOSED: dict[str, Any] = {"properties": {"b": True}, "additionalProperties": False}
SCHEMAS: list[Any] = [
    {"anyOf": [S, {"minimum": 1}], "not": {"const": "a"}},
    {"oneOf": [N, {"minimum": 1}]},
    {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
    {"oneOf": [{"properties": {"a": N}, "required": ["a"]}, {"properties": {"b": N}, "required": ["b"]}]},
    {"not": {"oneOf": [N, {"minimum": 1}, S]}},
    {"allOf": [{"anyOf": [S, N]}, {"anyOf": [N, {"type": "null"}]}]},
    {"not": {"allOf": [{"minLength": 1}, {"maxLength": 2}]}},
    {"not": {"anyOf": [S, {"type": "object"}, {"type": "array"}]}},
    {"not": {"not": {"minLength": 2}}},
    {"if": S, "then": {"minLength": 2}, "else": {"type": ["integer", "null"]}},
    {"if": {"properties": {"a": N}, "required": ["a"]}, "then": {"required": ["b"]}},
    {"if": {"type": "object"}, "else": {"const": 1}},
    {"not": {"if": S, "then": {"minLength": 2}, "else": N}},
    {"dependentSchemas": {"a": {"required": ["b"], "properties": {"b": N}}}},
    {"not": {"dependentSchemas": {"a": {"required": ["b"]}}}},
    {"dependencies": {"a": ["b"], "b": {"properties": {"a": N}}}},
    {"enum": [1, "a", None, {"a": 1}], "not": {"type": "integer"}},
    {"not": {"enum": [1, "a", None, {"a": 1}, [1]]}},
    {"type": ["integer", "string"], "minimum": 1, "maxLength": 1},
    {"not": {"type": ["integer", "string"]}},
    {"not": {"pattern": "^a"}},
    {"not": {"minimum": 1}},
    {"not": {"exclusiveMaximum": 1, "type": "number"}},
    {"not": {"multipleOf": 2}},
    {"properties": {"a": N}, "anyOf": [{"properties": {"b": N}}, True], "unevaluatedProperties": False},
    {"if": {"required": ["a"], "properties": {"a": True}}, "unevaluatedProperties": {"type": "array"}},
    {"allOf": [{"properties": {"a": True}}], "not": {"unevaluatedProperties": False}},
    {"not": {"anyOf": [{"properties": {"a": N}}, {"properties": {"b": N}}], "unevaluatedProperties": False}},
    # What the branch requires, or one option alone, tells options apart; types and values bar each other.
    {"required": ["a"], "oneOf": [{"properties": {"a": {"const": c}}} for c in (1, "x", None, True)]},
    {"type": "object", "oneOf": [{"properties": {"a": S}, "required": ["a"]}, {"properties": {"a": N}}]},
    {"type": "object", "required": ["a"], "oneOf": [{"properties": {"a": S}, "required": ["b"]}, CLOSED]},
    {"properties": {"a": B}, "required": ["a"], "oneOf": [{"properties": {"a": {"enum": [True]}}}, HAS_B]},
    {
        "properties": {"a": B},
        "required": ["a"],
        "anyOf": [{"properties": {"a": {"enum": [0, False]}}}, HAS_B],
    },
    {"properties": {"a": {"not": S}}, "required": ["a"], "oneOf": [{"properties": {"a": S}}, HAS_B]},
    {"$ref": "#/$defs/x", "$defs": {"x": {"not": {"$ref": "#/$defs/y"}}, "y": {"minLength": 2}}},
    True,
    {},
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_small_values(schema: Any) -> None:
    """Each value is judged as jsonschema-rs judges it."""
    validator = jsonschema_rs.Draft202012Validator(schema)
    language = Language(schema, **STANDARD)
    wrong = [value for value in VALUES if language.takes(value) is not validator.is_valid(value)]
    assert wrong == []


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"not": {}},
        {"allOf": [S, N]},
        {"enum": []},
        {"const": 1, "enum": [2]},
        {"type": "integer", "minimum": 3, "maximum": 2},
        {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2},
        {"type": "string", "pattern": "^a{3}$", "maxLength": 2},
        {"oneOf": [True, True]},
        {"anyOf": [False, {"not": True}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"not": {"$ref": "#/$defs/a"}}}},
        {"type": "object", "required": ["a"], "properties": {"a": False}},
        {"type": "object", "required": ["a"], "not": {"required": ["a"]}},
        {"properties": {"a": B}, "required": ["a"], "not": {"properties": {"a": {"enum": [True, False]}}}},
    ],
    ids=json.dumps,
)
def test_contradictions(schema: Any) -> None:
    """A schema that no value meets is an error before generation."""
    with pytest.raises(SchemaError, match="no value can meet"):
        Language(schema)


def test_a_discriminated_union_is_one_branch_per_member() -> None:
    """Thirty members with nine properties each, told apart by one of them, are not multiplied out."""
    members = [
        {
            "properties": {
                "kind": {"const": f"k{index}"},
                **{f"p{n}": {"type": ["string", "null"][n % 2]} for n in range(8)},
            },
            "required": ["kind"],
        }
        for index in range(30)
    ]
    schema = {"type": "object", "oneOf": members}
    language = Language(schema, **STANDARD)
    assert language.holds('{"p0":"x","kind":"k7"}')
    assert not language.holds('{"p0":null,"kind":"k7"}')
    assert not language.holds('{"kind":"k30"}')
    assert language.report.n_branches <= 70


@pytest.mark.parametrize("dialect", ["http://json-schema.org/draft-04/schema#", None])
def test_what_the_whole_requires_tells_options_apart(dialect: str | None) -> None:
    """Then no option has to fail all others, in a dialect without ``const`` too."""
    members = [{"properties": {"kind": {"enum": [f"k{index}"]}, "v": S}} for index in range(30)]
    schema: dict[str, Any] = {"type": "object", "required": ["kind"], "oneOf": members}
    if dialect is not None:
        schema["$schema"] = dialect
    language = Language(schema, **STANDARD)
    assert language.holds('{"kind":"k7","v":"x"}')
    assert not language.holds('{"kind":"k7","v":1}')
    assert language.report.n_branches <= 70


def test_a_discriminator_may_be_a_pattern_or_a_range() -> None:
    """Whatever makes scalar schemas exclude one another."""
    members = [
        {"properties": {"type": {"type": "string", "pattern": f"^{name}$"}, "v": {}}, "required": ["type"]}
        for name in ("A", "BB", "CCC", "D", "E", "F", "G", "H")
    ]
    language = Language({"type": "object", "oneOf": members}, **STANDARD)
    assert language.holds('{"type":"CCC","v":1}')
    assert not language.holds('{"type":"C"}')
    assert language.report.n_branches <= 50


def test_properties_that_say_the_same() -> None:
    """A union that repeats a property word for word cannot be told apart by it; true is not 1."""
    same = {"type": "array", "items": {"type": "number"}}
    members = [
        {"properties": {"box": dict(same), "v": {"const": value}}, "required": ["v"]}
        for value in (1, True, "x")
    ]
    schema = {"type": "object", "oneOf": members}
    validator = jsonschema_rs.Draft202012Validator(schema)
    language = Language(schema, **STANDARD)
    for v in (1, True, "x", 2, None):
        for value in ({"v": v}, {"v": v, "box": [1]}, {"v": v, "box": "x"}):
            assert language.takes(value) is validator.is_valid(value), value


def test_explosion_is_metered() -> None:
    """A typed error that names the place, not a hang."""
    choices = [
        {"anyOf": [{"required": [f"a{n}"]}, {"required": [f"b{n}"]}, {"required": [f"c{n}"]}]}
        for n in range(12)
    ]
    with pytest.raises(LimitExceeded, match="alternatives") as caught:
        Language({"type": "object", "allOf": choices}, max_branches=500)
    assert caught.value.limit == 500


def test_candidate_values_are_tried_one_by_one() -> None:
    """Given arrays and objects that must differ from each other's lists: no branch per way to differ."""
    routes = [["a", "b", "c"], ["a", "c"], ["b"], {"via": "d", "to": "e"}]
    schema = {
        "oneOf": [{"enum": routes[:3]}, {"enum": [routes[1], ["c", "a"]]}, {"enum": [routes[0], routes[3]]}],
        "not": {"enum": [["c", "a"], ["b", "b"]]},
        "if": {"type": "array"},
        "then": {"items": {"pattern": "^[ab]$"}},
    }
    validator = jsonschema_rs.Draft202012Validator(schema)
    language = Language(schema, max_branches=64, **STANDARD)
    for value in (*routes, ["c", "a"], ["b", "b"], [], {}):
        assert language.takes(value) is validator.is_valid(value), value


def test_candidates_of_a_schema_that_leads_back_to_itself() -> None:
    """Whether a candidate meets the schema asks for what is being worked out: then it is not tried."""
    schema = {
        "type": "array",
        "items": {"enum": [12, ["b"], [12]], "oneOf": [{"type": "boolean"}, {"$ref": "#"}]},
    }
    validator = jsonschema_rs.Draft202012Validator(schema)
    language = Language(schema, **STANDARD)
    for value in ([], [12], [["b"]], [[12]], [[]]):
        assert language.takes(value) is validator.is_valid(value), value
