# Data dictionary of the summaries. See summaries.pyx.
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libcpp.deque cimport deque
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from .families cimport SPARSE_LIMIT, CountedBase, FamilyTable
from .trie cimport Trie
from .walking cimport UNBOUNDED, Exits, Family, Found, Place, Range

# What one lexeme state says about all tokens, whatever the grammar around it.
cdef struct Summary:
    vector[int32_t] inner       # tokens that stay inside the lexeme or end exactly with it, beyond `bits`
    uint32_t* bits              # more of them as a bitmask, shared or owned; NULL for none
    int64_t n_bits              # number of bits set in `bits`
    bint owns_bits
    vector[int32_t] removed     # ids in `bits` that are not legal after all
    Exits* exits                # shared; NULL for none
    int32_t least               # exits count only after at least so many repetitions
    int32_t most                # and at most so many
    vector[int32_t] barred      # ids in `exits` that are not legal, sorted

# What a bound changes about a base's tokens.
cdef struct Selection:
    vector[int32_t] more        # legal beyond the prefix
    vector[int32_t] fewer       # in the prefix and not legal

cdef inline bint holds(vector[int32_t]& ordered, int32_t value) noexcept nogil:
    cdef size_t low = 0, high = ordered.size(), middle
    while low < high:
        middle = (low + high) >> 1
        if ordered[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low < ordered.size() and ordered[low] == value

cdef class SummaryTable(FamilyTable):
    cdef vector[Summary*] by_node
    cdef deque[Summary] summaries
    cdef Summary* of(self, int32_t lex) noexcept nogil
    cdef Summary* fresh(self) noexcept nogil
    cdef Summary* plain(self, int32_t lex) noexcept nogil
    cdef void set_inner(self, Summary* summary, vector[int32_t]& tokens) noexcept nogil
    cdef Summary* counted(self, int32_t lex) noexcept nogil
    cdef Selection select(self, int32_t lex, Family* family, CountedBase* base, int32_t sure, int32_t most) noexcept nogil
    cdef void judge(
        self,
        int32_t lex,
        Family* family,
        CountedBase* base,
        int32_t sure,
        const Found& found,
        bint closed,
        unordered_map[uint64_t, uint8_t]& alive,
        Selection* selection,
    ) noexcept nogil
    cdef void settle(self, Summary* summary, vector[int32_t]& more, vector[int32_t]& fewer) noexcept nogil
    cdef bint bounded_alive(self, int32_t lex, const Found& found) noexcept nogil
    cdef Summary* difference(self, int32_t lex) noexcept nogil
