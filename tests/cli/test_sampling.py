"""The generation loop on a model that rolls dice: form, forced tokens, limits, repeatability."""

from __future__ import annotations

import json

import numpy as np
import pytest

from maskwright import CompiledGrammar, GrammarCompiler
from maskwright.cli.sampling import Sampler, Statistics, generate_text, generate_tokens
from tests.cli.dice import DiceModel

SCHEMA = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["apple", "ananas"]},
        "count": {"type": "integer", "minimum": 10, "maximum": 12},
        "note": {"type": "string", "maxLength": 4},
    },
    "required": ["kind", "count", "note"],
    "additionalProperties": False,
}


def compile_schema(model: DiceModel) -> CompiledGrammar:
    return GrammarCompiler(model.info).compile_json_schema(SCHEMA, any_whitespace=False)


def generate(
    model: DiceModel, *, max_tokens: int = 400, seed: int = 0, finish: bool = True
) -> tuple[bytes, Statistics]:
    statistics = Statistics()
    tokens = generate_tokens(
        model,
        compile_schema(model),
        [1, 2, 3],
        sampler=Sampler(temperature=1.0, seed=seed),
        max_tokens=max_tokens,
        statistics=statistics,
        finish=finish,
    )
    return b"".join(model.info.decoded_vocab[token] for token in tokens), statistics


@pytest.mark.parametrize("seed", range(20))
def test_answers_fit_whatever_the_model_says(seed: int) -> None:
    answer, statistics = generate(DiceModel(seed), seed=seed)
    value = json.loads(answer)
    assert value["kind"] in ("apple", "ananas")
    assert 10 <= value["count"] <= 12
    assert len(value["note"]) <= 4
    assert statistics.finished
    assert statistics.tokens == len(answer)


def test_forced_tokens_are_not_asked_for_but_are_read() -> None:
    model = DiceModel()
    answer, statistics = generate(model)
    assert answer.startswith(b'{"kind": "a')
    # Everything up to the first real choice ("p" or "n") is forced.
    assert statistics.forced > 10
    assert model.evaluations == statistics.masks - statistics.forced
    # What it read: the prompt and then the answer, without the last tokens that nothing was asked after.
    assert bytes(model.read[:3]) == bytes([1, 2, 3])
    assert answer.startswith(bytes(model.read[3:]))


def test_a_limit_stops_with_the_beginning_of_an_answer() -> None:
    whole, _ = generate(DiceModel(5), seed=5)
    cut, statistics = generate(DiceModel(5), max_tokens=12, seed=5, finish=False)
    assert cut == whole[:12]
    assert not statistics.finished
    assert statistics.tokens == 12


def test_a_budget_ends_the_answer_in_time() -> None:
    for seed in range(5):
        text, statistics = generate(DiceModel(seed), max_tokens=50, seed=seed)
        assert statistics.finished
        assert statistics.tokens < 50
        json.loads(text)


def test_a_seed_repeats_and_another_does_not() -> None:
    answers = {generate(DiceModel(1), seed=seed)[0] for seed in (3, 3, 4, 5, 6, 7)}
    assert 1 < len(answers) < 6


def test_text_comes_in_whole_characters() -> None:
    model = DiceModel()
    compiled = GrammarCompiler(model.info).compile_regex("(é|北|😀){5}")
    pieces = list(
        generate_text(
            model,
            compiled,
            [1],
            sampler=Sampler(temperature=1.0),
            max_tokens=100,
            statistics=Statistics(),
        )
    )
    assert len("".join(pieces)) == 5
    assert set("".join(pieces)) <= set("é北😀")


def test_temperature_zero_takes_the_best() -> None:
    logits = np.array([0.0, 2.0, -np.inf, 1.9], dtype=np.float32)
    assert Sampler()(logits) == 1


def test_sampling_follows_the_distribution_and_never_takes_what_is_masked() -> None:
    logits = np.log(
        np.array([0.7, 0.3, 0.0], dtype=np.float32),
        where=[True, True, False],
        out=np.full(3, -np.inf, np.float32),
    )
    sampler = Sampler(temperature=1.0, seed=1)
    counts = np.bincount([sampler(logits) for _ in range(2000)], minlength=3)
    assert counts[2] == 0
    assert 0.65 < counts[0] / 2000 < 0.75


def test_summary_says_what_it_cost() -> None:
    statistics = Statistics(tokens=10, forced=4, masks=11, mask_time=0.000011, total_time=0.5)
    assert statistics.summary() == (
        "10 tokens (4 forced) in 0.50 s, 50.0 ms each; masks 0.01 ms in all, 1.0 us each, 0.00 % of the time"
    )
