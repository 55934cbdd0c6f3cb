# Bounds raised out of every token's reach. See raising.pyx.
from libc.stdint cimport int32_t, uint8_t
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from .distances cimport Distances
from .lexemes cimport LexemeTable

# What upper bounds are raised to, the least that is, and the least of parts that are never long.
cdef enum:
    RAISED = 1048576
    RAISED_FROM = 2
    FAR_FROM = 24

# A lexeme with its upper bounds raised.
cdef struct Raised:
    int32_t node
    int32_t least               # of the bounds that were raised; UNBOUNDED for none
    bint by_bytes               # 1: some are of parts that are never long

cdef class Raiser:
    cdef LexemeTable table
    cdef Distances distances
    cdef unordered_map[int32_t, Raised] memo
    cdef vector[int32_t] drops          # per node: 1 + drop; 0 until asked for
    cdef unordered_map[int32_t, int32_t] ends
    cdef Raised raise_bounds(self, int32_t node, int depth) noexcept nogil
    cdef Raised rebuild(self, int32_t node, int depth) noexcept nogil
    cdef bint is_endless(self, int32_t node, int depth) noexcept nogil
    cdef int32_t drop(self, int32_t node, int depth) noexcept nogil
    cdef int32_t compute_drop(self, int32_t node, int depth) noexcept nogil
    cdef int32_t drop_to_end(self, int32_t node) noexcept nogil
    cdef int32_t search_end(self, int32_t node) noexcept nogil
