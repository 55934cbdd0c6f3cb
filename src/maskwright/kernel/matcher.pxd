# Data dictionary of the matcher. See matcher.pyx.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libcpp.vector cimport vector

from .automaton cimport Automaton, Mask, State
from .budget cimport Budgets
from .compiled cimport CompiledCore
from .trie cimport TokenTrie

# One step that can be rolled back.
cdef struct Step:
    State* before
    int32_t token       # token id; or -1 - index into `strings` for text given as such
    uint8_t stopped     # terminated before this step
    int32_t charge      # tokens of the budget that it has used

cdef class MatcherCore:
    cdef readonly CompiledCore core
    cdef Automaton automaton            # generation that `state` belongs to
    cdef State* state
    cdef vector[Step] history
    cdef list strings
    cdef bint stopped                   # a stop token was accepted
    cdef int64_t renewed_at             # length of the history at the last renewal; -1 for none
    cdef readonly bint terminate_without_stop_token
    cdef vector[int32_t] stop_tokens
    cdef int64_t max_tokens             # budget; -1 for none
    cdef int64_t used                   # tokens of it

    cdef inline bint is_stop(self, int32_t token) noexcept nogil:
        """Whether a token is a stop token. They are few: a table of all tokens would cost more to make."""
        cdef size_t i
        for i in range(self.stop_tokens.size()):
            if self.stop_tokens[i] == token:
                return True
        return False

    cdef State* start(self) except NULL
    cdef State* checked_start(self, State* state) except NULL
    cdef State* step_byte(self, State* state, uint8_t byte) except NULL
    cdef State* step_bytes(self, State* state, const uint8_t* text, int64_t length) except NULL
    cdef State* after_token(self, State* state, int32_t token) except NULL
    cdef State* checked_live(self, State* state) except NULL
    cdef bint take_token(self, int64_t token_id) except -1
    cdef const Mask* mask_at(self, State* state) except NULL
    cdef bint write_row(self, State* state, int32_t* row, int32_t n_words, int64_t left) except -1
    cdef Budgets budgets(self)
    cdef int32_t stop_cost(self) noexcept nogil
    cdef int64_t left(self) noexcept nogil
    cdef bint is_loose(self, State* state, int64_t left) noexcept nogil
    cdef int32_t need(self, State* state) except -1
    cdef bint affords(self, State* state, State* after, int64_t left) except -1
    cdef int withhold(self, State* state, uint32_t* words, int64_t left) except -1
    cdef int replay(self) except -1
    cdef int renew(self) except -1
