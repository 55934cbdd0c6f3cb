"""The transformers processor in `generate`, on SmolLM2 read from its GGUF file."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import numpy as np
import pytest

from maskwright import CompiledGrammar, Grammar, GrammarCompiler, GrammarMatcher, allocate_token_bitmask
from maskwright.engines.transformers import (
    MaskLogitsProcessor,
    _mask_by_operations,
    mask_scores,
    vocabulary,
)
from maskwright.report import StepRecorder
from tests.engines.smollm2 import COLOR, PERSON, transformers_pair

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def model() -> Any:
    return transformers_pair()[0]


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return transformers_pair()[1]


@pytest.fixture(scope="module")
def compiler(model: Any, tokenizer: Any) -> GrammarCompiler:
    return GrammarCompiler(vocabulary(model, tokenizer))


def encode(tokenizer: Any, prompts: list[str]) -> dict[str, Any]:
    texts = [
        tokenizer.apply_chat_template(
            [{"role": "user", "content": prompt}], add_generation_prompt=True, tokenize=False
        )
        for prompt in prompts
    ]
    pad = {} if tokenizer.pad_token_id is not None else {"pad_token": tokenizer.eos_token}
    for name, value in pad.items():
        setattr(tokenizer, name, value)
    return dict(tokenizer(texts, return_tensors="pt", padding=True, padding_side="left"))


def answers(compiler: GrammarCompiler, output: Any, prompt_length: int) -> list[str]:
    """Texts up to the stop token, which must be there: an answer that was cut off fits nothing."""
    info = compiler.tokenizer_info
    texts = []
    for row in output[:, prompt_length:].tolist():
        stop = next(place for place, token in enumerate(row) if token in info.stop_token_ids)
        texts.append(b"".join(info.decoded_vocab[token] for token in row[:stop]).decode())
    return texts


def run(
    model: Any, tokenizer: Any, compiler: GrammarCompiler, grammars: Any, prompts: list[str], **options: Any
) -> list[str]:
    inputs = encode(tokenizer, prompts)
    processor = options.pop("processor", None) or MaskLogitsProcessor(grammars)
    options = {"do_sample": False, "max_new_tokens": 80, **options}
    output = model.generate(**inputs, logits_processor=[processor], **options)
    return answers(compiler, output, inputs["input_ids"].shape[1])


def is_person(text: str) -> bool:
    return bool(jsonschema_rs.validator_for(PERSON).is_valid(json.loads(text)))


@pytest.fixture(scope="module")
def person(compiler: GrammarCompiler) -> CompiledGrammar:
    return compiler.compile_json_schema(PERSON)


def test_the_vocabulary_has_the_models_width_and_stops(model: Any, compiler: GrammarCompiler) -> None:
    info = compiler.tokenizer_info
    assert info.vocab_size == model.get_output_embeddings().weight.shape[0]
    assert info.stop_token_ids == [model.generation_config.eos_token_id]


def test_greedy(model: Any, tokenizer: Any, compiler: GrammarCompiler, person: CompiledGrammar) -> None:
    (text,) = run(model, tokenizer, compiler, person, ["Who is 30 and called Ann?"])
    assert is_person(text)


def test_sampling_several_answers(
    model: Any, tokenizer: Any, compiler: GrammarCompiler, person: CompiledGrammar
) -> None:
    torch.manual_seed(1)
    texts = run(
        model,
        tokenizer,
        compiler,
        person,
        ["Somebody?"],
        do_sample=True,
        temperature=1.2,
        num_return_sequences=3,
    )
    assert len(set(texts)) > 1
    assert all(map(is_person, texts))


def test_beams(model: Any, tokenizer: Any, compiler: GrammarCompiler, person: CompiledGrammar) -> None:
    texts = run(
        model,
        tokenizer,
        compiler,
        person,
        ["Who is 30 and called Ann?", "Bob, 5"],
        num_beams=3,
        num_return_sequences=2,
    )
    assert len(texts) == 4
    assert all(map(is_person, texts)), texts


def test_more_beams_than_answers(model: Any, tokenizer: Any, compiler: GrammarCompiler) -> None:
    """Beams that find nothing legal must not be taken for answers."""
    grammar = compiler.compile_grammar(Grammar.from_choices(["yes", "no"]))
    (text,) = run(model, tokenizer, compiler, grammar, ["Is it?"], num_beams=4, max_new_tokens=6)
    assert text in ("yes", "no")


def test_a_batch_with_a_grammar_per_row(
    model: Any, tokenizer: Any, compiler: GrammarCompiler, person: CompiledGrammar
) -> None:
    grammars = [person, compiler.compile_json_schema(COLOR), compiler.compile_regex("[0-9]{1,3}")]
    prompts = [
        "Who are you? Say your name and age.",
        "Sky?",
        "What is the height of a house, in metres, as a number?",
    ]
    texts = run(model, tokenizer, compiler, grammars, prompts)
    assert is_person(texts[0])
    assert json.loads(texts[1]) in COLOR["enum"]
    assert texts[2].isdigit()
    assert len(texts[2]) <= 3


def test_a_batch_gives_what_each_gives_alone(
    model: Any, tokenizer: Any, compiler: GrammarCompiler, person: CompiledGrammar
) -> None:
    """One processor, used again and again: alone, alone, and for both."""
    prompts = ["Who is 30 and called Ann?", "Bob, 5"]
    processor = MaskLogitsProcessor(person)
    alone = [run(model, tokenizer, compiler, None, [prompt], processor=processor)[0] for prompt in prompts]
    both = run(model, tokenizer, compiler, None, prompts, processor=processor)
    assert all(map(is_person, both))
    assert both == alone


def test_assisted_decoding(
    model: Any, tokenizer: Any, compiler: GrammarCompiler, person: CompiledGrammar
) -> None:
    plain = run(model, tokenizer, compiler, person, ["Who is 30 and called Ann?"])
    looked_up = run(
        model, tokenizer, compiler, person, ["Who is 30 and called Ann?"], prompt_lookup_num_tokens=3
    )
    assert is_person(looked_up[0])
    assert looked_up == plain


@pytest.mark.parametrize(
    "options", [{"prompt_lookup_num_tokens": 3}, {"num_beams": 2}], ids=["drafts", "beams"]
)
def test_a_recorder_is_not_confused_by_drafts_and_beams(
    model: Any, tokenizer: Any, person: CompiledGrammar, options: dict[str, Any]
) -> None:
    """The steps of an answer are those that scoring its tokens in one pass gives."""
    recorder = StepRecorder()
    inputs = encode(tokenizer, ["Who is 30 and called Ann?"])
    processor = MaskLogitsProcessor(person, recorder=recorder)
    output = model.generate(
        **inputs, logits_processor=[processor], do_sample=False, max_new_tokens=80, **options
    )
    prompt = inputs["input_ids"][0].tolist()
    stop = person.tokenizer_info.stop_token_ids[0]
    answer = output[0, len(prompt) :].tolist()
    answer = answer[: answer.index(stop) + 1]
    steps = recorder.steps(prompt, answer)
    with torch.inference_mode():
        logits = model(torch.tensor([[*prompt, *answer]])).logits[0, len(prompt) - 1 : -1].float().numpy()
    matcher = GrammarMatcher(person)
    bitmask = allocate_token_bitmask(1, person.tokenizer_info.vocab_size)
    for step, row, token in zip(steps, logits, answer, strict=True):
        matcher.fill_next_token_bitmask(bitmask)
        legal = np.unpackbits(bitmask[0].view(np.uint8), bitorder="little")[: len(row)].astype(bool)
        shares = np.exp(row - row.max(), dtype=np.float64)
        assert step.n_legal == legal.sum()
        assert step.removed == pytest.approx(1 - shares[legal].sum() / shares.sum(), abs=0.01)
        assert step.probability == pytest.approx(shares[token] / shares[legal].sum(), abs=0.01)
        assert matcher.accept_token(token)


def test_the_beginning_of_an_answer_in_the_prompt(
    model: Any, tokenizer: Any, compiler: GrammarCompiler, person: CompiledGrammar
) -> None:
    inputs = encode(tokenizer, ["Who?"])
    prompt_length = inputs["input_ids"].shape[1]
    begun = torch.tensor([tokenizer('{"name": "Zed"', add_special_tokens=False)["input_ids"]])
    inputs = {"input_ids": torch.cat([inputs["input_ids"], begun], dim=1)}
    inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
    processor = MaskLogitsProcessor(person, prompt_length=prompt_length)
    output = model.generate(**inputs, logits_processor=[processor], do_sample=False, max_new_tokens=60)
    (text,) = answers(compiler, output, prompt_length)
    assert is_person(text)
    assert json.loads(text)["name"] == "Zed"


def test_the_mask_does_not_disturb_what_is_legal(
    model: Any, tokenizer: Any, compiler: GrammarCompiler
) -> None:
    """Greedy with a grammar that allows any text is greedy without one."""
    anything = compiler.compile_regex("[\\s\\S]*")
    inputs = encode(tokenizer, ["Say hello."])
    free = model.generate(**inputs, do_sample=False, max_new_tokens=12)
    held = model.generate(
        **inputs, logits_processor=[MaskLogitsProcessor(anything)], do_sample=False, max_new_tokens=12
    )
    assert free.tolist() == held.tolist()


def test_scores_are_copied_and_masked_as_the_matcher_says(
    compiler: GrammarCompiler, person: CompiledGrammar
) -> None:
    processor = MaskLogitsProcessor(person)
    width = compiler.tokenizer_info.vocab_size + 7  # a padded head
    scores = torch.randn(2, width, dtype=torch.bfloat16)
    before = scores.clone()
    masked = processor(torch.tensor([[1, 2], [1, 2]]), scores)
    assert torch.equal(scores, before)
    matcher = GrammarMatcher(person)
    for token in range(0, width, 97):
        legal = matcher.fork().accept_token(token)
        assert (masked[0, token] > -torch.inf).item() == legal
    assert (masked[:, -7:] == -torch.inf).all()


@pytest.mark.parametrize("width", [100, 128, 133])
def test_masks_on_devices_without_a_kernel_are_the_same(width: int) -> None:
    random = np.random.default_rng(3)
    bitmask = random.integers(-(2**31), 2**31, size=(3, 4), dtype=np.int32)
    scores = torch.randn(3, width)
    bits = np.zeros((3, 160), bool)
    bits[:, :128] = np.unpackbits(bitmask.view(np.uint8), axis=1, bitorder="little")
    expected = scores.masked_fill(~torch.from_numpy(bits[:, :width]), -torch.inf)
    assert torch.equal(mask_scores(scores, bitmask), expected)
    by_operations = scores.clone()
    _mask_by_operations(by_operations, torch.from_numpy(bitmask))
    assert torch.equal(by_operations, expected)


def test_rows_that_ended_can_still_be_sampled(compiler: GrammarCompiler) -> None:
    processor = MaskLogitsProcessor(compiler.compile_regex("a"))
    info = compiler.tokenizer_info
    (letter,) = info.find_tokens("a")
    stop = info.stop_token_ids[0]
    row = [5]
    for token in (letter, stop, stop):
        processor(torch.tensor([row]), torch.zeros(1, info.vocab_size))
        row.append(token)
    masked = processor(torch.tensor([row]), torch.zeros(1, info.vocab_size))
    assert torch.isfinite(masked[0, stop])
    assert masked[0, stop] < -1e20
    assert torch.softmax(masked / 0.1, dim=-1)[0, stop] == 1.0
