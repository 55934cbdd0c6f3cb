# Data dictionary of how many texts lexemes have. See plenty.pyx.
from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from .lexemes cimport LexemeTable

cdef class Plenty:
    cdef LexemeTable table
    cdef unordered_map[int64_t, uint8_t] plenty     # by node, and whether endlessly many were asked for
    cdef unordered_map[int32_t, uint8_t] few
    cdef bint has(self, int32_t lex, bint endless) noexcept nogil
    cdef bint find(self, int32_t lex, bint endless) noexcept nogil
    cdef bint is_few(self, int32_t node, int depth) noexcept nogil
    cdef bint compute_few(self, int32_t node, int depth) noexcept nogil
    cdef bint ends_soon(self, int32_t dfa_state) noexcept nogil
