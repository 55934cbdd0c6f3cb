"""TensorRT-LLM: the matcher and factory pair of its PyTorch flow, and a logits processor.

TensorRT-LLM asks a factory for a matcher per request and has an if/else instead of a registry. `install`
puts our factory where the XGrammar one is looked up, so that ``guided_decoding_backend="xgrammar"`` is
served by maskwright: `json`, `regex`, `grammar` and `json_object` requests, draft tokens included.
A structural tag is refused, as are schemas that cannot be enforced: the request fails, with the
reason.

The processor is for requests that carry their own grammar without a guided decoding backend.

Written against the published source: there is no wheel for machines without CUDA.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .. import (
    BudgetError,
    CompiledGrammar,
    Grammar,
    GrammarCompiler,
    GrammarError,
    GrammarMatcher,
    TokenizerInfo,
    VocabType,
)
from .rows import RowFollower

__all__ = ["MaskLogitsProcessor", "MaskwrightMatcher", "MaskwrightMatcherFactory", "install"]

logger = logging.getLogger(__name__)


class MaskwrightMatcher:
    """What TensorRT-LLM's guided decoder drives; see `GrammarMatcher` in its `grammar_matcher.py`."""

    def __init__(self, matcher: GrammarMatcher) -> None:
        self._matcher = matcher

    def accept_token(self, token_id: int) -> bool:
        """Advance; False and no change if the token is not legal."""
        return bool(self._matcher.accept_token(token_id))

    def rollback(self, num_tokens: int) -> None:
        """Undo the last accepted tokens."""
        self._matcher.rollback(num_tokens)

    def fill_next_token_bitmask(self, next_token_bitmask: Any, index: int) -> None:
        """Write one row of an int32 torch tensor on the CPU."""
        self._matcher.fill_next_token_bitmask(next_token_bitmask, index)

    def is_terminated(self) -> bool:
        """Whether a stop token was accepted."""
        return self._matcher.is_terminated()


class MaskwrightMatcherFactory:
    """Compiles what a request asks for.

    Args:
        guided_decoding_config: TensorRT-LLM's: `encoded_vocab`, `tokenizer_str` and `stop_token_ids`.
        vocab_size_padded: Width of the logits.
        max_num_draft_tokens: Accepted for compatibility; rollback is never limited.

    Raises:
        VocabularyError: The vocabulary cannot be read.
    """

    def __init__(
        self, guided_decoding_config: Any, vocab_size_padded: int, max_num_draft_tokens: int = 0
    ) -> None:
        self.compiler: Final = GrammarCompiler(_vocabulary(guided_decoding_config, vocab_size_padded))

    def create(self, guided_decoding_params: Any) -> MaskwrightMatcher:
        """A matcher at the beginning of a request's grammar, which it completes within the request's limit.

        A limit that is too low for the grammar is left out, with a warning: an error here ends the engine.

        Raises:
            GrammarError: The request's grammar is malformed or cannot be enforced.
        """
        compiled = self._compile(guided_decoding_params.guide_type.name, guided_decoding_params.guide)
        limit = getattr(guided_decoding_params, "max_tokens", None)
        try:
            return MaskwrightMatcher(GrammarMatcher(compiled, max_tokens=limit))
        except BudgetError as error:
            logger.warning("a request will be cut off: %s", error)
            return MaskwrightMatcher(GrammarMatcher(compiled))

    def _compile(self, kind: str, guide: str) -> CompiledGrammar:
        if kind == "JSON":
            return self.compiler.compile_builtin_json_grammar()
        if kind == "JSON_SCHEMA":
            return self.compiler.compile_json_schema(guide)
        if kind == "REGEX":
            return self.compiler.compile_regex(guide)
        if kind == "EBNF_GRAMMAR":
            return self.compiler.compile_grammar(Grammar.from_ebnf(guide))
        raise GrammarError(
            f"guided decoding of kind {kind} is not supported",
            hint="supported: json, json_object, regex and grammar (EBNF)",
        )


def _vocabulary(config: Any, width: int) -> TokenizerInfo:
    """The vocabulary in a `GuidedDecodingConfig`: a tokenizer.json text where there is one."""
    stops = config.stop_token_ids
    if config.tokenizer_str is not None:
        from tokenizers import Tokenizer  # it made the text

        tokenizer = Tokenizer.from_str(config.tokenizer_str)
        return TokenizerInfo.from_huggingface(tokenizer, vocab_size=width, stop_token_ids=stops)
    return TokenizerInfo(config.encoded_vocab, VocabType.RAW, vocab_size=width, stop_token_ids=stops)


class MaskLogitsProcessor:
    """A `LogitsProcessor` of TensorRT-LLM: ``SamplingParams(logits_processor=processor)``.

    One per request: beams of it may come and go, but two requests must not share one.

    Args:
        grammar: What the answer must match.
        prompt_length: Tokens of the prompt; None to take what the first call brings.
        stop_token_ids: Stop tokens to use instead of the vocabulary's.
        max_tokens: Budget of an answer, stop token included: whatever the model prefers, it is complete
            within that. The engine's own limit must not be lower.

    Raises:
        BudgetError: `max_tokens` is less than the grammar needs.
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

    def __call__(
        self,
        req_id: int,
        logits: Any,
        token_ids: list[list[int]],
        stream_ptr: int | None,
        client_id: int | None,
    ) -> None:
        """Set the logits of illegal tokens to -inf, in place.

        Args:
            req_id: Not used.
            logits: Torch tensor of floats; the last axis is the vocabulary, the others multiply to the beams.
            token_ids: Prompt and answer so far of each beam.
            stream_ptr: CUDA stream to work on, or None for the current one.
            client_id: Not used.
        """
        import torch

        from .transformers import mask_scores

        bitmask, _ = self.rows.next_masks([np.array(row, dtype=np.int64) for row in token_ids])
        on_stream: contextlib.AbstractContextManager[Any] = contextlib.nullcontext()
        if stream_ptr is not None and logits.is_cuda:
            on_stream = torch.cuda.stream(torch.cuda.ExternalStream(stream_ptr))
        with on_stream:
            flat = logits.reshape(-1, logits.shape[-1])
            logits.copy_(mask_scores(flat, bitmask).reshape(logits.shape))


def install() -> Callable[[], None]:
    """Serve TensorRT-LLM's ``guided_decoding_backend="xgrammar"`` with maskwright, in this process.

    Requests are completed within their ``max_tokens``.

    Workers are processes of their own: call it in each, before the engine is made (for instance from a
    `sitecustomize` module).

    Returns:
        A function that undoes it.

    Raises:
        ImportError: TensorRT-LLM is not installed.
    """
    grammar_matcher = importlib.import_module("tensorrt_llm._torch.pyexecutor.grammar_matcher")
    guided_decoder: Any = importlib.import_module("tensorrt_llm._torch.pyexecutor.guided_decoder")
    grammar_matcher.GrammarMatcher.register(MaskwrightMatcher)
    grammar_matcher.GrammarMatcherFactory.register(MaskwrightMatcherFactory)
    original = guided_decoder.XGrammarMatcherFactory
    from_llm_request = guided_decoder.GuidedRequest.from_llm_request

    def undo() -> None:
        guided_decoder.XGrammarMatcherFactory = original
        guided_decoder.GuidedRequest.from_llm_request = from_llm_request

    guided_decoder.XGrammarMatcherFactory = MaskwrightMatcherFactory
    guided_decoder.GuidedRequest.from_llm_request = _with_limit(from_llm_request)
    return undo


@dataclass(frozen=True, slots=True)
class _LimitedParams:
    """Parameters of a request's guide, and the limit of the request, which factories are not told."""

    guide_type: Any
    guide: str | None
    max_tokens: int


def _with_limit(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The replacement of ``GuidedRequest.from_llm_request``, the snapshot from which matchers are made."""

    def from_llm_request(request: Any) -> Any:
        snapshot = original(request)
        params, limit = snapshot.guided_decoding_params, getattr(request, "py_max_new_tokens", None)
        if params is not None and limit is not None:
            snapshot.guided_decoding_params = _LimitedParams(params.guide_type, params.guide, limit)
        return snapshot

    return from_llm_request
