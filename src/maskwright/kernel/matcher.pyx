# Matcher: where one output stands in its grammar, and what may come next.
#
# What it does. A matcher is a pointer to an automaton state and the list of states it came from (stepping.pyx), so
# rollback pops and fork copies. Here is what an engine calls: accepting, masks, budgets, history.

from libc.stdint cimport uint8_t
from libc.string cimport memset

from ..errors import BudgetError, MatcherError
from .automaton cimport Automaton, Coast, Mask
from .compiled cimport CompiledCore
from .compiled import Renew
from .completion cimport NEVER
from .completion import fewest_tokens
from .masks cimport write_mask
from .trie cimport MW_POPCOUNT

cdef extern from *:
    """
    #define MW_COAST(state) __atomic_load_n(&(state)->coast, __ATOMIC_ACQUIRE)
    """
    Coast* MW_COAST(State* state) noexcept nogil


cdef class MatcherCore(Stepper):
    """Follows one output. See `maskwright.GrammarMatcher`, its public face."""

    def __init__(
        self, CompiledCore core, stop_token_ids, bint terminate_without_stop_token, long long max_tokens=-1
    ):
        cdef int32_t token
        self.core = core
        self.strings = []
        self.terminate_without_stop_token = terminate_without_stop_token
        for token in stop_token_ids:
            if not 0 <= token < core.vocabulary.vocab_size:
                raise MatcherError(
                    f"stop token {token} is outside the vocabulary of {core.vocabulary.vocab_size} tokens"
                )
            self.stop_tokens.push_back(token)
        self.renewed_at = -1
        self.automaton = core.automaton
        self.max_tokens = max_tokens
        try:
            self.state = self.start()
        except Renew:
            self.renew()
        if max_tokens >= 0 and self._needed() > max_tokens:
            raise self._too_short(max_tokens)

    # ---- budgets ---------------------------------------------------------------------------------

    cdef Budgets budgets(self):
        """Prices of the states of the matcher's generation."""
        if self.automaton.budgets is None:
            self.automaton.budgets = Budgets(
                self.core.vocabulary, self.automaton, self.core.shortest, self.core.masks
            )
        return self.automaton.budgets

    cdef int32_t stop_cost(self) noexcept nogil:
        """Tokens that it takes to say that the output is complete."""
        return 0 if self.terminate_without_stop_token or self.stop_tokens.empty() else 1

    cdef int64_t left(self) noexcept nogil:
        """Tokens left of the budget; -1 if there is none."""
        return self.max_tokens - self.used if self.max_tokens >= 0 else -1

    cdef bint is_loose(self, State* state, int64_t left) noexcept nogil:
        """Whether it is known that every legal token can be afforded."""
        return left < 0 or (state.loose_at > 0 and state.loose_at <= left - self.stop_cost())

    cdef int32_t need(self, State* state) except -1:
        """Tokens that suffice to complete the output from a state, without a stop token; NEVER if unknown."""
        cdef Budgets budgets
        cdef Automaton automaton = self.automaton
        cdef int32_t found
        if state.need > 0:
            return state.need - 1
        budgets = self.budgets()
        while True:
            with nogil:
                self.core.enter()
                found = budgets.need(automaton, state)
                self.core.leave()
            if found >= 0:
                return found
            self.core.resolve(automaton, found, automaton.pending_rule)

    cdef bint affords(self, State* state, State* after, int64_t left) except -1:
        """Whether the step from one state to the other leaves enough tokens to finish."""
        if self.is_loose(state, left) or after == self.automaton.dead:
            return True
        return self.need(after) + self.stop_cost() <= left - 1

    cdef int withhold(self, State* state, uint32_t* words, int64_t left) except -1:
        """Clear the tokens of a state's mask that leave too few tokens to finish."""
        cdef Budgets budgets
        cdef Automaton automaton = self.automaton
        cdef int64_t limit = left - 1 - self.stop_cost()
        cdef int code = -1
        if self.need(state) + self.stop_cost() > left:
            raise self._too_short(left)
        budgets = self.budgets()
        while code < 0:
            with nogil:
                self.core.enter()
                code = budgets.restrict(automaton, state, words, limit)
                self.core.leave()
            if code < 0:
                self.core.resolve(automaton, code, automaton.pending_rule)
        return 0

    def _needed(self) -> int:
        """Tokens that suffice to finish from here, stop token included; NEVER or more if no number is known."""
        if self.stopped:
            return 0
        while True:
            try:
                self.settle()
                return self.need(self.state) + self.stop_cost()
            except Renew:
                self.renew()

    def _too_short(self, left) -> BudgetError:
        needed = self._needed()
        if needed >= NEVER:
            return BudgetError(
                "no number of tokens is known to complete this output",
                available=left,
                needed=None,
                hint="the vocabulary cannot spell the way to the end, or the grammar is too large to search",
            )
        return BudgetError(
            f"{needed} tokens are needed to complete the output, and {left} are left",
            available=left,
            needed=needed,
            hint="allow more tokens, or simplify what is required",
        )

    def tokens_to_finish(self) -> int | None:
        """A number of tokens that suffices to complete the output from here, stop token included.

        It is the fewest that spell a shortest completion in bytes; a longer one may take fewer. 0 after a stop token,
        None if no completion in tokens is known.

        Raises:
            LimitExceeded: The grammar outgrew its memory.
        """
        needed = self._needed()
        return needed if needed < NEVER else None

    def find_shortest_completion(self) -> bytes | None:
        """A shortest byte string that completes the output from here.

        Where members can be left out or counted in very many ways it is a short one that heads for the end.

        Returns:
            The bytes (empty if the output is complete), or None if none was found or the way there needs a token by
            id.

        Raises:
            MatcherError: A stop token was accepted.
            LimitExceeded: The grammar outgrew its memory.
        """
        cdef Budgets budgets
        cdef int32_t found
        if self.stopped:
            raise MatcherError("nothing can follow a stop token", hint="roll back or reset first")
        self.settle_for_good()
        while not self.state.accepting:
            budgets = self.budgets()
            with nogil:
                self.core.enter()
                found = budgets.cheapest(self.automaton, self.state)
            try:
                if found >= -1:
                    return None if found < 0 else budgets.text_from(found)
            finally:
                self.core.leave()
            try:
                self.core.resolve(self.automaton, found, self.automaton.pending_rule)
            except Renew:
                self.renew()
        return b""

    @property
    def tokens_left(self) -> int | None:
        """What is left of ``max_tokens``; None without a budget."""
        return self.left() if self.max_tokens >= 0 else None

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
        if self.is_stop(token_id):
            if self.state.accepting:
                return f"stop token {token_id} comes after the last of {self.max_tokens} tokens"
            return f"stop token {token_id} is not legal: the output is not complete"
        text = self.core.vocabulary.token_bytes(token_id)
        if text is None:
            return f"token {token_id} is a special token and never matches text"
        if self.max_tokens >= 0 and self.after_token(self.state, <int32_t>token_id) != self.automaton.dead:
            return (
                f"token {token_id} ({text!r}) would leave too few tokens to finish: {self.left()} of "
                f"{self.max_tokens} are left"
            )
        return f"token {token_id} ({text!r}) is not legal here"

    cdef bint take_token(self, int64_t token_id) except -1:
        cdef State* after
        cdef Coast* coast
        cdef int32_t count
        cdef Step step
        if self.stopped or token_id < 0 or token_id >= self.core.vocabulary.vocab_size:
            return False
        step.before = self.state
        step.coasted = self.coasted
        step.token = <int32_t>token_id
        step.stopped = False
        step.charge = 1
        if self.is_stop(token_id):
            if not self.state.accepting or self.left() == 0:
                return False
            self.stopped = True
            self.history.push_back(step)
            self.used += 1
            return True
        coast = MW_COAST(self.state)
        if coast != NULL and self.max_tokens < 0:
            count = self.repetitions(coast, <int32_t>token_id)
            if count <= coast.slack - self.coasted:
                self.history.push_back(step)
                self.used += 1
                self.coasted += count
                return True
        try:
            self.settle()
            step.before = self.state
            step.coasted = 0
            after = self.after_token(self.state, <int32_t>token_id)
            if not self.affords(self.state, after, self.left()):
                return False
        except Renew:
            self.renew()
            return self.take_token(token_id)
        if after == self.automaton.dead:
            return False
        self.history.push_back(step)
        self.used += 1
        self.state = after
        return True

    def accept_string(self, text, *, bint debug_print=False) -> bool:
        """Advance by a text, as one step of `rollback`.

        Of a budget it takes the fewest tokens that spell it (or one for each byte, if none do); who spells it
        otherwise had better keep count and pass ``tokens_left`` to `fill_next_token_bitmask`.

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
        step.charge = 0
        if self.max_tokens >= 0:
            charge = fewest_tokens(self.core.vocabulary, data)
            step.charge = len(data) if charge is None else charge
        try:
            self.settle()
            after = self.step_bytes(self.state, <const uint8_t*>data, len(data))
            if self.core.check_live or self.core.network.fragile:
                after = self.checked_live(after)
            if self.max_tokens >= 0 and after != self.automaton.dead:
                if self.need(after) + self.stop_cost() > self.left() - step.charge:
                    return False
        except Renew:
            self.renew()
            return self.accept_string(data)
        if after == self.automaton.dead:
            return False
        self.strings.append(data)
        step.before = self.state
        step.coasted = 0
        step.token = -<int32_t>len(self.strings)
        step.stopped = False
        self.history.push_back(step)
        self.used += step.charge
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
        cdef int64_t left
        while True:
            n_accepted = 0
            left = self.left()
            try:
                self.settle()
                state = self.state
                if self.stopped:
                    return 0
                for token_id in token_ids:
                    if not 0 <= token_id < self.core.vocabulary.vocab_size:
                        break
                    token = token_id
                    if self.is_stop(token):
                        return n_accepted + (1 if state.accepting and left != 0 else 0)
                    after = self.after_token(state, token)
                    if after == self.automaton.dead or not self.affords(state, after, left):
                        break
                    state = after
                    n_accepted += 1
                    left -= left > 0
                return n_accepted
            except Renew:
                self.renew()

    # ---- masks -----------------------------------------------------------------------------------

    cdef bint write_row(self, State* state, int32_t* row, int32_t n_words, int64_t left) except -1:
        """Write a state's mask with stop tokens, for so many tokens left (-1: any number).

        Returns:
            Whether any token is illegal.
        """
        cdef const Mask* mask = self.mask_at(state)
        cdef uint32_t* words = <uint32_t*>row
        cdef int32_t own = self.core.masks.n_words
        cdef size_t i
        write_mask(mask, words, own)
        cdef bint binds = not self.is_loose(state, left)
        if n_words > own:
            memset(words + own, 0, (n_words - own) * sizeof(uint32_t))
        if binds:
            self.withhold(state, words, left)
        for i in range(self.stop_tokens.size()):
            if state.accepting and left != 0:
                words[self.stop_tokens[i] >> 5] |= <uint32_t>1 << (self.stop_tokens[i] & 31)
            else:
                words[self.stop_tokens[i] >> 5] &= ~(<uint32_t>1 << (self.stop_tokens[i] & 31))
        if binds or mask.n_legal + <int64_t>self.stop_tokens.size() < self.core.vocabulary.vocab_size:
            return True
        return count_bits(words, own) < self.core.vocabulary.vocab_size

    def fill_next_token_bitmask(
        self, bitmask, int32_t index=0, *, long long tokens_left=-1, bint debug_print=False
    ) -> bool:
        """Write which tokens are legal next into one row of a bitmask.

        Args:
            bitmask: int32, shape (words,) or (rows, words), at least ceil(vocab_size / 32) words; a
                numpy array or a torch tensor on the CPU. Bit t of a row (least significant first) is
                1 if token t is legal. Bits beyond the vocabulary become 0.
            index: The row.
            tokens_left: How many tokens may still come, the stop token included, for engines that keep count
                themselves; -1 for what is left of the matcher's ``max_tokens``. Tokens are illegal if the output
                could not be completed in time after them.
            debug_print: Accepted for compatibility; has no effect.

        Returns:
            Whether the mask must be applied: False only if every token is legal.

        Raises:
            BitmaskError: Wrong type, dtype, device, shape or index.
            BudgetError: The output cannot be completed with `tokens_left`.
            MatcherError: A stop token was accepted: nothing comes next.
        """
        cdef int32_t n_words = 0
        cdef int32_t* row
        if self.stopped:
            raise MatcherError("the output has ended", hint="check is_terminated() before filling a mask")
        row = self.core.row(bitmask, index, &n_words)
        if tokens_left < 0:
            tokens_left = self.left()
        while True:
            try:
                if tokens_left >= 0:
                    self.settle()
                return self.write_row(self.state, row, n_words, tokens_left)
            except Renew:
                self.renew()

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
            self.coasted = step.coasted
            self.stopped = step.stopped
            self.used -= step.charge

    def reset(self) -> None:
        """Back to the start."""
        if not self.history.empty():
            self.state = self.history[0].before
        self.coasted = 0
        self.history.clear()
        self.strings.clear()
        self.stopped = False
        self.used = 0

    def _copy_into(self, MatcherCore other) -> None:
        other.core = self.core
        other.terminate_without_stop_token = self.terminate_without_stop_token
        other.stop_tokens = self.stop_tokens
        other.automaton = self.automaton
        other.state = self.state
        other.coasted = self.coasted
        other.history = self.history
        other.strings = self.strings.copy()
        other.stopped = self.stopped
        other.max_tokens = self.max_tokens
        other.used = self.used
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
