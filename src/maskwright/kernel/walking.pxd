# Data dictionary of walking. See walking.pyx.
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libcpp.deque cimport deque
from libcpp.string cimport string
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from .lexemes cimport LexemeTable
from .nodes cimport Node
from .trie cimport TokenTrie, Trie

# "No bound", and "not known".
cdef enum:
    UNBOUNDED = 2147483647

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

# Somewhere in a trie, in the middle of a lexeme.
cdef struct Place:
    int32_t node
    int32_t lex
    int32_t depth
    int32_t leads               # bytes on the way here that begin a character
    int32_t counter             # state of Family.counter
    int32_t count
    uint8_t after

# Bytes that lead from a state to states from which all of them lead on, none of which may end.
cdef struct Closure:
    uint64_t[2] ascii           # single bytes
    uint8_t characters          # 1: and all characters of several bytes
    int32_t margin              # bytes that suffice to end from any of the states; UNBOUNDED if not known
    uint8_t loose               # 1: each of the states can be drawn out (see draws_out)

cdef class Walker:
    cdef readonly TokenTrie vocabulary
    cdef LexemeTable table
    cdef readonly int32_t n_words
    cdef readonly long long memory_size_bytes
    cdef unordered_map[int32_t, int32_t] distances
    cdef deque[Exits] exit_sets
    cdef unordered_map[string, Exits*] known_exits # by what they are made of
    cdef unordered_map[int32_t, Closure] closures
    cdef vector[Place] places                       # scratch
    cdef vector[Place] exit_places
    cdef vector[Found] found
    cdef vector[Range] ranges
    cdef bint walk(self, int32_t lex, Family* family) noexcept nogil
    cdef bint take_subtree(self, Place* place, Family* family) noexcept nogil
    cdef Closure* closure_of(self, int32_t lex) noexcept nogil
    cdef bint closure_of_union(self, int32_t lex, Closure* closure) noexcept nogil
    cdef bint holds_more(self, int32_t union_, int32_t part, Closure* closure) noexcept nogil
    cdef bint others_wait(self, Node node, int32_t except_, Closure* closure) noexcept nogil
    cdef bint waits(self, int32_t lex, Closure* closure, int depth) noexcept nogil
    cdef bint has_loop(self, int32_t lex, Closure* closure) noexcept nogil
    cdef bint explore(self, int32_t lex, Closure* closure, vector[int32_t]& inside) noexcept nogil
    cdef bint takes_most(self, int32_t lex, Closure* closure) noexcept nogil
    cdef bint characters_lead_on(self, int32_t lex, vector[int32_t]& targets) noexcept nogil
    cdef int32_t distance(self, int32_t lex) noexcept nogil
    cdef uint32_t* new_bits(self) noexcept nogil
    cdef Exits* merged_exits(self) noexcept nogil
