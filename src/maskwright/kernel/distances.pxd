# Data dictionary of distances. See distances.pyx.
from libc.stdint cimport int32_t
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from .lexemes cimport LexemeTable

# "No bound", and "not known".
cdef enum:
    UNBOUNDED = 2147483647

cdef class Distances:
    cdef LexemeTable table
    cdef unordered_map[int32_t, int32_t] known      # of boolean nodes
    cdef int32_t of(self, int32_t lex) noexcept nogil
    cdef int32_t noted(self, int32_t lex) noexcept nogil
    cdef int32_t of_arrangement(self, int32_t lex) noexcept nogil
    cdef int32_t by_parts(self, int32_t lex, int depth) noexcept nogil
    cdef int32_t search(self, int32_t lex, size_t limit) noexcept nogil
