# Data dictionary of the alphabets. See alphabets.pyx.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libcpp.deque cimport deque
from libcpp.map cimport map
from libcpp.unordered_map cimport unordered_map
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from .trie cimport TokenTrie, Trie

# All tokens of one alphabet.
cdef struct Alphabet:
    uint64_t groups             # groups of bytes (see trie.pxd) that its tokens are made of, whole letter cases and digits
    int32_t first               # its entries of the trie's `ids`: a run of `Alphabets.entries`
    int32_t last
    int32_t longest             # bytes of its longest token
    int32_t most_leads          # of those, most that begin a character
    uint32_t* bits              # bitmask of its tokens if they are many; NULL if they are few

# The same for one token.
cdef struct TokenAlphabet:
    int32_t alphabet            # -1 if it is not whole characters
    int32_t leads

# Alphabets that one set of groups holds, and their tokens.
cdef struct Selected:
    vector[int32_t] alphabets
    vector[uint8_t] holds       # per alphabet: 1 if it is one of them
    int64_t n_tokens
    int32_t longest
    int32_t most_leads
    uint64_t barred             # letters and digits that none of the tokens has (see `letter_bit`)
    uint32_t* bits              # bitmask of the tokens; NULL until asked for

cdef class Alphabets:
    cdef Trie* trie
    cdef TokenTrie vocabulary
    cdef int32_t n_words
    cdef vector[Alphabet] alphabets
    cdef vector[int32_t] entries        # entries of the trie's `ids`, by alphabet
    cdef vector[int32_t] alphabet_of    # per entry of the trie's `ids`; -1 if it is not whole characters
    cdef vector[TokenAlphabet] by_token
    cdef deque[Selected] selections
    cdef vector[uint64_t] letters       # per token: its letters and digits; 0 if it is not whole characters
    cdef map[pair[uint64_t, uint64_t], Selected*] known     # by groups and barred letters
    cdef readonly long long memory_size_bytes
    cdef uint64_t groups_of(self, int32_t token) noexcept nogil
    cdef uint64_t letters_of(self, int32_t token) noexcept nogil
    cdef uint32_t* new_bits(self) noexcept nogil
    cdef void set_bits(self, uint32_t* bits, Alphabet* alphabet) noexcept nogil
    cdef inline bint holds(self, Selected* selected, int32_t entry) noexcept nogil:
        """Whether the token of an entry of the trie's ids is one of these."""
        return (
            self.alphabet_of[entry] >= 0
            and selected.holds[self.alphabet_of[entry]]
            and not (selected.barred and self.letters[self.trie.ids[entry]] & selected.barred)
        )

    cdef Selected* within(self, uint64_t groups) noexcept nogil
    cdef Selected* without(self, uint64_t groups, uint64_t barred) noexcept nogil
    cdef void bar(self, Selected* selected, const uint32_t* bits) noexcept nogil
    cdef void add_bits(self, Selected* selected, uint32_t* bits) noexcept nogil
    cdef void list(self, Selected* selected, vector[int32_t]& tokens) noexcept nogil
    cdef uint32_t* bits_of(self, Selected* selected) noexcept nogil

cdef uint64_t[256] letter_bit       # byte -> the bit of a letter or digit; 0 for others

cdef uint64_t unmixed(uint64_t groups) noexcept nogil
cdef uint64_t completed(uint64_t groups, uint64_t* living, uint64_t* dead, uint64_t* barred) noexcept nogil
