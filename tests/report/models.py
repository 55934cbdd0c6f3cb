"""A model whose distribution is a function of what it has read, so that every branch can be worked out."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from maskwright import (
    CompiledGrammar,
    GrammarMatcher,
    TokenizerInfo,
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
)
from maskwright.report import Report, StepRecorder, make_report

STOP = 256

#: Logits of what may follow some bytes, shape (n_tokens,).
Model = Callable[[bytes], npt.NDArray[np.float32]]


def byte_vocabulary(*longer: bytes) -> TokenizerInfo:
    """256 single bytes, the stop token 256, then longer tokens."""
    return TokenizerInfo([*(bytes([byte]) for byte in range(256)), b"</s>", *longer], stop_token_ids=[STOP])


def moody(n_tokens: int, seed: int) -> Model:
    """Logits that differ after every text, and are the same after the same one."""

    def logits(text: bytes) -> npt.NDArray[np.float32]:
        random = np.random.default_rng(zlib.crc32(text) + 2**32 * seed)
        return random.normal(scale=2.0, size=n_tokens).astype(np.float32)

    return logits


def legal_shares(compiled: CompiledGrammar, model: Model, text: bytes) -> npt.NDArray[np.float64]:
    """The distribution under the mask of what follows some bytes, worked out from the definition."""
    logits = model(text).copy()
    matcher = GrammarMatcher(compiled)
    assert matcher.accept_string(text)
    bitmask = allocate_token_bitmask(1, compiled.tokenizer_info.vocab_size)
    matcher.fill_next_token_bitmask(bitmask)
    apply_token_bitmask_inplace(logits, bitmask[0])
    weights = np.exp(logits.astype(np.float64))
    shares: npt.NDArray[np.float64] = weights / weights.sum()
    return shares


def answer(
    compiled: CompiledGrammar, model: Model, *, tokens: Sequence[int] | None = None, is_json: bool = True
) -> Report:
    """The report of the model's greedy answer, or of given tokens."""
    info = compiled.tokenizer_info
    matcher, recorder, taken = GrammarMatcher(compiled), StepRecorder(), list[int]()
    bitmask = allocate_token_bitmask(1, info.vocab_size)
    prompt = [7, 8, 9]
    while not matcher.is_terminated() and (tokens is None or len(taken) < len(tokens)) and len(taken) < 200:
        matcher.fill_next_token_bitmask(bitmask)
        logits = model(b"".join(info.decoded_vocab[token] for token in taken))
        recorder.observe([np.array([*prompt, *taken], np.int64)], logits[None], bitmask)
        apply_token_bitmask_inplace(logits, bitmask[0])
        taken.append(int(logits.argmax()) if tokens is None else tokens[len(taken)])
        assert matcher.accept_token(taken[-1])
    return make_report(compiled, recorder.steps(prompt, taken), is_json=is_json)


def wanting(n_tokens: int, wanted: dict[bytes, dict[int, float]]) -> Model:
    """A model that gives stated probabilities after stated texts, and the rest to the stop token."""

    def logits(text: bytes) -> npt.NDArray[np.float32]:
        shares = np.full(n_tokens, 1e-9)
        for token, share in wanted.get(text, {}).items():
            shares[token] = share
        shares[STOP] = max(1e-9, 1 - sum(wanted.get(text, {}).values()))
        return np.log(shares).astype(np.float32)

    return logits
