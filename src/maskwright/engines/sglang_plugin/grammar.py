"""Where one request's output stands, as SGLang's scheduler asks for it.

SGLang ends a request, and only it, when `accept_token` raises `ValueError`; anything that a mask raises
ends the server. So a grammar that fails while a mask is made notes it, allows only the end of the output,
and raises at the next token.
"""

from __future__ import annotations

import dataclasses
import functools
import logging
from typing import Any

import torch
from sglang.srt.constrained.base_grammar_backend import BaseGrammarObject, GrammarRow, GrammarStats
from sglang.srt.utils.common import is_pin_memory_available

from ... import BatchGrammarMatcher, GrammarMatcher, apply_token_bitmask_inplace, get_bitmask_shape
from ..ending import allow_only_the_end

__all__ = ["MaskwrightGrammar", "allocate_vocab_mask", "apply_vocab_mask", "move_vocab_mask"]

logger = logging.getLogger(__name__)


def allocate_vocab_mask(vocab_size: int, batch_size: int, device: Any) -> torch.Tensor:
    """int32 on the CPU, shape (batch_size, ceil(vocab_size / 32)), everything allowed.

    It is pinned where that exists: only then can SGLang's copy to the device overlap with computing.
    """
    shape = get_bitmask_shape(batch_size, vocab_size)
    return torch.full(shape, -1, dtype=torch.int32, pin_memory=is_pin_memory_available())


def move_vocab_mask(vocab_mask: torch.Tensor, device: Any) -> torch.Tensor:
    """The mask on the device of the logits."""
    return vocab_mask.to(device, non_blocking=True)


def apply_vocab_mask(logits: torch.Tensor, vocab_mask: torch.Tensor) -> None:
    """Mask the logits where they are, on any device."""
    apply_token_bitmask_inplace(logits, vocab_mask)


@functools.cache
def _batch() -> BatchGrammarMatcher:
    return BatchGrammarMatcher()


class MaskwrightGrammar(BaseGrammarObject):  # type: ignore[misc]
    """One request's matcher.

    Args:
        matcher: In its start state.
        stats: What SGLang's metrics are told about this grammar.
    """

    # As static methods, so that no instance is tied to a batch that it happens to come first in.
    allocate_vocab_mask = staticmethod(allocate_vocab_mask)
    move_vocab_mask = staticmethod(move_vocab_mask)
    apply_vocab_mask = staticmethod(apply_vocab_mask)

    def __init__(self, matcher: GrammarMatcher, stats: GrammarStats) -> None:
        super().__init__()
        self.matcher = matcher
        self.grammar_stats = stats
        self._failed = False

    def keep_within(self, max_tokens: int) -> None:
        """Complete this request's output within so many tokens, stop token included. To be called first.

        Raises:
            BudgetError: The grammar needs more.
        """
        self.matcher = GrammarMatcher(self.matcher.compiled_grammar, max_tokens=max_tokens)

    @property
    def memory_size_bytes(self) -> int:
        """Bytes held by the compiled grammar, which all requests with it share."""
        return self.matcher.compiled_grammar.memory_size_bytes

    def accept_token(self, token: int) -> None:
        """Advance by one token; nothing happens after the end of the output.

        Raises:
            ValueError: The token is illegal, or the grammar has failed. SGLang then aborts the request.
        """
        if self._failed:
            raise ValueError("the grammar of this request could not be followed any further; see the log")
        if self.matcher.is_terminated():
            return
        self.current_token = token
        try:
            self.matcher.accept_token(token, strict=True)
        except ValueError:
            raise
        except Exception as error:
            logger.exception("maskwright gives up on one request")
            raise ValueError(f"the grammar failed: {error}") from error

    def rollback(self, k: int) -> None:
        """Undo the last `k` accepted tokens."""
        self.matcher.rollback(k)

    def is_terminated(self) -> bool:
        """Whether a stop token was accepted."""
        return bool(self.matcher.is_terminated())

    def fill_vocab_mask(self, vocab_mask: torch.Tensor, idx: int) -> None:
        """Write one row: bit t % 32 of word t // 32 is 1 if token t may come next."""
        if not self._failed:
            try:
                self.matcher.fill_next_token_bitmask(vocab_mask, idx)
            except Exception:
                self._failed = True
                logger.exception("maskwright gives up on one request")
        if self._failed:
            allow_only_the_end(self.matcher, vocab_mask, idx)

    @staticmethod
    def fill_vocab_mask_batched(entries: list[GrammarRow], vocab_mask: torch.Tensor) -> None:
        """Fill the rows of a batch together; rows that are not listed stay as they are."""
        ours = [entry for entry in entries if _is_plain(entry.grammar)]
        rest = [entry for entry in entries if not _is_plain(entry.grammar)]
        try:
            matchers = [entry.grammar.matcher for entry in ours]
            _batch().batch_fill_next_token_bitmask(matchers, vocab_mask, [entry.row for entry in ours])
        except Exception:
            # One of them fails. Each alone, it costs its own request and no other.
            rest = entries
        for entry in rest:
            entry.grammar.fill_vocab_mask(vocab_mask, entry.row)

    @staticmethod
    def reset_vocab_mask(vocab_mask: torch.Tensor) -> None:
        """Allow everything again."""
        vocab_mask.fill_(-1)

    def copy(self) -> MaskwrightGrammar:
        """The same grammar at its start, for another request. It costs no compiling."""
        twin = self.matcher.fork()
        twin.reset()
        stats = dataclasses.replace(self.grammar_stats, is_cache_hit=True, tree_traversal_time=[])
        return MaskwrightGrammar(twin, stats)

    def try_jump_forward(self, tokenizer: Any) -> tuple[list[int], str] | None:
        """Text that must come next, for `jump_forward_str_state`; None if there is none."""
        if self._failed or self.matcher.is_terminated():
            return None
        forced = self.matcher.find_jump_forward_string()
        return ([], forced) if forced else None

    def jump_forward_str_state(self, helper: tuple[list[int], str]) -> tuple[str, int]:
        """The forced text, and the number that `jump_and_retokenize` gets back (it has no use for it)."""
        return helper[1], -1

    def jump_and_retokenize(
        self, old_output_ids: list[int], new_output_ids: list[int], next_state: int
    ) -> None:
        """Follow an output whose tail was cut into other tokens.

        Raises:
            ValueError: The new tokens do not fit the grammar.
        """
        pairs = zip(old_output_ids, new_output_ids, strict=False)
        same = next((place for place, (old, new) in enumerate(pairs) if old != new), None)
        if same is None:
            same = min(len(old_output_ids), len(new_output_ids))
        self.matcher.rollback(len(old_output_ids) - same)
        for token in new_output_ids[same:]:
            self.accept_token(token)

    def __repr__(self) -> str:
        return f"<MaskwrightGrammar after {self.matcher.n_steps} tokens>"


def _is_plain(grammar: Any) -> bool:
    return type(grammar) is MaskwrightGrammar and not grammar._failed
