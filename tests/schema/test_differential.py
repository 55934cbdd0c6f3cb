"""Random schemas over all keywords against jsonschema-rs: what is accepted, and what walks produce."""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema_rs
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.errors import GrammarError, SchemaError
from tests.schema.language import STANDARD, Language, is_rounded

NAMES = ["a", "b", "ab", "x_1"]
SCALARS: list[Any] = [None, True, False, 0, 1, 2, -1, 3, 1.5, 0.5, 10, "", "a", "ab", "abc", "é"]
PATTERNS = ["^a", "b$", "^[ab]+$", ".", "^x_", "^.{2}$"]
TYPES = ["null", "boolean", "string", "integer", "number", "array", "object"]

scalars = st.sampled_from(SCALARS)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=6,
)
names = st.lists(st.sampled_from(NAMES), max_size=2, unique=True)
small = st.integers(0, 3)
bounds = st.sampled_from([-1, 0, 1, 2, 1.5])


def _keywords(inner: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    by_name = st.dictionaries(st.sampled_from(NAMES), inner, min_size=1, max_size=3)
    several = st.lists(inner, min_size=1, max_size=3)
    return {
        "type": st.sampled_from(TYPES)
        | st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True),
        "enum": st.lists(values, min_size=1, max_size=3),
        "const": values,
        **dict.fromkeys(["allOf", "anyOf", "oneOf", "prefixItems"], several),
        **dict.fromkeys(
            [
                "not",
                "if",
                "then",
                "else",
                "items",
                "contains",
                "additionalProperties",
                "propertyNames",
                "unevaluatedItems",
                "unevaluatedProperties",
            ],
            inner,
        ),
        **dict.fromkeys(["properties", "dependentSchemas"], by_name),
        "patternProperties": st.dictionaries(st.sampled_from(PATTERNS), inner, min_size=1, max_size=2),
        "dependentRequired": st.dictionaries(st.sampled_from(NAMES), names, max_size=2),
        "required": names,
        **dict.fromkeys(
            [
                "minLength",
                "maxLength",
                "minItems",
                "maxItems",
                "minProperties",
                "maxProperties",
                "minContains",
                "maxContains",
            ],
            small,
        ),
        "pattern": st.sampled_from(PATTERNS),
        **dict.fromkeys(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"], bounds),
        "multipleOf": st.sampled_from([1, 2, 0.5]),
        "uniqueItems": st.booleans(),
    }


def _object_schema(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keywords = _keywords(inner)
    chosen = st.lists(st.sampled_from(sorted(keywords)), min_size=1, max_size=4, unique=True)
    return chosen.flatmap(lambda keys: st.fixed_dictionaries({key: keywords[key] for key in keys}))


leaves = st.one_of(
    st.booleans(),
    st.sampled_from(TYPES).map(lambda kind: {"type": kind}),
    scalars.map(lambda value: {"const": value}),
    bounds.map(lambda bound: {"minimum": bound}),
    st.just({"$ref": "#/$defs/d"}),
)
schemas = st.recursive(leaves, _object_schema, max_leaves=8)
# A definition never refers back: what a schema means that says "I hold if I fail" is anybody's guess.
definitions = st.sampled_from(
    [{"type": "integer"}, {"maxLength": 1}, {"required": ["a"]}, {"items": {"const": 1}}]
)


def _language(schema: Any, options: dict[str, Any]) -> Language | bool | None:
    """The language, False if no value meets the schema, None if it is refused by name."""
    try:
        return Language(schema, **options)
    except SchemaError as error:
        return False if error.message.startswith("no value can meet") else None
    except GrammarError:
        return None


@settings(max_examples=300)
@given(schemas, definitions, st.lists(values, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_random_schemas(schema: Any, definition: Any, instances: list[Any], rng: random.Random) -> None:
    """Instances are judged as jsonschema-rs judges them, and finished walks are valid."""
    schema = {"allOf": [schema], "$defs": {"d": definition}}
    validator = jsonschema_rs.Draft202012Validator(schema)
    language = _language(schema, STANDARD)
    if language is None:
        return
    for instance in instances:
        found = language is not False and language.takes(instance)
        valid = validator.is_valid(instance)
        assert found is valid or _is_left_out(schema, valid=valid), (instance, schema)
    if language is not False:
        _walks_are_valid(language, schema, rng)


LAYOUTS: list[dict[str, Any]] = [
    {},
    {"any_whitespace": False},
    {"any_whitespace": False, "indent": 1, "strict_mode": False},
    {"any_order": True, "any_spelling": True},
]


@settings(max_examples=200)
@given(schemas, definitions, st.sampled_from(LAYOUTS), st.randoms(use_true_random=False))
def test_walks_in_every_layout(
    schema: Any, definition: Any, options: dict[str, Any], rng: random.Random
) -> None:
    """Whatever the options, a finished text is valid and no state is a dead end."""
    schema = {"allOf": [schema], "$defs": {"d": definition}}
    language = _language(schema, options)
    if isinstance(language, Language):
        _walks_are_valid(language, schema, rng)


def _walks_are_valid(language: Language, schema: Any, rng: random.Random) -> None:
    validator = jsonschema_rs.Draft202012Validator(schema)
    for _ in range(2):
        text = language.walk(rng, most=200)
        if text is None or is_rounded(text):
            continue  # unfinished, or a number that the judge rounds
        assert validator.is_valid(json.loads(text)), (text, schema)


def _is_left_out(schema: Any, *, valid: bool) -> bool:
    """Whether a valid instance may be missed: unique items that are containers have one spelling."""
    return valid and '"uniqueItems": true' in json.dumps(schema)
