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
    uint64_t groups             # groups of bytes (see trie.pxd)

cdef inline void common_tokens(
    Residual* residual, const uint32_t* row, int32_t n_words, size_t most, vector[int32_t]& found
) noexcept nogil:
    """Tokens of a set whose bits are set in a row, so many at most."""
    cdef int32_t word, token
    cdef size_t i
    found.clear()
    if residual.bits != NULL:
        for word in range(n_words):
            if residual.bits[word] & row[word]:
                for token in range(32 * word, 32 * word + 32):
                    if ((residual.bits[word] & row[word]) >> (token & 31)) & 1:
                        found.push_back(token)
                if found.size() >= most:
                    return
    for i in range(residual.tokens.size()):
        token = residual.tokens[i]
        if (row[token >> 5] >> (token & 31)) & 1 and found.size() < most:
            found.push_back(token)

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
