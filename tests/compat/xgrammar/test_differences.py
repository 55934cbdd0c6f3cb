"""The table of differences in docs/xgrammar.md: what is legal there and what is not, on our side."""

from __future__ import annotations

from typing import Any

import pytest

import maskwright.compat.xgrammar as xgr
from maskwright.compat.xgrammar.testing import _is_grammar_accept_string

SCHEMAS: list[tuple[Any, dict[str, Any], list[str], list[str]]] = [
    ({"type": "integer", "not": {"const": 5}}, {}, ["6"], ["5"]),
    (
        {
            "type": "object",
            "properties": {"a": {"type": "boolean"}, "b": {"type": "integer"}},
            "if": {"properties": {"a": {"const": True}}, "required": ["a"]},
            "then": {"required": ["b"]},
        },
        {},
        ['{"a": false}', '{"a": true, "b": 1}'],
        ['{"a": true}'],
    ),
    ({"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True}, {}, ["[1, 2]"], ["[1, 1]"]),
    ({"type": "array", "items": {"type": "integer"}, "contains": {"const": 1}}, {}, ["[2, 1]"], ["[2]"]),
    (
        {"type": "object", "properties": {"c": {}, "d": {}}, "dependentRequired": {"c": ["d"]}},
        {},
        ['{"c": 1, "d": 1}'],
        ['{"c": 1}'],
    ),
    ({"allOf": [{"type": "integer", "minimum": 3}, {"maximum": 5}]}, {}, ["4"], ["1", "6", '"x"']),
    ({"type": "number", "multipleOf": 0.5}, {}, ["1.5"], ["0.3"]),
    (
        {"oneOf": [{"type": "string", "minLength": 2}, {"type": "string", "maxLength": 4}]},
        {},
        ['"a"', '"abcde"'],
        ['"abc"'],
    ),
    ({"minLength": 3}, {}, ['"abc"', "1"], ['"a"']),
    (
        {"$defs": {"s": {"type": "string"}}, "$ref": "#/$defs/s", "maxLength": 2},
        {},
        ['"ab"'],
        ['"abc"'],
    ),
    (
        {"type": "object", "properties": {"a": {}}, "required": ["b"], "additionalProperties": True},
        {},
        ['{"a": 1, "b": 2}'],
        ['{"a": 1}'],
    ),
    (
        {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a"]},
        {"any_order": True},
        ['{"b": 1, "a": 1}'],
        ['{"b": 1}', '{"a": 1, "a": 1}'],
    ),
    ({"type": "string", "pattern": "ab"}, {}, ['"xaby"', '"ab"'], ['"ba"']),
    ({"type": "string", "pattern": "^a\nb$"}, {}, ['"a\\nb"'], ['"a\nb"']),
    ({"type": "string", "pattern": r"^(?=.*\d)[a-z0-9]+$"}, {}, ['"ab1"'], ['"abc"']),
    ({"type": "string", "pattern": "^a+$", "maxLength": 2}, {}, ['"aa"'], ['"aaa"']),
    ({"type": "string", "maxLength": 5}, {}, ['"a\\tb"'], ['"a\tb"']),
    ({"type": "string", "format": "date"}, {}, ['"2024-02-29"'], ['"2024-02-30"']),
    (
        {
            "type": "object",
            "properties": {"a": {"type": "integer"}},
            "additionalProperties": {"type": "string"},
        },
        {},
        ['{"a": 1, "b": "x"}'],
        ['{"\\u0061": "x"}'],
    ),
    ({"type": "string"}, {}, ['"\\ud83d\\ude00"'], ['"\\ud800"']),
    ({"const": {"a": [1, 2]}}, {}, ['{"a":[1,2]}', '{"a": [1, 2]}'], ['{"a": [2, 1]}']),
    ({"type": "number", "minimum": 0}, {}, ["1.1234567"], ["-1"]),
    ({"type": "object", "properties": {"a": False, "b": {}}}, {}, ['{"b": 1}'], ['{"a": 1}']),
    ({"type": "array", "items": [{"type": "string"}, {"type": "integer"}]}, {}, ['["a", 1]'], ["[1]"]),
    ({"type": "array"}, {}, ["[" + 32 * " " + "]"], ["[" + 33 * " " + "]"]),
    (True, {}, ["1"], ["x"]),
]


@pytest.mark.parametrize(
    ("schema", "options", "legal", "illegal"), SCHEMAS, ids=map(str, range(len(SCHEMAS)))
)
def test_schemas(schema: Any, options: dict[str, Any], legal: list[str], illegal: list[str]) -> None:
    grammar = xgr.Grammar.from_json_schema(schema, **options)
    assert [text for text in legal + illegal if _is_grammar_accept_string(grammar, text)] == legal


@pytest.mark.parametrize(
    ("pattern", "legal", "illegal"),
    [
        ("a.b", ["axb"], ["a\nb"]),
        ("(?=a)[ab]", ["a"], ["b"]),
        (r"\bab\b", ["ab"], ["a"]),
        (r"\p{L}+", ["é"], ["1"]),
        ("(?i:a)", ["A", "a"], ["b"]),
    ],
)
def test_regular_expressions(pattern: str, legal: list[str], illegal: list[str]) -> None:
    grammar = xgr.Grammar.from_regex(pattern)
    assert [text for text in legal + illegal if _is_grammar_accept_string(grammar, text)] == legal


@pytest.mark.parametrize(
    "text",
    [
        'root ::= a "c"\na ::= "a" (= "b")',
        "root[max_tokens=2] ::= [a-z]*",
        'root ::= TagDispatch(("<a>", b))\nb ::= "c"',
    ],
)
def test_ebnf_that_is_refused(text: str) -> None:
    with pytest.raises(RuntimeError, match="line"):
        xgr.Grammar.from_ebnf(text)


def test_what_cannot_be_spelled_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="tokens of this vocabulary"):
        xgr.GrammarMatcher(xgr.GrammarCompiler(xgr.TokenizerInfo(["b"])).compile_regex("a"))


def test_ended_matchers_in_a_batch_get_zeros() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    compiled = xgr.GrammarCompiler(xgr.TokenizerInfo(["a", "</s>"])).compile_regex("a")
    ended, open_one = xgr.GrammarMatcher(compiled), xgr.GrammarMatcher(compiled)
    assert ended.accept_token(0)
    assert ended.accept_token(1)
    bitmask = xgr.allocate_token_bitmask(2, 2)
    xgr.BatchGrammarMatcher().batch_fill_next_token_bitmask([ended, open_one], bitmask)
    assert torch.equal(bitmask, torch.tensor([[0], [1]], dtype=torch.int32))
