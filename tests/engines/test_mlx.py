"""The MLX processor: arrays, and SmolLM2 in MLX-LM (which runs on the CPU of any Linux machine too)."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import numpy as np
import pytest

from maskwright import GrammarCompiler, MatcherError, TokenizerInfo
from maskwright.engines.mlx import MaskLogitsProcessor, apply_token_bitmask, vocabulary
from tests.engines.smollm2 import COLOR, PERSON, mlx_pair

mx = pytest.importorskip("mlx.core")


@pytest.fixture(scope="module")
def pair() -> tuple[Any, Any]:
    return mlx_pair()


@pytest.fixture(scope="module")
def compiler(pair: tuple[Any, Any]) -> GrammarCompiler:
    return GrammarCompiler(vocabulary(*pair))


def chat(tokenizer: Any, prompt: str) -> list[int]:
    return list(
        tokenizer.apply_chat_template([{"role": "user", "content": prompt}], add_generation_prompt=True)
    )


@pytest.mark.parametrize("width", [100, 96, 128, 131])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_bitmask_apply(width: int, dtype: str) -> None:
    random = np.random.default_rng(width)
    bitmask = random.integers(-(2**31), 2**31, size=(2, 4), dtype=np.int32)
    logits = mx.array(random.normal(size=(2, width)).astype(np.float32)).astype(getattr(mx, dtype))
    masked = apply_token_bitmask(logits, bitmask)
    assert masked.dtype == logits.dtype
    bits = np.zeros((2, max(width, 128)), bool)
    bits[:, :128] = np.unpackbits(bitmask.view(np.uint8), axis=1, bitorder="little")
    before, after = (np.array(array.astype(mx.float32)) for array in (logits, masked))
    assert np.array_equal(after, np.where(bits[:, :width], before, -np.inf))
    assert apply_token_bitmask(logits[0], bitmask[0]).tolist() == masked[0].tolist()


def test_one_processor_for_two_sequences_is_refused() -> None:
    info = TokenizerInfo(["a", "b", "</s>"])
    processor = MaskLogitsProcessor(GrammarCompiler(info).compile_regex("ab"))
    assert processor(mx.array([1]), mx.zeros((1, 3))).tolist() == [[0.0, -np.inf, -np.inf]]
    with pytest.raises(MatcherError, match="2 sequences"):
        processor(mx.array([1]), mx.zeros((2, 3)))


def test_generate(pair: tuple[Any, Any], compiler: GrammarCompiler) -> None:
    from mlx_lm import generate

    processor = MaskLogitsProcessor(compiler.compile_json_schema(PERSON))
    model, tokenizer = pair
    for prompt in ("Who is 30 and called Ann?", "Bob, 5"):  # the same processor again
        text = generate(
            model, tokenizer, chat(tokenizer, prompt), max_tokens=90, logits_processors=[processor]
        )
        assert jsonschema_rs.validator_for(PERSON).is_valid(json.loads(text)), text


def test_a_batch_with_a_grammar_each(pair: tuple[Any, Any], compiler: GrammarCompiler) -> None:
    from mlx_lm.generate import BatchGenerator

    model, tokenizer = pair
    grammars = [compiler.compile_json_schema(COLOR), compiler.compile_regex("[0-9]{1,3}")]
    generator = BatchGenerator(
        model, stop_tokens=[[token] for token in compiler.tokenizer_info.stop_token_ids]
    )
    uids = generator.insert(
        [chat(tokenizer, "The sky?"), chat(tokenizer, "How high is a house, in metres?")],
        max_tokens=[20, 20],
        logits_processors=[[MaskLogitsProcessor(grammar)] for grammar in grammars],
    )
    found: dict[int, list[int]] = {uid: [] for uid in uids}
    for _ in range(60):
        responses = generator.next()
        responses = responses[1] if isinstance(responses, tuple) else responses
        for response in responses:
            if response.token not in compiler.tokenizer_info.stop_token_ids:
                found[response.uid].append(response.token)
    texts = [tokenizer.decode(found[uid]) for uid in uids]
    assert json.loads(texts[0]) in COLOR["enum"]
    assert texts[1].isdigit()


def test_speculative_decoding(pair: tuple[Any, Any], compiler: GrammarCompiler) -> None:
    """The model as its own draft: every draft is right, so the answer is the plain one."""
    from mlx_lm import generate

    model, tokenizer = pair
    grammar = compiler.compile_json_schema(PERSON)
    prompt = chat(tokenizer, "Who is 30 and called Ann?")
    plain = generate(
        model, tokenizer, prompt, max_tokens=90, logits_processors=[MaskLogitsProcessor(grammar)]
    )
    drafted = generate(
        model,
        tokenizer,
        prompt,
        max_tokens=90,
        draft_model=model,
        logits_processors=[MaskLogitsProcessor(grammar)],
    )
    assert jsonschema_rs.validator_for(PERSON).is_valid(json.loads(drafted)), drafted
    assert drafted == plain
