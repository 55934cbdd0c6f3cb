"""`describe` says what a writer needs, once, and always ends."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskwright.prompt import describe


def test_object_with_descriptions_choices_and_required() -> None:
    schema = {
        "type": "object",
        "description": "A member of the club.",
        "properties": {
            "name": {"type": "string", "description": "Full  name\nas on the card", "maxLength": 9},
            "age": {"type": ["integer", "null"], "minimum": 18},
            "role": {"enum": ["admin", "é", 3, None]},
            "never": False,
        },
        "required": ["name"],
    }
    assert describe(schema).splitlines() == [
        "object. A member of the club",
        '- "name": string of at most 9 characters, required. Full name as on the card',
        '- "age": integer (at least 18) or null',
        '- "role": one of "admin", "é", 3, null',
    ]


def test_reference_is_described_once_and_then_named() -> None:
    schema = {
        "properties": {
            "from": {"$ref": "#/$defs/Place"},
            "to": {"$ref": "#/$defs/Place", "description": "End"},
        },
        "$defs": {"Place": {"type": "object", "properties": {"lat": {"type": "number"}}}},
    }
    assert describe(schema).splitlines() == [
        "object:",
        '- "from": object (Place):',
        '  - "lat": number',
        '- "to": Place (as above). End',
    ]


def test_references_through_anchor_and_id() -> None:
    schema = {
        "$id": "https://example.com/root",
        "properties": {"a": {"$ref": "#word"}, "b": {"$ref": "other"}},
        "$defs": {
            "w": {"$anchor": "word", "type": "string", "maxLength": 3},
            "o": {"$id": "other", "type": "boolean"},
        },
    }
    assert describe(schema).splitlines()[1:] == [
        '- "a": string of at most 3 characters (word)',
        '- "b": boolean (other)',
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"type": "array", "items": {"$ref": "#"}},
        {"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#"}}]},
        {"properties": {"child": {"$ref": "#"}}},
        {
            "$ref": "#/$defs/a",
            "$defs": {
                "a": {"type": "array", "items": {"$ref": "#/$defs/b"}},
                "b": {"type": "array", "items": {"$ref": "#/$defs/a"}},
            },
        },
        {"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"properties": {"x": {"$ref": "#/$defs/a"}}}}},
    ],
)
def test_recursion_ends(schema: dict[str, Any]) -> None:
    assert len(describe(schema)) < 400


def test_unknown_reference_is_only_named() -> None:
    assert describe({"properties": {"x": {"$ref": "https://example.com/other.json"}}}).splitlines() == [
        "object:",
        '- "x": any JSON value (other.json)',
    ]


def test_all_of_is_one_object_that_requires_what_any_part_requires() -> None:
    schema = {
        "allOf": [
            {"properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"properties": {"b": {"const": 1}}},
        ],
        "required": ["b"],
    }
    assert sorted(describe(schema).splitlines()[1:]) == ['- "a": string, required', '- "b": 1, required']


def test_all_of_follows_references() -> None:
    schema = {
        "allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}],
        "$defs": {"a": {"properties": {"x": {"type": "null"}}}, "b": {"properties": {"y": {"type": "null"}}}},
    }
    assert sorted(describe(schema).splitlines()[1:]) == ['- "x": null', '- "y": null']


def test_fractions_read_exactly() -> None:
    assert describe({"type": "number", "maximum": Decimal("0.10")}) == "number (at most 0.10)"
    assert describe({"enum": [Decimal("0.5")]}) == "one of 0.5"


def test_a_long_list_of_choices_is_cut_and_says_so() -> None:
    assert describe({"enum": list(range(1000))}).endswith(" 39 and 960 more")


_schemas = st.recursive(
    st.one_of(
        st.booleans(),
        st.fixed_dictionaries({"type": st.sampled_from(["string", "integer", "null", "array", "object"])}),
        st.fixed_dictionaries({"$ref": st.sampled_from(["#", "#/$defs/x", "#/$defs/y", "#/nowhere"])}),
    ),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2)}),
        st.fixed_dictionaries({"type": st.just("array"), "items": inner}),
        st.fixed_dictionaries({"prefixItems": st.lists(inner, max_size=2)}),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"additionalProperties": inner}),
    ),
    max_leaves=8,
)


@given(root=_schemas, x=_schemas, y=_schemas)
def test_any_nesting_of_references_ends_and_every_line_says_something(root: Any, x: Any, y: Any) -> None:
    schema = root if isinstance(root, bool) else {**root, "$defs": {"x": x, "y": y}}
    lines = describe(schema).splitlines()
    assert lines
    assert all(line.strip(" -") for line in lines)
