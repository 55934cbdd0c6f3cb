# Data dictionary of clipping. See clipping.pyx.
from libc.stdint cimport int32_t
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from .lexemes cimport LexemeTable

cdef struct Clipped:
    int32_t node        # the lexeme without its distant upper bounds; a negative code if it failed
    int32_t bound       # both agree on all strings of at most so many bytes

cdef class Clipper:
    cdef LexemeTable table
    cdef int32_t near           # bounds nearer than this are kept
    cdef bint under_not         # whether bounds under NOT are dropped too
    cdef unordered_map[int32_t, Clipped] memo

    cdef Clipped clip(self, int32_t node, int depth) noexcept nogil
    cdef Clipped rebuild(self, int32_t node, int depth) noexcept nogil
