"""Arrays: prefixes, counts, contains, unique items."""

from __future__ import annotations

import itertools
import json
from typing import Any

import jsonschema_rs
import pytest

from maskwright.errors import SchemaError
from tests.schema.language import Language

ITEMS: list[Any] = [0, 5, "x", None]
ARRAYS = [list(items) for size in range(5) for items in itertools.product(ITEMS, repeat=size)]

INTEGER: dict[str, Any] = {"type": "integer"}
SCHEMAS: list[dict[str, Any]] = [
    {"prefixItems": [INTEGER, {"type": "string"}], "items": {"type": "null"}},
    {"prefixItems": [INTEGER, {"type": "string"}], "items": False, "minItems": 1},
    {"prefixItems": [INTEGER, False, INTEGER]},
    {"items": INTEGER, "minItems": 2, "maxItems": 3},
    {"items": False},
    {"contains": INTEGER},
    {"contains": INTEGER, "minContains": 2},
    {"contains": INTEGER, "minContains": 1, "maxContains": 2, "maxItems": 3},
    {"contains": INTEGER, "minContains": 0, "maxContains": 1, "minItems": 3},
    {"contains": {"const": 0}, "minContains": 2, "items": INTEGER, "maxItems": 3},
    {"allOf": [{"contains": {"const": 0}}, {"contains": {"const": "x"}}], "maxItems": 2},
    {"allOf": [{"contains": {"const": 0}}, {"contains": {"minimum": 0}, "maxContains": 2}]},
    {"prefixItems": [INTEGER], "contains": {"type": "string"}, "maxItems": 2},
    {"prefixItems": [INTEGER], "unevaluatedItems": {"type": "null"}},
    {"contains": INTEGER, "unevaluatedItems": {"type": "null"}},
    {"anyOf": [{"prefixItems": [INTEGER]}, {"prefixItems": [True, INTEGER]}], "unevaluatedItems": False},
    {"items": {"enum": ITEMS}, "uniqueItems": True},
    {"items": {"enum": [0, "x"]}, "uniqueItems": True, "minItems": 1},
    {"items": {"enum": ITEMS}, "not": {"uniqueItems": True}},
    {"items": {"enum": ITEMS}, "not": {"uniqueItems": True}, "maxItems": 3},
    {"not": {"items": INTEGER}},
    {"not": {"prefixItems": [INTEGER, INTEGER]}},
    {"not": {"contains": INTEGER}},
    {"not": {"contains": INTEGER, "minContains": 2, "maxContains": 3}},
    {"not": {"minItems": 2}},
    {"not": {"maxItems": 2}},
    {"not": {"prefixItems": [INTEGER], "unevaluatedItems": {"type": "null"}}},
    {"not": {"const": [0, 5]}},
    {"enum": [[0, 5], [], ["x"]], "minItems": 1},
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_all_short_arrays(schema: dict[str, Any]) -> None:
    """Every array of up to four of four items is judged as jsonschema-rs judges it."""
    schema = {"type": "array", **schema}
    validator = jsonschema_rs.Draft202012Validator(schema)
    language = Language(schema, strict_mode=False, max_whitespace_cnt=1)
    for array in ARRAYS:
        assert language.takes(array) is validator.is_valid(array), array


def test_strict_mode_closes_tuples() -> None:
    """As it closes objects; bare arrays stay free."""
    schema = {"type": "array", "prefixItems": [INTEGER]}
    assert not Language(schema).holds("[1,2]")
    assert Language(schema, strict_mode=False).holds("[1,2]")
    assert Language({"type": "array"}).holds("[1,2]")


def test_large_counts() -> None:
    """A hundred thousand items are a number, not a hundred thousand rules."""
    language = Language({"type": "array", "items": {"type": "null"}, "minItems": 99_999, "maxItems": 100_000})
    text = ",".join(["null"] * 99_999)
    assert language.holds(f"[{text}]")
    assert language.holds(f"[{text},null]")
    assert not language.holds(f"[{text},null,null]")


def test_no_comma_where_no_item_can_follow() -> None:
    """Guards stand before the comma."""
    schema = {"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True}
    language = Language(schema, any_whitespace=False, separators=(",", ":"))
    assert language.next_bytes("[1") == {",", "]"}
    assert language.next_bytes("[1,") == {"2"}
    assert language.next_bytes("[1,2") == {"]"}


def test_contradictions() -> None:
    """Counts that cannot be met are found before generation."""
    for schema in (
        {"minItems": 3, "maxItems": 2},
        {"contains": INTEGER, "minContains": 3, "maxItems": 2},
        {"items": {"type": "string"}, "contains": INTEGER},
        {"items": {"enum": [1, 2]}, "uniqueItems": True, "minItems": 3},
        {"prefixItems": [False], "minItems": 1},
    ):
        with pytest.raises(SchemaError, match="no value can meet"):
            Language({"type": "array", **schema})


def test_unique_items_that_cannot_be_compared_are_refused_by_name() -> None:
    """Or widened, and the report says so, when the caller prefers that."""
    items = {"type": "array", "items": {"type": "string"}, "contains": {"maxLength": 1}}
    schema = {"type": "object", "properties": {"a": {"items": items, "uniqueItems": True}}}
    with pytest.raises(SchemaError) as caught:
        Language(schema)
    assert (caught.value.pointer, caught.value.keyword) == ("#/properties/a/uniqueItems", "uniqueItems")
    language = Language(schema, lenient=True)
    assert language.holds('{"a":[["x"],["x"]]}')
    widened = [entry for entry in language.report.entries if entry.status == "widened"]
    assert [entry.pointer for entry in widened] == ["#/properties/a/uniqueItems"]
    assert not language.report.is_exact
