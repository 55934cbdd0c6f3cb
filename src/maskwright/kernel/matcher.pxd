# Data dictionary of the matcher. See matcher.pyx.
from libc.stdint cimport int32_t, int64_t, uint32_t

from .automaton cimport State
from .budget cimport Budgets
from .stepping cimport Step, Stepper

cdef class MatcherCore(Stepper):
    cdef bint stopped                   # a stop token was accepted
    cdef readonly bint terminate_without_stop_token
    cdef int64_t max_tokens             # budget; -1 for none
    cdef int64_t used                   # tokens of it

    cdef bint take_token(self, int64_t token_id) except -1
    cdef bint write_row(self, State* state, int32_t* row, int32_t n_words, int64_t left) except -1
    cdef Budgets budgets(self)
    cdef int32_t stop_cost(self) noexcept nogil
    cdef int64_t left(self) noexcept nogil
    cdef bint is_loose(self, State* state, int64_t left) noexcept nogil
    cdef int32_t need(self, State* state) except -1
    cdef bint affords(self, State* state, State* after, int64_t left) except -1
    cdef int withhold(self, State* state, uint32_t* words, int64_t left) except -1
