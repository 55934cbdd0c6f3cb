"""The generation loop: mask, apply, sample, accept. The smallest complete use of the library.

A token that is the only legal one is taken without asking the model; the model reads such tokens
together with the next one it is asked about. This changes no outcome, since masking would leave the
same single token, and saves a model call each.
"""

from __future__ import annotations

import codecs
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NotRequired, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from .. import GrammarMatcher, allocate_token_bitmask, apply_token_bitmask_inplace

if TYPE_CHECKING:
    from .. import CompiledGrammar
    from ..report.steps import StepRecorder
    from .models import Model

__all__ = ["Sampler", "Statistics", "generate_text", "generate_tokens"]


@dataclass(slots=True)
class Statistics:
    """What a generation cost, in seconds, and its tokens, the stop token included if it came."""

    tokens: int = 0
    forced: int = 0
    masks: int = 0
    mask_time: float = 0.0
    total_time: float = 0.0
    finished: bool = False
    answer: list[int] = field(default_factory=list)

    def summary(self) -> str:
        """One line for a person."""
        each = 1e3 * self.total_time / max(1, self.tokens)
        mask = 1e6 * self.mask_time / max(1, self.masks)
        share = 100 * self.mask_time / max(self.total_time, 1e-9)
        return (
            f"{self.tokens} tokens ({self.forced} forced) in {self.total_time:.2f} s, {each:.1f} ms each; "
            f"masks {1e3 * self.mask_time:.2f} ms in all, {mask:.1f} us each, {share:.2f} % of the time"
        )


class Sampler:
    """Picks a token out of masked logits.

    Args:
        temperature: 0 for the best token always; 1 for the model's own distribution.
        seed: Makes a sampled text repeatable.
    """

    def __init__(self, *, temperature: float = 0.0, seed: int | Sequence[int] = 0) -> None:
        self._temperature = temperature
        self._random = np.random.default_rng(seed)

    def __call__(self, logits: npt.NDArray[np.float32]) -> int:
        """A token id. ``logits`` are one row, with -inf for what is not legal."""
        if self._temperature == 0.0:
            return int(logits.argmax())
        scaled = logits.astype(np.float64) / self._temperature
        weights = np.exp(scaled - scaled.max())
        return int(self._random.choice(len(weights), p=weights / weights.sum()))


class _Options(TypedDict):
    sampler: Callable[[npt.NDArray[np.float32]], int]
    max_tokens: int
    statistics: Statistics
    finish: NotRequired[bool]
    recorder: NotRequired[StepRecorder | None]


def generate_tokens(
    model: Model,
    compiled: CompiledGrammar,
    prompt: Sequence[int],
    *,
    sampler: Callable[[npt.NDArray[np.float32]], int],
    max_tokens: int,
    statistics: Statistics,
    finish: bool = True,
    recorder: StepRecorder | None = None,
) -> Iterator[int]:
    """The tokens of one answer as they come, without the stop token.

    Args:
        model: Where logits come from.
        compiled: What the answer must look like, compiled for the model's vocabulary.
        prompt: Token ids.
        sampler: How to pick among the legal tokens: a `Sampler`, or any function of masked logits.
        max_tokens: Tokens of the answer, stop token included.
        statistics: Counted up on the way; ``finished`` tells whether the answer is complete.
        finish: Complete the answer within `max_tokens`, whatever the model prefers; else it may be cut off.
        recorder: Told of every step, for a report. The model is then asked at every step, also where
            the mask leaves one token: what it would have said there is part of the report.

    Raises:
        BudgetError: No answer fits into `max_tokens`.
    """
    matcher = GrammarMatcher(compiled, max_tokens=max_tokens if finish else None)
    bitmask = allocate_token_bitmask(1, compiled.tokenizer_info.vocab_size)
    unread = list(prompt)
    model.reset()
    start = time.perf_counter()
    while statistics.tokens < max_tokens:
        mask_start = time.perf_counter()
        matcher.fill_next_token_bitmask(bitmask)
        statistics.mask_time += time.perf_counter() - mask_start
        statistics.masks += 1
        token = _only_token(bitmask[0])
        statistics.forced += token is not None
        if token is None or recorder is not None:
            logits = model.evaluate(unread)
            unread = []
            if recorder is not None:
                recorder.observe([np.array([*prompt, *statistics.answer], np.int64)], logits[None], bitmask)
        if token is None:
            mask_start = time.perf_counter()
            apply_token_bitmask_inplace(logits, bitmask[0])
            statistics.mask_time += time.perf_counter() - mask_start
            token = sampler(logits)
        mask_start = time.perf_counter()
        matcher.accept_token(token)
        statistics.mask_time += time.perf_counter() - mask_start
        statistics.total_time = time.perf_counter() - start
        statistics.answer.append(token)
        if matcher.is_terminated():
            break
        statistics.tokens += 1
        unread.append(token)
        yield token
    # A complete answer that only lacks its stop token is complete.
    statistics.finished = matcher.is_terminated() or matcher.is_completed()


def generate_text(
    model: Model, compiled: CompiledGrammar, prompt: Sequence[int], **options: Unpack[_Options]
) -> Iterator[str]:
    """`generate_tokens` as text: whole characters, as soon as they are whole."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")  # a character may span tokens
    for token in generate_tokens(model, compiled, prompt, **options):
        yield decoder.decode(model.info.decoded_vocab[token])
    yield decoder.decode(b"", final=True)


def _only_token(row: npt.NDArray[np.int32]) -> int | None:
    """The token that a bitmask row allows, if it allows exactly one."""
    words = np.flatnonzero(row)
    if len(words) != 1:
        return None
    word = int(row[words[0]]) & 0xFFFFFFFF
    return int(words[0]) * 32 + word.bit_length() - 1 if word & (word - 1) == 0 else None
