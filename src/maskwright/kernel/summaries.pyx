# Summaries: what one lexeme state says about every token of the vocabulary.
#
# The idea. From a lexeme state a token either dies, stays inside the lexeme, or leaves it somewhere in
# the middle. The first two do not depend on the grammar around the lexeme, so they are found once per
# lexeme state by walking the token trie. Of the tokens that leave, the suffixes after the exit are
# kept as a trie of their own; many tokens share one (`",`, ` ",` and `a",` all leave `,`), so walking
# it from whatever follows is cheap.
#
# Three kinds of states would be expensive to walk each on their own, because they come in families:
#
#   - Counted. In `x{m,n}` each count is another state. If x is a prefix code (a JSON character, a byte of
#     white space) and what follows starts differently, the tokens and their number of x's are found
#     once for `x*`, and a bound only selects by that number.
#   - Differences. The key of an open object is "a string, but none of these names": another lexeme in
#     every schema. It differs from the plain string only along the names, so the plain string's summary is
#     taken and the walk follows both only until they are the same state.
#   - All others are walked.
#
# Rejected: splitting the vocabulary into fixed slices by regular expressions chosen for JSON. It
# serves the slices that were foreseen and no other lexeme.
#
# Locking. Everything expects the table's lock.

from cython.operator cimport dereference as deref
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy, memset
from libcpp.algorithm cimport sort

from .lexemes cimport (
    NODE_EMPTY,
    NODE_EPSILON,
    OP_AND,
    OP_CONCAT,
    OP_LITERAL,
    OP_NOT,
    OP_REPEAT,
    Node,
)
from .trie cimport build_trie, trie_child

# Trie nodes that a difference may visit before it is walked like any other state.
cdef int32_t DIFFERENCE_LIMIT = 8192
# Largest number of derivatives of a repeated part that is_code looks at.
cdef size_t CODE_LIMIT_NODES = 256
# "No bound", for `Summary.most`.
cdef int32_t UNBOUNDED = 2147483647


# One token and where its leftover suffix begins.
cdef struct Suffix:
    uint64_t head           # first eight bytes, big-endian, so that most comparisons are one
    const uint8_t* start
    int64_t length
    int32_t token
    int32_t count


cdef bint suffix_less(const Suffix& left, const Suffix& right) noexcept nogil:
    if left.head != right.head:
        return left.head < right.head
    cdef int64_t shorter = left.length if left.length < right.length else right.length
    cdef int order = memcmp(left.start, right.start, shorter)
    if order:
        return order < 0
    if left.length != right.length:
        return left.length < right.length
    return left.token < right.token


cdef bint count_less(const Counted& left, const Counted& right) noexcept nogil:
    return left.count < right.count


cdef class SummaryTable:
    """Summaries of one vocabulary over one lexeme table."""

    def __cinit__(self, TokenTrie vocabulary, LexemeTable table):
        self.vocabulary = vocabulary
        self.table = table
        self.n_words = (vocabulary.vocab_size + 31) // 32

    def __dealloc__(self):
        cdef size_t i, j
        for i in range(self.summaries.size()):
            if self.summaries[i].owns_bits:
                free(self.summaries[i].bits)
        for i in range(self.base_pool.size()):
            for j in range(self.base_pool[i].up_to.size()):
                free(self.base_pool[i].up_to[j])
                free(self.base_pool[i].inside_up_to[j])

    cdef Summary* of(self, int32_t lex) noexcept nogil:
        """Summary of a lexeme state, made at the first call; NULL if the lexeme table is full."""
        cdef Summary* summary
        if <size_t>lex >= self.by_node.size():
            self.by_node.resize(self.table.nodes.size() + 64, NULL)
        if self.by_node[lex] == NULL:
            summary = self.counted(lex)
            if summary == NULL:
                summary = self.difference(lex)
            if summary == NULL:
                summary = self.plain(lex)
            # Making one summary may have made others and moved the vector.
            if <size_t>lex >= self.by_node.size():
                self.by_node.resize(self.table.nodes.size() + 64, NULL)
            self.by_node[lex] = summary
        return self.by_node[lex]

    cdef Summary* fresh(self) noexcept nogil:
        self.summaries.resize(self.summaries.size() + 1)
        cdef Summary* summary = &self.summaries.back()
        summary.bits = NULL
        summary.n_bits = 0
        summary.owns_bits = False
        summary.exits = NULL
        summary.least = 0
        summary.most = UNBOUNDED
        self.memory_size_bytes += sizeof(Summary)
        return summary

    # ---- walking ---------------------------------------------------------------------------------

    cdef bint walk(self, int32_t lex, int32_t repeated) noexcept nogil:
        """Walk the vocabulary from a lexeme state into `found` and `exit_places`.

        If `repeated` is a node (not -1), `lex` is that node repeated without bounds and then something
        that starts differently; repetitions begun are counted along the way.
        """
        cdef Trie* trie = &self.vocabulary.trie
        cdef Place place, deeper
        cdef Counted token
        cdef int32_t child, last, next_lex, i
        self.found.clear()
        self.exit_places.clear()
        self.places.clear()
        place.node = 0
        place.lex = lex
        place.depth = 0
        place.count = 0
        place.after = 0
        self.places.push_back(place)
        while not self.places.empty():
            place = self.places.back()
            self.places.pop_back()
            child = trie.first[place.node]
            last = child + trie.count[place.node]
            if self.table.nodes[place.lex].op == OP_LITERAL:
                child = trie_child(trie, place.node, self.table.pool[self.table.nodes[place.lex].a])
                if child < 0:
                    continue
                last = child + 1
            while child < last:
                next_lex = self.table.step(place.lex, trie.byte[child])
                if next_lex < 0:
                    return False
                if next_lex != NODE_EMPTY:
                    deeper.node = child
                    deeper.lex = next_lex
                    deeper.depth = place.depth + 1
                    deeper.count = place.count
                    deeper.after = place.after
                    if repeated >= 0 and place.lex == lex and not place.after:
                        if self.table.derive(repeated, trie.byte[child], 0) != NODE_EMPTY:
                            deeper.count += 1
                        else:
                            deeper.after = 1
                    token.count = deeper.count
                    token.after = deeper.after
                    for i in range(trie.low[child], trie.own[child]):
                        token.token = trie.ids[i]
                        self.found.push_back(token)
                    if trie.count[child]:
                        if self.table.nodes[next_lex].nullable:
                            self.exit_places.push_back(deeper)
                        if next_lex != NODE_EPSILON:
                            self.places.push_back(deeper)
                child += 1
        return True

    cdef Summary* plain(self, int32_t lex) noexcept nogil:
        cdef Summary* summary
        cdef vector[int32_t] tokens
        cdef size_t i
        if not self.walk(lex, -1):
            return NULL
        summary = self.fresh()
        tokens.reserve(self.found.size())
        for i in range(self.found.size()):
            tokens.push_back(self.found[i].token)
        self.set_inner(summary, tokens)
        summary.exits = self.merged_exits()
        return summary

    cdef void set_inner(self, Summary* summary, vector[int32_t]& tokens) noexcept nogil:
        cdef size_t i
        if tokens.size() <= SPARSE_LIMIT:
            summary.inner = tokens
            self.memory_size_bytes += tokens.size() * sizeof(int32_t)
            return
        summary.bits = self.new_bits()
        summary.owns_bits = True
        summary.n_bits = <int64_t>tokens.size()
        for i in range(tokens.size()):
            summary.bits[tokens[i] >> 5] |= <uint32_t>1 << (tokens[i] & 31)

    cdef uint32_t* new_bits(self) noexcept nogil:
        cdef uint32_t* bits = <uint32_t*>malloc(self.n_words * sizeof(uint32_t))
        memset(bits, 0, self.n_words * sizeof(uint32_t))
        self.memory_size_bytes += self.n_words * sizeof(uint32_t)
        return bits

    cdef Exits* merged_exits(self) noexcept nogil:
        """A trie of the suffixes below `exit_places`; NULL if there are none."""
        cdef Trie* trie = &self.vocabulary.trie
        cdef vector[Suffix] suffixes
        cdef vector[uint8_t] flat
        cdef vector[int64_t] offsets
        cdef vector[int32_t] ids
        cdef Suffix suffix
        cdef Exits* exits
        cdef size_t i
        cdef int32_t j, k
        for i in range(self.exit_places.size()):
            for j in range(trie.own[self.exit_places[i].node], trie.high[self.exit_places[i].node]):
                suffix.token = trie.ids[j]
                suffix.start = &self.vocabulary.flat[self.vocabulary.offsets[2 * suffix.token]]
                suffix.start += self.exit_places[i].depth
                suffix.length = self.vocabulary.offsets[2 * suffix.token + 1] - self.exit_places[i].depth
                suffix.count = self.exit_places[i].count
                suffix.head = 0
                for k in range(8):
                    suffix.head = (suffix.head << 8) | (suffix.start[k] if k < suffix.length else 0)
                suffixes.push_back(suffix)
        if suffixes.empty():
            return NULL
        sort(suffixes.begin(), suffixes.end(), suffix_less)
        self.exit_sets.resize(self.exit_sets.size() + 1)
        exits = &self.exit_sets.back()
        exits.max_count = 0
        offsets.push_back(0)
        for i in range(suffixes.size()):
            flat.insert(flat.end(), suffixes[i].start, suffixes[i].start + suffixes[i].length)
            offsets.push_back(<int64_t>flat.size())
            ids.push_back(suffixes[i].token)
            k = suffixes[i].count if suffixes[i].count < 32767 else 32767
            exits.counts.push_back(<int16_t>k)
            if k > exits.max_count:
                exits.max_count = k
        build_trie(&exits.trie, &flat[0], &offsets[0], &ids[0], <int32_t>ids.size())
        self.memory_size_bytes += exits.trie.byte.size() * 21 + ids.size() * 6
        return exits

    # ---- counted repetitions ---------------------------------------------------------------------

    cdef Summary* counted(self, int32_t lex) noexcept nogil:
        """Summary of `part{low,high} rest`; NULL if the lexeme is not of that kind."""
        cdef Node node = self.table.nodes[lex]
        cdef int32_t rest = NODE_EPSILON
        cdef CountedBase* base
        cdef Summary* summary
        cdef int32_t most
        cdef size_t i
        if node.op == OP_CONCAT:
            rest = node.b
            node = self.table.nodes[node.a]
        if node.op != OP_REPEAT or (node.b == 0 and node.c < 0):
            return NULL
        if not self.is_code(node.a) or not self.starts_apart(node.a, rest):
            return NULL
        base = self.base_of(node.a, rest)
        if base == NULL:
            return NULL
        summary = self.fresh()
        summary.exits = base.exits
        summary.least = node.b
        summary.most = node.c if node.c >= 0 else UNBOUNDED
        most = summary.most if summary.most < base.max_count else base.max_count
        if base.tokens.size() <= SPARSE_LIMIT:
            for i in range(base.tokens.size()):
                if base.tokens[i].count <= most and (not base.tokens[i].after or base.tokens[i].count >= node.b):
                    summary.inner.push_back(base.tokens[i].token)
            return summary
        summary.bits = self.prefix_bits(base, most, node.b > 0)
        summary.n_bits = base.n_inside_up_to[most] if node.b > 0 else base.n_up_to[most]
        if node.b > 0:
            for i in range(base.tokens.size()):
                if base.tokens[i].after and node.b <= base.tokens[i].count <= most:
                    summary.inner.push_back(base.tokens[i].token)
        self.memory_size_bytes += summary.inner.size() * sizeof(int32_t)
        return summary

    cdef CountedBase* base_of(self, int32_t part, int32_t rest) noexcept nogil:
        """What `part* rest` says with counts; NULL if the lexeme table is full."""
        cdef int32_t node = self.table.concat(self.table.repeat(part, 0, -1), rest)
        cdef unordered_map[int32_t, CountedBase*].iterator known
        cdef CountedBase* base
        if node < 0:
            return NULL
        known = self.bases.find(node)
        if known != self.bases.end():
            return deref(known).second
        if not self.walk(node, part):
            return NULL
        self.base_pool.resize(self.base_pool.size() + 1)
        base = &self.base_pool.back()
        base.tokens = self.found
        sort(base.tokens.begin(), base.tokens.end(), count_less)
        base.max_count = base.tokens.back().count if not base.tokens.empty() else 0
        base.up_to.assign(base.max_count + 1, NULL)
        base.inside_up_to.assign(base.max_count + 1, NULL)
        base.n_up_to.assign(base.max_count + 1, 0)
        base.n_inside_up_to.assign(base.max_count + 1, 0)
        base.exits = self.merged_exits()
        self.memory_size_bytes += base.tokens.size() * sizeof(Counted)
        self.bases[node] = base
        return base

    cdef uint32_t* prefix_bits(self, CountedBase* base, int32_t most, bint inside) noexcept nogil:
        """Bitmask of the tokens with at most `most` repetitions; `inside`: only where it is not over.

        Starts from the nearest larger mask that exists and clears what is too long, because the
        tokens with many repetitions are few.
        """
        cdef vector[uint32_t*]* masks = &base.inside_up_to if inside else &base.up_to
        cdef vector[int64_t]* sizes = &base.n_inside_up_to if inside else &base.n_up_to
        cdef uint32_t* bits
        cdef int32_t larger
        cdef int64_t count = 0
        cdef size_t i
        cdef Counted token
        if masks[0][most] != NULL:
            return masks[0][most]
        bits = self.new_bits()
        larger = most + 1
        while larger <= base.max_count and masks[0][larger] == NULL:
            larger += 1
        if larger <= base.max_count:
            memcpy(bits, masks[0][larger], self.n_words * sizeof(uint32_t))
            count = sizes[0][larger]
            i = base.tokens.size()
            while i > 0 and base.tokens[i - 1].count > most:
                i -= 1
                token = base.tokens[i]
                if token.count <= larger and not (inside and token.after):
                    bits[token.token >> 5] &= ~(<uint32_t>1 << (token.token & 31))
                    count -= 1
        else:
            for i in range(base.tokens.size()):
                token = base.tokens[i]
                if token.count > most:
                    break
                if not (inside and token.after):
                    bits[token.token >> 5] |= <uint32_t>1 << (token.token & 31)
                    count += 1
        masks[0][most] = bits
        sizes[0][most] = count
        return bits

    cdef bint is_code(self, int32_t part) noexcept nogil:
        """Whether no string of the language is a proper prefix of another, so that repetitions can be
        counted while reading."""
        cdef unordered_map[int32_t, uint8_t].iterator known = self.codes.find(part)
        cdef vector[int32_t] seen
        cdef size_t here = 0, i
        cdef int32_t child
        cdef int byte
        cdef bint fresh
        if known != self.codes.end():
            return deref(known).second
        self.codes[part] = 0
        seen.push_back(part)
        while here < seen.size():
            if seen.size() > CODE_LIMIT_NODES or (
                self.table.nodes[seen[here]].nullable and seen[here] != NODE_EPSILON
            ):
                return False
            for byte in range(256):
                child = self.table.derive(seen[here], <uint8_t>byte, 0)
                if child < 0:
                    return False
                fresh = child > NODE_EPSILON
                for i in range(seen.size()):
                    if seen[i] == child:
                        fresh = False
                        break
                if fresh:
                    seen.push_back(child)
            here += 1
        self.codes[part] = part != NODE_EPSILON
        return part != NODE_EPSILON

    cdef bint starts_apart(self, int32_t part, int32_t rest) noexcept nogil:
        """Whether no byte starts both."""
        cdef int byte
        for byte in range(256):
            if (
                self.table.derive(part, <uint8_t>byte, 0) != NODE_EMPTY
                and self.table.derive(rest, <uint8_t>byte, 0) != NODE_EMPTY
            ):
                return False
        return True

    # ---- differences -----------------------------------------------------------------------------

    cdef Summary* difference(self, int32_t lex) noexcept nogil:
        """Summary of `keep and not drop` from that of `keep`; NULL if the lexeme is not of that kind, or
        differs from `keep` in too many places, or `keep` may end and also go on."""
        cdef Trie* trie = &self.vocabulary.trie
        cdef Node node = self.table.nodes[lex]
        cdef vector[int32_t] kept, gone
        cdef vector[Place] stack
        cdef Place place, deeper
        cdef Summary* plain
        cdef Summary* summary
        cdef int32_t i, keep, child, part, both, visited = 0
        cdef size_t j
        if node.op != OP_AND:
            return NULL
        for i in range(node.b):
            if self.table.nodes[self.table.lists[node.a + i]].op != OP_NOT:
                kept.push_back(self.table.lists[node.a + i])
        if kept.empty() or <int32_t>kept.size() == node.b:
            return NULL
        keep = self.table.and_of(kept)
        if keep < 0:
            return NULL
        plain = self.of(keep)
        if plain == NULL or plain.bits == NULL:
            return NULL
        # `lex` of a place is the difference; its `count` holds the state of `keep`.
        place.node = 0
        place.lex = lex
        place.count = keep
        stack.push_back(place)
        while not stack.empty():
            place = stack.back()
            stack.pop_back()
            for child in range(trie.first[place.node], trie.first[place.node] + trie.count[place.node]):
                part = self.table.step(place.count, trie.byte[child])
                both = self.table.step(place.lex, trie.byte[child])
                if part < 0 or both < 0:
                    return NULL
                if part == both:
                    continue
                if self.table.nodes[part].nullable and part != NODE_EPSILON:
                    return NULL
                visited += 1
                if visited > DIFFERENCE_LIMIT:
                    return NULL
                if both == NODE_EMPTY:
                    for i in range(trie.low[child], trie.high[child]):
                        gone.push_back(trie.ids[i])
                    if gone.size() > <size_t>DIFFERENCE_LIMIT:
                        return NULL
                elif trie.count[child]:
                    deeper.node = child
                    deeper.lex = both
                    deeper.count = part
                    stack.push_back(deeper)
        summary = self.fresh()
        summary.bits = plain.bits
        summary.n_bits = plain.n_bits
        summary.exits = plain.exits
        summary.least = plain.least
        summary.most = plain.most
        sort(gone.begin(), gone.end())
        summary.barred = gone
        for j in range(gone.size()):
            if (summary.bits[gone[j] >> 5] >> (gone[j] & 31)) & 1:
                summary.removed.push_back(gone[j])
        summary.removed.insert(summary.removed.end(), plain.removed.begin(), plain.removed.end())
        summary.barred.insert(summary.barred.end(), plain.barred.begin(), plain.barred.end())
        sort(summary.barred.begin(), summary.barred.end())
        for j in range(plain.inner.size()):
            if not holds(gone, plain.inner[j]):
                summary.inner.push_back(plain.inner[j])
        self.memory_size_bytes += (summary.removed.size() + summary.barred.size()) * sizeof(int32_t)
        return summary

