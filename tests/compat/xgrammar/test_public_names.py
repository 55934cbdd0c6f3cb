"""The public face: XGrammar's names, and for each the parameters and defaults that programs rely on."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import maskwright.compat.xgrammar as xgr

#: Name and parameters; a star before those that go by name only.
SIGNATURES = """
get_bitmask_shape(batch_size, vocab_size)
allocate_token_bitmask(batch_size, vocab_size)
reset_token_bitmask(bitmask)
apply_token_bitmask_inplace(logits, bitmask, *, vocab_size=None, indices=None, backend='auto')
TokenizerInfo.from_huggingface(tokenizer, *, vocab_size=None, stop_token_ids=None)
TokenizerInfo.from_vocab_and_metadata(encoded_vocab, metadata)
TokenizerInfo.deserialize_json(json_string)
Grammar.from_ebnf(ebnf_string, *, root_rule_name='root')
Grammar.from_json_schema(schema, *, any_whitespace=True, indent=None, separators=None, strict_mode=True, max_whitespace_cnt=None, print_converted_ebnf=False, any_order=False)
Grammar.from_regex(regex_string, *, print_converted_ebnf=False)
Grammar.from_lark(lark_string, *, tokenizer_info=None, named_grammars=None)
Grammar.builtin_json_grammar()
Grammar.concat(*grammars)
Grammar.union(*grammars)
Grammar.serialize_json(self)
Grammar.deserialize_json(json_string)
CompiledGrammar.serialize_json(self)
CompiledGrammar.deserialize_json(json_str, tokenizer_info)
GrammarCompiler(tokenizer_info, *, max_threads=8, cache_enabled=True, cache_limit_bytes=-1, enable_dynamic_compilation=False)
GrammarCompiler.compile_json_schema(self, schema, *, any_whitespace=True, indent=None, separators=None, strict_mode=True, max_whitespace_cnt=None, any_order=False)
GrammarCompiler.compile_builtin_json_grammar(self)
GrammarCompiler.compile_regex(self, regex)
GrammarCompiler.compile_grammar(self, grammar, *, root_rule_name='root')
GrammarCompiler.compile_lark(self, lark_string, *, named_grammars=None)
GrammarCompiler.clear_cache(self)
GrammarCompiler.get_cache_size_bytes(self)
GrammarMatcher(compiled_grammar, *, override_stop_tokens=None, terminate_without_stop_token=False, max_rollback_tokens=-1, default_temperature=None)
GrammarMatcher.accept_token(self, token_id, *, strict=False, debug_print=False)
GrammarMatcher.accept_string(self, input_str, *, debug_print=False)
GrammarMatcher.fill_next_token_bitmask(self, bitmask, index=0, *, debug_print=False)
GrammarMatcher.traverse_draft_tree(self, retrieve_next_token, retrieve_next_sibling, draft_tokens, token_bitmask, time_threshold=-1.0, temperatures=None)
GrammarMatcher.find_jump_forward_string(self)
GrammarMatcher.find_jump_forward_tokens(self)
GrammarMatcher.rollback(self, num_tokens=1)
GrammarMatcher.get_captures(self, *, deduplicate=True)
GrammarMatcher.fork(self)
BatchGrammarMatcher(max_threads='auto')
BatchGrammarMatcher.batch_fill_next_token_bitmask(self, matchers, bitmask, indices=None, debug_print=False)
BatchGrammarMatcher.batch_accept_token(matchers, tokens, debug_print=False)
BatchGrammarMatcher.batch_accept_string(matchers, strings, debug_print=False)
BatchGrammarMatcher.batch_rollback(matchers, num_tokens=1)
BatchGrammarMatcher.batch_fill_temperature(matchers, temperatures, indices=None)
get_max_recursion_depth()
set_max_recursion_depth(max_depth)
max_recursion_depth(temp_depth)
get_serialization_version()
"""


@pytest.mark.parametrize("line", SIGNATURES.split("\n")[1:-1])
def test_signature(line: str) -> None:
    name = line.partition("(")[0]
    found: Any = xgr
    for part in name.split("."):
        found = getattr(found, part)
    signature = inspect.signature(found)
    bare = signature.replace(
        parameters=[p.replace(annotation=p.empty) for p in signature.parameters.values()],
        return_annotation=signature.empty,
    )
    assert f"{name}{bare}" == line


def test_every_public_name_is_there() -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    import torch

    assert xgr.bitmask_dtype is torch.int32
    for name in xgr.__all__:
        assert getattr(xgr, name) is not None
    assert xgr.hf.LogitsProcessor.__module__ == "maskwright.compat.xgrammar.contrib.hf"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = xgr.nothing
