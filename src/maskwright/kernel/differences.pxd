# Data dictionary of differences. See differences.pyx.
from libc.stdint cimport int32_t, uint8_t
from libcpp.unordered_map cimport unordered_map
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from .lexemes cimport LexemeTable
from .plenty cimport Plenty
from .requiring cimport Requirements
from .simplifying cimport Simplifier
from .trie cimport TokenTrie, Trie

# `lex` is `(keep and not dropped ...) rest`, and `whole` is `keep rest`.
cdef struct Difference:
    int32_t lex
    int32_t whole               # NODE_EMPTY if the lexeme is no difference
    int32_t keep
    int32_t rest
    vector[int32_t] dropped

# A node of the vocabulary's trie, and where two lexemes stand after its bytes.
cdef struct Beside:
    int32_t node
    int32_t keep
    int32_t other
    int32_t depth               # of the node: bytes

cdef class Differences:
    cdef TokenTrie vocabulary
    cdef LexemeTable table
    cdef Requirements requirements
    cdef readonly Plenty plenty
    cdef unordered_map[int32_t, int32_t] farthest   # see `farthest_end`
    cdef vector[pair[int32_t, int32_t]] ways    # scratch: child of a trie node, state of what is dropped
    cdef Difference take_apart(self, int32_t lex) noexcept nogil
    cdef int32_t wider(self, int32_t lex, vector[int32_t]& gone) noexcept nogil
    cdef int32_t next_of_most(self, int32_t lex) noexcept nogil
    cdef bint lost(self, Difference* what, vector[int32_t]& gone) noexcept nogil
    cdef bint lost_to_few(self, Difference* what, vector[int32_t]& gone) noexcept nogil
    cdef bint lost_to_one(self, Difference* what, int32_t dropped, vector[int32_t]& gone) noexcept nogil
    cdef bint note_lost(self, Difference* what, const Beside* at, vector[int32_t]& gone) noexcept nogil
    cdef void find_ways(self, int32_t node, int32_t dropped) noexcept nogil
    cdef bint lost_side_by_side(self, Difference* what, vector[int32_t]& gone) noexcept nogil
    cdef bint is_too_short(self, const Beside* at) noexcept nogil
    cdef int32_t farthest_end(self, int32_t keep) noexcept nogil
    cdef int32_t find_farthest(self, int32_t keep) noexcept nogil
    cdef void lose(self, int32_t low, int32_t high, vector[int32_t]& gone) noexcept nogil
