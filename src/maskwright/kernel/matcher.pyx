# Matcher: where one output stands in its grammar, and what may come next.
#
# What it does. A matcher is a pointer to an automaton state and the list of states it came from, so
# rollback pops and fork copies. The fast paths (known transition, known mask) read published states
# without a lock and without leaving the GIL; the slow paths release the GIL, take the table's lock
# and, if a lazy rule must be expanded, let go of both, call Python, and try again.
#
# The lock is never waited for while the GIL is held, and the GIL never while the lock is held by a
# thread that others wait for with the GIL: two threads cannot block each other.
#
# Generations. When the automaton is full, the compiled grammar starts an empty one. A matcher keeps its
# old generation alive until its next slow step, then replays its own tokens into the new one, the way
# RE2 resets its lazy DFA (Cox, 2010).

from libc.string cimport memset

from ..errors import GrammarError, LimitExceeded, MatcherError
from .compiled import Renew
from .masks cimport write_mask

cdef extern from *:
    """
    #define MW_ROW(state) __atomic_load_n(&(state)->targets, __ATOMIC_ACQUIRE)
    #define MW_TARGET(state, byte) __atomic_load_n(&MW_ROW(state)[(state)->classes[byte]], __ATOMIC_ACQUIRE)
    #define MW_POPCOUNT(word) __builtin_popcount(word)
    #define MW_MASK(state) __atomic_load_n(&(state)->mask, __ATOMIC_ACQUIRE)
    """
    int MW_POPCOUNT(uint32_t word) noexcept nogil
    State* MW_TARGET(State* state, uint8_t byte) noexcept nogil
    Mask* MW_MASK(State* state) noexcept nogil


cdef class MatcherCore:
    """Follows one output. See `maskwright.GrammarMatcher`, its public face."""

    def __init__(self, CompiledCore core, stop_token_ids, bint terminate_without_stop_token):
        cdef int32_t token
        self.core = core
        self.strings = []
        self.terminate_without_stop_token = terminate_without_stop_token
        self.is_stop.assign(core.vocabulary.vocab_size, 0)
        for token in stop_token_ids:
            if not 0 <= token < core.vocabulary.vocab_size:
                raise MatcherError(
                    f"stop token {token} is outside the vocabulary of {core.vocabulary.vocab_size} tokens"
                )
            self.stop_tokens.push_back(token)
            self.is_stop[token] = 1
        self.renewed_at = -1
        self.automaton = core.automaton
        try:
            self.state = self.start()
        except Renew:
            self.renew()

    # ---- moving between states -------------------------------------------------------------------

    cdef State* start(self) except NULL:
        cdef State* state
        cdef int error
        cdef int32_t pending
        cdef Automaton automaton = self.automaton
        while True:
            with nogil:
                self.core.enter()
                state = automaton.start_state()
                error = automaton.error
                pending = automaton.pending_rule
                self.core.leave()
            if state == automaton.dead:
                raise GrammarError(
                    "no output can be legal",
                    hint="the grammar is empty, or the vocabulary cannot spell what it requires",
                )
            if state != NULL:
                return self.checked_start(state)
            self.core.resolve(automaton, error, pending)

    cdef State* checked_start(self, State* state) except NULL:
        if self.core.check_live or self.core.network.fragile:
            if self.checked_live(state) == self.automaton.dead:
                raise GrammarError(
                    "no output can be completed with the tokens of this vocabulary",
                    hint="the grammar needs bytes that no token holds",
                )
        return state

    cdef State* step_byte(self, State* state, uint8_t byte) except NULL:
        """State after one byte, possibly the dead one. Raises `Renew` or a limit."""
        cdef State* target
        cdef int error
        cdef int32_t pending
        cdef Automaton automaton = self.automaton
        if state == automaton.dead:
            return state
        target = MW_TARGET(state, byte)
        while target == NULL:
            with nogil:
                self.core.enter()
                target = automaton.step(state, byte)
                error = automaton.error
                pending = automaton.pending_rule
                self.core.leave()
            if target == NULL:
                self.core.resolve(automaton, error, pending)
        return target

    cdef State* step_bytes(self, State* state, const uint8_t* text, int64_t length) except NULL:
        cdef int64_t i
        cdef State* target
        cdef State* dead = self.automaton.dead
        for i in range(length):
            if state == dead:
                break
            target = MW_TARGET(state, text[i])
            state = target if target != NULL else self.step_byte(state, text[i])
        return state

    cdef State* after_token(self, State* state, int32_t token) except NULL:
        """State after one token, the dead one if it is illegal. Stop tokens are not looked at."""
        cdef TokenTrie vocabulary = self.core.vocabulary
        cdef Automaton automaton = self.automaton
        cdef State* after = automaton.dead
        cdef State* as_text
        cdef int error
        cdef int32_t pending
        if state == automaton.dead:
            return state
        if vocabulary.is_text[token] and not self.is_stop[token]:
            after = self.step_bytes(
                state, &vocabulary.flat[vocabulary.offsets[2 * token]], vocabulary.offsets[2 * token + 1]
            )
        if state.has_tokens and not self.is_stop[token]:
            as_text = after
            while True:
                with nogil:
                    self.core.enter()
                    after = automaton.step_token(state, token, as_text)
                    error = automaton.error
                    pending = automaton.pending_rule
                    self.core.leave()
                if after != NULL:
                    break
                self.core.resolve(automaton, error, pending)
        if self.core.check_live or self.core.network.fragile:
            return self.checked_live(after)
        return after

    cdef State* checked_live(self, State* state) except NULL:
        """The state itself, or the dead one if no sequence of tokens completes it."""
        cdef int live = 0
        cdef int error
        cdef int32_t pending
        cdef Automaton automaton = self.automaton
        if state == automaton.dead or state.accepting or state.live == 1:
            return state
        while True:
            with nogil:
                self.core.enter()
                live = self.core.masks.token_live(automaton, state)
                error = automaton.error
                pending = automaton.pending_rule
                self.core.leave()
            if live >= 0:
                return state if live else automaton.dead
            self.core.resolve(automaton, error, pending)

    cdef const Mask* mask_at(self, State* state) except NULL:
        cdef Mask* mask = MW_MASK(state)
        cdef int error
        cdef int32_t pending
        cdef Automaton automaton = self.automaton
        while mask == NULL:
            with nogil:
                self.core.enter()
                mask = self.core.masks.mask_of(automaton, state)
                error = automaton.error
                pending = automaton.pending_rule
                self.core.leave()
            if mask == NULL:
                self.core.resolve(automaton, error, pending)
        return mask

    cdef int renew(self) except -1:
        """Move to an empty generation by replaying the history. On failure the matcher stays as it was.

        Raises:
            LimitExceeded: One generation cannot hold this output, or not the step that is being tried.
        """
        cdef Automaton old = self.automaton
        if self.renewed_at == <int64_t>self.history.size():
            # The step was tried in a generation that held nothing but this output's own states.
            self.renewed_at = -1
            raise self._too_large()
        self.core.renew(old)
        self.automaton = self.core.automaton
        try:
            self.replay()
        except Renew:
            self.automaton = old
            raise self._too_large() from None
        except BaseException:
            self.automaton = old
            raise
        self.renewed_at = <int64_t>self.history.size()
        return 0

    def _too_large(self):
        return LimitExceeded(
            "one output needs more automaton states than the memory limit allows",
            resource="automaton bytes",
            limit=self.core.max_bytes,
            hint="raise GrammarCompiler(automaton_limit_bytes=...)",
        )

    cdef int replay(self) except -1:
        """Walk the history in `self.automaton`; its states are taken over only when all are there."""
        cdef vector[State*] before
        cdef size_t i
        cdef State* state = self.start()
        cdef bytes text
        for i in range(self.history.size()):
            before.push_back(state)
            if self.history[i].token < 0:
                text = self.strings[-1 - self.history[i].token]
                state = self.step_bytes(state, <const uint8_t*>text, len(text))
            elif not self.is_stop[self.history[i].token]:
                state = self.after_token(state, self.history[i].token)
        for i in range(self.history.size()):
            self.history[i].before = before[i]
        self.state = state
        return 0

    # ---- accepting -------------------------------------------------------------------------------

    def accept_token(self, long long token_id, *, bint strict=False, bint debug_print=False) -> bool:
        """Advance by one token.

        Args:
            token_id: Any integer; ids outside the vocabulary are refused like any illegal token.
            strict: Raise instead of returning False.
            debug_print: Accepted for compatibility; has no effect.

        Returns:
            Whether the token was legal. If not, nothing has changed.

        Raises:
            MatcherError: The token is not legal (only if `strict`); nothing has changed.
            LimitExceeded: The grammar outgrew its memory; nothing has changed.
        """
        if self.take_token(token_id):
            return True
        if strict:
            raise MatcherError(self._why_not(token_id))
        return False

    def _why_not(self, long long token_id) -> str:
        if self.stopped:
            return f"token {token_id} comes after a stop token"
        if not 0 <= token_id < self.core.vocabulary.vocab_size:
            return (
                f"token {token_id} is outside the vocabulary of {self.core.vocabulary.vocab_size} tokens"
            )
        if self.is_stop[token_id]:
            return f"stop token {token_id} is not legal: the output is not complete"
        text = self.core.vocabulary.token_bytes(token_id)
        if text is None:
            return f"token {token_id} is a special token and never matches text"
        return f"token {token_id} ({text!r}) is not legal here"

    cdef bint take_token(self, int64_t token_id) except -1:
        cdef State* after
        cdef Step step
        if self.stopped or token_id < 0 or token_id >= self.core.vocabulary.vocab_size:
            return False
        step.before = self.state
        step.token = <int32_t>token_id
        step.stopped = False
        if self.is_stop[token_id]:
            if not self.state.accepting:
                return False
            self.stopped = True
            self.history.push_back(step)
            return True
        try:
            after = self.after_token(self.state, <int32_t>token_id)
        except Renew:
            self.renew()
            return self.take_token(token_id)
        if after == self.automaton.dead:
            return False
        self.history.push_back(step)
        self.state = after
        return True

    def accept_string(self, text, *, bint debug_print=False) -> bool:
        """Advance by a text, as one step of `rollback`.

        Args:
            text: str (taken as UTF-8) or bytes, of any length; need not end at a token boundary.

        Returns:
            Whether the whole text is legal here. If not, nothing has changed.
        """
        cdef bytes data
        if isinstance(text, str):
            data = text.encode()
        elif isinstance(text, (bytes, bytearray, memoryview)):
            data = bytes(text)
        else:
            raise TypeError(f"a text is str or bytes, not {type(text).__name__}")
        cdef State* after
        cdef Step step
        if self.stopped:
            return False
        try:
            after = self.step_bytes(self.state, <const uint8_t*>data, len(data))
            if self.core.check_live or self.core.network.fragile:
                after = self.checked_live(after)
        except Renew:
            self.renew()
            return self.accept_string(data)
        if after == self.automaton.dead:
            return False
        self.strings.append(data)
        step.before = self.state
        step.token = -<int32_t>len(self.strings)
        step.stopped = False
        self.history.push_back(step)
        self.state = after
        return True

    def validate_tokens(self, token_ids) -> int:
        """How many of the tokens, from the first, would be accepted one after another.

        The matcher does not change. A stop token counts if it is legal there; nothing after it does.
        """
        cdef State* state
        cdef State* after
        cdef int32_t token
        cdef int n_accepted
        while True:
            state = self.state
            n_accepted = 0
            try:
                if self.stopped:
                    return 0
                for token_id in token_ids:
                    if not 0 <= token_id < self.core.vocabulary.vocab_size:
                        break
                    token = token_id
                    if self.is_stop[token]:
                        return n_accepted + (1 if state.accepting else 0)
                    after = self.after_token(state, token)
                    if after == self.automaton.dead:
                        break
                    state = after
                    n_accepted += 1
                return n_accepted
            except Renew:
                self.renew()

    # ---- masks -----------------------------------------------------------------------------------

    cdef bint write_row(self, State* state, int32_t* row, int32_t n_words) except -1:
        """Write a state's mask with stop tokens; returns whether any token is illegal."""
        cdef const Mask* mask = self.mask_at(state)
        cdef uint32_t* words = <uint32_t*>row
        cdef int32_t own = self.core.masks.n_words
        cdef size_t i
        write_mask(mask, words, own)
        if n_words > own:
            memset(words + own, 0, (n_words - own) * sizeof(uint32_t))
        for i in range(self.stop_tokens.size()):
            if state.accepting:
                words[self.stop_tokens[i] >> 5] |= <uint32_t>1 << (self.stop_tokens[i] & 31)
            else:
                words[self.stop_tokens[i] >> 5] &= ~(<uint32_t>1 << (self.stop_tokens[i] & 31))
        if mask.n_legal + <int64_t>self.stop_tokens.size() < self.core.vocabulary.vocab_size:
            return True
        return count_bits(words, own) < self.core.vocabulary.vocab_size

    def fill_next_token_bitmask(self, bitmask, int32_t index=0, *, bint debug_print=False) -> bool:
        """Write which tokens are legal next into one row of a bitmask.

        Args:
            bitmask: int32, shape (words,) or (rows, words), at least ceil(vocab_size / 32) words; a
                numpy array or a torch tensor on the CPU. Bit t of a row (least significant first) is
                1 if token t is legal. Bits beyond the vocabulary become 0.
            index: The row.
            debug_print: Accepted for compatibility; has no effect.

        Returns:
            Whether the mask must be applied, that is, whether some token is illegal.

        Raises:
            BitmaskError: Wrong type, dtype, device, shape or index.
            MatcherError: A stop token was accepted: nothing comes next.
        """
        cdef int32_t n_words = 0
        cdef int32_t* row
        if self.stopped:
            raise MatcherError("the output has ended", hint="check is_terminated() before filling a mask")
        row = self.core.row(bitmask, index, &n_words)
        try:
            return self.write_row(self.state, row, n_words)
        except Renew:
            self.renew()
            return self.write_row(self.state, row, n_words)

    # ---- history ---------------------------------------------------------------------------------

    def rollback(self, int num_tokens=1) -> None:
        """Undo the last steps (each accepted token or string is one), stop tokens included.

        Raises:
            MatcherError: Fewer steps were made.
        """
        cdef Step step
        if num_tokens < 0 or <size_t>num_tokens > self.history.size():
            raise MatcherError(f"cannot undo {num_tokens} of {self.history.size()} steps")
        for _ in range(num_tokens):
            step = self.history.back()
            self.history.pop_back()
            if step.token < 0:
                self.strings.pop()
            self.state = step.before
            self.stopped = step.stopped

    def reset(self) -> None:
        """Back to the start."""
        if not self.history.empty():
            self.state = self.history[0].before
        self.history.clear()
        self.strings.clear()
        self.stopped = False

    def _copy_into(self, MatcherCore other) -> None:
        other.core = self.core
        other.terminate_without_stop_token = self.terminate_without_stop_token
        other.stop_tokens = self.stop_tokens
        other.is_stop = self.is_stop
        other.automaton = self.automaton
        other.state = self.state
        other.history = self.history
        other.strings = self.strings.copy()
        other.stopped = self.stopped
        other.renewed_at = -1

    def is_completed(self) -> bool:
        """Whether the output so far is a whole sentence of the grammar."""
        return bool(self.state.accepting)

    def is_terminated(self) -> bool:
        """Whether a stop token was accepted, or, with ``terminate_without_stop_token``, whether the
        output is complete."""
        return self.stopped or (self.terminate_without_stop_token and bool(self.state.accepting))

    @property
    def n_steps(self) -> int:
        """Number of steps that `rollback` could undo."""
        return self.history.size()

    @property
    def stop_token_ids(self) -> list:
        """The stop tokens in force, ascending."""
        return sorted(self.stop_tokens)


cdef int64_t count_bits(const uint32_t* words, int32_t n_words) noexcept nogil:
    cdef int64_t total = 0
    cdef int32_t i
    for i in range(n_words):
        total += MW_POPCOUNT(words[i])
    return total
