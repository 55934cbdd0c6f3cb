"""`GrammarCompiler` and `CompiledGrammar` as XGrammar's programs use them."""

from __future__ import annotations

from typing import Any

import pytest

import maskwright
import maskwright.compat.xgrammar as xgr

INFO = xgr.TokenizerInfo([*(bytes([byte]) for byte in range(256)), b"</s>"])
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def accepts(compiled: maskwright.CompiledGrammar, text: str) -> bool:
    matcher = xgr.GrammarMatcher(compiled)
    return matcher.accept_string(text) and matcher.is_completed()


def compiled_grammars() -> list[tuple[xgr.CompiledGrammar, str]]:
    compiler = xgr.GrammarCompiler(INFO)
    return [
        (compiler.compile_json_schema(SCHEMA, any_whitespace=False), '{"a": 1}'),
        (compiler.compile_json_schema('{"type": "number", "minimum": 1.50}'), "1.5"),
        (compiler.compile_builtin_json_grammar(), "[1]"),
        (compiler.compile_regex("[0-9]{2}"), "12"),
        (compiler.compile_grammar('start ::= "a"', root_rule_name="start"), "a"),
        (compiler.compile_grammar(xgr.Grammar.from_regex("ab")), "ab"),
    ]


@pytest.mark.parametrize(("compiled", "text"), compiled_grammars(), ids=map(str, range(6)))
def test_compiled_grammars(compiled: xgr.CompiledGrammar, text: str) -> None:
    assert type(compiled) is xgr.CompiledGrammar
    assert type(compiled.grammar) is xgr.Grammar
    assert compiled.tokenizer_info is INFO
    assert compiled.memory_size_bytes >= 0
    assert accepts(compiled, text)
    again = xgr.CompiledGrammar.deserialize_json(compiled.serialize_json(), INFO)
    assert type(again) is xgr.CompiledGrammar
    assert accepts(again, text)
    assert not accepts(again, text + "x")


def test_maskwrights_own_grammars_are_taken() -> None:
    compiled = xgr.GrammarCompiler(INFO).compile_grammar(maskwright.Grammar.from_choices(["yes"]))
    assert type(compiled.grammar) is xgr.Grammar
    assert accepts(compiled, "yes")
    assert accepts(maskwright.GrammarCompiler(INFO).compile_grammar(xgr.Grammar.from_regex("a")), "a")


def test_cache() -> None:
    compiler = xgr.GrammarCompiler(INFO)
    first = compiler.compile_json_schema(SCHEMA)
    assert accepts(first, '{"a": 1}')
    assert compiler.get_cache_size_bytes() == first.memory_size_bytes > 0
    # Each call makes an object; what is compiled is one.
    assert compiler.compile_json_schema(SCHEMA)._core is first._core
    assert compiler.compile_json_schema(SCHEMA, any_order=True)._core is not first._core
    compiler.clear_cache()
    assert compiler.get_cache_size_bytes() == 0
    assert compiler.compile_json_schema(SCHEMA)._core is not first._core
    assert (compiler.cache_limit_bytes, xgr.GrammarCompiler(INFO, cache_limit_bytes=9).cache_limit_bytes) == (
        -1,
        9,
    )
    without = xgr.GrammarCompiler(INFO, cache_enabled=False, max_threads=0)
    assert without.compile_regex("a")._core is not without.compile_regex("a")._core


def test_types_are_remembered_as_their_schema() -> None:
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
    model = pydantic.create_model("Model", a=(int, ...))
    compiler = xgr.GrammarCompiler(INFO)
    compiled = compiler.compile_json_schema(model)
    assert compiler.compile_json_schema(model)._core is compiled._core
    assert accepts(xgr.CompiledGrammar.deserialize_json(compiled.serialize_json(), INFO), '{"a": 1}')


def test_another_vocabulary() -> None:
    text = xgr.GrammarCompiler(INFO).compile_regex("a").serialize_json()
    with pytest.raises(xgr.DeserializeFormatError, match="another vocabulary"):
        xgr.CompiledGrammar.deserialize_json(text, xgr.TokenizerInfo(["a"]))
    with pytest.raises(xgr.InvalidJSONError):
        xgr.CompiledGrammar.deserialize_json("{", INFO)
    with pytest.raises(xgr.DeserializeVersionError):
        xgr.CompiledGrammar.deserialize_json(text.replace("maskwright-1", "maskwright-0"), INFO)


COMPILER = xgr.GrammarCompiler(INFO)


@pytest.mark.parametrize(
    "call",
    [
        lambda: xgr.GrammarCompiler(INFO, cache_limit_bytes=-2),
        lambda: COMPILER.compile_grammar("root ::= x"),
        lambda: COMPILER.compile_regex("("),
        lambda: COMPILER.compile_json_schema("{"),
        lambda: COMPILER.compile_json_schema({"type": "foo"}),
        lambda: COMPILER.compile_json_schema({}, max_whitespace_cnt=0),
        lambda: COMPILER.compile_lark("start: /a/"),
        lambda: COMPILER.compile_structural_tag({"format": {"type": "any_text"}}),
        lambda: COMPILER.compile_structural_tag([], ["<tool>"]),
    ],
)
def test_runtime_errors(call: Any) -> None:
    with pytest.raises(RuntimeError):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: xgr.GrammarCompiler(5),
        lambda: COMPILER.compile_grammar(5),
        lambda: COMPILER.compile_json_schema(5),
    ],
)
def test_value_errors(call: Any) -> None:
    with pytest.raises(ValueError, match="not"):
        call()
