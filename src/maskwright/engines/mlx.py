"""MLX-LM: a logits processor, and bitmasks applied to MLX arrays.

Each sequence needs a processor of its own: MLX-LM calls processors row by row and says no row number. It
calls them while it builds a lazy graph; reading the ids waits for the token before, which costs the
overlap of a step with the next one and is what every grammar costs there.

The mask is applied by MLX's own operations, on whatever device the logits are.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .. import CompiledGrammar, MatcherError, TokenizerInfo
from .rows import RowFollower

__all__ = ["MaskLogitsProcessor", "apply_token_bitmask", "vocabulary"]


def vocabulary(model: Any, tokenizer: Any) -> TokenizerInfo:
    """The vocabulary of a model that `mlx_lm.load` returned.

    Args:
        model: The model; its `args` or its embeddings tell the width of the logits.
        tokenizer: The `TokenizerWrapper`, or the transformers tokenizer inside it.

    Raises:
        VocabularyError: The tokenizer's bytes cannot be read.
    """
    stops = getattr(tokenizer, "eos_token_ids", None)
    inner = getattr(tokenizer, "_tokenizer", tokenizer)
    width = getattr(getattr(model, "args", None), "vocab_size", None)
    return TokenizerInfo.from_huggingface(
        inner, vocab_size=width, stop_token_ids=sorted(stops) if stops else None
    )


class MaskLogitsProcessor:
    """Keeps one sequence inside a grammar: ``generate(..., logits_processors=[processor])``.

    Args:
        grammar: What the answer must match.
        prompt_length: Tokens of the prompt; None to take what the first call of a generation brings.
        stop_token_ids: Stop tokens to use instead of the vocabulary's.
        max_tokens: Budget of an answer, stop token included: whatever the model prefers, it is complete
            within that. The engine's own limit must not be lower.

    Raises:
        BudgetError: `max_tokens` is less than the grammar needs.

    Attributes:
        rows: What follows the ids; its `left_grammar` and `mask_seconds` are of interest.
    """

    def __init__(
        self,
        grammar: CompiledGrammar,
        *,
        prompt_length: int | None = None,
        stop_token_ids: Sequence[int] | None = None,
        max_tokens: int | None = None,
    ) -> None:
        self.rows: Final = RowFollower(
            grammar, prompt_length=prompt_length, stop_token_ids=stop_token_ids, max_tokens=max_tokens
        )

    def __call__(self, tokens: Any, logits: Any) -> Any:
        """Logits with -inf for every token that is not legal.

        Args:
            tokens: `mx.array` of integers, shape (length,): prompt and answer so far.
            logits: `mx.array` of floats, shape (1, width).

        Raises:
            MatcherError: Logits of several sequences at once.
        """
        if logits.ndim > 1 and logits.shape[0] != 1:
            raise MatcherError(
                f"logits of {logits.shape[0]} sequences for one processor",
                hint="give each sequence a MaskLogitsProcessor of its own",
            )
        bitmask, _ = self.rows.next_masks([np.array(tokens, dtype=np.int64).reshape(-1)])
        return apply_token_bitmask(logits, bitmask if logits.ndim > 1 else bitmask[0])

    def reset(self) -> None:
        """Begin a new generation with the next call, whatever its ids are."""
        self.rows.reset()


def apply_token_bitmask(logits: Any, bitmask: npt.NDArray[np.int32]) -> Any:
    """New logits with -inf where a bitmask has no bit, and beyond its end.

    Args:
        logits: `mx.array` of floats, shape (..., width).
        bitmask: int32, shape (..., words), numpy.

    Returns:
        An `mx.array` of the same shape and type.
    """
    mx = importlib.import_module("mlx.core")
    width = logits.shape[-1]
    words = mx.array(np.ascontiguousarray(bitmask).view(np.uint32))
    bits = (words[..., None] >> mx.arange(32, dtype=mx.uint32)) & 1
    legal = bits.reshape(*bitmask.shape[:-1], -1)[..., :width]
    if legal.shape[-1] < width:
        missing = [(0, 0)] * (legal.ndim - 1) + [(0, width - legal.shape[-1])]
        legal = mx.pad(legal, missing)
    return mx.where(legal.astype(mx.bool_), logits, mx.array(-float("inf"), dtype=logits.dtype))
