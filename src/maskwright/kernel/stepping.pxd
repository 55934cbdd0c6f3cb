# Data dictionary of stepping. See stepping.pyx.
from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.vector cimport vector

from .alphabets cimport TokenAlphabet
from .automaton cimport Automaton, Coast, Mask, State
from .compiled cimport CompiledCore
from .distances cimport UNBOUNDED
from .trie cimport TokenTrie

# One step that can be rolled back.
cdef struct Step:
    State* before
    int32_t token       # token id; or -1 - index into `strings` for text given as such
    uint8_t stopped     # terminated before this step
    int32_t charge      # tokens of the budget that it has used
    int32_t coasted     # repetitions that `before` was behind

cdef class Stepper:
    cdef readonly CompiledCore core
    cdef Automaton automaton            # generation that `state` belongs to
    cdef State* state
    cdef int32_t coasted                # repetitions that `state` is behind; 0 unless it has a `coast`
    cdef vector[Step] history
    cdef list strings
    cdef int64_t renewed_at             # length of the history at the last renewal; -1 for none
    cdef vector[int32_t] stop_tokens

    cdef inline bint is_stop(self, int32_t token) noexcept nogil:
        """Whether a token is a stop token. They are few: a table of all tokens would cost more to make."""
        cdef size_t i
        for i in range(self.stop_tokens.size()):
            if self.stop_tokens[i] == token:
                return True
        return False

    cdef inline int32_t repetitions(self, Coast* coast, int32_t token) noexcept nogil:
        """How many repetitions a token is; more than any slack if it is not one of the coast's."""
        cdef TokenAlphabet* of = &self.core.masks.summaries.alphabets.by_token[token]
        return of.leads if of.alphabet >= 0 and coast.selected.holds[of.alphabet] else UNBOUNDED

    cdef int settle(self) except -1
    cdef int settle_for_good(self) except -1
    cdef int unfold(self) except -1
    cdef State* start(self) except NULL
    cdef State* checked_start(self, State* state) except NULL
    cdef State* step_byte(self, State* state, uint8_t byte) except NULL
    cdef State* step_bytes(self, State* state, const uint8_t* text, int64_t length) except NULL
    cdef State* after_token(self, State* state, int32_t token) except NULL
    cdef State* checked_live(self, State* state) except NULL
    cdef const Mask* mask_at(self, State* state) except NULL
    cdef int replay(self) except -1
    cdef int renew(self) except -1
