# Data dictionary of what lexemes require. See requiring.pyx.
from libc.stdint cimport int32_t, uint8_t, uint64_t
from libcpp.utility cimport pair
from libcpp.map cimport map
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from .distances cimport Distances
from .lexemes cimport LexemeTable

cdef class Requirements:
    cdef LexemeTable table
    cdef Distances distances
    cdef unordered_map[int32_t, uint64_t] memo
    cdef map[pair[int32_t, uint64_t], uint8_t] known
    cdef uint64_t required(self, int32_t node, int depth) noexcept nogil
    cdef uint64_t compute_required(self, int32_t node, int depth) noexcept nogil
    cdef bint can_do_without(self, int32_t node, uint64_t groups) noexcept nogil
    cdef bint explore(self, int32_t node, uint64_t groups) noexcept nogil
    cdef bint lacks(self, int32_t node, uint64_t below, uint64_t* without) noexcept nogil
    cdef unordered_map[int32_t, int32_t] reaches
    cdef int32_t n_given_up             # times that a lexeme had too many states to say what it can do without
    cdef bint falls_short(self, int32_t keep, int32_t difference, int32_t n_bytes) noexcept nogil
    cdef int32_t reach(self, int32_t node) noexcept nogil
    cdef bint spares(self, int32_t keep, int32_t difference, uint64_t below) noexcept nogil
