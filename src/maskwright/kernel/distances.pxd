# Data dictionary of distances. See distances.pyx.
from libc.stdint cimport int32_t
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from .lexemes cimport LexemeTable
from .nodes cimport Node

# "No bound", and "not known".
cdef enum:
    UNBOUNDED = 2147483647

cdef class Distances:
    cdef LexemeTable table
    cdef vector[int32_t] bounds                     # per node: 1 + its lower bound; 0 until asked for
    cdef unordered_map[int32_t, int32_t] trie_bounds
    cdef unordered_map[int32_t, int32_t] dfa_bounds
    cdef unordered_map[int32_t, int32_t] known      # of boolean nodes
    cdef bint cut                                   # nesting was too deep for a bound to be what it should be
    cdef int32_t of(self, int32_t lex) noexcept nogil
    cdef int32_t noted(self, int32_t lex) noexcept nogil
    cdef int32_t by_parts(self, int32_t lex, int depth) noexcept nogil
    cdef int32_t measured(self, int32_t part, int depth) noexcept nogil
    cdef int32_t search(self, int32_t lex, size_t limit) noexcept nogil
    cdef int32_t lower(self, int32_t node, int depth) noexcept nogil
    cdef int32_t compute_lower(self, int32_t node, int depth) noexcept nogil
    cdef int32_t arrangement_lower(self, const Node* rec, int depth) noexcept nogil
    cdef int32_t trie_lower(self, int32_t leaf) noexcept nogil
    cdef int32_t dfa_lower(self, int32_t leaf) noexcept nogil
