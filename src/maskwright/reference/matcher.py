"""A matcher over tokens on the reference recogniser, with the interface of `GrammarMatcher`.

Does: legality of tokens, masks, rollback, forks, forced text, draft trees, termination.
Does not: explain, find forced *tokens*, or run in useful time on a vocabulary of 100,000 tokens.

The idea: nothing is cached. A token is legal iff, after trying it, the recogniser is alive over the
texts that the vocabulary can spell; a mask tries every token.

Rejected: walking a token trie for masks. It is what the kernel does, so a mistake could be shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from maskwright import draft
from maskwright.errors import BitmaskError, MatcherError, VocabularyError
from maskwright.rules import Rule

from .liveness import BOUNDARY, Spelling
from .recogniser import ReferenceRecogniser

__all__ = ["ReferenceMatcher", "Vocabulary"]

Bitmask = npt.NDArray[np.int32]


class Vocabulary(Protocol):
    """What the matcher needs of a `TokenizerInfo`."""

    @property
    def decoded_vocab(self) -> Sequence[bytes]:
        """The bytes of each id; shorter than `vocab_size` where ids are padding."""

    @property
    def vocab_size(self) -> int:
        """Number of ids."""

    @property
    def stop_token_ids(self) -> Sequence[int]:
        """Ids that end the text."""

    @property
    def special_token_ids(self) -> Sequence[int]:
        """Ids that never match text."""


class ReferenceMatcher:
    """Follows one generation.

    Args:
        rule: The root of the grammar.
        vocabulary: A `TokenizerInfo` or anything with its four properties.
        override_stop_tokens: Stop tokens to use instead of the vocabulary's.
        terminate_without_stop_token: Count as terminated as soon as the root is complete.

    Raises:
        GrammarError: A rule needed at the start is malformed.
        VocabularyError: ``override_stop_tokens`` is empty or holds an id out of range.
    """

    def __init__(
        self,
        rule: Rule,
        vocabulary: Vocabulary,
        *,
        override_stop_tokens: int | Sequence[int] | None = None,
        terminate_without_stop_token: bool = False,
    ) -> None:
        self._vocab_size = vocabulary.vocab_size
        self._terminate_without_stop_token = terminate_without_stop_token
        self._stop_token_ids = self._read_stop_tokens(vocabulary, override_stop_tokens)
        self._texts = self._spellable_texts(vocabulary, self._stop_token_ids)
        self._recogniser = ReferenceRecogniser(
            rule,
            spelling=Spelling(self._texts.values()),
            token_ids=frozenset(range(self._vocab_size)) - self._stop_token_ids,
        )
        #: For each step that can be rolled back: where it began, and whether a stop token was in.
        self._history: list[tuple[int, bool]] = []
        self._stopped = False

    @staticmethod
    def _read_stop_tokens(vocabulary: Vocabulary, override: int | Sequence[int] | None) -> frozenset[int]:
        if override is None:
            return frozenset(vocabulary.stop_token_ids)
        stop_token_ids = frozenset((override,) if isinstance(override, int) else override)
        if not stop_token_ids:
            raise VocabularyError("override_stop_tokens is empty", hint="pass None to keep the vocabulary's")
        for token_id in sorted(stop_token_ids):
            if not 0 <= token_id < vocabulary.vocab_size:
                raise VocabularyError(f"stop token {token_id} is not one of {vocabulary.vocab_size} ids")
        return stop_token_ids

    @staticmethod
    def _spellable_texts(vocabulary: Vocabulary, stop_token_ids: frozenset[int]) -> dict[int, bytes]:
        """Ids that match text. Stop tokens, also replaced ones, and special tokens never do."""
        apart = stop_token_ids.union(vocabulary.stop_token_ids, vocabulary.special_token_ids)
        texts = vocabulary.decoded_vocab[: vocabulary.vocab_size]
        return {token_id: text for token_id, text in enumerate(texts) if text and token_id not in apart}

    # -- accepting -------------------------------------------------------------------------------

    @property
    def stop_token_ids(self) -> list[int]:
        """The stop tokens in force, ascending."""
        return sorted(self._stop_token_ids)

    def accept_token(self, token_id: int) -> bool:
        """Take one token. False, and nothing changed, if it is not legal here."""
        if self._stopped or not 0 <= token_id < self._vocab_size:
            return False
        before = self._recogniser.length
        if token_id in self._stop_token_ids:
            if not self._recogniser.is_complete():
                return False
            self._stopped = True
        elif not self._recogniser.advance_token(token_id, self._texts.get(token_id, b"")):
            self._recogniser.truncate(before)
            return False
        self._history.append((before, False))
        return True

    def accept_string(self, text: str | bytes) -> bool:
        """Take a text of any number of tokens as one step. False, and nothing changed, if it cannot be."""
        if self._stopped:
            return False
        before = self._recogniser.length
        for byte in text.encode() if isinstance(text, str) else text:
            # Only the end of the text is a boundary of tokens, so only there the match must be alive.
            self._recogniser.advance(byte)
        if not self._recogniser.is_alive():
            self._recogniser.truncate(before)
            return False
        self._history.append((before, False))
        return True

    def validate_tokens(self, token_ids: Iterable[int]) -> int:
        """How many of the tokens, from the first, would be accepted one after another. Changes nothing."""
        twin = self.fork()
        accepted = 0
        for token_id in token_ids:
            if not twin.accept_token(token_id):
                break
            accepted += 1
        return accepted

    def legal_token_ids(self) -> list[int]:
        """Every id that `accept_token` would take, ascending."""
        return [token_id for token_id in range(self._vocab_size) if self.fork().accept_token(token_id)]

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0) -> bool:
        """Write the legal tokens into one row; all other bits of the row become 0.

        Args:
            bitmask: int32, shape (words,) or (rows, words), words at least ceil(vocab_size / 32); bit t of
                the row, lowest bit first, is token t. A numpy array or a torch CPU tensor.
            index: The row; 0 for a one-dimensional bitmask.

        Returns:
            Whether any token is illegal, that is, whether the mask needs to be applied.

        Raises:
            BitmaskError: Wrong dtype, shape or row.
            MatcherError: A stop token was accepted already.
        """
        row = self._row(bitmask, index)
        if self._stopped:
            raise MatcherError("no token can follow a stop token", hint="roll back or reset first")
        legal = self.legal_token_ids()
        write_row(row, legal)
        return len(legal) < self._vocab_size

    def _row(self, bitmask: Any, index: int) -> Bitmask:
        rows = bitmask if isinstance(bitmask, np.ndarray) else bitmask.numpy()
        if rows.dtype != np.int32:
            raise BitmaskError(f"a bitmask is int32, not {rows.dtype}")
        if rows.ndim not in (1, 2):
            raise BitmaskError(f"a bitmask has 1 or 2 dimensions, not {rows.ndim}")
        rows = np.atleast_2d(rows)
        if not 0 <= index < rows.shape[0]:
            raise BitmaskError(f"row {index} of a bitmask with {rows.shape[0]} rows")
        needed = -(-self._vocab_size // 32)
        if rows.shape[1] < needed:
            raise BitmaskError(f"{rows.shape[1]} words for {self._vocab_size} tokens: {needed} are needed")
        row: Bitmask = rows[index]
        return row

    # -- going back ------------------------------------------------------------------------------

    def rollback(self, num_tokens: int = 1) -> None:
        """Undo the last steps, a stop token included.

        Raises:
            MatcherError: Fewer steps were made, or the number is negative.
        """
        if not 0 <= num_tokens <= len(self._history):
            raise MatcherError(f"cannot roll back {num_tokens} steps of {len(self._history)}")
        for _ in range(num_tokens):
            length, self._stopped = self._history.pop()
            self._recogniser.truncate(length)

    def reset(self) -> None:
        """Back to the start."""
        self.rollback(len(self._history))

    def fork(self) -> ReferenceMatcher:
        """An independent matcher in the same state, with the same history."""
        twin = object.__new__(ReferenceMatcher)
        twin.__dict__.update(self.__dict__)
        twin._recogniser = self._recogniser.copy()
        twin._history = list(self._history)
        return twin

    # -- where it stands -------------------------------------------------------------------------

    def is_completed(self) -> bool:
        """Whether the text so far is in the language."""
        return self._recogniser.is_complete()

    def is_terminated(self) -> bool:
        """Whether generation is over: a stop token was accepted, or none is waited for."""
        return self._stopped or (self._terminate_without_stop_token and self.is_completed())

    def find_jump_forward_bytes(self) -> bytes:
        """The longest run of bytes of which each is the only way on; stops where the text is complete.

        Raises:
            MatcherError: A stop token was accepted already.
        """
        if self._stopped:
            raise MatcherError("nothing can follow a stop token", hint="roll back or reset first")
        walker = self._recogniser.copy()
        spelling = frozenset((BOUNDARY,))
        forced = bytearray()
        while not walker.is_complete():
            possible = walker.possible_bytes(spelling)
            named = BOUNDARY in spelling and walker.awaits_token()
            if len(possible) != 1 or named:
                break
            walker.advance(possible[0])
            spelling = walker.spelled(spelling, possible[0])
            forced += bytes(possible)
        return bytes(forced)

    def find_jump_forward_string(self) -> str:
        """`find_jump_forward_bytes` as text, cut after the last whole UTF-8 character."""
        forced = self.find_jump_forward_bytes()
        try:
            return forced.decode()
        except UnicodeDecodeError as error:
            return forced[: error.start].decode()

    def traverse_draft_tree(
        self,
        retrieve_next_token: Any,
        retrieve_next_sibling: Any,
        draft_tokens: Any,
        token_bitmask: Any,
        time_threshold: float = -1.0,
    ) -> bool:
        """Fill one mask row per node of a draft tree; the matcher is unchanged afterwards.

        Args:
            retrieve_next_token: int64, shape (nodes,): first child of each node, -1 for none.
            retrieve_next_sibling: int64, shape (nodes,): next sibling of each node, -1 for none.
            draft_tokens: int64, shape (nodes,): the token of each node. Node 0 is the root, whose token
                was accepted already.
            token_bitmask: int32, shape (nodes or more, words). Rows of nodes that are illegal, cannot be
                reached or lie behind the end of generation become 0.
            time_threshold: Taken for compatibility; a reference does not hurry.

        Returns:
            True.

        Raises:
            MatcherError: The arrays differ in length or type, name nodes that are not there, or are no tree.
            BitmaskError: The bitmask has the wrong dtype or shape.
        """
        tree = draft.read_tree(retrieve_next_token, retrieve_next_sibling, draft_tokens)
        rows = [self._row(token_bitmask, node) for node in range(len(tree))]
        for row in rows:
            row[:] = 0
        agenda = [(0, self.fork())]
        while agenda:
            node, matcher = agenda.pop()
            if matcher.is_terminated():
                continue
            write_row(rows[node], matcher.legal_token_ids())
            for child in tree[node].children:
                twin = matcher.fork()
                if twin.accept_token(tree[child].token_id):
                    agenda.append((child, twin))
        return True


def write_row(row: Bitmask, token_ids: Iterable[int]) -> None:
    """Set exactly these bits of a row."""
    words = np.zeros(row.shape, dtype=np.uint32)
    for token_id in token_ids:
        words[token_id // 32] |= np.uint32(1 << (token_id % 32))
    row[:] = words.view(np.int32)
