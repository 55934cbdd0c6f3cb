"""Unique items inside unique items: a few values in any order, the rest by how they start."""

from __future__ import annotations

import json
import random
from itertools import permutations
from typing import Any

import jsonschema_rs
import pytest

from maskwright.errors import SchemaError
from maskwright.kernel.lexemes import accepts
from maskwright.lexeme import byte_range, concat, literal, plus
from maskwright.schema.unique_texts import in_any_order, in_order_of_starts
from tests.schema.language import Language


@pytest.mark.parametrize(("low", "high"), [(0, None), (1, 2), (2, 3), (3, None)])
def test_every_order_of_different_texts(low: int, high: int | None) -> None:
    texts = [b"a", b"bb", b"c"]
    lexeme = in_any_order(texts, b",", low, high)
    for n in range(1, 4):
        for chosen in permutations(texts, n):
            assert accepts(lexeme, b",".join(chosen)) == (n >= low and (high is None or n <= high))
    assert not any(accepts(lexeme, text) for text in (b"", b"a,a", b"a,", b",a", b"a,bb,a"))


def test_texts_that_start_differently() -> None:
    word = concat(literal(b'"'), plus(byte_range(0x61, 0x7A)), literal(b'"'))
    lexeme = in_order_of_starts(word, b", ", 2, 3)
    held = [b'"a", "b"', b'"ab", "ba"', b'"ax", "b", "cx"']
    assert all(accepts(lexeme, text) for text in held)
    not_held = [b'"a"', b'"b", "a"', b'"ab", "ac"', b'"a", "b", "c", "d"', b'"a","b"', b'"a", "a"']
    assert not any(accepts(lexeme, text) for text in not_held)


def nested(items: Any, **more: Any) -> dict[str, Any]:
    inner = {"type": "array", "items": items, "uniqueItems": True, **more}
    return {"type": "array", "items": inner, "uniqueItems": True}


@pytest.mark.parametrize(
    "schema",
    [
        nested({"type": "string"}),
        nested({"enum": ["a", "b", 1]}, minItems=1),
        nested({"type": "integer"}, minItems=2, maxItems=3),
        nested({"type": ["number", "string", "null"]}),
        nested({"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]}),
    ],
)
def test_walks_are_valid(schema: dict[str, Any]) -> None:
    validator = jsonschema_rs.validator_for(schema)
    language = Language(schema)
    rng = random.Random(4)
    found = [text for _ in range(30) if (text := language.walk(rng)) is not None]
    assert len(found) > 20
    assert all(validator.is_valid(json.loads(text)) for text in found)


def test_what_is_written_and_what_the_report_says() -> None:
    listed = Language(nested({"enum": ["a", "b", "c"]}))
    assert listed.holds('[["c", "a"], ["a", "c"]]')
    assert not listed.holds('[["a", "a"]]')
    assert not listed.holds('[["a"], ["a"]]')
    texts = Language(nested({"type": "string"}))
    assert texts.holds('[["a", "b"], ["a", "c"]]')
    assert texts.holds('[["b", "a"], ["a", "b"]]')
    assert not texts.holds('[["a", "ab"]]')
    notes = [entry.note for entry in texts.report.complete().entries if entry.pointer == "#/uniqueItems"]
    assert any("in which two items start alike" in note for note in notes)


def test_what_needs_what_is_left_out_is_refused_not_called_impossible() -> None:
    with pytest.raises(SchemaError, match="several unique items that start alike"):
        Language(nested({"type": "object", "properties": {"a": {"type": "integer"}}}, minItems=2))
    with pytest.raises(SchemaError, match="too few are left"):
        Language({**nested({"type": "integer", "minimum": 1, "maximum": 3}), "minItems": 17})
