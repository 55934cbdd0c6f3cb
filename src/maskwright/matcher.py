"""`GrammarMatcher` follows one output; `BatchGrammarMatcher` fills the masks of many at once.

The work is in `maskwright.kernel.matcher`; here are construction, draft trees and the thread pool.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, Literal

from .compiler import CompiledGrammar
from .draft import read_tree
from .errors import MatcherError
from .kernel.batch import fill_rows, fill_tree
from .kernel.forced import jump_forward_bytes, jump_forward_tokens
from .kernel.matcher import MatcherCore

if TYPE_CHECKING:
    from .explain import Explanation

__all__ = ["BatchGrammarMatcher", "GrammarMatcher"]

#: Masks that are yet to be made are shared out among threads from this many on: handing a job to a
#: thread costs about 50 microseconds, as much as making some ten masks.
_ROWS_PER_JOB: Final = 16


class GrammarMatcher(MatcherCore):
    """Where one output stands in its grammar, and what may come next.

    Not for use by two threads at once; any number of matchers of one grammar are.

    Args:
        compiled_grammar: What the output must match.
        override_stop_tokens: Stop tokens to use instead of the vocabulary's: one id or several. They are
            no text; where other tokens cannot spell what they do, outputs that need it are not legal.
        terminate_without_stop_token: Count the output as terminated as soon as it is complete.
        max_rollback_tokens: Accepted for compatibility; rollback is never limited.
        max_tokens: Budget of the whole output, stop token included. Tokens after which it could not be
            completed in time are illegal, so whatever the model prefers, it is complete in time. As long as
            there is room, nothing is different.

    Raises:
        TypeError: Not a `CompiledGrammar`.
        BudgetError: `max_tokens` is less than the grammar needs (`CompiledGrammar.min_tokens`).
        MatcherError: A stop token is outside the vocabulary, or none is given in an empty override.
        GrammarError: No output can be legal.

    >>> from maskwright import GrammarCompiler, TokenizerInfo, allocate_token_bitmask
    >>> info = TokenizerInfo(["yes", "no", "!", "</s>"])
    >>> matcher = GrammarMatcher(GrammarCompiler(info).compile_regex("(yes|no)!?"))
    >>> bitmask = allocate_token_bitmask(1, info.vocab_size)
    >>> matcher.fill_next_token_bitmask(bitmask), bin(bitmask[0, 0])
    (True, '0b11')
    >>> matcher.accept_token(1), matcher.is_completed()
    (True, True)
    """

    def __init__(
        self,
        compiled_grammar: CompiledGrammar,
        *,
        override_stop_tokens: int | Sequence[int] | None = None,
        terminate_without_stop_token: bool = False,
        max_rollback_tokens: int = -1,
        max_tokens: int | None = None,
    ) -> None:
        if not isinstance(compiled_grammar, CompiledGrammar):
            raise TypeError(f"a matcher needs a CompiledGrammar, not {type(compiled_grammar).__name__}")
        core = compiled_grammar._usual_core()
        if override_stop_tokens is None:
            stop_token_ids: Sequence[int] = compiled_grammar.tokenizer_info.stop_token_ids
        elif isinstance(override_stop_tokens, int):
            stop_token_ids = [override_stop_tokens]
        else:
            stop_token_ids = list(override_stop_tokens)
            if not stop_token_ids:
                raise MatcherError("override_stop_tokens is empty", hint="pass None to keep the vocabulary's")
        if override_stop_tokens is not None:
            core = compiled_grammar._core_for(stop_token_ids)
        if max_tokens is not None and max_tokens < 0:
            raise ValueError(f"max_tokens must not be negative, but is {max_tokens}")
        budget = -1 if max_tokens is None else max_tokens
        super().__init__(core, stop_token_ids, terminate_without_stop_token, budget)
        self._compiled_grammar = compiled_grammar

    @property
    def compiled_grammar(self) -> CompiledGrammar:
        """The grammar that the output must match."""
        return self._compiled_grammar

    def fork(self) -> GrammarMatcher:
        """An independent matcher in the same state with the same history."""
        twin = type(self).__new__(type(self))
        self._copy_into(twin)
        twin._compiled_grammar = self._compiled_grammar
        return twin

    def find_jump_forward_bytes(self) -> bytes:
        """The longest byte string that every continuation starts with.

        It ends where the output is complete, where two bytes are possible, or where the grammar wants a
        token by id. The matcher does not change.

        Raises:
            MatcherError: A stop token was accepted.
        """
        return jump_forward_bytes(self)

    def find_jump_forward_tokens(self) -> list[int]:
        """Tokens for the forced bytes, as far as their boundaries are certain.

        Longest match first. It stops where some token would cover the rest of the forced bytes and more,
        because what follows may then be merged with it.
        """
        return jump_forward_tokens(self)

    def find_jump_forward_string(self) -> str:
        """`find_jump_forward_bytes` as text, cut after its last whole character."""
        forced = self.find_jump_forward_bytes()
        try:
            return forced.decode()
        except UnicodeDecodeError as error:
            return forced[: error.start].decode()

    def explain(self, token: int | str | bytes | None) -> Explanation:
        """Why a token is legal here or not, and what would be. The matcher does not change.

        Args:
            token: A token id, or text of any length; None (or no text) for the end of the output.

        Raises:
            LimitExceeded: The grammar outgrew its memory.

        >>> from maskwright import GrammarCompiler, TokenizerInfo
        >>> info = TokenizerInfo(["yes", "no", "!", "</s>"])
        >>> matcher = GrammarMatcher(GrammarCompiler(info).compile_regex("(yes|no)!?"))
        >>> print(matcher.explain(2))
        token 2 '!' is not legal: '!' cannot come here
        line 1, column 1 (offset 0)
          !
          ^
        expected instead:
          - 'no', 'no!', 'yes' or 'yes!'  (rule regex)
        legal in its place: 2 of 4 tokens, for example 'yes', 'no'
        """
        from .explain import explain

        return explain(self, token)

    def traverse_draft_tree(
        self,
        retrieve_next_token: Any,
        retrieve_next_sibling: Any,
        draft_tokens: Any,
        token_bitmask: Any,
        time_threshold: float = -1.0,
    ) -> bool:
        """Fill one mask row per node of a speculative draft tree. The matcher does not change.

        Args:
            retrieve_next_token: int64, shape (nodes,): first child of each node, -1 for none.
            retrieve_next_sibling: int64, shape (nodes,): next sibling of each node, -1 for none.
            draft_tokens: int64, shape (nodes,): token of each node. Node 0 is the root; its token was
                accepted before.
            token_bitmask: int32, shape (rows, words) with a row for each node. Row n says what may follow
                node n; it is all zeros if the node is illegal, unreachable or past the end.
            time_threshold: Seconds after which to give up; 0 or less for never.

        Returns:
            False if it gave up.

        Raises:
            MatcherError: The arrays are not int64 of one length, or are no tree.
            BitmaskError: The bitmask has the wrong dtype or shape.
        """
        deadline = time.monotonic() + time_threshold if time_threshold > 0 else 0.0
        tree = read_tree(retrieve_next_token, retrieve_next_sibling, draft_tokens)
        order, parents = [0], [-1]
        for position, node in enumerate(order):
            for child in tree[node].children:
                order.append(child)
                parents.append(position)
        unreachable = set(range(len(tree))).difference(order)
        order_all = order + sorted(unreachable)
        # An unreachable node gets a parent that is never legal: itself does not exist, so use the stop.
        tokens = [tree[node].token_id for node in order] + [-1] * len(unreachable)
        parents += [0] * len(unreachable)
        return fill_tree(self, order_all, parents, tokens, token_bitmask, deadline)


class BatchGrammarMatcher:
    """Fills the masks of many matchers in one call.

    Masks that exist already are written in one stretch without the GIL. The others are made without the
    GIL too, by several threads when there are enough of them.

    Args:
        max_threads: Threads to use; "auto" for half of the machine's cores, at least one.

    Raises:
        ValueError: `max_threads` is below 1.
    """

    def __init__(self, max_threads: int | Literal["auto"] = "auto") -> None:
        n_threads = max(1, (os.cpu_count() or 2) // 2) if isinstance(max_threads, str) else max_threads
        if n_threads < 1:
            raise ValueError(f"max_threads must be at least 1, not {max_threads}")
        self._pool = ThreadPoolExecutor(n_threads, "maskwright") if n_threads > 1 else None
        self._max_threads = n_threads

    def batch_fill_next_token_bitmask(
        self,
        matchers: Sequence[GrammarMatcher],
        bitmask: Any,
        indices: Sequence[int] | None = None,
        debug_print: bool = False,
    ) -> None:
        """Fill one row per matcher.

        Args:
            matchers: Any mix of grammars; those that have terminated get a row of zeros.
            bitmask: int32, shape (rows, words); numpy or torch on the CPU.
            indices: Row of each matcher; by default 0, 1, 2, ...
            debug_print: Accepted for compatibility; has no effect.

        Raises:
            MatcherError: `indices` has another length than `matchers`.
            BitmaskError: Wrong dtype, shape or row.
        """
        rows = range(len(matchers)) if indices is None else indices
        if len(rows) != len(matchers):
            raise MatcherError(f"{len(rows)} rows for {len(matchers)} matchers")
        missing = fill_rows(list(matchers), bitmask, rows)
        if self._pool is None or len(missing) < 2 * _ROWS_PER_JOB:
            _fill_missing(missing, bitmask)
            return
        share = max(_ROWS_PER_JOB, -(-len(missing) // self._max_threads))
        jobs = [
            self._pool.submit(_fill_missing, missing[start : start + share], bitmask)
            for start in range(0, len(missing), share)
        ]
        for job in jobs:
            job.result()

    @staticmethod
    def batch_accept_token(
        matchers: Sequence[GrammarMatcher], tokens: Sequence[int], debug_print: bool = False
    ) -> list[bool]:
        """`accept_token` of each matcher; True where the token was legal."""
        return [matcher.accept_token(token) for matcher, token in _pairs(matchers, tokens)]

    @staticmethod
    def batch_accept_string(
        matchers: Sequence[GrammarMatcher], strings: Sequence[str | bytes], debug_print: bool = False
    ) -> list[bool]:
        """`accept_string` of each matcher; True where the text was legal."""
        return [matcher.accept_string(text) for matcher, text in _pairs(matchers, strings)]

    @staticmethod
    def batch_rollback(matchers: Sequence[GrammarMatcher], num_tokens: int | Sequence[int] = 1) -> None:
        """`rollback` of each matcher by its number of steps, or all by the same."""
        counts = [num_tokens] * len(matchers) if isinstance(num_tokens, int) else num_tokens
        for matcher, count in _pairs(matchers, counts):
            matcher.rollback(count)


def _pairs(matchers: Sequence[GrammarMatcher], values: Sequence[Any]) -> Iterable[tuple[GrammarMatcher, Any]]:
    if len(values) != len(matchers):
        raise MatcherError(f"{len(values)} values for {len(matchers)} matchers")
    return zip(matchers, values, strict=True)


def _fill_missing(missing: Sequence[tuple[GrammarMatcher, int]], bitmask: Any) -> None:
    for matcher, row in missing:
        matcher.fill_next_token_bitmask(bitmask, row)
