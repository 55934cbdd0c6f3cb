"""The llama-cpp-python processor in a real `Llama`: completions, chats, streams, GBNF grammars."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import numpy as np
import pytest

from maskwright import Grammar, GrammarCompiler, MatcherError, TokenizerInfo
from maskwright.engines.llama_cpp import MaskLogitsProcessor, encode_chat, generate_tokens, vocabulary
from maskwright.report import StepRecorder
from tests.engines.smollm2 import PERSON
from tests.engines.smollm2 import llama as load_llama

llama_cpp = pytest.importorskip("llama_cpp")

#: What llama.cpp's own sample grammars are made of: its JSON, chess, C-like and arithmetic ones.
ARITHMETIC = """
root ::= (expr "=" ws term "\\n")
expr ::= term ([-+*/] term)*
term ::= ident | num | "(" ws expr ")" ws
ident ::= [a-z] [a-z0-9_]{0,5} ws
num ::= [0-9]{1,3} ws
ws ::= [ \\t]?
"""
CHESS = """
# moves as they are written down
root ::= "1. " move " " move "\\n" ([1-9] [0-9]? ". " move " " move "\\n"){1,2}
move ::= (pawn | nonpawn | castle) [+#]?
nonpawn ::= [NBKQR] [a-h]? [1-8]? "x"? [a-h] [1-8]
pawn ::= ([a-h] "x")? [a-h] [1-8] ("=" [NBKQR])?
castle ::= "O-O" "-O"?
"""
JSON = r"""
root ::= object
value ::= object | array | string | number | ("true" | "false" | "null") ws
object ::= "{" ws ( string ":" ws value ("," ws string ":" ws value)* )? "}" ws
array ::= "[" ws ( value ("," ws value)* )? "]" ws
string ::= "\"" ( [^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}) ){0,8} "\"" ws
number ::= ("-"? ([0-9] | [1-9] [0-9]{0,3})) ("." [0-9]{1,3})? ws
ws ::= | " "
"""


@pytest.fixture(scope="module")
def llama() -> Any:
    return load_llama()


@pytest.fixture(scope="module")
def compiler(llama: Any) -> GrammarCompiler:
    return GrammarCompiler(vocabulary(llama))


def processors(*items: MaskLogitsProcessor) -> Any:
    return llama_cpp.LogitsProcessorList(list(items))


def test_the_vocabulary_is_the_loaded_models(llama: Any) -> None:
    info = vocabulary(llama)
    assert info.vocab_size == llama.n_vocab()
    assert llama.token_eos() in info.stop_token_ids
    assert (
        b"".join(info.decoded_vocab[token] for token in llama.tokenize(b" hello", add_bos=False)) == b" hello"
    )


@pytest.mark.parametrize("temperature", [0.0, 1.5])
def test_chat_completion(llama: Any, compiler: GrammarCompiler, temperature: float) -> None:
    processor = MaskLogitsProcessor(compiler.compile_json_schema(PERSON))
    result = llama.create_chat_completion(
        [{"role": "user", "content": "Who is 30 and called Ann?"}],
        logits_processor=processors(processor),
        temperature=temperature,
        seed=5,
        max_tokens=120,
    )
    choice = result["choices"][0]
    assert choice["finish_reason"] == "stop"
    assert jsonschema_rs.validator_for(PERSON).is_valid(json.loads(choice["message"]["content"]))
    assert processor.failure is None
    assert processor.rows.n_masks > 5


def test_a_processor_is_used_again(llama: Any, compiler: GrammarCompiler) -> None:
    """With the same prompt, whose cached evaluation llama.cpp uses again, and with others."""
    processor = MaskLogitsProcessor(compiler.compile_regex("[0-9]{1,3} (apples|pears)"))
    texts = []
    for prompt in ("How many?", "How many?", "How many fruits are in a basket?", "x"):
        result = llama(prompt, logits_processor=processors(processor), temperature=0.0, max_tokens=20)
        texts.append(result["choices"][0]["text"])
        assert result["choices"][0]["finish_reason"] == "stop"
    assert texts[0] == texts[1]
    assert all(text.split(" ")[0].isdigit() and text.split(" ")[1] in ("apples", "pears") for text in texts)


def test_streaming(llama: Any, compiler: GrammarCompiler) -> None:
    processor = MaskLogitsProcessor(compiler.compile_regex("(ab|cd){4}"))
    chunks = llama("Go:", logits_processor=processors(processor), temperature=0.0, max_tokens=20, stream=True)
    text = "".join(chunk["choices"][0]["text"] for chunk in chunks)
    assert len(text) == 8
    assert {text[place : place + 2] for place in range(0, 8, 2)} <= {"ab", "cd"}


@pytest.mark.parametrize("source", [ARITHMETIC, CHESS, JSON], ids=["arithmetic", "chess", "json"])
def test_gbnf_grammars(llama: Any, compiler: GrammarCompiler, source: str) -> None:
    """The same text is a grammar for llama.cpp itself, which must agree that the answer is fine."""
    grammar = compiler.compile_grammar(Grammar.from_gbnf(source))
    info = compiler.tokenizer_info
    prompt = encode_chat(llama, [{"role": "user", "content": "Go on."}])
    tokens = list(
        generate_tokens(llama, prompt, MaskLogitsProcessor(grammar), max_tokens=90, temperature=1.0, seed=3)
    )
    answer = [token for token in tokens if token not in info.stop_token_ids]
    sampler = llama_cpp.llama_sampler_init_grammar(llama._model.vocab, source.encode(), b"root")
    try:
        for token in answer:
            data = llama_cpp.llama_token_data(token, 1.0, 0.0)
            array = llama_cpp.llama_token_data_array((llama_cpp.llama_token_data * 1)(data), 1, -1, False)
            llama_cpp.llama_sampler_apply(sampler, array)
            assert np.isfinite(array.data[0].logit), b"".join(info.decoded_vocab[token] for token in answer)
            llama_cpp.llama_sampler_accept(sampler, token)
    finally:
        llama_cpp.llama_sampler_free(sampler)


def test_tokens_end_at_the_limit_and_close_early(llama: Any, compiler: GrammarCompiler) -> None:
    processor = MaskLogitsProcessor(compiler.compile_regex("a{50}"))
    prompt = llama.tokenize(b"Go")
    assert len(list(generate_tokens(llama, prompt, processor, max_tokens=3))) == 3
    tokens = generate_tokens(llama, prompt, processor, max_tokens=30)
    next(tokens)
    tokens.close()


def test_a_failure_leaves_only_stop_tokens_and_is_raised() -> None:
    """C code swallows exceptions: sampling unmasked must not be the result."""
    info = TokenizerInfo(["a", "b", "</s>"])
    processor = MaskLogitsProcessor(GrammarCompiler(info).compile_regex("ab"), prompt_length=2)
    masked = processor(np.array([1], np.intc), np.zeros(3, np.single))
    assert masked.tolist() == [-np.inf, -np.inf, 0.0]
    assert isinstance(processor.failure, MatcherError)
    processor.reset()
    assert processor.failure is None


def test_scores_may_be_strided_and_are_not_changed() -> None:
    info = TokenizerInfo(["a", "b", "</s>"])
    processor = MaskLogitsProcessor(GrammarCompiler(info).compile_regex("ab"))
    data = np.zeros(5, dtype=[("id", np.intc), ("logit", np.single), ("p", np.single)])
    masked = processor(np.array([1], np.intc), data["logit"])
    assert masked.tolist() == [0.0, *[-np.inf] * 4]
    assert not data["logit"].any()


def test_a_recorder_sees_the_scores_before_the_mask() -> None:
    info = TokenizerInfo(["a", "b", "c", "</s>"])
    recorder = StepRecorder()
    processor = MaskLogitsProcessor(GrammarCompiler(info).compile_regex("[ab]c"), recorder=recorder)
    # The engine's arrays may be wider than the vocabulary.
    processor(np.array([9], np.intc), np.log(np.array([0.1, 0.3, 0.4, 0.1, 0.1], np.single)))
    processor(np.array([9, 1], np.intc), np.zeros(5, np.single))
    first, second = recorder.steps([9], [1, 2])
    assert (first.removed, first.probability) == (pytest.approx(0.6), pytest.approx(0.75))
    assert (first.wanted_id, first.wanted_is_legal) == (2, False)
    assert (second.removed, second.is_forced) == (pytest.approx(0.8), True)
    assert processor.failure is None
