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


def test_closed_kinds_that_nothing_tells_apart() -> None:
    """Each kind fails for one of its names or for a name that it does not list: both are literals."""
    kinds = [
        {
            "type": "object",
            "properties": {
                f"p{n + m}": {"type": ["string", "integer", "null"][(n + m) % 3]} for m in range(6)
            },
            "patternProperties": {f"^x{n}": N},
            "additionalProperties": False,
        }
        for n in range(4)
    ]
    schema = {"oneOf": kinds}
    validator = jsonschema_rs.Draft202012Validator(schema)
    language = Language(schema, strict_mode=False, any_order=True)
    rng = random.Random(7)
    values = ["s", 1, None]
    for _ in range(300):
        names = rng.sample([*(f"p{n}" for n in range(9)), "x0", "x1a"], rng.choice((1, 2, 3)))
        value = {name: values[int(name[1]) % 3] if name[0] == "p" else 1 for name in names}
        if rng.random() < 0.3:
            value[rng.choice(names)] = rng.choice(values)
        assert language.takes(value) is validator.is_valid(value), value
    for seed in range(20):
        text = language.walk(random.Random(seed))
        assert text is None or is_rounded(text) or validator.is_valid(json.loads(text)), text


def test_a_bound_counts_the_open_members_that_clauses_need() -> None:
    """Two names that nobody lists are two members."""
    kinds = [{"patternProperties": {"^x": {}}, "additionalProperties": False}, {"properties": {"a": N}}]
    schema = {"type": "object", "not": {"anyOf": kinds}, "maxProperties": 1}
    language = Language(schema, strict_mode=False, any_order=True)
    validator = jsonschema_rs.Draft202012Validator(schema)
    for value in ({"a": "s"}, {"a": 1}, {"x": 1}, {"a": "s", "b": 1}, {"b": 1}):
        assert language.takes(value) is validator.is_valid(value), value


STRINGS: list[dict[str, Any]] = [
    {
        "allOf": [
            {"anyOf": [{"pattern": "^a"}, {"maxLength": 1}]},
            {"anyOf": [{"pattern": "b"}, {"const": "a"}]},
        ]
    },
    {"oneOf": [{"minLength": 2}, {"pattern": "a"}, {"enum": ["b", "ab", 1]}]},
    {
        "not": {"allOf": [{"pattern": "a"}, {"not": {"pattern": "b$"}}]},
        "anyOf": [{"const": ""}, {"minLength": 1}],
    },
    {
        "anyOf": [{"$ref": "#/$defs/x"}, {"pattern": "^b"}],
        "$defs": {"x": {"anyOf": [{"$ref": "#"}, {"const": "c"}]}},
    },
    {"if": {"pattern": "^a"}, "then": {"maxLength": 2}, "else": {"not": {"enum": ["b", "c"]}}},
]


@pytest.mark.parametrize("any_spelling", [False, True])
@pytest.mark.parametrize("schema", STRINGS, ids=json.dumps)
def test_choices_of_strings_are_one_lexeme(schema: dict[str, Any], any_spelling: bool) -> None:
    """All short strings, judged as jsonschema-rs judges them."""
    schema = {"type": "string", **schema}
    validator = jsonschema_rs.Draft202012Validator(schema)
    language = Language(schema, any_spelling=any_spelling)
    for size in range(4):
        for letters in itertools.product("abc", repeat=size):
            value = "".join(letters)
            assert language.takes(value) is validator.is_valid(value), value


def test_many_choices_of_patterns() -> None:
    """Seven choices among three patterns each: 2187 conjunctions, or one."""
    pairs = [f"{one}{other}" for one in "abcdefg" for other in "xyz"]
    choices = [{"anyOf": [{"pattern": pair} for pair in pairs[n : n + 3]]} for n in range(0, 21, 3)]
    schema = {"type": "string", "allOf": choices, "maxLength": 30}
    language = Language(schema)
    assert language.takes("axbyczdxeyfzgx")
    assert not language.takes("axbyczdxeyfz")
    assert language.next_bytes('"' + "q" * 16 + "axbyczdxeyfzg") == {"x", "y", "z"}
