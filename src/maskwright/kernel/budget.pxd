# Data dictionary of the budgets. See budget.pyx.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from .automaton cimport Automaton, Item, State
from .completion cimport Completions
from .masks cimport MaskBuilder
from .residuals cimport Residual, ResidualTable
from .summaries cimport ExitGroup, Summary

# A token and a number of tokens that suffices after it, by way of one item.
cdef struct Single:
    int32_t token
    int32_t need

# Tokens that stay inside one lexeme and leave it in one state.
cdef struct Group:
    Residual* residual
    int32_t need

# What the legal tokens of a state cost.
cdef struct Prices:
    vector[Single] singles
    vector[Item] wide           # items of whose tokens most are in no single; their `ret` is absolute
    vector[Group] groups        # of `wide`; empty until asked for
    bint grouped

cdef class Budgets(Completions):
    cdef MaskBuilder masks
    cdef ResidualTable residuals
    cdef unordered_map[size_t, Prices] prices       # by state
    # Scratch of one state.
    cdef vector[uint32_t] row

    cdef int restrict(self, Automaton automaton, State* state, uint32_t* row, int64_t limit) noexcept nogil
    cdef Prices* prices_of(self, Automaton automaton, State* state, int* code) noexcept nogil
    cdef int add_item(self, Automaton automaton, State* state, Item* item, Prices* prices) noexcept nogil
    cdef int add_exits(
        self, Automaton automaton, State* state, Item* item, ExitGroup* group, int64_t margin, Prices* prices
    ) noexcept nogil
    cdef int add_inner(
        self, Automaton automaton, Item* item, int32_t frame, Summary* summary, int64_t margin, Prices* prices
    ) noexcept nogil
    cdef int add_spelled(self, Automaton automaton, State* state, Item* item, Prices* prices) noexcept nogil
    cdef int32_t lexeme_after(self, int32_t lex, int32_t token) noexcept nogil
    cdef int32_t least_of(self, Automaton automaton, int32_t cell) noexcept nogil
    cdef void add_single(self, int32_t token, int64_t need, Prices* prices) noexcept nogil
    cdef int32_t bound_of(self, Automaton automaton, Item* item) noexcept nogil
    cdef int64_t margin_of(self, Automaton automaton, Item* item) noexcept nogil
    cdef void afford(self, Prices* prices, int64_t limit) noexcept nogil
    cdef bint all_priced(self, Prices* prices, const uint32_t* row) noexcept nogil
    cdef int group(self, Automaton automaton, State* state, Prices* prices) noexcept nogil
