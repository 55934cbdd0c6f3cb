# Data dictionary of lower bounds. See bounds.pyx.
from libc.stdint cimport int32_t, uint8_t
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from .nodes cimport Node, NodePool

# Longer than anything that matters; sums of two do not overflow.
cdef enum:
    FAR = 1000000000

cdef class BoundedPool(NodePool):
    cdef vector[int32_t] bounds                     # per node: 1 + its lower bound; 0 until asked for
    cdef unordered_map[int32_t, int32_t] trie_bounds
    cdef unordered_map[int32_t, int32_t] dfa_bounds
    cdef vector[uint8_t] inexact                    # per node: 1 if it is a bound only, though nothing is boolean
    cdef bint cut                                   # set where nesting or arithmetic hides what the bound should be
    cdef int32_t lower(self, int32_t node, int depth) noexcept nogil
    cdef int32_t compute_lower(self, int32_t node, int depth) noexcept nogil
    cdef int32_t arrangement_lower(self, const Node* rec, int depth) noexcept nogil
    cdef int32_t trie_lower(self, int32_t leaf) noexcept nogil
    cdef int32_t dfa_lower(self, int32_t leaf) noexcept nogil
