"""Malformed schemas: each is told with its place before anything is expanded, wherever it is."""

from __future__ import annotations

import random
import time
from collections import OrderedDict
from decimal import Decimal
from typing import Any

import pytest

from maskwright.cli.bench.random_schemas import SchemaMaker, mutated
from maskwright.errors import SchemaError
from maskwright.schema import preflight as module
from maskwright.schema.preflight import preflight
from maskwright.schema.survey import Survey

MALFORMED: list[tuple[Any, str]] = [
    ({"type": "strng"}, "#/type"),
    ({"type": 3}, "#/type"),
    ({"type": ["string", None]}, "#/type"),
    ({"properties": []}, "#/properties"),
    ({"properties": {"a/b": 3}}, "#/properties/a~1b"),
    ({"required": "a"}, "#/required"),
    ({"required": [1]}, "#/required"),
    ({"enum": "a"}, "#/enum"),
    ({"minLength": -1}, "#/minLength"),
    ({"maxItems": 1.5}, "#/maxItems"),
    ({"maxItems": True}, "#/maxItems"),
    ({"minimum": "0"}, "#/minimum"),
    ({"minimum": True}, "#/minimum"),
    ({"pattern": 1}, "#/pattern"),
    ({"pattern": "(["}, "#/pattern"),
    ({"pattern": "(a)\\1"}, "#/pattern"),
    ({"patternProperties": {"*": True}}, "#/patternProperties"),
    ({"format": 1}, "#/format"),
    ({"anyOf": []}, "#/anyOf"),
    ({"allOf": {}}, "#/allOf"),
    ({"oneOf": [True, 3]}, "#/oneOf/1"),
    ({"not": "x"}, "#/not"),
    ({"items": [True, "x"]}, "#/items/1"),
    ({"$ref": 3}, "#/$ref"),
    ({"$ref": "#/$defs/gone"}, "#/$ref"),
    ({"$ref": "#/$defs/a/type/x", "$defs": {"a": {"type": "null"}}}, "#/$ref"),
    ({"uniqueItems": "yes"}, "#/uniqueItems"),
    ({"dependentRequired": {"a": [1]}}, "#/dependentRequired"),
    ({"dependencies": []}, "#/dependencies"),
]


@pytest.mark.parametrize(("schema", "pointer"), MALFORMED, ids=str)
def test_malformed(schema: Any, pointer: str) -> None:
    """At the root and deep in a definition that a property nobody need write refers to."""
    with pytest.raises(SchemaError) as caught:
        preflight(schema)
    assert caught.value.pointer == pointer
    if "$ref" not in schema:
        with pytest.raises(SchemaError) as caught:
            preflight({"properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"items": schema}}})
        assert caught.value.pointer == pointer.replace("#", "#/$defs/x/items", 1)


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {},
        {"type": ["string", "null"], "minLength": 2.0, "maxLength": 3},
        {
            "enum": [{"type": "strng"}],
            "const": {"pattern": "(["},
            "default": {"type": 3},
            "examples": [{"$ref": 1}],
        },
        {"properties": {"type": {"type": "string"}, "pattern": {"enum": ["(["]}, "$ref": {"const": 1}}},
        {"exclusiveMinimum": True, "minimum": 1},
        {"prefixItems": [], "items": False},
        {"$ref": "#/properties/a", "properties": {"a": {"type": "null"}}},
        {"x-own": {"type": "strng"}},
    ],
    ids=str,
)
def test_well_formed(schema: Any) -> None:
    """What only looks like a keyword, and unusual but legal forms, pass."""
    preflight(schema)


def test_lenient_lets_patterns_through() -> None:
    """They are widened later, and reported."""
    preflight({"pattern": "(a)\\1"}, lenient=True)


def test_findings() -> None:
    """What later stages want to know."""
    assert not preflight({"properties": {"a": {"anyOf": [{"type": "null"}, {"pattern": "^a"}]}}}).is_risky
    assert preflight({"properties": {"a": {"uniqueItems": True}}}).is_risky
    assert preflight({"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"not": {}}}}).is_risky
    assert not preflight({"$defs": {"a": {"not": {}}}}).is_risky  # nothing refers to it
    assert not preflight({"minProperties": 1}).is_risky
    assert preflight({"minProperties": 2}).is_risky
    assert preflight({"items": {"pattern": "a", "format": "uri"}}).is_risky
    assert not preflight({"oneOf": [{"type": "null"}, {"type": "string"}]}).is_risky
    assert preflight({"oneOf": [{"type": "number"}, {"type": "integer"}]}).is_risky
    assert preflight({"oneOf": [{"type": ["number", "null"]}, {"type": "string"}]}).is_risky
    assert preflight({"$dynamicRef": "#x", "$defs": {"a": {"$dynamicAnchor": "x"}}}).is_dynamic
    assert not preflight({"type": "object"}).is_dynamic


def test_what_a_name_or_an_address_may_lead_to() -> None:
    """Such references ask for a closer look: ids and anchors may be anywhere."""
    inner = {"properties": {"b": {"$ref": "#/$defs/c"}}, "$defs": {"c": {"not": {}}}}
    part = {"$id": "https://example.com/a", **inner}
    for schema in (
        {"$ref": "https://example.com/a", "$defs": {"a": part}},
        {"$ref": "#/$defs/a/properties/b", "$defs": {"a": part, "c": {}}},
    ):
        findings = preflight(schema)
        assert findings.is_risky
        assert findings.leads is None
    alone = {"$ref": "https://example.com/a"}
    findings = preflight({"items": alone, "$defs": {"a": {"not": {}}}})
    assert findings.risky == {id(alone)}
    dynamic = {"$ref": "#x", "$defs": {"a": {"$anchor": "x", "$dynamicAnchor": "y"}}}
    assert preflight(dynamic).is_dynamic


def test_the_schema_is_left_alone() -> None:
    """Nothing is written into it."""
    schema = {"properties": {"a": {"oneOf": [{"type": "null"}, {"minimum": 1}]}}}
    before = repr(schema)
    preflight(schema)
    assert repr(schema) == before


def _closer_look(schema: Any) -> module.Findings | None:
    """What the pass that knows places finds; None if it refuses."""
    try:
        return module._CloserLook(schema, lenient=False).findings
    except SchemaError:
        return None


@pytest.mark.parametrize("seed", range(4))
def test_the_survey_passes_what_the_closer_look_passes(seed: int) -> None:
    """On random schemas and such with one place changed: never more, and nearly always as much."""
    rng = random.Random(seed)
    n_passed = n_missed = 0
    for draft in ("2020-12", "7", "4") * 100:
        schema = SchemaMaker(rng, draft).schema()
        schema = mutated(rng, schema) if rng.random() < 0.6 else schema
        if not isinstance(schema, dict):
            continue
        # Everything is referred to, so that both look at the same.
        for word in ("$defs", "definitions"):
            if isinstance(schema.get(word), dict):
                schema["dependentSchemas"] = {name: {"$ref": f"#/{word}/{name}"} for name in schema[word]}
        survey = Survey(schema, module._READINGS, module._TYPES, module._is_fine, module.plainly_apart)
        found = _closer_look(schema)
        if survey.is_plain:
            n_passed += 1
            assert found is not None
            assert found.is_risky == bool(survey.risky)
        elif found is not None and not found.is_dynamic:
            n_missed += 1
    assert n_passed > 150
    assert n_missed < n_passed // 10


def test_what_leads_to_something_risky() -> None:
    """Through subschemas and references, round in circles too, but not beside them."""
    risky = {"multipleOf": 3}
    far = {"items": {"$ref": "#/$defs/y~1z/anyOf/0"}}
    schema = {
        "properties": {"a": {"$ref": "#/$defs/x"}, "b": {"$ref": "#/$defs/x"}, "c": {"type": "object"}},
        "$defs": {"x": far, "y/z": {"anyOf": [risky]}, "w": {"items": {"$ref": "#"}}},
    }
    findings = preflight(schema)
    assert findings.risky == {id(risky)}
    properties = schema["properties"]
    way = [schema, properties["a"], properties["b"], far, far["items"], risky]
    assert findings.leads == set(map(id, way))
    round_about = {"properties": {"a": {"items": {"$ref": "#"}}, "b": risky}}
    assert id(round_about["properties"]["a"]) in (preflight(round_about).leads or ())


def test_other_kinds_of_dicts_and_numbers() -> None:
    """Those of loaders that keep order or spelling are read as plain ones, without a closer look."""
    schema = OrderedDict(
        type="object", properties=OrderedDict(a=OrderedDict(minimum=Decimal("0.5"), multipleOf=Decimal(2)))
    )
    assert preflight(schema).leads == {id(schema), id(schema["properties"]["a"])}


def test_many_references_to_large_parts() -> None:
    """Every part is looked at once: a reference to each level of a deep schema does not multiply them."""
    schema: dict[str, Any] = {"type": "object", "properties": {"leaf": {"uniqueItems": True}}}
    pointer = "#"
    for _ in range(300):
        schema = {"properties": {"in": schema}, "title": "level"}
    schema["anyOf"] = []
    for _ in range(300):
        pointer += "/properties/in"
        schema["anyOf"].extend({"$ref": pointer, "title": str(n)} for n in range(20))
    began = time.process_time()
    findings = preflight(schema)
    assert time.process_time() - began < 1
    assert len(findings.leads or ()) == 300 + 2 + 6000
