# Data dictionary of lowering. See lowering.pyx.
from libc.stdint cimport int32_t, uint8_t
from libcpp.vector cimport vector

from ..records cimport Repeat

# An edge as in network.pxd, between nodes that are numbered within the rule.
cdef struct LocalEdge:
    int32_t source
    int32_t target
    int32_t kind
    int32_t label       # index into `labels`; -1 for none
    int32_t action
    int32_t a
    int32_t b
    int32_t c

# The nodes and edges of one rule. Node 0 is the start, 1 the end; no edge leaves the end.
cdef class Fragment:
    cdef readonly int32_t n_nodes
    cdef vector[LocalEdge] edges    # once sorted, by source
    cdef vector[int32_t] first      # per node, its first edge; then one more
    cdef list labels    # a Lexeme, a list of lexemes (one after another), a Rule, or a tuple of token ids

    cdef inline int32_t node(self) noexcept
    cdef void add(self, int32_t source, int32_t kind, int32_t target, label)
    cdef void act(self, int32_t source, int32_t target, int action, int32_t a, int32_t b, int32_t c)
    cdef int build(self, expr, int32_t source, int32_t target) except -1
    cdef int build_parts(self, expr, int32_t source, int32_t target) except -1
    cdef int sequence(self, tuple parts, int32_t source, int32_t target) except -1
    cdef int repetition(self, Repeat expr, int32_t source, int32_t target) except -1
    cdef int counted(self, Repeat expr) except -1
    cdef void sort(self) noexcept nogil
    cdef list calls(self)
    cdef list first_calls(self)

cdef Fragment lower(rule)
