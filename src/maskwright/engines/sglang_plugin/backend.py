"""The backend that SGLang makes once per scheduler: it turns requests into grammars.

SGLang compiles on a pool of threads and keeps what it got; the kernel lets go of the GIL meanwhile.
A constraint that cannot be served becomes an `InvalidGrammarObject` with our message, which SGLang returns
to that request. Structural tags are compiled by SGLang's own xgrammar backend, made when the first one
comes: both write the same masks, so they can share a batch.
"""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Callable, Iterable
from typing import Any, Final

from sglang.srt.constrained.base_grammar_backend import (
    BaseGrammarBackend,
    BaseGrammarObject,
    GrammarStats,
    InvalidGrammarObject,
)
from sglang.srt.runtime_context import get_serving

from ... import CompiledGrammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from ...errors import GrammarError, MaskwrightError
from .grammar import MaskwrightGrammar, allocate_vocab_mask, apply_vocab_mask, move_vocab_mask

__all__ = ["MaskwrightBackend", "create_backend", "keep_requests_within_their_limits"]

logger = logging.getLogger(__name__)

#: How SGLang writes "any JSON".
_ANY_JSON: Final = "$$ANY$$"
#: Memory that remembered grammars may hold. SGLang's own table of them has no limit.
_CACHE_LIMIT_BYTES: Final = 512 << 20
#: And their number: those of other backends do not tell their size.
_CACHE_LIMIT_ENTRIES: Final = 4096


def create_backend(
    server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: Iterable[int] | None
) -> BaseGrammarBackend:
    """What SGLang's registry calls. With a reasoning parser the backend is wrapped, as built-in ones are.

    Raises:
        ValueError: The server was given an option that would not be obeyed.
    """
    backend = MaskwrightBackend(tokenizer, vocab_size, eos_token_ids)
    serving = get_serving()
    if not serving.reasoning_parser:
        return backend
    from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend
    from sglang.srt.parser.reasoning_parser import ReasoningParser

    parser = ReasoningParser(model_type=serving.reasoning_parser, stream_reasoning=False, tokenizer=tokenizer)
    if not parser.detector.get_think_end_token_ids(tokenizer):
        return backend
    return ReasonerGrammarBackend(
        backend, parser, tokenizer, enable_strict_thinking=serving.enable_strict_thinking
    )


def keep_requests_within_their_limits() -> None:
    """Wrap the one method of SGLang that sees a request when its grammar is ready and new."""
    from sglang.srt.constrained.grammar_manager import GrammarManager

    original = GrammarManager._apply_request_reasoning_config

    @functools.wraps(original)
    def apply(self: Any, req: Any) -> None:
        original(self, req)
        limit = getattr(req.sampling_params, "max_new_tokens", None)
        # Where a request thinks first, nobody knows what that leaves of the limit.
        if type(req.grammar) is MaskwrightGrammar and limit is not None:
            try:
                req.grammar.keep_within(limit)
            except MaskwrightError as error:
                req.set_finish_with_abort(str(error))

    GrammarManager._apply_request_reasoning_config = apply


class MaskwrightBackend(BaseGrammarBackend):  # type: ignore[misc]
    """Compiles the grammars of one model.

    Args:
        tokenizer: The model's tokenizer.
        vocab_size: Width of the logits, in tokens.
        eos_token_ids: What ends an output; by default what the tokenizer says.

    Raises:
        ValueError: A pattern for white space was given; it would not be obeyed.
        VocabularyError: The tokenizer cannot be read.
    """

    allocate_vocab_mask = staticmethod(allocate_vocab_mask)
    move_vocab_mask = staticmethod(move_vocab_mask)
    apply_vocab_mask = staticmethod(apply_vocab_mask)

    def __init__(self, tokenizer: Any, vocab_size: int, eos_token_ids: Iterable[int] | None) -> None:
        super().__init__()
        serving = get_serving()
        if serving.constrained_json_whitespace_pattern:
            raise ValueError(
                "maskwright does not take --constrained-json-whitespace-pattern; "
                "use --constrained-json-max-whitespace-cnt or --constrained-json-disable-any-whitespace"
            )
        self._json_options = {
            "any_whitespace": not serving.constrained_json_disable_any_whitespace,
            "max_whitespace_cnt": serving.constrained_json_max_whitespace_cnt,
        }
        stops = sorted(token for token in eos_token_ids or () if 0 <= token < vocab_size)
        info = TokenizerInfo.from_huggingface(tokenizer, vocab_size=vocab_size, stop_token_ids=stops or None)
        self._compiler = GrammarCompiler(info)
        self._tokenizer = tokenizer
        self._own_backend: Any = None

    # ---- one request ---------------------------------------------------------------------------------

    def dispatch_json(self, key_string: str) -> BaseGrammarObject:
        """A JSON Schema as text, or SGLang's word for any JSON."""
        if key_string == _ANY_JSON:
            return self._build("json", self._compiler.compile_builtin_json_grammar)
        return self._build(
            "json", lambda: self._compiler.compile_json_schema(key_string, **self._json_options)
        )

    def dispatch_regex(self, key_string: str) -> BaseGrammarObject:
        """A regular expression that the whole output matches."""
        return self._build("regex", lambda: self._compiler.compile_regex(key_string))

    def dispatch_ebnf(self, key_string: str) -> BaseGrammarObject:
        """A grammar in EBNF."""
        return self._build("ebnf", lambda: self._compiler.compile_grammar(key_string))

    def dispatch_structural_tag(self, key_string: str) -> BaseGrammarObject:
        """Left to SGLang's own backend."""
        if self._own_backend is None:
            from sglang.srt.constrained.xgrammar_backend import XGrammarGrammarBackend

            info = self._compiler.tokenizer_info
            self._own_backend = XGrammarGrammarBackend(
                self._tokenizer,
                vocab_size=info.vocab_size,
                model_eos_token_ids=info.stop_token_ids or None,
                **self._json_options,
            )
        return self._own_backend.dispatch_structural_tag(key_string)

    def _build(self, kind: str, compile_it: Callable[[], CompiledGrammar]) -> BaseGrammarObject:
        try:
            compiled = compile_it()
            # Better here than in the decoding loop. What cannot be lowered is told where it is reached.
            with contextlib.suppress(GrammarError):
                compiled.prepare()
            matcher = GrammarMatcher(compiled)
        except MaskwrightError as error:
            logger.info("refused a %s grammar: %s", kind, error)
            return InvalidGrammarObject(str(error))
        return MaskwrightGrammar(matcher, GrammarStats(dispatch_type=kind))

    # ---- what is remembered --------------------------------------------------------------------------

    def set_cache(self, key: tuple[str, str], value: BaseGrammarObject) -> None:
        """Remember a grammar; the oldest go when they hold too much memory."""
        super().set_cache(key, value)
        total = sum(getattr(entry, "memory_size_bytes", 0) for entry in self.cache.values())
        while len(self.cache) > 1 and (total > _CACHE_LIMIT_BYTES or len(self.cache) > _CACHE_LIMIT_ENTRIES):
            oldest = self.cache.pop(next(iter(self.cache)))
            total -= getattr(oldest, "memory_size_bytes", 0)

    def reset(self) -> None:
        """Forget all grammars. Those in use stay valid."""
        super().reset()
        self._compiler.clear_cache()

    # ---- strict thinking -----------------------------------------------------------------------------

    @property
    def is_support_token_filter(self) -> bool:
        """Whether single tokens can be set in a mask: yes."""
        return True

    @staticmethod
    def set_token_filter(
        vocab_mask: Any,
        token_ids: list[int],
        batch_idx: int,
        is_allowed: bool = True,
        reset_vocab_mask: bool = True,
    ) -> None:
        """Allow or forbid single tokens in one row, by SGLang's own function for the mask's device."""
        if vocab_mask.device.type == "cuda":
            from sglang.kernels.ops.grammar.token_filter_ops import set_token_filter_triton as set_filter
        else:
            from sglang.srt.constrained.torch_ops.token_filter_torch_ops import (
                set_token_filter_torch as set_filter,
            )
        set_filter(vocab_mask, token_ids, batch_idx, is_allowed, reset_vocab_mask)
