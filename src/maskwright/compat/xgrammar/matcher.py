"""`GrammarMatcher`, `BatchGrammarMatcher` and the bitmask functions with XGrammar's signatures.

Bitmasks are torch tensors here. A matcher's default temperature is carried along. What an EBNF rule says
about captures or temperatures is not followed; asking for either is then refused.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import maskwright
from maskwright import errors

from .exception import BitmaskError, MatcherError, UnsupportedError, as_runtime_error, raises_runtime_errors
from .grammar import has_rule_option

if TYPE_CHECKING:
    import torch

__all__ = [
    "BatchGrammarMatcher",
    "GrammarMatcher",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "bitmask_dtype",
    "get_bitmask_shape",
    "reset_token_bitmask",
]

#: Type of a bitmask's words, ``torch.int32``; looked up when it is asked for.
bitmask_dtype: torch.dtype

# Called at every step; found once, since `super()` would cost as much as they do.
_accept_token = maskwright.GrammarMatcher.accept_token
_accept_string = maskwright.GrammarMatcher.accept_string
_fill_next_token_bitmask = maskwright.GrammarMatcher.fill_next_token_bitmask

#: Temperature of what has none, in tensors of temperatures.
_NO_TEMPERATURE = -1.0


def __getattr__(name: str) -> Any:
    if name == "bitmask_dtype":
        import torch

        return torch.int32
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@raises_runtime_errors
def get_bitmask_shape(batch_size: int, vocab_size: int) -> tuple[int, int]:
    """Shape of the bitmask for a batch: ``(batch_size, ceil(vocab_size / 32))``."""
    return maskwright.get_bitmask_shape(batch_size, vocab_size)


@raises_runtime_errors
def allocate_token_bitmask(batch_size: int, vocab_size: int) -> torch.Tensor:
    """A new bitmask on the CPU, int32 of shape ``(batch_size, ceil(vocab_size / 32))``; all is allowed."""
    import torch

    return torch.full(maskwright.get_bitmask_shape(batch_size, vocab_size), -1, dtype=torch.int32)


def reset_token_bitmask(bitmask: torch.Tensor) -> None:
    """Allow every token again, in place."""
    maskwright.reset_token_bitmask(bitmask)


@raises_runtime_errors
def apply_token_bitmask_inplace(
    logits: torch.Tensor,
    bitmask: torch.Tensor,
    *,
    vocab_size: int | None = None,
    indices: Sequence[int] | None = None,
    backend: Literal["auto", "cpu", "cuda", "triton", "torch_compile", "torch_native"] = "auto",
) -> None:
    """Set the logits of tokens that are not allowed to minus infinity, in place.

    Logits beyond the bitmask or beyond `vocab_size` are masked, always and without a warning. Arguments and
    errors as for `maskwright.apply_token_bitmask_inplace`.
    """
    maskwright.apply_token_bitmask_inplace(
        logits, bitmask, vocab_size=vocab_size, indices=indices, backend=backend
    )


class GrammarMatcher(maskwright.GrammarMatcher):
    """Where one output stands in its grammar; see `maskwright.GrammarMatcher`.

    Args:
        compiled_grammar: What the output must match.
        override_stop_tokens: Stop tokens to use instead of the vocabulary's: one id or several.
        terminate_without_stop_token: Count the output as terminated as soon as it is complete.
        max_rollback_tokens: Deprecated and without effect: rollback is never limited.
        default_temperature: Handed back by `temperature`; finite and at least 0.

    Raises:
        MatcherError: Not a `CompiledGrammar`; a stop token outside the vocabulary, or none in an empty
            override; a temperature out of range.
        GrammarError: No output can be legal.
    """

    def __init__(
        self,
        compiled_grammar: maskwright.CompiledGrammar,
        *,
        override_stop_tokens: int | Sequence[int] | None = None,
        terminate_without_stop_token: bool = False,
        max_rollback_tokens: int = -1,
        default_temperature: float | None = None,
    ) -> None:
        if not isinstance(compiled_grammar, maskwright.CompiledGrammar):
            raise MatcherError(
                f"a matcher needs a CompiledGrammar, not a {type(compiled_grammar).__name__}",
                hint="compile the grammar with a GrammarCompiler",
            )
        if max_rollback_tokens != -1:
            warnings.warn("max_rollback_tokens has no effect", DeprecationWarning, stacklevel=2)
        if default_temperature is not None and not 0 <= default_temperature < math.inf:
            raise MatcherError(f"a temperature is finite and at least 0, not {default_temperature}")
        try:
            super().__init__(
                compiled_grammar,
                override_stop_tokens=override_stop_tokens,
                terminate_without_stop_token=terminate_without_stop_token,
            )
        except errors.MaskwrightError as error:
            raise as_runtime_error(error) from None
        self._default_temperature = default_temperature

    # No decorator on these three, for the same reason.

    def accept_token(self, token_id: int, *, strict: bool = False, debug_print: bool = False) -> bool:
        """Advance by one token; False, and nothing has changed, if it is not legal.

        Raises:
            MatcherError: It is not legal, and `strict` (which XGrammar does not have).
        """
        try:
            return _accept_token(self, token_id, strict=True) if strict else _accept_token(self, token_id)
        except errors.MaskwrightError as error:
            raise as_runtime_error(error) from None

    def accept_string(self, input_str: str | bytes, *, debug_print: bool = False) -> bool:
        """Advance by a text, as one step of `rollback`; False, and nothing has changed, if illegal.

        Raises:
            MatcherError: Neither str nor bytes.
        """
        if not isinstance(input_str, (str, bytes)):
            raise MatcherError(f"a text is str or bytes, not {type(input_str).__name__}")
        try:
            return _accept_string(self, input_str)
        except errors.MaskwrightError as error:
            raise as_runtime_error(error) from None

    # XGrammar's signature, which has no budget.
    def fill_next_token_bitmask(  # type: ignore[override]
        self, bitmask: Any, index: int = 0, *, debug_print: bool = False
    ) -> bool:
        """Write which tokens are legal next into a row; returns whether any is not.

        Raises:
            BitmaskError: Wrong type, device, shape or row.
            MatcherError: A stop token was accepted.
        """
        try:
            return _fill_next_token_bitmask(self, bitmask, index)
        except errors.MaskwrightError as error:
            raise as_runtime_error(error) from None

    @raises_runtime_errors
    def traverse_draft_tree(
        self,
        retrieve_next_token: torch.Tensor,
        retrieve_next_sibling: torch.Tensor,
        draft_tokens: torch.Tensor,
        token_bitmask: torch.Tensor,
        time_threshold: float = -1.0,
        temperatures: torch.Tensor | None = None,
    ) -> bool:
        """Fill one mask row per node of a draft tree; see `maskwright.GrammarMatcher.traverse_draft_tree`.

        Args:
            retrieve_next_token: int64, shape (nodes,): first child of each node, -1 for none.
            retrieve_next_sibling: int64, shape (nodes,): next sibling of each node, -1 for none.
            draft_tokens: int64, shape (nodes,): token of each node; the root's was accepted before.
            token_bitmask: int32, shape (nodes, words). Rows of illegal and unreachable nodes become zero.
            time_threshold: Seconds after which to give up; 0 or less for never.
            temperatures: float32, shape (nodes,): gets the temperature of each node that can be continued,
                and -1 for the others.

        Returns:
            False if it gave up.

        Raises:
            MatcherError: The arrays are no tree, or the root has a sibling.
            BitmaskError: The bitmask has not one row for each node.
        """
        if token_bitmask.ndim != 2 or len(token_bitmask) != len(draft_tokens):
            raise BitmaskError(
                f"a bitmask of shape {tuple(token_bitmask.shape)} for {len(draft_tokens)} nodes",
                hint="allocate a row for each node",
            )
        if len(retrieve_next_sibling) and int(retrieve_next_sibling[0]) != -1:
            raise MatcherError("the root of a draft tree has a sibling", hint="let it be -1")
        if temperatures is not None:
            _check_temperatures(temperatures, len(draft_tokens))
        finished = super().traverse_draft_tree(
            retrieve_next_token, retrieve_next_sibling, draft_tokens, token_bitmask, time_threshold
        )
        if temperatures is not None:
            open_nodes = (token_bitmask != 0).any(dim=-1)
            temperatures[: len(draft_tokens)] = _NO_TEMPERATURE
            if self.temperature is not None:
                temperatures[: len(draft_tokens)][open_nodes] = self.temperature
        return finished

    @raises_runtime_errors
    def find_jump_forward_string(self) -> str:
        """The text that must come next, cut after its last whole character."""
        return super().find_jump_forward_string()

    def find_jump_forward_tokens(self) -> list[int]:
        """The tokens that must come next; none after a stop token."""
        try:
            return list(super().find_jump_forward_tokens())
        except errors.MatcherError:
            return []

    @raises_runtime_errors
    def rollback(self, num_tokens: int = 1) -> None:
        """Undo the last steps, a stop token included.

        Raises:
            MatcherError: Fewer steps were made.
        """
        super().rollback(num_tokens)

    def fork(self) -> GrammarMatcher:
        """An independent matcher in the same state with the same history."""
        twin = super().fork()
        assert isinstance(twin, GrammarMatcher)  # a fork has the class of its origin
        twin._default_temperature = self._default_temperature
        return twin

    def get_captures(self, *, deduplicate: bool = True) -> list[tuple[str, bytes]]:
        """Captured parts of the output: none, unless a rule asks for captures.

        Raises:
            UnsupportedError: A rule does.
        """
        if has_rule_option(self.compiled_grammar.grammar, "capture"):
            raise UnsupportedError("captures of rules are not supported", hint="parse the finished output")
        return []

    @property
    def temperature(self) -> float | None:
        """The default temperature, unless a rule sets one.

        Raises:
            UnsupportedError: A rule does.
        """
        if has_rule_option(self.compiled_grammar.grammar, "temperature"):
            raise UnsupportedError("temperatures of rules are not supported", hint="leave them out")
        return self._default_temperature

    @property
    def max_rollback_tokens(self) -> int:
        """-1: rollback is never limited."""
        return -1

    def _debug_print_internal_state(self) -> str:
        """One line on where the matcher stands, for people."""
        return (
            f"{self.n_steps} steps, {'terminated' if self.is_terminated() else 'open'}, "
            f"{'complete' if self.is_completed() else 'not complete'}"
        )


class BatchGrammarMatcher(maskwright.BatchGrammarMatcher):
    """Fills the masks of many matchers in one call; see `maskwright.BatchGrammarMatcher`.

    Raises:
        MatcherError: `max_threads` is neither "auto" nor at least 1.
    """

    def __init__(self, max_threads: int | Literal["auto"] = "auto") -> None:
        if max_threads != "auto" and not (isinstance(max_threads, int) and max_threads >= 1):
            raise MatcherError(f"max_threads is {max_threads!r}", hint="pass 'auto' or at least 1")
        super().__init__(max_threads)

    @raises_runtime_errors
    def batch_fill_next_token_bitmask(
        self,
        matchers: Sequence[maskwright.GrammarMatcher],
        bitmask: Any,
        indices: Sequence[int] | None = None,
        debug_print: bool = False,
    ) -> None:
        """Fill one row per matcher: row ``indices[i]``, by default row i."""
        super().batch_fill_next_token_bitmask(matchers, bitmask, indices)

    @staticmethod
    @raises_runtime_errors
    def batch_accept_token(
        matchers: Sequence[maskwright.GrammarMatcher], tokens: Sequence[int], debug_print: bool = False
    ) -> list[bool]:
        """`accept_token` of each matcher."""
        return maskwright.BatchGrammarMatcher.batch_accept_token(matchers, tokens)

    @staticmethod
    @raises_runtime_errors
    def batch_accept_string(
        matchers: Sequence[maskwright.GrammarMatcher],
        strings: Sequence[str | bytes],
        debug_print: bool = False,
    ) -> list[bool]:
        """`accept_string` of each matcher."""
        return maskwright.BatchGrammarMatcher.batch_accept_string(matchers, strings)

    @staticmethod
    @raises_runtime_errors
    def batch_rollback(
        matchers: Sequence[maskwright.GrammarMatcher], num_tokens: int | Sequence[int] = 1
    ) -> None:
        """`rollback` of each matcher by its number of steps, or all by the same."""
        maskwright.BatchGrammarMatcher.batch_rollback(matchers, num_tokens)

    @staticmethod
    def batch_fill_temperature(
        matchers: Sequence[GrammarMatcher], temperatures: torch.Tensor, indices: Sequence[int] | None = None
    ) -> None:
        """Write each matcher's temperature, -1 for none, into place ``indices[i]``, by default i.

        Args:
            matchers: The matchers.
            temperatures: float32, one dimension, on the CPU.
            indices: Places, as many as matchers.

        Raises:
            MatcherError: Wrong type, shape or place.
        """
        places = range(len(matchers)) if indices is None else indices
        if len(places) != len(matchers):
            raise MatcherError(f"{len(places)} places for {len(matchers)} matchers")
        _check_temperatures(temperatures, max(places, default=-1) + 1)
        if any(place < 0 for place in places):
            raise MatcherError(f"there is no place {min(places)}")
        for matcher, place in zip(matchers, places, strict=True):
            chosen = matcher.temperature
            temperatures[place] = _NO_TEMPERATURE if chosen is None else chosen


def _check_temperatures(temperatures: torch.Tensor, n_needed: int) -> None:
    sound = temperatures.dim() == 1 and str(temperatures.dtype) == "torch.float32"
    if not sound or temperatures.device.type != "cpu" or len(temperatures) < n_needed:
        raise MatcherError(
            f"temperatures of type {temperatures.dtype} and shape {tuple(temperatures.shape)}",
            hint=f"pass float32 on the CPU, one dimension of at least {n_needed}",
        )
