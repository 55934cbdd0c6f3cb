"""Follows rows of token ids that an engine may reorder, repeat, pad or start anew.

A logits processor is told the ids of each row and nothing else: not which row it was a step ago, not
where a prompt ends, not that a new generation begins. Beam search swaps rows, speculative decoding
takes tokens back, and finished rows are padded. So a row's state is looked up by what the row
*holds*: the matcher that knows the longest beginning of it is taken (forked, if several rows want it),
rolled back and brought up to date. In ordinary decoding that is the row's own matcher and one token.

Rejected: one matcher per row number, advanced by the last token. It is what most processors do, and it
silently masks with the wrong state as soon as beams are swapped or a processor is used again.

Not safe for use by two generations at once: give each its own.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from .. import BatchGrammarMatcher, CompiledGrammar, GrammarMatcher, MatcherError, allocate_token_bitmask

__all__ = ["RowFollower", "TokenIds"]

#: The ids of one row, from the first of its prompt on.
TokenIds = npt.NDArray[np.int64]


@dataclass(slots=True)
class _Trail:
    """A matcher, and the generated tokens that it stands for.

    Attributes:
        grammar: Index of the grammar.
        tokens: The generated tokens. More than `n_accepted` only if the row ended before the last one.
        matcher: Has accepted the first `n_accepted` of them.
        illegal: Whether the token after these was not legal.
    """

    grammar: int
    tokens: TokenIds
    matcher: GrammarMatcher
    n_accepted: int = 0
    illegal: bool = False

    @property
    def ended(self) -> bool:
        return self.illegal or self.matcher.is_terminated()

    def fork(self) -> _Trail:
        return _Trail(self.grammar, self.tokens, self.matcher.fork(), self.n_accepted, self.illegal)

    def move_to(self, tokens: TokenIds, n_common: int) -> None:
        """Stand for other tokens, of which the first `n_common` are the same."""
        if n_common < self.n_accepted:
            self.matcher.rollback(self.n_accepted - n_common)
            self.n_accepted = n_common
        self.tokens, self.illegal = tokens, False
        for token in tokens[self.n_accepted :].tolist():
            if self.matcher.is_terminated():
                break
            if not self.matcher.accept_token(token):
                self.illegal = True
                break
            self.n_accepted += 1


class RowFollower:
    """Says for each row of token ids which tokens may come next.

    Args:
        grammars: One for all rows, or one per prompt. With k rows per prompt (beams, several answers)
            the rows of a prompt are neighbours, as engines lay them out.
        prompt_length: Tokens of a row before the answer: one number, or one per row. None: whatever the
            first call brings is the prompt, and a call that does not continue the rows seen before
            begins a new generation.
        stop_token_ids: Stop tokens to use instead of the vocabulary's.
        max_tokens: Budget of an answer, stop token included: whatever the model prefers, it is complete
            within that. The engine's own limit must not be lower.

    Raises:
        MatcherError: No grammar, or grammars of different vocabularies.
        BudgetError: `max_tokens` is less than a grammar needs.

    Attributes:
        left_grammar: Rows of the last call that hold a token that was not legal. Beam search picks such
            tokens when it finds too few legal ones; in other modes another processor forced it.
        mask_seconds: Time spent on following rows and filling masks so far, in seconds.
        n_masks: Masks filled so far.
    """

    def __init__(
        self,
        grammars: CompiledGrammar | Sequence[CompiledGrammar],
        *,
        prompt_length: int | Sequence[int] | None = None,
        stop_token_ids: Sequence[int] | None = None,
        max_tokens: int | None = None,
    ) -> None:
        chosen = [grammars] if isinstance(grammars, CompiledGrammar) else list(grammars)
        if not chosen:
            raise MatcherError("there is no grammar to follow", hint="pass a CompiledGrammar")
        if len({grammar.tokenizer_info.fingerprint for grammar in chosen}) > 1:
            raise MatcherError(
                "the grammars are compiled for different vocabularies",
                hint="compile all of a batch's grammars with one GrammarCompiler",
            )
        self._grammars: Final = chosen
        self._prompt_length = prompt_length
        self._stop_token_ids = stop_token_ids
        self._max_tokens = max_tokens
        if max_tokens is not None:
            # Engines call us where an error is hard to report: what cannot be finished is told now.
            for grammar in range(len(chosen)):
                self._new_matcher(grammar)
        self._batch = BatchGrammarMatcher()
        self.left_grammar: list[int] = []
        self.mask_seconds = 0.0
        self.n_masks = 0
        self.reset()

    @property
    def vocab_size(self) -> int:
        """Tokens that a mask governs."""
        return self._grammars[0].tokenizer_info.vocab_size

    @property
    def stop_token_ids(self) -> list[int]:
        """The stop tokens in force."""
        own = self._stop_token_ids
        return list(self._grammars[0].tokenizer_info.stop_token_ids if own is None else own)

    def reset(self) -> None:
        """Forget all rows: the next call begins a new generation."""
        self._trails: list[_Trail] = []
        self._prompts: list[TokenIds] | None = None
        self._last_length = -1
        self._bitmask = allocate_token_bitmask(0, self.vocab_size)

    def next_masks(self, rows: Sequence[TokenIds]) -> tuple[npt.NDArray[np.int32], list[int]]:
        """The masks of what may follow each row.

        Args:
            rows: The ids of each row, prompt and padding included.

        Returns:
            The bitmask, int32 of shape (rows, words), valid until the next call; and the rows that have
            ended (after a stop token, or because they left the grammar), of which only stop tokens are
            left.

        Raises:
            MatcherError: The rows cannot be shared out among the grammars, or are shorter than their
                prompt.
        """
        start = time.perf_counter()
        self._follow(rows)
        if self._bitmask.shape[0] != len(rows):
            self._bitmask = allocate_token_bitmask(len(rows), self.vocab_size)
        ended = [row for row, trail in enumerate(self._trails) if trail.ended]
        open_rows = [row for row, trail in enumerate(self._trails) if not trail.ended]
        self._batch.batch_fill_next_token_bitmask(
            [self._trails[row].matcher for row in open_rows], self._bitmask, open_rows
        )
        for row in ended:
            self._only_stops(row)
        self.left_grammar = [row for row in ended if self._trails[row].illegal]
        self.mask_seconds += time.perf_counter() - start
        self.n_masks += len(rows)
        return self._bitmask, ended

    # ---- which matcher a row gets ---------------------------------------------------------------

    def _follow(self, rows: Sequence[TokenIds]) -> None:
        if len(rows) % len(self._grammars):
            raise MatcherError(
                f"{len(rows)} rows cannot be shared out among {len(self._grammars)} grammars",
                hint="pass one grammar for all rows, or one for each prompt of the batch",
            )
        if self._prompt_length is not None:
            answers = [row[length:] for row, length in zip(rows, self._lengths(rows), strict=True)]
            sources = self._sources(answers)
        else:
            answers, sources = self._continued(rows)
        waiting = Counter(id(trail) for trail, _ in sources if trail is not None)
        trails = []
        for row, (answer, (trail, n_common)) in enumerate(zip(answers, sources, strict=True)):
            if trail is None:
                trail = self._new_trail(self._grammar_of(row, len(rows)))
            else:
                waiting[id(trail)] -= 1
                if waiting[id(trail)]:
                    trail = trail.fork()
            # The caller's arrays may be views of a buffer that is written on.
            trail.move_to(answer.copy(), n_common)
            trails.append(trail)
        self._trails = trails
        self._last_length = max(map(len, rows), default=0)

    def _lengths(self, rows: Sequence[TokenIds]) -> list[int]:
        given = self._prompt_length
        lengths = [given] * len(rows) if isinstance(given, int) else list(given or ())
        if len(lengths) != len(rows):
            raise MatcherError(f"{len(lengths)} prompt lengths for {len(rows)} rows")
        for row, length in zip(rows, lengths, strict=True):
            if not 0 <= length <= len(row):
                raise MatcherError(f"a row of {len(row)} tokens is shorter than its prompt of {length}")
        return lengths

    def _continued(self, rows: Sequence[TokenIds]) -> tuple[list[TokenIds], list[tuple[_Trail | None, int]]]:
        """The answers and their matchers, of this generation if the rows continue it, else of a new one."""
        if self._prompts is not None and len(rows) == len(self._prompts):
            pairs = list(zip(rows, self._prompts, strict=True))
            if all(_starts_with(row, prompt) for row, prompt in pairs):
                answers = [row[len(prompt) :] for row, prompt in pairs]
                sources = self._sources(answers)
                if all(map(self._is_next, rows, answers, sources)):
                    return answers, sources
        self.reset()
        self._prompts = [row.copy() for row in rows]
        return [row[len(row) :] for row in rows], [(None, 0)] * len(rows)

    def _is_next(self, row: TokenIds, answer: TokenIds, source: tuple[_Trail | None, int]) -> bool:
        """Whether an answer is a beginning of a known one, or that and one token."""
        trail, n_common = source
        if trail is None or n_common < len(answer) - 1:
            return False
        if n_common == len(answer) or len(row) == self._last_length + 1:
            return True
        # A step back, then a token that is new: speculative decoding, if the token is legal. A new
        # prompt that happens to begin like the old one otherwise.
        probe = trail.fork()
        probe.move_to(answer, n_common)
        return not probe.illegal

    def _sources(self, answers: Sequence[TokenIds]) -> list[tuple[_Trail | None, int]]:
        """For each answer the trail that shares its longest beginning, and how long that is."""
        parents: dict[tuple[int, bytes], _Trail] = {}
        sources: list[tuple[_Trail | None, int]] = []
        for row, answer in enumerate(answers):
            grammar = self._grammar_of(row, len(answers))
            own = self._trails[row] if row < len(self._trails) else None
            if own is not None and own.grammar == grammar and _is_parent(own.tokens, answer):
                sources.append((own, len(own.tokens)))
                continue
            if not parents:
                parents = {(trail.grammar, trail.tokens.tobytes()): trail for trail in self._trails}
            parent = parents.get((grammar, answer[:-1].tobytes())) if len(answer) else None
            sources.append((parent, len(answer) - 1) if parent else self._nearest(grammar, answer))
        return sources

    def _nearest(self, grammar: int, answer: TokenIds) -> tuple[_Trail | None, int]:
        best, n_best = None, -1
        for trail in self._trails:
            if trail.grammar == grammar:
                n_common = _common(trail.tokens, answer)
                if n_common > n_best:
                    best, n_best = trail, n_common
        return best, max(0, n_best)

    def _grammar_of(self, row: int, n_rows: int) -> int:
        return row // (n_rows // len(self._grammars))

    def _new_trail(self, grammar: int) -> _Trail:
        return _Trail(grammar, np.zeros(0, np.int64), self._new_matcher(grammar))

    def _new_matcher(self, grammar: int) -> GrammarMatcher:
        return GrammarMatcher(
            self._grammars[grammar], override_stop_tokens=self._stop_token_ids, max_tokens=self._max_tokens
        )

    def _only_stops(self, row: int) -> None:
        words = self._bitmask[row].view(np.uint32)
        words.fill(0)
        for token in self._trails[row].matcher.stop_token_ids:
            words[token // 32] |= np.uint32(1 << token % 32)


def _starts_with(row: TokenIds, prompt: TokenIds) -> bool:
    return len(row) >= len(prompt) and bool(np.array_equal(row[: len(prompt)], prompt))


def _is_parent(known: TokenIds, answer: TokenIds) -> bool:
    return len(known) == len(answer) - 1 and bool(np.array_equal(known, answer[:-1]))


def _common(known: TokenIds, answer: TokenIds) -> int:
    """Length of the longest common beginning."""
    n_both = min(len(known), len(answer))
    differ = np.flatnonzero(known[:n_both] != answer[:n_both])
    return int(differ[0]) if len(differ) else n_both
