# Token trie: the vocabulary as a prefix tree over bytes, in arrays.
#
# Built once per vocabulary from the sorted token table (see vocabulary/table.py), breadth first so
# that siblings lie side by side. Sorted order gives every subtree a contiguous range of token ids
# for free.
#
# Rejected: preorder numbering with an end-of-subtree index. It makes a full walk a linear scan, but
# finding one child means hopping over all its elder siblings' subtrees, and literals are found far
# more often than everything is walked.

import numpy as np


# Groups of ASCII bytes; the others of them are one more. What patterns tell apart are single punctuation marks,
# digits, and runs of letters.
_ASCII_GROUPS = (
    list("\t\n\r !\"#$%&'()*+,-./0123456789:;<=>?@[\\]^_`{|}~")
    + ["ABCDEF", "GHIJKLMNOPQRSTUVWXYZ"]
    + ["a", "bcd", "e", "f", "ghijklmn", "opqrst", "uvwxyz"]
)
# First and last bytes of groups of those that begin longer characters. The ones on their own begin white space or line
# separators, which `\\S` and the full stop of patterns leave out.
_WIDE_GROUPS = [
    (0xC2, 0xC2),
    (0xC3, 0xDF),
    (0xE0, 0xE1),
    (0xE2, 0xE2),
    (0xE3, 0xE3),
    (0xE4, 0xEE),
    (0xEF, 0xEF),
    (0xF0, 0xF4),
]

# Bytes that occur in well-formed UTF-8.
_UTF8_BYTES = frozenset(range(0x80)) | frozenset(range(0x80, 0xC0)) | frozenset(range(0xC2, 0xF5))


cdef void build_trie(
    Trie* trie, const uint8_t* flat, const int64_t* offsets, const int32_t* ids, int32_t n_tokens
) noexcept nogil:
    """Fill `trie` from token byte strings sorted lexicographically (then by id)."""
    cdef vector[int32_t] depths
    cdef TrieNode node, child
    cdef int32_t here = 0, low, end, depth
    cdef uint8_t byte
    trie.ids.assign(ids, ids + n_tokens)
    trie.lengths.resize(n_tokens)
    for low in range(n_tokens):
        trie.lengths[low] = <int32_t>(offsets[low + 1] - offsets[low])
    node.low = 0
    node.high = n_tokens
    node.below = 0
    node.longest = 0
    node.most_leads = 0
    node.whole = 0
    trie.nodes.push_back(node)
    trie.bytes.push_back(0)
    depths.push_back(0)
    while here < <int32_t>trie.nodes.size():
        node = trie.nodes[here]
        depth = depths[here]
        low = node.low
        while low < node.high and offsets[low + 1] - offsets[low] == depth:
            low += 1
        node.own = low
        node.first = <int32_t>trie.nodes.size()
        node.count = 0
        while low < node.high:
            byte = flat[offsets[low] + depth]
            end = low + 1
            while end < node.high and flat[offsets[end] + depth] == byte:
                end += 1
            child.low = low
            child.high = end
            child.below = 0
            child.longest = 0
            child.most_leads = 0
            child.whole = 0
            trie.nodes.push_back(child)
            trie.bytes.push_back(byte)
            depths.push_back(depth + 1)
            node.count += 1
            low = end
        trie.nodes[here] = node
        here += 1


cdef int n_bytes(uint8_t lead) noexcept nogil:
    """Bytes of the UTF-8 character that a byte begins; 0 if it begins none."""
    if lead < 0x80:
        return 1
    if lead < 0xC2 or lead > 0xF4:
        return 0
    return 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


cdef bint is_whole_text(const uint8_t* text, int64_t length, int32_t* leads) noexcept nogil:
    """Whether bytes are whole UTF-8 characters; counts the bytes that may begin one (all but 0x80 to 0xBF)."""
    cdef int64_t i = 0
    cdef int32_t missing = 0
    cdef bint whole = True
    leads[0] = 0
    for i in range(length):
        if 0x80 <= text[i] < 0xC0:
            whole = whole and missing > 0 and not is_overlong(text[i - 1], text[i])
            missing -= 1
        else:
            whole = whole and missing == 0
            leads[0] += 1
            missing = n_bytes(text[i]) - 1
    return whole and missing == 0


cdef void _fill_groups():
    assert len(_ASCII_GROUPS) < FIRST_WIDE and FIRST_WIDE + len(_WIDE_GROUPS) == 64
    for byte in range(256):
        group_of[byte] = NO_GROUP if byte >= 0x80 else len(_ASCII_GROUPS)
    for group, members in enumerate(_ASCII_GROUPS):
        for character in members:
            group_of[<int>ord(character)] = group
    for group, (first, last) in enumerate(_WIDE_GROUPS):
        for byte in range(first, last + 1):
            group_of[byte] = FIRST_WIDE + group


_fill_groups()


cdef uint64_t groups_in(uint64_t* ascii) noexcept nogil:
    """The groups of ASCII bytes whose members are all in a set (of two words)."""
    cdef uint64_t partial = 0
    cdef int byte
    for byte in range(128):
        if not (ascii[byte >> 6] >> (byte & 63)) & 1:
            partial |= <uint64_t>1 << group_of[byte]
    return ~partial & ((<uint64_t>1 << FIRST_WIDE) - 1)


cdef void note_subtrees(Trie* trie, const uint8_t* flat, const int64_t* offsets) noexcept nogil:
    """Note what occurs below each node, for taking whole subtrees at once."""
    cdef TrieNode* node
    cdef TrieNode* child
    cdef vector[uint8_t] all_whole, missing
    cdef size_t here
    cdef int32_t i
    trie.is_whole.resize(trie.ids.size())
    trie.leads.assign(trie.ids.size(), 0)
    for i in range(<int32_t>trie.ids.size()):
        # Longer than `longest` can say: no subtree with it is whole.
        trie.is_whole[i] = is_whole_text(&flat[offsets[i]], offsets[i + 1] - offsets[i], &trie.leads[i]) and (
            trie.lengths[i] <= 65535
        )
    missing.assign(trie.nodes.size(), 0)
    for here in range(trie.nodes.size()):
        node = &trie.nodes[here]
        for i in range(node.first, node.first + node.count):
            missing[i] = n_bytes(trie.bytes[i]) - 1 if missing[here] == 0 else missing[here] - 1
    all_whole.assign(trie.nodes.size(), 1)
    # Children have higher numbers than their parents.
    here = trie.nodes.size()
    while here > 0:
        here -= 1
        node = &trie.nodes[here]
        for i in range(node.low, node.own):
            all_whole[here] &= trie.is_whole[i]
            node.longest = max(node.longest, <uint16_t>trie.lengths[i])
            node.most_leads = max(node.most_leads, <uint16_t>trie.leads[i])
        for i in range(node.first, node.first + node.count):
            child = &trie.nodes[i]
            node.below |= child.below
            if group_of[trie.bytes[i]] != NO_GROUP:
                node.below |= <uint64_t>1 << group_of[trie.bytes[i]]
            all_whole[here] &= all_whole[i]
            node.longest = max(node.longest, child.longest)
            node.most_leads = max(node.most_leads, child.most_leads)
        node.whole = all_whole[here] and missing[here] == 0


cdef void order_by(vector[int32_t]& values, LengthOrder* order) noexcept nogil:
    """Counting sort of entries by their value, largest first."""
    cdef size_t i
    cdef int32_t largest = 0, value
    cdef vector[int32_t] place
    for i in range(values.size()):
        largest = max(largest, values[i])
    order.n_above.assign(largest + 1, 0)
    for i in range(values.size()):
        order.n_above[values[i]] += 1
    # From counts of each value to counts of all larger ones.
    place.assign(largest + 1, 0)
    for value in range(largest - 1, -1, -1):
        place[value] = place[value + 1] + order.n_above[value + 1]
    order.n_above = place
    order.entries.resize(values.size())
    for i in range(values.size()):
        order.entries[place[values[i]]] = <int32_t>i
        place[values[i]] += 1


cdef class TokenTrie:
    """A vocabulary as the kernel sees it.

    Args:
        table: ``(flat, offsets, ids)``: bytes of all text tokens, concatenated in lexicographic
            order (uint8); their boundaries (int64, one more than tokens); their ids (int32).
        vocab_size: Width of a mask, in tokens.
    """

    def __init__(self, tuple table, int32_t vocab_size):
        cdef const uint8_t[::1] flat = np.ascontiguousarray(table[0], dtype=np.uint8)
        cdef const int64_t[::1] offsets = np.ascontiguousarray(table[1], dtype=np.int64)
        cdef const int32_t[::1] ids = np.ascontiguousarray(table[2], dtype=np.int32)
        cdef int32_t n_tokens = <int32_t>ids.shape[0]
        cdef int32_t i, token
        cdef int64_t length, total = 0
        if n_tokens:
            build_trie(&self.trie, &flat[0] if flat.shape[0] else NULL, &offsets[0], &ids[0], n_tokens)
        else:
            build_trie(&self.trie, NULL, NULL, NULL, 0)
        if n_tokens:
            note_subtrees(&self.trie, &flat[0], &offsets[0])
            order_by(self.trie.lengths, &self.by_length)
            order_by(self.trie.leads, &self.by_leads)
        self.vocab_size = vocab_size
        self.is_text.assign(vocab_size, 0)
        self.offsets.assign(2 * vocab_size, 0)
        if flat.shape[0]:
            self.flat.assign(&flat[0], &flat[0] + flat.shape[0])
        self.max_length = 0
        for i in range(n_tokens):
            token = ids[i]
            length = offsets[i + 1] - offsets[i]
            self.is_text[token] = 1
            self.offsets[2 * token] = offsets[i]
            self.offsets[2 * token + 1] = length
            self.max_length = max(self.max_length, <int32_t>length)
        present = np.bincount(np.asarray(table[0], dtype=np.uint8), minlength=256)
        self.alphabet = frozenset(np.flatnonzero(present).tolist())
        lengths = np.diff(np.asarray(table[1]))
        starts = np.asarray(table[1])[:-1][lengths == 1]
        single = frozenset(np.asarray(table[0])[starts].tolist())
        # A vocabulary without any text token is for matching strings byte by byte: all may occur.
        if n_tokens == 0:
            self.alphabet = frozenset(range(256))
        self.byte_complete = n_tokens == 0 or _UTF8_BYTES & self.alphabet <= single
        self.spells_utf8 = n_tokens == 0 or _UTF8_BYTES <= single

    @property
    def n_nodes(self) -> int:
        """Number of trie nodes, the root included."""
        return self.trie.nodes.size()

    def token_bytes(self, int32_t token) -> bytes | None:
        """Bytes of a text token; None for special tokens and ids out of range."""
        if token < 0 or token >= self.vocab_size or not self.is_text[token]:
            return None
        cdef int64_t start = self.offsets[2 * token]
        return bytes([self.flat[start + i] for i in range(self.offsets[2 * token + 1])])
