# Data dictionary of the token trie. See trie.pyx.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libcpp.vector cimport vector

# One trie over byte strings that carry token ids. Node 0 is the root. The children of a node are
# contiguous and sorted by byte, so finding one is a scan over adjacent bytes. The tokens of a whole
# subtree are a range, its own tokens the front of that range.
cdef struct TrieNode:
    int32_t first               # first child
    int32_t low                 # start of the subtree's tokens in `ids`
    int32_t own                 # end of the tokens that end exactly here
    int32_t high                # end of the subtree's tokens
    int32_t set_of              # index into `sets` of the bytes below; -1: few tokens there, no set
    uint16_t count              # number of children
    uint8_t byte                # byte that leads to the node
    uint8_t whole               # 1: all tokens below are whole UTF-8 characters from their first byte on

cdef struct Trie:
    vector[TrieNode] nodes
    vector[int32_t] ids         # token ids in order of their bytes
    vector[int32_t] lengths     # bytes of each entry of `ids`
    vector[int32_t] leads       # of those, bytes that begin a UTF-8 character (all but 0x80 to 0xBF)
    vector[uint64_t] sets       # byte sets, 4 words each

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
        if trie.nodes[middle].byte <= byte:
            low = middle
        else:
            high = middle
    while low < high:
        if trie.nodes[low].byte == byte:
            return low
        low += 1
    return -1

cdef void build_trie(
    Trie* trie, const uint8_t* flat, const int64_t* offsets, const int32_t* ids, int32_t n_tokens
) noexcept nogil

cdef void add_byte_sets(Trie* trie, const uint8_t* flat, const int64_t* offsets) noexcept nogil

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
