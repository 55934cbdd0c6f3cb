# Alternatives that say nothing new. See absorbing.pyx.
from libc.stdint cimport int32_t, uint8_t, uint64_t
from libcpp.vector cimport vector

from .nodes cimport Node

# The storage of a pool of nodes.
cdef struct Storage:
    const Node* nodes
    const int32_t* lists
    const uint64_t* sets
    const uint8_t* pool

cdef void absorb(const Storage& storage, vector[int32_t]& parts) noexcept nogil
