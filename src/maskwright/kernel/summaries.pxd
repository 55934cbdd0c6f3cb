# Data dictionary of the summaries. See summaries.pyx.
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libcpp.deque cimport deque
from libcpp.string cimport string
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from .alphabets cimport Selected
from .contrasting cimport ContrastTable
from .differences cimport Difference, Differences
from .families cimport SPARSE_LIMIT, CountedBase
from .trie cimport Trie
from .walking cimport UNBOUNDED, Exits, Family, Found, Place, Range

# Tokens in which a lexeme ends and that go on, as far as they count.
cdef struct ExitGroup:
    Exits* exits                # shared
    int32_t least               # exits count only after at least so many repetitions
    int32_t most                # and at most so many
    vector[int32_t] barred      # ids in `exits` that are not legal, sorted

# What one lexeme state says about all tokens, whatever the grammar around it.
cdef struct Summary:
    vector[int32_t] inner       # tokens that stay inside the lexeme or end exactly with it, beyond `bits`
    uint32_t* bits              # more of them as a bitmask, shared or owned; NULL for none
    int64_t n_bits              # at least the number of bits set in `bits`
    bint owns_bits
    bint common                 # 1: of more than one lexeme state
    vector[int32_t] removed     # ids in `bits` that are not legal after all
    vector[ExitGroup] exits

# What a bound changes about a base's tokens.
cdef struct Selection:
    vector[int32_t] more        # legal beyond the prefix
    vector[int32_t] fewer       # in the prefix and not legal

cdef inline bint has_bit(const uint32_t* bits, int32_t token) noexcept nogil:
    return (bits[token >> 5] >> (token & 31)) & 1

cdef inline bint holds(vector[int32_t]& ordered, int32_t value) noexcept nogil:
    cdef size_t low = 0, high = ordered.size(), middle
    while low < high:
        middle = (low + high) >> 1
        if ordered[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low < ordered.size() and ordered[low] == value

cdef uint32_t* self_owned(
    uint32_t* base, bint owned, vector[int32_t]& removed, int32_t n_words
) noexcept nogil

cdef void add_summary(uint32_t* bits, Summary* summary, int32_t n_words) noexcept nogil

cdef class SummaryTable(ContrastTable):
    cdef Differences differences
    cdef vector[Summary*] by_node
    cdef unordered_map[string, Summary*] unions     # bitmasks of several wide summaries, by which those are
    cdef deque[Summary] summaries
    cdef bint widening          # a summary is being made for one that begins with fewer bytes
    cdef Summary* of(self, int32_t lex) noexcept nogil
    cdef int64_t wide_union(
        self, vector[Summary*]& parts, uint32_t** bits, vector[int32_t]& removed
    ) noexcept nogil
    cdef Summary* fresh(self) noexcept nogil
    cdef void add_exits(self, Summary* summary, Exits* exits, int32_t least, int32_t most) noexcept nogil
    cdef Summary* of_union(self, int32_t lex) noexcept nogil
    cdef bint split_union(self, int32_t lex, vector[int32_t]& parts) noexcept nogil
    cdef bint is_summarised(self, int32_t lex) noexcept nogil
    cdef Summary* plain(self, int32_t lex) noexcept nogil
    cdef Summary* counted(self, int32_t lex) noexcept nogil
    cdef Selected* coast(self, int32_t lex, int32_t* slack) noexcept nogil
    cdef Summary* out_of_reach(self, Family* family, CountedBase* base) noexcept nogil
    cdef Selection select(self, int32_t lex, Family* family, CountedBase* base, int32_t sure, int32_t most) noexcept nogil
    cdef void relieve(
        self, int32_t lex, CountedBase* base, int32_t least, Summary* summary, Selection* selection
    ) noexcept nogil
    cdef bint may_end_at(self, int32_t lex, int32_t token, int32_t depth) noexcept nogil
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
    cdef Summary* of_wider(self, int32_t lex, vector[int32_t]& gone) noexcept nogil
