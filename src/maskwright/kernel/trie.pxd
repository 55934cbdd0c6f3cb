# Data dictionary of the token trie. See trie.pyx.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libcpp.vector cimport vector

# Bits of a word that are set; token sets are counted by it.
cdef extern from *:
    """
    #ifdef _MSC_VER
    #include <intrin.h>
    #define MW_POPCOUNT(word) ((int)__popcnt(word))
    #else
    #define MW_POPCOUNT(word) __builtin_popcount(word)
    #endif
    """
    int MW_POPCOUNT(uint32_t word) noexcept nogil

# One trie over byte strings that carry token ids. Node 0 is the root. The children of a node are
# contiguous and sorted by byte, so finding one is a scan over adjacent bytes. The tokens of a whole
# subtree are a range, its own tokens the front of that range.
cdef struct TrieNode:
    int32_t first               # first child
    int32_t low                 # start of the subtree's tokens in `ids`
    int32_t own                 # end of the tokens that end exactly here
    int32_t high                # end of the subtree's tokens
    uint64_t below              # groups of the bytes below (see `group_of`)
    uint16_t count              # number of children
    uint16_t longest            # most bytes of a token of the subtree, from its first byte on
    uint16_t most_leads         # of those, most bytes that begin a UTF-8 character
    uint8_t whole               # 1: so far whole UTF-8 characters, and so are all tokens of the subtree

cdef struct Trie:
    vector[TrieNode] nodes
    vector[uint8_t] bytes       # byte that leads to each node; apart, since siblings are looked through by it
    vector[int32_t] ids         # token ids in order of their bytes
    vector[int32_t] lengths     # bytes of each entry of `ids`
    vector[int32_t] leads       # of those, bytes that begin a UTF-8 character (all but 0x80 to 0xBF)
    vector[uint8_t] is_whole    # 1: whole UTF-8 characters

# The group of a byte, 0 to 63. Bytes that classes usually hold together share one. From FIRST_WIDE on: bytes that begin
# a character of several bytes. NO_GROUP: bytes that continue one, and those that no text has.
cdef enum:
    FIRST_WIDE = 56
    NO_GROUP = 255

cdef uint8_t[256] group_of

cdef inline bint is_overlong(int lead, int second) noexcept nogil:
    """Whether no character begins with these two bytes: overlong forms, surrogates, beyond U+10FFFF."""
    return (
        (lead == 0xE0 and second < 0xA0)
        or (lead == 0xED and second >= 0xA0)
        or (lead == 0xF0 and second < 0x90)
        or (lead == 0xF4 and second >= 0x90)
    )

cdef uint64_t groups_in(uint64_t* ascii) noexcept nogil

# Entries of `Trie.ids` by a length, the longest first.
cdef struct LengthOrder:
    vector[int32_t] entries
    vector[int32_t] n_above     # for each length the number of entries that are longer; 0 past the end

cdef inline int32_t n_longer(LengthOrder* order, int32_t length) noexcept nogil:
    if length < 0:
        return <int32_t>order.entries.size()
    return order.n_above[length] if length < <int32_t>order.n_above.size() else 0

cdef inline int32_t trie_child(Trie* trie, int32_t node, uint8_t byte) noexcept nogil:
    """Child by byte, or -1. Siblings are sorted: binary search above eight, else a scan."""
    cdef int32_t low = trie.nodes[node].first
    cdef int32_t high = low + trie.nodes[node].count
    cdef int32_t middle
    while high - low > 8:
        middle = (low + high) >> 1
        if trie.bytes[middle] <= byte:
            low = middle
        else:
            high = middle
    while low < high:
        if trie.bytes[low] == byte:
            return low
        low += 1
    return -1

cdef void build_trie(
    Trie* trie, const uint8_t* flat, const int64_t* offsets, const int32_t* ids, int32_t n_tokens
) noexcept nogil

cdef void note_subtrees(Trie* trie, const uint8_t* flat, const int64_t* offsets) noexcept nogil

cdef void order_by(vector[int32_t]& values, LengthOrder* order) noexcept nogil

cdef class TokenTrie:
    cdef Trie trie
    cdef LengthOrder by_length          # by bytes
    cdef LengthOrder by_leads           # by character-beginning bytes
    cdef readonly int32_t vocab_size
    cdef readonly bint byte_complete    # every UTF-8 byte that occurs in a token is a token of its own
    cdef readonly bint spells_utf8      # every byte of UTF-8 text is a token of its own
    cdef readonly frozenset alphabet    # byte values that occur in a token
    cdef vector[int64_t] offsets        # token id -> its bytes in `flat`
    cdef vector[uint8_t] flat
    cdef vector[uint8_t] is_text        # per token id: 1 if it may match text
    cdef readonly int32_t max_length    # bytes of the longest text token
