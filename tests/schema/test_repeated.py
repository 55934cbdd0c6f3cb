"""Arrays whose items must not be unique: judged as jsonschema-rs judges them."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import jsonschema_rs
import pytest

from maskwright.errors import SchemaError
from tests.schema.language import Language, is_rounded

N: dict[str, Any] = {"type": "integer"}
ITEMS: list[Any] = [1, 2, "a", "", None, [1], {"k": 1}]
ARRAYS = [list(items) for size in range(4) for items in itertools.product(ITEMS, repeat=size)]
SCHEMAS: list[dict[str, Any]] = [
    {"not": {"uniqueItems": True}},
    {"not": {"uniqueItems": True}, "minItems": 3},
    {"not": {"uniqueItems": True}, "maxItems": 2},
    {"not": {"uniqueItems": True}, "minItems": 3, "maxItems": 3, "items": {"type": ["integer", "string"]}},
    {"not": {"uniqueItems": True}, "items": {"pattern": "^a?$", "type": "string"}},
    {"not": {"uniqueItems": True, "items": N}},
    {"oneOf": [{"items": N}, {"uniqueItems": True, "minItems": 1}]},
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_all_small_arrays(schema: dict[str, Any]) -> None:
    """Exactly those that the schema allows; walks have no dead end and end in one of them."""
    schema = {"type": "array", **schema}
    validator = jsonschema_rs.Draft202012Validator(schema)
    language = Language(schema, strict_mode=False)
    for value in ARRAYS:
        assert language.takes(value) is validator.is_valid(value), value
    for seed in range(12):
        text = language.walk(random.Random(seed))
        assert text is None or is_rounded(text) or validator.is_valid(json.loads(text)), text


def test_the_last_place_is_for_the_repetition() -> None:
    """Where no more items may come than are there already, one of those comes again."""
    schema = {"type": "array", "items": N, "not": {"uniqueItems": True}, "maxItems": 3}
    language = Language(schema, any_whitespace=False, separators=(",", ":"))
    assert language.next_bytes("[12,7,") == {"1", "7"}
    assert language.next_bytes("[12,7,1") == {"2"}
    assert language.next_bytes("[12,12") >= {"]", ","}
    assert "]" not in language.next_bytes("[12,13")
    assert language.holds("[12,7,12]")


def test_positions_are_refused_by_name() -> None:
    """Which of them are equal is not followed."""
    schema = {"type": "array", "prefixItems": [N, {"type": "string"}], "not": {"uniqueItems": True}}
    with pytest.raises(SchemaError, match="negation of uniqueItems"):
        Language(schema, strict_mode=False)
