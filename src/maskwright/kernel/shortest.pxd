# Data dictionary of the shortest ways. See shortest.pyx.
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint64_t
from libcpp.unordered_map cimport unordered_map
from libcpp.unordered_set cimport unordered_set
from libcpp.vector cimport vector

from .distances cimport UNBOUNDED, Distances
from .lexemes cimport LexemeTable
from .network cimport NetEdge, Network

cdef extern from *:
    """
    #define MW_FAR ((int64_t)1 << 60)
    """
    int64_t MW_FAR              # more than any cost: there is no way, or none was found

# The first step of the cheapest way from a node to the end of its rule.
cdef struct Way:
    int64_t cost                # of the whole way
    int32_t edge                # -1: the rule ends here
    int32_t register            # after the edge

# A place that a search has met.
cdef struct Stop:
    int64_t cost                # from where the search began
    int32_t node
    int32_t register
    int32_t parent              # index of a Stop; -1 for the first
    int32_t edge                # that leads here from the parent
    uint8_t kind                # STOP_*

cdef class Shortest:
    cdef LexemeTable table
    cdef Network network
    cdef Distances distances
    cdef unordered_set[int32_t] long_searches       # lexemes for which a short search was not enough
    cdef unordered_map[int32_t, int16_t] first_bytes
    cdef unordered_map[uint64_t, Way] ways          # by node and register
    cdef vector[int64_t] rule_costs                 # CODE_UNKNOWN until asked for
    cdef vector[int32_t] open_rules                 # being solved: each waits for the next
    cdef vector[uint8_t] is_open
    cdef vector[int32_t] provisional                # rules solved while others were open
    cdef bint recursive                             # an open rule was met again
    cdef int32_t needed                             # rule that a search needs first
    # Scratch of one search.
    cdef vector[Stop] stops
    cdef vector[int32_t] members                    # that some edge of the rule asks for
    cdef vector[int32_t] counters                   # pairs: counter, least value that some edge asks for

    cdef int64_t distance(self, int32_t lex) noexcept nogil
    cdef int first_byte(self, int32_t lex) noexcept nogil
    cdef int64_t way(self, int32_t node, int32_t register, Way* found) noexcept nogil
    cdef int64_t solve(self) noexcept nogil
    cdef int64_t cheapest(self, int32_t node, int32_t register, bint keep) noexcept nogil
    cdef int64_t search(self, int32_t node, int32_t register, bint keep, bint by_progress) noexcept nogil
    cdef int64_t edge_cost(self, NetEdge* edge, int32_t* register) noexcept nogil
    cdef int32_t after_fresh(self, NetEdge* edge, int32_t lex, int32_t register) noexcept nogil
    cdef void find_goals(self, int32_t node) noexcept nogil
    cdef int64_t progress(self, int32_t register) noexcept nogil
    cdef void keep_ways(self, int32_t last, int64_t total) noexcept nogil
