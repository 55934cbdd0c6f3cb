# Data dictionary of simplifying. See simplifying.pyx.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libcpp.map cimport map
from libcpp.utility cimport pair
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from .lexemes cimport LexemeTable

# How many words of a code the strings of a node are made of. `low` < 0: they are not, or that is not plain.
cdef struct Counts:
    int64_t low
    int64_t high                # MANY: no bound

cdef class Simplifier:
    cdef LexemeTable table
    cdef unordered_map[int32_t, int32_t] memo
    cdef unordered_map[int32_t, uint8_t] codes      # 1: the node is a prefix code
    cdef unordered_map[uint64_t, uint8_t] subsets
    cdef unordered_map[uint64_t, uint8_t] apart
    cdef map[pair[pair[int32_t, int32_t], int32_t], Counts] known_counts

    cdef int32_t simplify(self, int32_t node, int depth) noexcept nogil
    cdef int32_t rebuild(self, int32_t node, int depth) noexcept nogil
    cdef int32_t conjunction(self, vector[int32_t]& kids) noexcept nogil
    cdef bint absorb(self, vector[int32_t]& kids) noexcept nogil
    cdef bint split(self, int32_t node, int32_t* part, int32_t* low, int32_t* high, int32_t* rest) noexcept nogil
    cdef bint is_plainly_live(self, int32_t node, int depth) noexcept nogil
    cdef int64_t some_count(self, int32_t node, int32_t code, int32_t rest, int depth) noexcept nogil
    cdef Counts counts(self, int32_t node, int32_t code, int32_t rest, int depth) noexcept nogil
    cdef Counts compute_counts(self, int32_t node, int32_t code, int32_t rest, int depth) noexcept nogil
    cdef Counts counts_literal(self, int32_t node, int32_t code, int32_t rest, int depth) noexcept nogil
    cdef bint is_subset(self, int32_t small, int32_t large) noexcept nogil
    cdef bint compare(self, int32_t small, int32_t large) noexcept nogil
    cdef bint is_code(self, int32_t part) noexcept nogil
    cdef bint starts_apart(self, int32_t part, int32_t rest) noexcept nogil
    cdef bint no_common_start(self, int32_t part, int32_t rest) noexcept nogil
