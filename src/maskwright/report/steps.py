"""Writes down, while a model answers, what the mask took away at each step and what else was likely.

A logits processor is the one place that sees both the model's own distribution and the mask, but it is
never told which token was then sampled, nor that rows were swapped, repeated or taken back. So a step is
filed under what its row *held* (a digest of all ids before it), and the steps of an answer are looked up
along its tokens when it is there. What is read is the model's own distribution, at temperature 1, as it
comes to the processor: a temperature or a filter that the engine applies after that changes nothing here.

Of the legal tokens the most likely 256 are kept with their probabilities. Keeping whole distributions was
rejected: half a megabyte a step for what is almost always zero.
"""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, TypedDict

import numpy as np
import numpy.typing as npt

from ..errors import MatcherError

__all__ = ["N_ALTERNATIVES", "Step", "StepRecorder"]

#: Legal tokens kept for each step, the most likely first.
N_ALTERNATIVES: Final = 256

_SMALLEST: Final = sys.float_info.min  # what is kept may be too little for a float, but is never nothing


@dataclass(frozen=True, slots=True)
class Step:
    """One token of an answer, and the distribution that it was drawn from.

    Attributes:
        token_id: The token that was taken.
        probability: Its share of the probability of all legal tokens: what it has under the mask.
        kept: Share of the model's probability that was on legal tokens, 0 to 1: what the mask left.
        n_legal: How many tokens were legal. With one, the token was forced.
        wanted_id: The token that the model held most likely before the mask.
        wanted_probability: Its probability before the mask.
        wanted_is_legal: Whether the mask left it.
        legal_ids: int32, shape (n,), n at most `N_ALTERNATIVES`: the likeliest legal tokens, the best first.
        legal_probabilities: float64, shape (n,): their probabilities under the mask.
    """

    token_id: int
    probability: float
    kept: float
    n_legal: int
    wanted_id: int
    wanted_probability: float
    wanted_is_legal: bool
    legal_ids: npt.NDArray[np.int32]
    legal_probabilities: npt.NDArray[np.float64]

    @property
    def is_forced(self) -> bool:
        return self.n_legal == 1

    @property
    def removed(self) -> float:
        """Share of the model's probability that the mask took away, 0 to 1."""
        return 1.0 - self.kept

    @property
    def divergence(self) -> float:
        """How far the mask bent the model here, in nats.

        The Kullback-Leibler divergence of the distribution under the mask from the model's own; for a
        distribution that is cut and scaled up again that is minus the logarithm of what was kept.
        """
        return -math.log(max(self.kept, _SMALLEST))


class StepRecorder:
    """Collects the steps of any number of answers, told of each by a logits processor.

    Attributes:
        prompts: Token ids of each prompt, padding included, for those who ask for steps without knowing
            how an engine encoded their prompts. Filled by whoever encodes.
    """

    def __init__(self) -> None:
        self.prompts: list[list[int]] = []
        self._places: dict[bytes, _Place] = {}
        self._taken: dict[tuple[bytes, int], float] = {}
        #: Log-probabilities under the mask, of the places that the last call was about.
        self._last: dict[bytes, npt.NDArray[np.float32]] = {}

    def observe(
        self,
        rows: Sequence[npt.NDArray[np.int64]],
        logits: npt.NDArray[np.float32],
        bitmask: npt.NDArray[np.int32],
        ended: Collection[int] = (),
    ) -> None:
        """Note what the model says of the next token of each row, and what is legal there.

        Args:
            rows: int64, shape (length,) each: prompt, padding and answer so far.
            logits: float32, shape (rows, width), before the mask. Neither changed nor kept.
            bitmask: int32, shape (rows, words). Logits beyond it count as not legal.
            ended: Rows whose answers are over, of which only the last token is of interest.
        """
        for ids in rows:
            if len(ids):
                self._settle(_digest(ids[:-1]), int(ids[-1]))
        self._last.clear()
        for row, ids in enumerate(rows):
            if row not in ended:
                place = _digest(ids)
                self._places[place], self._last[place] = _look_at(logits[row], bitmask[row])

    def steps(self, prompt: Sequence[int], answer: Sequence[int]) -> list[Step]:
        """The steps of an answer, one for each of its tokens.

        Args:
            prompt: Token ids before the answer, padding included.
            answer: Token ids, the stop token included if it is there.

        Raises:
            MatcherError: The engine never showed one of these steps to the processor.
        """
        ids = np.array([*prompt, *answer], np.int64)
        found = []
        for position, token in enumerate(answer):
            place = _digest(ids[: len(prompt) + position])
            self._settle(place, token)
            probability = self._probability(place, token)
            if probability is None:
                raise MatcherError(
                    f"token {position} of the answer was not recorded",
                    hint="the engine took it without asking the logits processor",
                )
            found.append(Step(token, probability, **self._places[place]))
        return found

    def _probability(self, place: bytes, token: int) -> float | None:
        """Of a token that was drawn at a place; None if that was never seen."""
        if place not in self._places or (place, token) in self._taken:
            return self._taken.get((place, token))
        # A draft went on from here and was taken back, so the distribution is gone but for its head.
        head = self._places[place]
        found = np.flatnonzero(head["legal_ids"] == token)
        return float(head["legal_probabilities"][found[0]]) if len(found) else None

    def _settle(self, place: bytes, token: int) -> None:
        """Remember the probability of a token while the distribution it was drawn from is still there."""
        logs = self._last.get(place)
        if logs is not None and 0 <= token < len(logs):
            self._taken[place, token] = float(np.exp(logs[token]))


class _Place(TypedDict):
    """What a `Step` tells apart from the token that was taken."""

    kept: float
    n_legal: int
    wanted_id: int
    wanted_probability: float
    wanted_is_legal: bool
    legal_ids: npt.NDArray[np.int32]
    legal_probabilities: npt.NDArray[np.float64]


def _look_at(
    logits: npt.NDArray[np.float32], bitmask: npt.NDArray[np.int32]
) -> tuple[_Place, npt.NDArray[np.float32]]:
    """What is known of a place, and the log-probability of each token under the mask."""
    bits = np.unpackbits(bitmask.view(np.uint8), bitorder="little")[: len(logits)]
    legal = np.flatnonzero(bits).astype(np.int32)
    legal_logits = logits[legal]
    log_total, log_legal = _log_sum(logits), _log_sum(legal_logits)
    wanted = int(logits.argmax())
    best = _largest(legal_logits, N_ALTERNATIVES)
    logs = np.full(len(logits), -np.inf, np.float32)
    logs[legal] = legal_logits - np.float32(log_legal)
    place = _Place(
        kept=min(1.0, math.exp(log_legal - log_total)),  # sums of the same numbers in another order differ
        n_legal=len(legal),
        wanted_id=wanted,
        wanted_probability=math.exp(float(logits[wanted]) - log_total),
        wanted_is_legal=bool(wanted < len(bits) and bits[wanted]),
        legal_ids=legal[best],
        legal_probabilities=np.exp(legal_logits[best].astype(np.float64) - log_legal),
    )
    return place, logs


def _log_sum(logits: npt.NDArray[np.float32]) -> float:
    """The logarithm of the sum of the weights of tokens, also where these are too small for a float."""
    if not len(logits):
        return -math.inf
    top = logits.max()
    return float(top) + math.log(np.exp(logits - top).sum(dtype=np.float64))


def _largest(values: npt.NDArray[np.float32], n: int) -> npt.NDArray[np.int64]:
    """Indices of the n largest values, the largest first; of equal ones the first first."""
    if len(values) > n:
        kept = np.sort(np.argpartition(values, -n)[-n:])
        return kept[np.argsort(-values[kept], kind="stable")].astype(np.int64)
    return np.argsort(-values, kind="stable").astype(np.int64)


def _digest(ids: npt.NDArray[np.int64]) -> bytes:
    return hashlib.blake2b(ids.tobytes(), digest_size=16).digest()
