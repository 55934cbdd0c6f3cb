"""A model that only rolls dice, for tests of what happens around a model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from maskwright import TokenizerInfo

N_BYTES = 256
STOP = N_BYTES


class DiceModel:
    """256 single bytes and a stop token; logits are random, more of them than there are tokens."""

    name = "dice"
    context = 1200

    def __init__(self, seed: int = 0, n_logits: int = 300) -> None:
        vocabulary = [bytes([byte]) for byte in range(N_BYTES)]
        self.info = TokenizerInfo([*vocabulary, b"</s>"], stop_token_ids=[STOP])
        self.read: list[int] = []
        self.evaluations = 0
        self._random = np.random.default_rng(seed)
        self._n_logits = n_logits

    def encode_chat(self, prompt: str) -> list[int]:
        return list(prompt.encode())

    def reset(self) -> None:
        self.read = []

    def evaluate(self, tokens: Sequence[int]) -> npt.NDArray[np.float32]:
        assert tokens, "a model cannot go on from nothing"
        self.read.extend(tokens)
        self.evaluations += 1
        return self._random.normal(size=self._n_logits).astype(np.float32)
