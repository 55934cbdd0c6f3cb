# Data dictionary of differences. See differences.pyx.
from libc.stdint cimport int32_t, uint8_t
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from .lexemes cimport LexemeTable
from .plenty cimport Plenty
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

cdef class Differences:
    cdef TokenTrie vocabulary
    cdef LexemeTable table
    cdef readonly Plenty plenty
    cdef vector[pair[int32_t, int32_t]] ways    # scratch: child of a trie node, state of what is dropped
    cdef Difference take_apart(self, int32_t lex) noexcept nogil
    cdef int32_t wider(self, int32_t lex, vector[int32_t]& gone) noexcept nogil
    cdef int32_t next_of_most(self, int32_t lex) noexcept nogil
    cdef bint lost_to_few(self, Difference* what, vector[int32_t]& gone) noexcept nogil
    cdef bint lost_to_one(self, Difference* what, int32_t dropped, vector[int32_t]& gone) noexcept nogil
    cdef bint note_lost(self, Difference* what, const Beside* at, vector[int32_t]& gone) noexcept nogil
    cdef void find_ways(self, int32_t node, int32_t dropped) noexcept nogil
    cdef void lose(self, int32_t low, int32_t high, vector[int32_t]& gone) noexcept nogil
