# Data dictionary of the summaries. See summaries.pyx.
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libcpp.deque cimport deque
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from .clipping cimport Clipper
from .lexemes cimport LexemeTable
from .trie cimport TokenTrie, Trie

# A set of more tokens than this is kept as a bitmask: setting bits one by one costs about a
# nanosecond each, copying 16 KB about 200.
cdef enum:
    SPARSE_LIMIT = 256

# Suffixes left over when a lexeme ends inside a token, as a trie of their own.
cdef struct Exits:
    Trie trie
    vector[int16_t] counts      # per entry of trie.ids: repetitions before the exit (counted lexemes)
    int32_t max_count
    int32_t max_length          # bytes of the longest token in it

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

# A token found by walking a lexeme state.
cdef struct Found:
    int32_t token
    int32_t count               # repetitions begun (counted lexemes)
    int32_t lex                 # lexeme state after it
    uint8_t after               # 1: the repetition is over in it

# Tokens taken as a whole subtree: entries `low` to `high` of the vocabulary trie's `ids`.
cdef struct Range:
    int32_t low
    int32_t high
    int32_t lex                 # a lexeme state; after each of them is one of its closure
    int32_t more                # count of an entry = this + its number of character-beginning bytes

# A set of bytes.
cdef struct ByteSet:
    uint64_t[4] words

# How a counted lexeme is made up: `part{low,high} rest`, possibly in conjunction with others.
cdef struct Family:
    int32_t part                # the repeated node, a prefix code; -1: bytes of a clipped lexeme
    int32_t low
    int32_t high                # -1: unbounded
    int32_t rest                # what follows; starts with other bytes than `part`
    int32_t base                # the whole lexeme without bounds
    int32_t counter             # `part* rest` alone
    ByteSet single              # bytes that are one repetition on their own (set by base_of)
    uint8_t characters          # 1: characters of several bytes are one repetition each (the same)

# What a counted lexeme says, before its bounds are looked at.
cdef struct CountedBase:
    vector[Found] tokens        # found one by one; most repetitions first
    vector[int32_t] n_above     # for each count the number of those with more
    vector[Range] ranges        # and in whole subtrees; by `low`
    vector[Found] ends          # those in which the repetition is over
    vector[uint32_t*] up_to     # bitmask of tokens with at most this count; NULL until asked for
    vector[uint32_t*] inside_up_to  # the same without those in which the repetition is over
    vector[int64_t] n_up_to
    vector[int64_t] n_inside_up_to
    unordered_map[int32_t, int32_t] margins     # per lexeme state: repetitions that suffice to end
    unordered_map[int32_t, int32_t] range_margins # the same for the closures of ranges
    int32_t margin              # the largest of them; UNBOUNDED if one is not known
    bint rigid                  # some state cannot be drawn out to any length
    Exits* exits
    int32_t max_count
    int64_t n_tokens

# What a bound changes about a base's tokens.
cdef struct Selection:
    vector[int32_t] more        # legal beyond the prefix
    vector[int32_t] fewer       # in the prefix and not legal

# Somewhere in a trie, in the middle of a lexeme.
cdef struct Place:
    int32_t node
    int32_t lex
    int32_t depth
    int32_t leads               # bytes on the way here that begin a character
    int32_t counter             # state of Family.counter
    int32_t count
    uint8_t after

cdef inline bint holds(vector[int32_t]& ordered, int32_t value) noexcept nogil:
    cdef size_t low = 0, high = ordered.size(), middle
    while low < high:
        middle = (low + high) >> 1
        if ordered[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low < ordered.size() and ordered[low] == value

# Bytes that lead from a state to states from which all of them lead on, none of which may end.
cdef struct Closure:
    uint64_t[2] ascii           # single bytes
    uint8_t characters          # 1: and all characters of several bytes
    int32_t margin              # bytes that suffice to end from any of the states; UNBOUNDED if not known
    uint8_t loose               # 1: each of the states can be drawn out (see draws_out)

cdef class SummaryTable:
    cdef readonly TokenTrie vocabulary
    cdef LexemeTable table
    cdef Clipper clipper
    cdef readonly int32_t n_words
    cdef readonly long long memory_size_bytes
    cdef vector[Summary*] by_node
    cdef unordered_map[uint64_t, CountedBase*] bases
    cdef unordered_map[int32_t, int32_t] distances
    cdef unordered_map[int32_t, uint8_t] codes      # 1: the node is a prefix code (see is_code)
    # Deques own what is pointed at: their elements never move.
    cdef deque[Summary] summaries
    cdef deque[Exits] exit_sets
    cdef deque[CountedBase] base_pool
    cdef vector[Place] places                       # scratch
    cdef vector[Place] exit_places
    cdef vector[Found] found
    cdef vector[Range] ranges
    cdef unordered_map[int32_t, Closure] closures
    cdef unordered_map[uint64_t, Exits*] known_exits # by what they are made of

    cdef Summary* of(self, int32_t lex) noexcept nogil
    cdef Summary* plain(self, int32_t lex) noexcept nogil
    cdef Summary* counted(self, int32_t lex) noexcept nogil
    cdef Summary* difference(self, int32_t lex) noexcept nogil
    cdef Summary* fresh(self) noexcept nogil
    cdef uint32_t* new_bits(self) noexcept nogil
    cdef void set_inner(self, Summary* summary, vector[int32_t]& tokens) noexcept nogil
    cdef bint walk(self, int32_t lex, Family* family) noexcept nogil
    cdef bint take_subtree(self, Place* place, Family* family) noexcept nogil
    cdef Exits* merged_exits(self) noexcept nogil
    cdef bint family_of(self, int32_t lex, Family* family) noexcept nogil
    cdef bint clipped_family(self, int32_t lex, Family* family) noexcept nogil
    cdef bint is_wide(self, int32_t lex) noexcept nogil
    cdef bint split_repeat(self, int32_t lex, Family* family) noexcept nogil
    cdef CountedBase* base_of(self, Family* family) noexcept nogil
    cdef void sort_base(self, CountedBase* base) noexcept nogil
    cdef Closure* closure_of(self, int32_t lex) noexcept nogil
    cdef bint explore(self, int32_t lex, Closure* closure, vector[int32_t]& inside) noexcept nogil
    cdef bint characters_lead_on(self, int32_t lex, vector[int32_t]& targets) noexcept nogil
    cdef bint takes_most(self, int32_t lex, Closure* closure) noexcept nogil
    cdef bint counts_characters(self, Family* family) noexcept nogil
    cdef Selection select(self, int32_t lex, Family* family, CountedBase* base, int32_t sure, int32_t most) noexcept nogil
    cdef bint measure(self, CountedBase* base, Family* family) noexcept nogil
    cdef bint has_loop(self, int32_t lex, Closure* closure) noexcept nogil
    cdef int32_t note_margin(
        self, CountedBase* base, int32_t lex, int32_t distance, int32_t least
    ) noexcept nogil
    cdef int32_t distance(self, int32_t lex) noexcept nogil
    cdef bint bounded_alive(self, int32_t lex, const Found& found) noexcept nogil
    cdef uint32_t* prefix_bits(
        self, CountedBase* base, int32_t most, bint inside, bint by_bytes
    ) noexcept nogil
    cdef uint32_t* full_prefix(
        self, CountedBase* base, int32_t most, bint inside, bint by_bytes
    ) noexcept nogil
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
    cdef bint draws_out(self, int32_t lex, Family* family) noexcept nogil
    cdef bint is_code(self, int32_t part) noexcept nogil
    cdef bint starts_apart(self, int32_t part, int32_t rest) noexcept nogil
