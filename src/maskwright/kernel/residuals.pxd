# Data dictionary of the residuals. See residuals.pyx.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libcpp.deque cimport deque
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from .lexemes cimport LexemeTable
from .shortest cimport Shortest
from .summaries cimport SummaryTable
from .trie cimport TokenTrie

# The tokens that lead from one lexeme state to one other.
cdef struct Residual:
    int32_t lex                 # the state after them
    vector[int32_t] tokens      # few of them,
    uint32_t* bits              # or many; NULL for none

cdef struct Partition:
    vector[Residual] residuals

# The characters that leave a state as it is: nearly all, in the body of a string.
cdef struct Home:
    uint64_t[2] ascii
    bint characters             # and all of several bytes

cdef inline int32_t first_common(Residual* residual, const uint32_t* row, int32_t n_words) noexcept nogil:
    """A token of a set whose bit is set in a row; -1 if there is none."""
    cdef int32_t word, token
    cdef size_t i
    if residual.bits != NULL:
        for word in range(n_words):
            if residual.bits[word] & row[word]:
                for token in range(32 * word, 32 * word + 32):
                    if ((residual.bits[word] & row[word]) >> (token & 31)) & 1:
                        return token
    for i in range(residual.tokens.size()):
        token = residual.tokens[i]
        if (row[token >> 5] >> (token & 31)) & 1:
            return token
    return -1

cdef class ResidualTable:
    cdef TokenTrie vocabulary
    cdef LexemeTable table
    cdef SummaryTable summaries
    cdef unordered_map[int32_t, Partition*] partitions
    cdef deque[Partition] pool
    cdef unordered_map[int32_t, int64_t] reaches
    cdef readonly long long memory_size_bytes

    cdef Partition* of(self, int32_t lex) noexcept nogil
    cdef int32_t base_of(self, int32_t lex, bint* exact) noexcept nogil
    cdef Home home_of(self, int32_t lex) noexcept nogil
    cdef bint stays(self, int32_t node, const Home& home) noexcept nogil
    cdef void add(self, Partition* partition, unordered_map[int32_t, int32_t]& places, int32_t lex, int32_t low, int32_t high) noexcept nogil
    cdef void settle(self, Residual* residual) noexcept nogil
    cdef int64_t reach(self, int32_t lex, Shortest shortest) noexcept nogil
