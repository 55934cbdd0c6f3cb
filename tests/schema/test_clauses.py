"""Objects whose choices are kept as clauses: the same language as when they are split."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import jsonschema_rs
import pytest

from maskwright.schema import branches
from tests.schema.language import Language, is_rounded

NAMES = ["a", "b", "c"]
MEMBERS = [None, 1, "x"]
OBJECTS = [
    {name: value for name, value in zip(NAMES, chosen, strict=True) if value != "absent"}
    for chosen in itertools.product(["absent", *MEMBERS], repeat=3)
]
N: dict[str, Any] = {"type": "integer"}
S: dict[str, Any] = {"type": "string"}
SCHEMAS: list[dict[str, Any]] = [
    {"oneOf": [{"properties": {"a": N, "b": S}}, {"properties": {"a": S, "b": N}}]},
    {"oneOf": [{"properties": {"a": N}}, {"properties": {"b": N}}, {"properties": {"c": N}}]},
    {"oneOf": [{"required": ["a"]}, {"required": ["b"]}, {"properties": {"c": S}, "required": ["c"]}]},
    {"not": {"properties": {"a": N, "b": N}, "required": ["c"]}, "maxProperties": 2},
    {"allOf": [{"not": {"properties": {"a": N, "b": S}}}, {"not": {"properties": {"b": N, "c": S}}}]},
    {
        "not": {"properties": {"a": N, "b": N}},
        "minProperties": 1,
        "additionalProperties": False,
        "properties": {"a": True, "b": True},
    },
    {"not": {"properties": {"a": True, "b": False}}, "required": ["a"]},
]


@pytest.fixture(autouse=True)
def _always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branches, "SPLITS_BEFORE_CLAUSES", 0)


@pytest.mark.parametrize("any_order", [False, True])
@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_all_small_objects(schema: dict[str, Any], any_order: bool) -> None:
    """Judged as jsonschema-rs judges them; walks end, and end in valid objects."""
    schema = {"type": "object", **schema}
    validator = jsonschema_rs.Draft202012Validator(schema)
    language = Language(schema, strict_mode=False, any_order=any_order)
    # In declared order the members come as the schema names them; any order takes all of them.
    for value in OBJECTS:
        found = any(language.takes(dict(items)) for items in itertools.permutations(value.items()))
        assert found is validator.is_valid(value), value
        if any_order:
            assert language.takes(dict(reversed(value.items()))) is found
    rng = random.Random(5)
    for _ in range(10):
        text = language.walk(rng)
        if text is not None and not is_rounded(text):
            assert validator.is_valid(json.loads(text)), text


def test_a_dozen_unions_without_a_discriminator() -> None:
    """What would be millions of branches is a handful of states."""
    members = [
        {"properties": {f"p{n}": {"type": ["string", "integer", "null"][(n + m) % 3]} for n in range(8)}}
        for m in range(3)
    ]
    schema = {
        "type": "object",
        "allOf": [{"oneOf": members}, {"not": {"required": ["p0", "p1", "p2"]}}],
        "not": members[0],
    }
    validator = jsonschema_rs.Draft202012Validator(schema)
    language = Language(schema, strict_mode=False, any_order=True)
    for value in (
        {"p0": 1},
        {"p0": "x"},
        {"p0": 1, "p1": "x"},
        {"p0": 1, "p1": None, "p2": "x"},
        {"p7": 1, "p3": "y"},
        {},
    ):
        assert language.takes(value) is validator.is_valid(value), value
