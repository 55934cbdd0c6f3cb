"""Plain proofs that a schema has a value: whatever they say, the full decision says too."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.lexeme import intersection
from maskwright.regex import UTF8, string_of_length
from maskwright.schema import satisfiable
from maskwright.schema.builder import Builder
from maskwright.schema.emptiness import is_empty
from maskwright.schema.formats import FORMATS, format_lexeme
from maskwright.schema.numeric import plainly_has_number
from maskwright.schema.options import SchemaOptions
from maskwright.schema.witness import has_witness

small = st.integers(0, 3)
bounds = st.sampled_from([-1, 0, 1, 2, 3, 0.5, 1.5, 1e16])
ends = bounds | st.booleans()
scalars: dict[str, st.SearchStrategy[Any]] = {
    "type": st.sampled_from(["string", "integer", "number", ["string", "integer"], ["null", "array"]]),
    "minLength": small,
    "maxLength": small,
    "pattern": st.sampled_from(["a", "^ab$", "^a*$", "^[ab]{2,3}$", "a^", "^(ab|c)$|^d", "$.", "[]", ""]),
    "format": st.sampled_from(["date", "ipv4", "int32", "of my own", "json-pointer"]),
    "minimum": bounds,
    "maximum": bounds,
    "exclusiveMinimum": ends,
    "exclusiveMaximum": ends,
    "enum": st.lists(st.sampled_from(["a", 1, None]), min_size=1, max_size=2),
}


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    arrays = {
        "items": inner,
        "minItems": small,
        "maxItems": small,
        "uniqueItems": st.booleans(),
        "prefixItems": st.lists(inner, min_size=1, max_size=2),
    }
    names = st.sampled_from(["a", "b"])
    objects = {
        "properties": st.dictionaries(names, inner, max_size=2),
        "required": st.lists(names, max_size=2, unique=True),
        "maxProperties": small,
        "additionalProperties": st.booleans(),
    }
    return (
        st.fixed_dictionaries({"type": st.just("array")}, optional=arrays)
        | st.fixed_dictionaries({"type": st.just("object")}, optional=objects)
        | st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=2)})
    )


schemas = st.recursive(st.booleans() | st.fixed_dictionaries({}, optional=scalars), _containers, max_leaves=4)


@settings(max_examples=300, deadline=None)
@given(schemas)
def test_a_proof_is_right(schema: Any):
    if not has_witness(schema):
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(satisfiable, "has_witness", lambda schema: False)
        patch.setattr("maskwright.schema.builder.plainly_has_text", lambda branch: False)
        patch.setattr(satisfiable, "plainly_has_number", lambda branch: False)
        builder = Builder(schema, SchemaOptions(strict_mode=False))
        assert builder.satisfiable(builder.obligations(builder.documents.root))


@settings(max_examples=200, deadline=None)
@given(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["integer", "number"])},
        optional={
            **{
                word: st.integers(-5, 9)
                for word in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
            },
            "multipleOf": st.sampled_from([1, 2, 3, 6, 1.5]),
            "allOf": st.lists(
                st.fixed_dictionaries({"multipleOf": st.integers(1, 4)}), min_size=1, max_size=2
            ),
            "not": st.sampled_from([{"const": 0}, {"multipleOf": 2}, {"type": "integer"}]),
        },
    )
)
def test_a_proof_about_numbers_is_right(schema: Any):
    builder = Builder(schema, SchemaOptions(strict_mode=False))
    obligations = builder.obligations(builder.documents.root)
    if any(map(plainly_has_number, builder.branches(obligations))):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(satisfiable, "plainly_has_number", lambda branch: False)
            assert any(map(builder.satisfiability.branch, builder.branches(obligations)))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "^[A-Z]{2,4}-[0-9]+$", "maxLength": 30},
        {"type": "string", "pattern": "[a-z]", "minLength": 20},
        {"type": "string", "format": "date-time"},
        {"type": "integer", "minimum": 1, "maximum": 5},
        {"type": "number", "exclusiveMinimum": 0},
        {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 5},
        {"type": "object", "properties": {"a": {"anyOf": [{"type": "null"}, False]}}, "required": ["a"]},
    ],
)
def test_usual_schemas_are_plain(schema: Any):
    assert has_witness(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "a^"},
        {"type": "string", "pattern": "^abc$", "maxLength": 2},
        {"type": "string", "pattern": "^abc$", "minLength": 4},
        {"type": "string", "minLength": 3, "maxLength": 2},
        {"type": "integer", "minimum": 5, "maximum": 4},
        {"type": "integer", "exclusiveMinimum": 4, "exclusiveMaximum": 5},
        {"type": "array", "items": False, "minItems": 1},
    ],
)
def test_what_may_have_no_value_is_not(schema: Any):
    assert not has_witness(schema)


@pytest.mark.parametrize("name", [name for name in FORMATS if format_lexeme(name, UTF8) is not None])
def test_every_format_has_a_text_that_is_not_empty(name: str):
    lexeme = format_lexeme(name, UTF8)
    assert lexeme is not None
    assert not is_empty(intersection(lexeme, string_of_length(1, None, UTF8)))
