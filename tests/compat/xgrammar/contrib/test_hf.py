"""`xgrammar.contrib.hf.LogitsProcessor` in transformers' own `generate`, on a tiny model with random weights."""

from __future__ import annotations

import re
from typing import Any

import pytest

import maskwright.compat.xgrammar as xgr

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
hf = pytest.importorskip("maskwright.compat.xgrammar.contrib.hf")

VOCABULARY = [*"abcdefgh", "ab", "ba", "</s>"]
STOP = VOCABULARY.index("</s>")
INFO = xgr.TokenizerInfo(VOCABULARY, vocab_size=16)
COMPILER = xgr.GrammarCompiler(INFO)


@pytest.fixture(scope="module")
def model() -> Any:
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=16,
        hidden_size=8,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        eos_token_id=STOP,
        pad_token_id=STOP,
        bos_token_id=0,
    )
    return transformers.LlamaForCausalLM(config).eval()


def answers(model: Any, processor: Any, n_prompts: int, **options: Any) -> list[str]:
    prompt = torch.tensor([[5, 6, 7]] * n_prompts)
    output = model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        max_new_tokens=12,
        logits_processor=transformers.LogitsProcessorList([processor]),
        **options,
    )
    texts = []
    for row in output[:, 3:].tolist():
        assert STOP in row
        texts.append("".join(VOCABULARY[token] for token in row[: row.index(STOP)]))
    return texts


def test_one_grammar_for_all_rows_and_again(model: Any) -> None:
    processor = hf.LogitsProcessor(COMPILER.compile_regex("(ab){2}c[d-f]"))
    for n_prompts in (1, 3):
        for text in answers(model, processor, n_prompts, do_sample=True):
            assert re.fullmatch("(ab){2}c[d-f]", text)


def test_a_grammar_for_each_row(model: Any) -> None:
    patterns = ["a{3}", "[bc]{5}"]
    processor = hf.LogitsProcessor([COMPILER.compile_regex(pattern) for pattern in patterns])
    for pattern, text in zip(patterns, answers(model, processor, 2), strict=True):
        assert re.fullmatch(pattern, text)


def test_beams(model: Any) -> None:
    processor = hf.LogitsProcessor(COMPILER.compile_regex("(ab|ba){3}[a-h]"))
    for text in answers(model, processor, 2, num_beams=3):
        assert re.fullmatch("(ab|ba){3}[a-h]", text)


def test_errors() -> None:
    with pytest.raises(RuntimeError, match="no grammar"):
        hf.LogitsProcessor([])
