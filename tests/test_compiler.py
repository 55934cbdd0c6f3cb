"""Compiling: the cache, its limit, serialization, memory."""

import dataclasses
import json

import numpy as np
import pytest

import maskwright
from maskwright import (
    Grammar,
    GrammarCompiler,
    GrammarMatcher,
    LimitExceeded,
    TokenizerInfo,
    allocate_token_bitmask,
)
from maskwright.lexeme import literal
from maskwright.rules import Alt, Call, Expr, Lex, Rule, Seq

INFO = TokenizerInfo([bytes([byte]) for byte in range(256)] + ["</s>"])
SCHEMA = {
    "type": "object",
    "properties": {"b": {"type": "integer"}, "a": {"const": "x"}},
    "required": ["b", "a"],
}
TEXT = '{"b": 3, "a": "x"}'


@dataclasses.dataclass
class Point:
    x: int


def accepts(compiled: maskwright.CompiledGrammar, text: str) -> bool:
    matcher = GrammarMatcher(compiled)
    return matcher.accept_string(text) and matcher.is_completed()


def test_equal_requests_get_the_same_object():
    compiler = GrammarCompiler(INFO)
    first = compiler.compile_json_schema(SCHEMA)
    assert compiler.compile_json_schema(json.loads(json.dumps(SCHEMA))) is first
    assert compiler.compile_json_schema(SCHEMA, any_whitespace=False) is not first
    swapped = {**SCHEMA, "properties": dict(reversed(SCHEMA["properties"].items()))}
    assert compiler.compile_json_schema(swapped) is not first
    assert compiler.compile_regex("a") is not compiler.compile_grammar('root ::= "a"')


def test_classes_are_remembered_too():
    pytest.importorskip("pydantic")
    compiler = GrammarCompiler(INFO)
    compiled = compiler.compile_json_schema(Point)
    assert compiler.compile_json_schema(Point) is compiled
    assert accepts(compiled, '{"x": 1}')
    with pytest.raises(maskwright.GrammarError, match="JSON"):
        compiled.serialize()


def test_the_cache_is_bounded_and_can_be_off_or_cleared():
    compiler = GrammarCompiler(INFO, cache_limit_bytes=1)
    first = compiler.compile_regex("a")
    compiler.compile_regex("b")
    assert compiler.compile_regex("a") is not first
    assert accepts(first, "a")
    off = GrammarCompiler(INFO, cache_enabled=False)
    assert off.compile_regex("a") is not off.compile_regex("a")
    compiler.clear_cache()
    assert compiler.get_cache_size_bytes() == 0


def test_what_grows_after_it_was_remembered_is_counted():
    # Each of them is within the limit when it is compiled; what one of them visits later is not.
    one = GrammarCompiler(INFO).compile_json_schema(SCHEMA).memory_size_bytes
    compiler = GrammarCompiler(INFO, cache_limit_bytes=24 * one)
    grown = compiler.compile_json_schema(SCHEMA)
    assert accepts(grown, TEXT)
    assert compiler.get_cache_size_bytes() == grown.memory_size_bytes > one
    for number in range(40):
        compiled = compiler.compile_regex(f"[a-z]{{{number + 1}}}")
        matcher = GrammarMatcher(compiled)
        matcher.accept_string("a" * number)
    for number in range(10):  # each measures some of the others again
        compiler.compile_regex(f"end {number}")
    assert compiler.get_cache_size_bytes() <= compiler.cache_limit_bytes
    assert compiler.compile_json_schema(SCHEMA) is not grown


def test_serialization_round_trip():
    compiled = GrammarCompiler(INFO).compile_json_schema(SCHEMA, any_whitespace=False)
    copy = maskwright.CompiledGrammar.deserialize(compiled.serialize(), INFO)
    assert accepts(copy, TEXT)
    assert not accepts(copy, TEXT.replace(" ", ""))
    assert not accepts(copy, '{"a": "x", "b": 3}')


@pytest.mark.parametrize("text", ["", "{}", '{"format": 2, "vocabulary": "", "source": {}}', "[1]"])
def test_what_is_no_serialized_grammar(text):
    with pytest.raises(maskwright.GrammarError):
        maskwright.CompiledGrammar.deserialize(text, INFO)


def test_another_vocabulary_is_refused():
    text = GrammarCompiler(INFO).compile_regex("a").serialize()
    with pytest.raises(maskwright.GrammarError, match="another vocabulary"):
        maskwright.CompiledGrammar.deserialize(text, TokenizerInfo(["a", "</s>"]))


def test_grammars_made_from_rules_have_no_source():
    compiled = GrammarCompiler(INFO).compile_grammar(Grammar.from_choices(["a", "b"]))
    with pytest.raises(maskwright.GrammarError, match="text"):
        compiled.serialize()


def test_memory_grows_with_what_is_visited():
    compiled = GrammarCompiler(INFO).compile_json_schema(SCHEMA)
    before = compiled.memory_size_bytes
    assert accepts(compiled, TEXT)
    assert compiled.memory_size_bytes > before


@pytest.mark.parametrize(
    "options", [{"max_threads": 0}, {"cache_limit_bytes": -2}, {"automaton_limit_bytes": 0}]
)
def test_bad_limits(options):
    with pytest.raises(ValueError, match="positive"):
        GrammarCompiler(INFO, **options)


def test_not_a_vocabulary():
    with pytest.raises(TypeError, match="TokenizerInfo"):
        GrammarCompiler(["a"])


def test_prepared_grammars_lower_nothing_on_the_way():
    """All rules are there afterwards, or as many as were asked for; masks are the same."""
    schema = {
        "type": "object",
        "properties": {
            f"p{n}": {"type": "object", "properties": {"x": {"type": "integer"}}} for n in range(9)
        },
        "required": [f"p{n}" for n in range(9)],
    }
    compiler = GrammarCompiler(INFO, cache_enabled=False)
    lazy, some, ready = (compiler.compile_json_schema(schema) for _ in range(3))
    assert not some.prepare(max_rules=3)
    assert ready.prepare()
    assert ready.prepare()
    before = len(ready._core.network.rules)
    text = json.dumps({f"p{n}": {"x": n} for n in range(9)})
    rows = [allocate_token_bitmask(1, INFO.vocab_size) for _ in range(3)]
    matchers = [GrammarMatcher(compiled) for compiled in (lazy, some, ready)]
    for character in text:
        for matcher, row in zip(matchers, rows, strict=True):
            matcher.fill_next_token_bitmask(row)
            assert matcher.accept_string(character)
        assert np.array_equal(rows[0], rows[1])
        assert np.array_equal(rows[0], rows[2])
    assert all(matcher.is_completed() for matcher in matchers)
    assert len(ready._core.network.rules) == before


def test_a_grammar_outlives_its_count_of_states(monkeypatch):
    """Arrays of unique strings make new states for ever; later matchers do not pay for earlier ones."""
    monkeypatch.setattr("maskwright.kernel.compiled.MAX_GRAMMAR_NODES", 20_000)
    schema = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
    compiled = GrammarCompiler(INFO, cache_enabled=False).compile_json_schema(schema)
    cores = {}
    for n in range(60):
        text = json.dumps([f"item {n} {k}" for k in range(12)])
        assert accepts(compiled, text)
        assert not accepts(compiled, text[:-1] + f', "item {n} 3"]')
        cores[id(compiled._core)] = compiled._core
    assert len(cores) > 1


def test_preparing_tells_what_generation_would():
    """A rule that cannot be lowered is reported, and the rest of the grammar can be used."""
    compiled = GrammarCompiler(INFO).compile_grammar(
        Grammar(Rule("root", Alt((Lex(literal(b"a")), Call(_broken())))))
    )
    with pytest.raises(LimitExceeded, match="too large"):
        compiled.prepare()


def _broken() -> Rule:
    def body() -> Expr:
        raise LimitExceeded("this rule is too large", resource="test", limit=1)

    return Rule("broken", lambda: Seq((Lex(literal(b"b")), Call(Rule("inner", body)))))
