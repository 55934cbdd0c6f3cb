"""The two classes that vLLM's engine talks to: one backend per engine, one grammar per request.

vLLM compiles on a pool of threads and fills masks on another; the kernel lets go of the GIL for both.
Structural tags are compiled by the backend that vLLM would have used, made when the first one comes.

A request must never cost more than itself. What raises in the scheduler's loop ends the engine, so a
grammar that fails (it outgrew its memory, or we have a bug) notes it, allows only the end of the output,
and reports the next token as rejected; vLLM then ends that request with an error.
"""

from __future__ import annotations

import contextlib
import logging
from typing import Any

import torch
from vllm.v1.structured_output.backend_types import (
    StructuredOutputBackend,
    StructuredOutputGrammar,
    StructuredOutputOptions,
)

from ... import GrammarCompiler, GrammarMatcher, TokenizerInfo, get_bitmask_shape
from ...errors import GrammarError
from ..ending import allow_only_the_end
from .requests import STRUCTURAL_TAG, budget, compile_spec

__all__ = ["MaskwrightBackend", "MaskwrightGrammar"]

logger = logging.getLogger(__name__)


class MaskwrightBackend(StructuredOutputBackend):  # type: ignore[misc]
    """Compiles the constraints of an engine's requests.

    Args:
        vllm_config: The engine's configuration.
        tokenizer: The model's tokenizer.
        vocab_size: Width of the model's logits, in tokens.
    """

    #: vLLM's class for what is not ours; set when the plug-in takes its place.
    original_class: type[Any] | None = None

    def __init__(self, vllm_config: Any, tokenizer: Any, vocab_size: int) -> None:
        super().__init__(vllm_config, tokenizer, vocab_size)
        self._compact = bool(vllm_config.structured_outputs_config.disable_any_whitespace)
        self._compiler = GrammarCompiler(TokenizerInfo.from_huggingface(tokenizer, vocab_size=vocab_size))
        self._original: Any = None

    def compile_grammar(
        self,
        request_type: StructuredOutputOptions,
        grammar_spec: str,
        stop_token_ids: set[int] | None = None,
    ) -> StructuredOutputGrammar:
        """A new state for one request. Called on vLLM's compile threads.

        Args:
            request_type: The kind of constraint.
            grammar_spec: Its text.
            stop_token_ids: What ends this request's output; the vocabulary's own stop tokens if empty.

        Raises:
            GrammarError: The constraint cannot be served, or not with this vocabulary.
            BudgetError: The request's ``max_tokens`` is less than its grammar needs.
        """
        if request_type.name == STRUCTURAL_TAG:
            return self._original_backend().compile_grammar(request_type, grammar_spec, stop_token_ids)
        compiled = compile_spec(self._compiler, request_type.name, grammar_spec, compact=self._compact)
        # Better here than in the decoding loop. What cannot be lowered is told where it is reached.
        with contextlib.suppress(GrammarError):
            compiled.prepare()
        stops = sorted(token for token in stop_token_ids or () if 0 <= token < self.vocab_size)
        matcher = GrammarMatcher(compiled, override_stop_tokens=stops or None, max_tokens=budget.get())
        return MaskwrightGrammar(matcher)

    def allocate_token_bitmask(self, max_num_seqs: int) -> torch.Tensor:
        """int32 on the CPU, shape (max_num_seqs, ceil(vocab_size / 32)), everything allowed."""
        return torch.full(get_bitmask_shape(max_num_seqs, self.vocab_size), -1, dtype=torch.int32)

    def destroy(self) -> None:
        """Let go of everything compiled."""
        self._compiler.clear_cache()
        if self._original is not None:
            self._original.destroy()
            self._original = None

    def _original_backend(self) -> Any:
        # Two threads may both make one; the loser's is dropped, so no lock is worth its while.
        if self._original is None:
            if self.original_class is None:
                raise RuntimeError("structural tags need the installed plug-in")
            self._original = self.original_class(self.vllm_config, self.tokenizer, self.vocab_size)
        return self._original


class MaskwrightGrammar(StructuredOutputGrammar):  # type: ignore[misc]
    """Where one request's output stands."""

    def __init__(self, matcher: GrammarMatcher) -> None:
        self._matcher = matcher
        self._failed = False

    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool:
        """Advance by the tokens; those after the end of the output are ignored.

        Returns:
            False if one is illegal or the grammar has failed: vLLM then ends the request.
        """
        if self._failed:
            return False
        matcher = self._matcher
        try:
            for token in tokens:
                if matcher.is_terminated():
                    break
                if not matcher.accept_token(token):
                    told = matcher.explain(token)
                    logger.error("request %s: %s\n%s", request_id, told.headline, told.where())
                    return False
        except Exception:
            self._fail(f"request {request_id}")
            return False
        return True

    def validate_tokens(self, tokens: list[int]) -> list[int]:
        """The longest prefix that would be accepted. Nothing changes."""
        if self._failed:
            return []
        try:
            return tokens[: self._matcher.validate_tokens(tokens)]
        except Exception:
            self._fail("draft tokens")
            return []

    def rollback(self, num_tokens: int) -> None:
        """Undo the last accepted tokens."""
        self._matcher.rollback(num_tokens)

    def fill_bitmask(self, bitmask: torch.Tensor, batch_index: int) -> None:
        """Write one row: bit t % 32 of word t // 32 is 1 if token t may come next."""
        if not self._failed:
            try:
                self._matcher.fill_next_token_bitmask(bitmask, batch_index)
            except Exception:
                self._fail("a mask")
        if self._failed:
            allow_only_the_end(self._matcher, bitmask, batch_index)

    def is_terminated(self) -> bool:
        """Whether a stop token was accepted."""
        return bool(self._matcher.is_terminated())

    def reset(self) -> None:
        """Back to the start."""
        self._matcher.reset()
        self._failed = False

    def _fail(self, where: str) -> None:
        self._failed = True
        logger.exception("maskwright gives up on one request (%s)", where)
