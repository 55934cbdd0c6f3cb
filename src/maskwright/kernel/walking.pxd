# Data dictionary of walking. See walking.pyx.
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libcpp.deque cimport deque
from libcpp.string cimport string
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from .alphabets cimport Alphabets, Selected
from .closures cimport Closure, ClosureTable
from .distances cimport UNBOUNDED, Distances
from .lexemes cimport LexemeTable
from .nodes cimport Node
from .raising cimport Raiser
from .simplifying cimport Simplifier
from .trie cimport TokenTrie, Trie

# Suffixes left over when a lexeme ends inside a token, as a trie of their own.
cdef struct Exits:
    Trie trie
    vector[int16_t] counts      # per entry of trie.ids: repetitions before the exit (counted lexemes)
    int32_t max_count
    int32_t max_length          # bytes of the longest token in it

# A token found by walking a lexeme state.
cdef struct Found:
    int32_t token
    int32_t count               # repetitions begun (counted lexemes)
    int32_t lex                 # lexeme state after it
    int32_t drop                # the most that raised bounds drop by in it (raising.pyx)
    uint8_t after               # 1: the repetition is over in it

# Tokens taken as a whole subtree: entries `low` to `high` of the vocabulary trie's `ids`. A walk finds them in order.
cdef struct Range:
    int32_t low
    int32_t high
    int32_t node                # the subtree
    int32_t lex                 # a lexeme state; after each of them is one of its closure
    int32_t drop                # as above, until after the longest of them
    int32_t more                # count of an entry = this + its number of character-beginning bytes

# A run of entries of a trie's `ids`.
cdef struct Span:
    int32_t low
    int32_t high

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
    bint raised                 # 1: other bounds in `base` are raised (raising.pyx)
    bint by_bytes               # 1: some of them are of parts that are never long
    ByteSet single              # bytes that are one repetition on their own (set by base_of)
    ByteSet starts              # bytes that begin a repetition (the same)
    uint64_t single_groups      # groups of which all characters are one repetition each

# Somewhere in a trie, in the middle of a lexeme.
cdef struct Place:
    int32_t node
    int32_t lex
    int32_t depth
    int32_t leads               # bytes on the way here that begin a character
    int32_t counter             # state of Family.counter
    int32_t count
    int32_t drop                # of raised bounds, at most so far
    uint8_t after
    uint8_t home                # 1: made of `Walker.home_groups` alone so far

cdef class Walker:
    cdef readonly TokenTrie vocabulary
    cdef LexemeTable table
    cdef readonly int32_t n_words
    cdef readonly long long memory_size_bytes
    cdef Distances distances
    cdef deque[Exits] exit_sets
    cdef unordered_map[string, Exits*] known_exits # by what they are made of
    cdef Simplifier simplifier
    cdef ClosureTable closures
    cdef Raiser raiser
    cdef uint32_t* all_bits                         # bitmask of all text tokens; NULL until asked for
    cdef vector[Place] places                       # scratch
    cdef vector[Place] exit_places
    cdef Alphabets alphabets
    cdef Selected* selected                         # tokens known by their characters; NULL for none
    cdef uint64_t home_groups                       # what those are made of
    cdef uint64_t away_groups                       # other groups of which something may stay inside
    cdef vector[Span] spans                         # tokens taken beside `selected`
    cdef int64_t n_taken                            # and their number
    cdef vector[Found] found
    cdef vector[Range] ranges
    cdef bint walk(self, int32_t lex, Family* family) noexcept nogil
    cdef int32_t step(self, int32_t lex, uint8_t byte) noexcept nogil
    cdef void take_alphabets(self, int32_t lex, Family* family) noexcept nogil
    cdef bint is_out_of_reach(self, Closure* closure, Family* family) noexcept nogil
    cdef bint leads_on(self, int32_t lex, int32_t node, int32_t depth) noexcept nogil
    cdef uint64_t taken_groups(self, int32_t lex) noexcept nogil
    cdef void start_walk(self, int32_t lex, Family* family) noexcept nogil
    cdef void descend(self, Place* place, int32_t child, int32_t lex, Family* family) noexcept nogil
    cdef bint take_subtree(self, Place* place, Family* family) noexcept nogil
    cdef void take(self, int32_t low, int32_t high) noexcept nogil
    cdef void clear_taken(self) noexcept nogil
    cdef void list_taken(self, vector[int32_t]& tokens) noexcept nogil
    cdef uint32_t* taken_bits(self) noexcept nogil
    cdef uint32_t* bits_but(self) noexcept nogil
    cdef int32_t distance(self, int32_t lex) noexcept nogil
    cdef uint32_t* new_bits(self) noexcept nogil
    cdef Exits* merged_exits(self) noexcept nogil
    cdef void merge_subtrees(self, Exits* exits) noexcept nogil
