"""Items that the kernel remembers: every short array is judged as jsonschema-rs judges it, and walks end."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import jsonschema_rs
import pytest

from maskwright.errors import SchemaError
from maskwright.schema import SchemaOptions, rules_from_schema
from tests.schema.language import STANDARD, Language

VALUES: list[Any] = [1, 12, True, "1", "x", None, {"a": 1, "b": 2}, {"b": 2}, [1], []]
ARRAYS = [list(items) for size in range(4) for items in itertools.product(VALUES, repeat=size)]
STRING = {"type": "string"}
INTEGER = {"type": "integer"}
PAIR = {"type": "object", "properties": {"b": INTEGER, "a": INTEGER}, "additionalProperties": False}

SCHEMAS: list[dict[str, Any]] = [
    {},
    {"items": INTEGER},
    {"items": {"type": ["integer", "string", "boolean", "null"]}},
    {"items": STRING, "minItems": 2, "maxItems": 2},
    {"items": {"minimum": 1, "maximum": 13, "type": "integer"}, "minItems": 3},
    {"prefixItems": [{"type": "boolean"}, {"enum": [True, 1]}]},
    {"prefixItems": [STRING, INTEGER], "items": {"enum": [1, 12, None]}},
    {"prefixItems": [{"enum": [1, None]}], "items": {"enum": [1, 12]}, "minItems": 2},
    {"contains": INTEGER, "minContains": 2},
    {"contains": {"const": 1}, "items": {"type": ["integer", "null"]}, "maxItems": 3},
    {"contains": STRING, "maxContains": 1, "minItems": 2},
    {"items": {"maxLength": 1, "maximum": 9}},
]
OBJECTS: list[dict[str, Any]] = [
    {"items": PAIR},
    {"items": {**PAIR, "minProperties": 1}, "minItems": 1},
    {"items": {"type": ["array", "object"], "items": INTEGER, "maxItems": 1, "maxProperties": 1}},
]


@pytest.mark.parametrize("schema", [*SCHEMAS, *OBJECTS], ids=json.dumps)
def test_all_short_arrays(schema: dict[str, Any]) -> None:
    """Mixed types share one memory, and equal values have one spelling."""
    schema = {"type": "array", "uniqueItems": True, **schema}
    validator = jsonschema_rs.Draft202012Validator(schema)
    language = Language(schema, **STANDARD)
    is_declared = schema.get("items") is PAIR or "minProperties" in schema.get("items", {})
    for array in ARRAYS:
        if is_declared:  # objects without open names keep the declared order
            array = [{k: i[k] for k in sorted(i, reverse=True)} if isinstance(i, dict) else i for i in array]
        assert language.takes(array) is validator.is_valid(array), array


@pytest.mark.parametrize("schema", [*SCHEMAS, *OBJECTS], ids=json.dumps)
def test_walks_have_no_dead_end_and_end_valid(schema: dict[str, Any]) -> None:
    """Whatever the masks allow leads to a valid array."""
    schema = {"type": "array", "uniqueItems": True, "maxItems": 6, **schema}
    validator = jsonschema_rs.Draft202012Validator(schema)
    language = Language(schema, strict_mode=False, max_whitespace_cnt=1)
    rng = random.Random(5)
    for _ in range(25):
        text = language.walk(rng)
        assert text is None or validator.is_valid(json.loads(text)), text


def test_no_comma_once_every_value_is_used_up() -> None:
    """Also where a position of the prefix may use up what the rest is made of."""
    compact = {"any_whitespace": False, "separators": (",", ":"), "strict_mode": False}
    schema: dict[str, Any] = {"type": "array", "items": {**INTEGER, "minimum": 1, "maximum": 2}}
    language = Language({**schema, "uniqueItems": True}, **compact)
    assert language.next_bytes("[2") == {",", "]"}
    assert language.next_bytes("[2,") == {"1"}
    assert language.next_bytes("[2,1") == {"]"}
    language = Language({**schema, "prefixItems": [INTEGER], "uniqueItems": True}, **compact)
    assert language.next_bytes("[2,1") == {"]"}
    assert "," in language.next_bytes("[3,1")


def test_more_items_than_there_are_values() -> None:
    """Counted, not tried."""
    for items in ({**INTEGER, "minimum": 1, "maximum": 99}, {"pattern": "^[ab]{6}$", **STRING}):
        with pytest.raises(SchemaError, match="no value can meet"):
            Language({"type": "array", "items": items, "uniqueItems": True, "minItems": 100})


def test_one_spelling_per_value() -> None:
    """What would make equal values look different is not written, and the report says so."""
    language = Language({"type": "array", "items": {"type": "number"}, "uniqueItems": True})
    assert language.holds("[1, 1.5, -0.25]")
    for text in ("[1.0]", "[1e0]", "[-0]", "[1.50]"):
        assert not language.holds(text), text
    (note,) = [e.note for e in language.report.entries if e.keyword == "uniqueItems"]
    assert note.startswith("never written: numbers and strings")
    with pytest.raises(SchemaError) as caught:
        Language({"type": "array", "prefixItems": [{"enum": [1, 2]}, {"const": 1}], "uniqueItems": True})
    assert caught.value.keyword == "uniqueItems"


@pytest.mark.parametrize("indent", [None, 2])
def test_what_is_said_of_any_value_does_not_depend_on_who_asks_first(indent: int | None) -> None:
    """Its language is made once for all schemas; what it leaves out is noted for each."""
    options = SchemaOptions(strict_mode=False, any_whitespace=indent is None, indent=indent)
    notes = []
    for name in ("a", "b", "c"):
        items = {"type": "object", "properties": {name: {"type": "array", "uniqueItems": True}}}
        schema = {"type": "array", "items": items, "uniqueItems": True}
        _, report = rules_from_schema(schema, options=options)
        notes.append([e.note for e in report.complete().entries if e.pointer == "#/uniqueItems"])
    assert notes[0] == notes[1] == notes[2]
    assert "levels of containers" in notes[0][0]
