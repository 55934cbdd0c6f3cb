# Stepping: from one automaton state to another, and what to do when a step needs more than a look-up.
#
# The fast paths (known transition, known mask) read published states without a lock and without leaving the GIL;
# the slow paths release the GIL, take the table's lock and, if a lazy rule must be expanded, let go of both,
# call Python, and try again.
#
# The lock is never waited for while the GIL is held, and the GIL never while the lock is held by a
# thread that others wait for with the GIL: two threads cannot block each other.
#
# Coasting. Inside a string of at most 4,000 characters each character leads to another state, and as long as the bound is
# out of any token's reach all these states say the same. A matcher stays in the first one and counts (`coasted`);
# the state that it stands for is made when a token does something else, when the bound comes near, or when somebody asks.
# So such a string costs what an unbounded one does. It is not done under a budget, which needs to know the states.
#
# Generations. When the automaton is full, the compiled grammar starts an empty one. A matcher keeps its
# old generation alive until its next slow step, then replays its own tokens into the new one, the way
# RE2 resets its lazy DFA (Cox, 2010).

from ..errors import GrammarError, LimitExceeded
from .compiled import Renew

cdef extern from *:
    """
    #define MW_ROW(state) __atomic_load_n(&(state)->targets, __ATOMIC_ACQUIRE)
    #define MW_TARGET(state, byte) __atomic_load_n(&MW_ROW(state)[(state)->classes[byte]], __ATOMIC_ACQUIRE)
    #define MW_MASK(state) __atomic_load_n(&(state)->mask, __ATOMIC_ACQUIRE)
    """
    State* MW_TARGET(State* state, uint8_t byte) noexcept nogil
    Mask* MW_MASK(State* state) noexcept nogil


cdef class Stepper:
    """A place in an automaton, and the way there."""

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

    cdef int settle(self) except -1:
        """Go to the state that `state` and `coasted` stand for. Raises `Renew` or a limit."""
        cdef State* target = NULL
        cdef int error
        cdef int32_t pending
        cdef Automaton automaton = self.automaton
        if not self.coasted:
            return 0
        while target == NULL:
            with nogil:
                self.core.enter()
                target = automaton.coasted(self.state, self.coasted)
                error = automaton.error
                pending = automaton.pending_rule
                self.core.leave()
            if target == NULL:
                self.core.resolve(automaton, error, pending)
        self.state = target
        self.coasted = 0
        return 0

    cdef int settle_for_good(self) except -1:
        """`settle`, in a new generation if need be."""
        while True:
            try:
                return self.settle()
            except Renew:
                self.renew()

    cdef int unfold(self) except -1:
        """Have every step of the history begin in the state that it stands for."""
        cdef size_t i
        cdef bint behind = self.coasted > 0
        for i in range(self.history.size()):
            behind = behind or self.history[i].coasted > 0
        while behind:
            try:
                self.replay()
                behind = False
            except Renew:
                self.renew()
        return 0

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
        if vocabulary.is_text[token] and not self.is_stop(token):
            after = self.step_bytes(
                state, &vocabulary.flat[vocabulary.offsets[2 * token]], vocabulary.offsets[2 * token + 1]
            )
        if state.has_tokens and not self.is_stop(token):
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
        """Move to a newer generation by replaying the history. On failure the matcher stays as it was.

        The generation may hold states of others already, and be full before this output is replayed or goes on; the
        next one is then its own.

        Raises:
            LimitExceeded: One generation cannot hold this output, or not the step that is being tried.
        """
        cdef Automaton old = self.automaton
        if self.renewed_at == <int64_t>self.history.size():
            # The step was tried in a generation that held nothing but this output's own states.
            self.renewed_at = -1
            raise self._too_large()
        cdef bint fresh = self.core.renew(old)
        self.automaton = self.core.automaton
        try:
            try:
                self.replay()
            except Renew:
                if fresh:
                    raise self._too_large() from None
                fresh = self.core.renew(self.automaton)
                self.automaton = self.core.automaton
                self.replay()
        except Renew:
            self.automaton = old
            raise self._too_large() from None
        except BaseException:
            self.automaton = old
            raise
        self.renewed_at = <int64_t>self.history.size() if fresh else -1
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
            elif not self.is_stop(self.history[i].token):
                state = self.after_token(state, self.history[i].token)
        for i in range(self.history.size()):
            self.history[i].before = before[i]
            self.history[i].coasted = 0
        self.state = state
        self.coasted = 0
        return 0
