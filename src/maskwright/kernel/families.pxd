# Data dictionary of the families. See families.pyx.
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libcpp.deque cimport deque
from libcpp.unordered_map cimport unordered_map
from libcpp.unordered_set cimport unordered_set
from libcpp.vector cimport vector

from .alphabets cimport Selected
from .clipping cimport Clipper
from .closures cimport Closure
from .lexemes cimport LexemeTable
from .trie cimport TokenTrie, Trie
from .walking cimport UNBOUNDED, ByteSet, Exits, Family, Found, Range, Walker

# A set of more tokens than this is kept as a bitmask: setting bits one by one costs about a
# nanosecond each, copying 16 KB about 200.
cdef enum:
    SPARSE_LIMIT = 256

# A token, or an exit from the lexeme, for which raised bounds drop by much (raising.pyx).
cdef struct Strain:
    int32_t drop                # on the way there and from there to the end
    int32_t token               # -1: an exit
    int32_t node                # of an exit: where in the vocabulary's trie
    int32_t depth               # and how many bytes below the root that is

# What a counted lexeme says, before its bounds are looked at.
cdef struct CountedBase:
    vector[Found] tokens        # found one by one; most repetitions first
    vector[int32_t] n_above     # for each count the number of those with more
    vector[Range] ranges        # and in whole subtrees; by `low`
    Selected* selected          # and by their characters, all of which lead back to `lex`; NULL for none
    int32_t lex
    vector[Found] ends          # those in which the repetition is over
    vector[uint32_t*] up_to     # bitmask of tokens with at most this count; NULL until asked for
    vector[uint32_t*] inside_up_to  # the same without those in which the repetition is over
    vector[int64_t] n_up_to
    vector[int64_t] n_inside_up_to
    unordered_map[int32_t, int32_t] margins     # per lexeme state: repetitions that suffice to end
    unordered_map[int32_t, int32_t] range_margins # the same for the closures of ranges
    bint measured               # the margins are there
    int32_t margin              # the largest of them; UNBOUNDED if one is not known
    bint rigid                  # some state cannot be drawn out to any length
    Exits* exits
    vector[Strain] strains      # of a raised lexeme; the largest drop first
    int32_t drop                # the most in all of it that is not among `strains`
    int32_t max_count
    void* unbounded             # summary of a member whose bounds no token can reach (a Summary); NULL until asked for
    int64_t n_tokens

cdef class FamilyTable(Walker):
    cdef Clipper clipper
    cdef unordered_map[uint64_t, CountedBase*] bases
    cdef deque[CountedBase] base_pool
    cdef unordered_set[int32_t] raised_once     # raised bases by bytes that one member has asked for
    cdef bint family_of(self, int32_t lex, Family* family) noexcept nogil
    cdef bint clipped_family(self, int32_t lex, Family* family) noexcept nogil
    cdef bint is_wide(self, int32_t lex) noexcept nogil
    cdef bint split_repeat(self, int32_t lex, Family* family) noexcept nogil
    cdef CountedBase* base_of(self, Family* family) noexcept nogil
    cdef CountedBase* wider_base(self, Family* family, int32_t* least) noexcept nogil
    cdef CountedBase* raised_base(self, int32_t lex, Family* family, int32_t* least) noexcept nogil
    cdef CountedBase* serving_base(self, Family* family, int32_t least) noexcept nogil
    cdef void note_strains(self, CountedBase* base, Family* family) noexcept nogil
    cdef uint64_t single_characters(self, Family* family) noexcept nogil
    cdef void sort_base(self, CountedBase* base) noexcept nogil
    cdef bint is_taken(self, CountedBase* base, int32_t entry, Range* taken) noexcept nogil
    cdef bint measure(self, CountedBase* base, Family* family) noexcept nogil
    cdef void measure_closure(self, CountedBase* base, Family* family, int32_t lex, int32_t least) noexcept nogil
    cdef int32_t note_margin(
        self, CountedBase* base, int32_t lex, int32_t distance, int32_t least
    ) noexcept nogil
    cdef bint draws_out(self, int32_t lex, Family* family) noexcept nogil
    cdef uint32_t* prefix_bits(
        self, CountedBase* base, int32_t most, bint inside, bint by_bytes
    ) noexcept nogil
    cdef void low_prefixes(self, CountedBase* base, bint inside, bint by_bytes) noexcept nogil
    cdef uint32_t* full_prefix(self, CountedBase* base, bint inside) noexcept nogil
