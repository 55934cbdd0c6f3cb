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
        '- "name": string of at most 9 characters. Full name as on the card',
        '- "age": integer (at least 18) or null, optional',
        '- "role": one of "admin", "é", 3, null, optional',
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
        '- "from": object (Place), optional:',
        '  - "lat": number, optional',
        '- "to": Place (as above), optional. End',
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
        '- "a": string of at most 3 characters (word), optional',
        '- "b": boolean (other), optional',
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
    assert len(describe(schema, style="form")) < 400


def test_unknown_reference_is_only_named() -> None:
    assert describe({"properties": {"x": {"$ref": "https://example.com/other.json"}}}).splitlines() == [
        "object:",
        '- "x": any JSON value (other.json), optional',
    ]


def test_all_of_is_one_object_that_requires_what_any_part_requires() -> None:
    schema = {
        "allOf": [
            {"properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"properties": {"b": {"const": 1}}},
        ],
        "required": ["b"],
    }
    assert sorted(describe(schema).splitlines()[1:]) == ['- "a": string', '- "b": 1']


def test_all_of_follows_references() -> None:
    schema = {
        "allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}],
        "$defs": {"a": {"properties": {"x": {"type": "null"}}}, "b": {"properties": {"y": {"type": "null"}}}},
    }
    assert sorted(describe(schema).splitlines()[1:]) == ['- "x": null, optional', '- "y": null, optional']


def test_fractions_read_exactly() -> None:
    assert describe({"type": "number", "maximum": Decimal("0.10")}) == "number (at most 0.10)"
    assert describe({"enum": [Decimal("0.5")]}) == "one of 0.5"


def test_a_long_list_of_choices_is_cut_and_says_so() -> None:
    assert describe({"enum": list(range(1000))}).endswith(" 39 and 960 more")


@pytest.mark.parametrize("key", ["unit", "units", "x-unit"])
def test_units_and_examples(key: str) -> None:
    schema = {"type": "number", key: "km/h", "maximum": 130, "description": "Speed.", "examples": [50, 80]}
    assert describe(schema) == "number in km/h (at most 130). Speed (such as 50)"
    assert describe(schema, style="form") == "number  // Speed (such as 50); in km/h; at most 130"


def test_a_form() -> None:
    schema = {
        "type": "object",
        "properties": {
            "from": {"$ref": "#/$defs/Place", "description": "Start"},
            "to": {"$ref": "#/$defs/Place"},
            "by": {"enum": ["car", "train", 3]},
            "stops": {"type": "array", "items": {"type": "string", "format": "date"}, "minItems": 1},
            "pair": {"prefixItems": [{"type": "integer"}, {"type": "null"}]},
            "other": {"anyOf": [{"type": "boolean"}, {"type": "integer", "minimum": 2}]},
            "more": {"type": "object", "additionalProperties": {"type": "number"}},
            "never": False,
        },
        "required": ["from", "by"],
        "$defs": {
            "Place": {"type": "object", "properties": {"lat": {"type": "number"}}, "required": ["lat"]}
        },
    }
    assert describe(schema, style="form").splitlines() == [
        "{",
        '  "from": {',
        '    "lat": number,',
        "  },  // Start",
        '  "to"?: Place,  // as above',
        '  "by": "car" | "train" | 3,',
        '  "stops"?: [/* date */ string, ...],  // at least 1 items',
        '  "pair"?: [integer, null],',
        '  "other"?: true | false | /* at least 2 */ integer,',
        '  "more"?: {',
        "    [any key]: number,",
        "  },",
        "}",
    ]


LARGE = {
    "type": "object",
    "properties": {
        f"field{number}": {
            "type": "object",
            "description": f"What field number {number} is about, at some length, so that there is much to leave out",
            "properties": {
                "kind": {"enum": [f"kind{choice}" for choice in range(30)]},
                "size": {"type": "integer"},
            },
        }
        for number in range(20)
    },
}


@pytest.mark.parametrize("style", ["list", "form"])
@pytest.mark.parametrize("allowance", [1, 5, 40, 200, 400, 800, 2000, 4000, 10000])
def test_an_allowance_is_kept(style: Any, allowance: int) -> None:
    def words(text: str) -> int:
        return len(text.split())

    text = describe(LARGE, style=style, max_tokens=allowance, count_tokens=words)
    assert words(text) <= allowance
    assert len(describe(LARGE, style=style, max_tokens=allowance).encode()) <= 3 * allowance
    if allowance >= 200:
        assert all(f'"field{number}"' in text for number in range(20))
    if allowance >= 4000:
        assert text == describe(LARGE, style=style)


def test_less_is_said_step_by_step() -> None:
    lengths = [len(describe(LARGE, max_tokens=allowance)) for allowance in range(50, 6000, 50)]
    assert lengths == sorted(lengths)
    assert len(set(lengths)) >= 6


def test_wrong_options() -> None:
    with pytest.raises(ValueError, match="style"):
        describe(True, style="poem")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least 1"):
        describe(True, max_tokens=0)


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
    assert describe(schema, style="form")
    assert len(describe(schema, max_tokens=7).encode()) <= 21
