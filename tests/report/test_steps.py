"""The recorder's figures against their definitions, whatever an engine does with its rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from maskwright import MatcherError
from maskwright.report.steps import N_ALTERNATIVES, StepRecorder


def bitmask(n_tokens: int, *legal: int) -> np.ndarray:
    bits = np.zeros((n_tokens + 31) // 32 * 32, np.uint8)
    bits[list(legal)] = 1
    return np.packbits(bits, bitorder="little").view(np.int32)[None]


def ids(*tokens: int) -> np.ndarray:
    return np.array(tokens, np.int64)


def test_figures_of_a_step() -> None:
    shares = np.array([0.5, 0.2, 0.2, 0.1])
    recorder = StepRecorder()
    recorder.observe([ids(9)], np.log(shares).astype(np.float32)[None], bitmask(4, 1, 3))
    (step,) = recorder.steps([9], [3])
    assert step.token_id == 3
    assert step.probability == pytest.approx(1 / 3)
    assert step.removed == pytest.approx(0.7)
    assert step.divergence == pytest.approx(-math.log(0.3))
    assert (step.n_legal, step.is_forced) == (2, False)
    assert (step.wanted_id, step.wanted_is_legal) == (0, False)
    assert step.wanted_probability == pytest.approx(0.5)
    assert step.legal_ids.tolist() == [1, 3]
    assert step.legal_probabilities == pytest.approx([2 / 3, 1 / 3])


def test_logits_beyond_the_bitmask_are_not_legal_and_nothing_is_changed() -> None:
    logits = np.zeros((1, 40), np.float32)
    mask = bitmask(32, *range(32))
    recorder = StepRecorder()
    recorder.observe([ids(1)], logits, mask)
    (step,) = recorder.steps([1], [5])
    assert step.removed == pytest.approx(8 / 40)
    assert step.n_legal == 32
    assert not logits.any()
    assert (mask == -1).all()


def test_only_the_likeliest_are_kept_but_every_token_has_its_probability() -> None:
    n_tokens = 1024
    logits = np.linspace(0, 1, n_tokens, dtype=np.float32)
    recorder = StepRecorder()
    recorder.observe([ids(1)], logits[None], bitmask(n_tokens, *range(n_tokens)))
    (step,) = recorder.steps([1], [0])
    assert step.legal_ids.tolist() == list(range(n_tokens - 1, n_tokens - 1 - N_ALTERNATIVES, -1))
    assert step.probability == pytest.approx(1 / np.exp(logits.astype(float)).sum(), rel=1e-5)


def test_a_mask_that_leaves_next_to_nothing_is_still_a_distribution() -> None:
    logits = np.array([[0.0, -2000.0, -2001.0]], np.float32)
    recorder = StepRecorder()
    recorder.observe([ids(1)], logits, bitmask(3, 1, 2))
    (step,) = recorder.steps([1], [1])
    assert step.removed == 1.0
    assert step.probability == pytest.approx(1 / (1 + math.exp(-1)), rel=1e-4)
    assert 700 < step.divergence < 750


def test_rows_may_swap_repeat_end_and_be_taken_back() -> None:
    random = np.random.default_rng(0)
    table = {length: random.normal(size=(2, 8)).astype(np.float32) for length in range(2, 6)}
    every = np.repeat(bitmask(8, *range(8)), 2, axis=0)
    recorder = StepRecorder()
    recorder.observe([ids(1, 0), ids(2, 0)], table[2], every)
    # The rows swap places; one of them is drawn on.
    recorder.observe([ids(2, 0, 3), ids(1, 0, 4)], table[3], every)
    # A draft is tried and taken back; the other row has ended.
    recorder.observe([ids(2, 0, 3, 5), ids(1, 0, 4, 7)], table[4], every, ended=[1])
    recorder.observe([ids(2, 0, 3, 6), ids(1, 0, 4, 7)], table[5], every, ended=[1])

    def share(row: np.ndarray, token: int) -> float:
        weights = np.exp(row.astype(float))
        return float(weights[token] / weights.sum())

    first = [step.probability for step in recorder.steps([1, 0], [4, 7])]
    assert first == pytest.approx([share(table[2][0], 4), share(table[3][1], 7)], rel=1e-5)
    second = [step.probability for step in recorder.steps([2, 0], [3, 6, 1])]
    expected = [share(table[2][1], 3), share(table[3][0], 6), share(table[5][0], 1)]
    assert second == pytest.approx(expected, rel=1e-5)


def test_what_was_not_shown_is_not_made_up() -> None:
    recorder = StepRecorder()
    recorder.observe([ids(1)], np.zeros((1, 4), np.float32), bitmask(4, 0, 1))
    with pytest.raises(MatcherError, match="token 1 of the answer"):
        recorder.steps([1], [0, 1])
    with pytest.raises(MatcherError, match="token 0"):
        recorder.steps([2], [0])
