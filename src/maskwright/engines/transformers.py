"""transformers: a logits processor for `generate`, and the vocabulary of a model.

Works in every mode in which `generate` calls logits processors: greedy, sampling, beams, several answers
per prompt, assisted (speculative) decoding, batches with padding and with a grammar per prompt. The
state comes from the token ids of each row alone; see `rows`.

Continuous batching (`generate_batch`) is out of reach: it takes no logits processors from its caller, and
shows those it makes itself one token per request, without the history. The flag
`supports_continuous_batching` says so.

Scores are copied, never changed in place: candidate generators hand in the same tensor repeatedly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .. import CompiledGrammar, TokenizerInfo, apply_token_bitmask_inplace
from .rows import RowFollower

if TYPE_CHECKING:
    import numpy.typing as npt
    import torch

    from ..report.steps import StepRecorder

__all__ = ["MaskLogitsProcessor", "mask_scores", "vocabulary"]

#: Score of the stop token of a row that has ended. Finite, so that sampling a batch with ended rows works;
#: below the -1e9 that beam search gives to beams that are not there, so that none is taken for an answer.
_ENDED_SCORE: Final = -1e30


def vocabulary(model: Any, tokenizer: Any) -> TokenizerInfo:
    """The vocabulary of a transformers model: the tokenizer's bytes, the model's width and stop tokens.

    Args:
        model: A causal or an encoder-decoder language model.
        tokenizer: Its tokenizer.

    Raises:
        VocabularyError: The tokenizer's bytes cannot be read.
    """
    head = model.get_output_embeddings()
    width = head.weight.shape[0] if head is not None else model.config.get_text_config().vocab_size
    # `generate` ends a row at these and at no other: a grammar must not end it elsewhere.
    stops = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    return TokenizerInfo.from_huggingface(tokenizer, vocab_size=int(width), stop_token_ids=stops)


class MaskLogitsProcessor:
    """Keeps `generate` inside a grammar: ``model.generate(..., logits_processor=[processor])``.

    Args:
        grammars: One for all rows, or one per prompt of the batch.
        prompt_length: Tokens before the answer (one number, or one per row); None to take what the
            first call of a generation brings. Give it where a prompt may continue an earlier answer of
            the same processor, or already holds the beginning of the answer.
        stop_token_ids: Stop tokens to use instead of the vocabulary's.
        max_tokens: Budget of an answer, stop token included: whatever the model prefers, it is complete
            within that. Pass `generate` a `max_new_tokens` that is no lower.
        recorder: Told of every step, for a report; costs a copy of the scores each.

    Raises:
        MatcherError: No grammar, or grammars of different vocabularies.
        BudgetError: `max_tokens` is less than a grammar needs.

    Attributes:
        rows: What follows the rows; its `left_grammar` and `mask_seconds` are of interest.
    """

    supports_continuous_batching = False

    def __init__(
        self,
        grammars: CompiledGrammar | Sequence[CompiledGrammar],
        *,
        prompt_length: int | Sequence[int] | None = None,
        stop_token_ids: Sequence[int] | None = None,
        max_tokens: int | None = None,
        recorder: StepRecorder | None = None,
    ) -> None:
        self.rows: Final = RowFollower(
            grammars, prompt_length=prompt_length, stop_token_ids=stop_token_ids, max_tokens=max_tokens
        )
        self._recorder = recorder

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Scores with -inf for every token that is not legal.

        Args:
            input_ids: int64, shape (rows, length): prompt, padding and answer of each row.
            scores: float, shape (rows, width), on any device.
        """
        rows = list(input_ids.cpu().numpy().astype(np.int64, copy=False))
        bitmask, ended = self.rows.next_masks(rows)
        if self._recorder is not None:
            self._recorder.observe(rows, scores.float().cpu().numpy(), bitmask, ended)
        masked = mask_scores(scores, bitmask)
        for row in ended:
            masked[row].clamp_(min=float("-inf"), max=max(_ENDED_SCORE, _lowest(masked)))
        return masked

    def reset(self) -> None:
        """Begin a new generation with the next call, whatever its ids are."""
        self.rows.reset()


def mask_scores(scores: torch.Tensor, bitmask: npt.NDArray[np.int32]) -> torch.Tensor:
    """A copy of scores with -inf where a bitmask has no bit; on the device of the scores.

    Args:
        scores: float, shape (rows, width) or (width,).
        bitmask: int32, shape (rows, words) or (words,).
    """
    import torch

    masked = scores.clone(memory_format=torch.contiguous_format)
    mask = torch.from_numpy(bitmask)
    if masked.device.type in ("cpu", "cuda"):
        apply_token_bitmask_inplace(masked, mask.to(masked.device))
        return masked
    _mask_by_operations(masked, mask.to(masked.device))
    return masked


def _mask_by_operations(scores: torch.Tensor, mask: torch.Tensor) -> None:
    """Mask in place with torch's own operations: for devices that have no kernel of ours."""
    import torch

    bits = (mask.unsqueeze(-1) >> torch.arange(32, device=mask.device)) & 1
    legal = bits.flatten(-2).bool()[..., : scores.shape[-1]]
    scores[..., : legal.shape[-1]].masked_fill_(~legal, float("-inf"))
    scores[..., legal.shape[-1] :] = float("-inf")


def _lowest(scores: torch.Tensor) -> float:
    import torch

    return float(torch.finfo(scores.dtype).min)
