# Summaries: what one lexeme state says about every token of the vocabulary.
#
# The idea. From a lexeme state a token either dies, stays inside the lexeme, or leaves it somewhere in
# the middle. The first two do not depend on the grammar around the lexeme, so they are found once per
# lexeme state by walking the token trie. Of the tokens that leave, the suffixes after the exit are
# kept as a trie of their own; many tokens share one (`",`, ` ",` and `a",` all leave `,`), so walking
# it from whatever follows is cheap.
#
# Two kinds of states would be expensive to walk each on their own: the members of a family
# (families.pyx), and differences. The key of an open object is "a string, but none of these names":
# another lexeme in every schema. It differs from the plain string only along the names, so the plain
# string's summary is taken and the walk follows both only until they are the same state.
#
# Rejected: splitting the vocabulary into fixed slices by regular expressions chosen for JSON. It
# serves the slices that were foreseen and no other lexeme.
#
# Locking. Everything expects the table's lock.

from libc.stdlib cimport free
from libc.string cimport memcpy
from libcpp.algorithm cimport sort

from .families cimport range_of
from .nodes cimport NODE_EMPTY, NODE_EPSILON, OP_AND, OP_CONCAT, OP_LITERAL, OP_NOT, Node, CODE_UNKNOWN
from .trie cimport LengthOrder, n_longer

# Trie nodes that a difference may visit before it is walked like any other state.
cdef int32_t DIFFERENCE_LIMIT = 8192
# Tokens of a clipped lexeme that may be too long to be sure of.
cdef int32_t UNSURE_LIMIT = 16_384


cdef class SummaryTable(FamilyTable):
    """Summaries of one vocabulary over one lexeme table."""

    def __dealloc__(self):
        cdef size_t i
        for i in range(self.summaries.size()):
            if self.summaries[i].owns_bits:
                free(self.summaries[i].bits)

    cdef Summary* of(self, int32_t lex) noexcept nogil:
        """Summary of a lexeme state, made at the first call; NULL if the lexeme table is full."""
        cdef Summary* summary
        if <size_t>lex >= self.by_node.size():
            self.by_node.resize(self.table.nodes.size() + 64, NULL)
        if self.by_node[lex] == NULL:
            summary = NULL
            # One byte to start with: nothing is quicker than walking it.
            if self.table.nodes[lex].op != OP_LITERAL:
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

    cdef Summary* plain(self, int32_t lex) noexcept nogil:
        cdef Summary* summary
        cdef vector[int32_t] tokens
        cdef size_t i
        if not self.walk(lex, NULL):
            return NULL
        summary = self.fresh()
        for i in range(self.found.size()):
            tokens.push_back(self.found[i].token)
        for i in range(self.ranges.size()):
            tokens.insert(
                tokens.end(),
                self.vocabulary.trie.ids.begin() + self.ranges[i].low,
                self.vocabulary.trie.ids.begin() + self.ranges[i].high,
            )
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

    cdef Summary* counted(self, int32_t lex) noexcept nogil:
        """Summary of a lexeme with a counted repetition; NULL if it is not of that kind.

        A token that begins k repetitions is legal if the rest can end within what the bounds leave.
        Where the state after it is known to end within `margin` more repetitions, and can be drawn out to
        any length, that is a comparison of numbers; the few others are walked with the bounded lexeme.
        """
        cdef Family family
        cdef CountedBase* base
        cdef Summary* summary
        cdef Selection selection
        cdef int32_t sure, most
        if not self.family_of(lex, &family) and not self.clipped_family(lex, &family):
            return NULL
        base = self.base_of(&family)
        if base == NULL:
            return NULL
        if family.part < 0 and base.exits != NULL and base.exits.max_length > family.high:
            return NULL
        most = base.max_count
        if family.part >= 0 and 0 <= family.high < most:
            # Beyond a bound on repetitions tokens are illegal; beyond one on bytes they must be walked.
            most = family.high
        sure = base.max_count
        if family.high >= 0:
            sure = family.high - base.margin if family.high >= base.margin else -1
            sure = sure if sure < base.max_count else base.max_count
        if family.part < 0 and n_longer(&self.vocabulary.by_length, sure) > UNSURE_LIMIT:
            # So much would have to be checked token by token that walking the lexeme is quicker.
            return NULL
        summary = self.fresh()
        summary.exits = base.exits
        summary.least = family.low
        summary.most = family.high if family.high >= 0 and family.part >= 0 else UNBOUNDED
        if sure >= 0 and base.n_tokens > SPARSE_LIMIT:
            summary.bits = self.prefix_bits(base, sure, family.low > 0, family.part < 0)
            summary.n_bits = base.n_inside_up_to[sure] if family.low > 0 else base.n_up_to[sure]
        else:
            sure = -1
        # What the prefix does not settle: tokens too close to the upper bound, tokens in which the repetition is
        # over before the lower one, states that cannot be drawn out to it.
        selection = self.select(lex, &family, base, sure, most)
        if selection.more.size() + selection.fewer.size() > SPARSE_LIMIT:
            self.settle(summary, selection.more, selection.fewer)
        else:
            summary.inner = selection.more
            summary.removed = selection.fewer
        self.memory_size_bytes += (selection.more.size() + selection.fewer.size()) * sizeof(int32_t)
        return summary

    cdef Selection select(self, int32_t lex, Family* family, CountedBase* base, int32_t sure, int32_t most) noexcept nogil:
        cdef Trie* trie = &self.vocabulary.trie
        cdef Selection selection
        cdef unordered_map[uint64_t, uint8_t] alive
        cdef LengthOrder* order
        cdef Range taken
        cdef Found found
        cdef size_t i, last
        cdef int32_t j, k, where
        cdef bint again = base.rigid and family.low > 0
        if family.low > 0:
            for i in range(base.ends.size()):
                if family.low <= base.ends[i].count <= most:
                    selection.more.push_back(base.ends[i].token)
        if sure >= most and not again:
            return selection
        # Sorted by count: first those beyond `most`, then the ones in question, then those that are sure.
        last = base.tokens.size() if again or sure < 0 else <size_t>base.n_above[sure]
        for i in range(<size_t>base.n_above[most], last):
            found = base.tokens[i]
            if found.after:
                if family.low == 0 and found.count > sure:
                    selection.more.push_back(found.token)
            else:
                self.judge(lex, family, base, sure, found, False, alive, &selection)
        # A count is never more than the entry's length, so only the long entries can be in question.
        order = &self.vocabulary.by_leads if family.part >= 0 else &self.vocabulary.by_length
        found.after = 0
        for k in range(n_longer(order, CODE_UNKNOWN if again else sure)):
            j = order.entries[k]
            where = range_of(base.ranges, j)
            if where < 0:
                continue
            taken = base.ranges[where]
            found.count = taken.more + (trie.leads[j] if family.part >= 0 else trie.lengths[j])
            if found.count <= most and (found.count > sure or again):
                found.lex = taken.lex
                found.token = trie.ids[j]
                self.judge(lex, family, base, sure, found, True, alive, &selection)
        return selection

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
    ) noexcept nogil:
        """Decide one token that the prefix does not settle; equal cases are walked once."""
        cdef uint64_t key
        cdef bint legal
        if found.count <= sure and found.count >= family.low:
            return
        # Only a base with an upper bound has been measured; to ask another one would note a margin of 0.
        if not base.rigid and (
            family.high < 0
            or found.count + (base.range_margins[found.lex] if closed else base.margins[found.lex]) <= family.high
        ):
            if found.count > sure:
                selection.more.push_back(found.token)
            return
        if closed:
            # Which state follows is not known: each such token is walked.
            legal = self.bounded_alive(lex, found)
            if legal and found.count > sure:
                selection.more.push_back(found.token)
            elif not legal and found.count <= sure:
                selection.fewer.push_back(found.token)
            return
        key = (<uint64_t><uint32_t>found.lex << 32) | <uint32_t>found.count
        if alive.find(key) == alive.end():
            alive[key] = self.bounded_alive(lex, found)
        legal = alive[key]
        if legal and found.count > sure:
            selection.more.push_back(found.token)
        elif not legal and found.count <= sure:
            selection.fewer.push_back(found.token)

    cdef void settle(self, Summary* summary, vector[int32_t]& more, vector[int32_t]& fewer) noexcept nogil:
        """Give a summary a bitmask of its own with these tokens added and removed."""
        cdef uint32_t* bits = self.new_bits()
        cdef size_t i
        if summary.bits != NULL:
            memcpy(bits, summary.bits, self.n_words * sizeof(uint32_t))
        for i in range(fewer.size()):
            bits[fewer[i] >> 5] &= ~(<uint32_t>1 << (fewer[i] & 31))
        for i in range(more.size()):
            bits[more[i] >> 5] |= <uint32_t>1 << (more[i] & 31)
        summary.bits = bits
        summary.owns_bits = True
        summary.n_bits += <int64_t>more.size() - <int64_t>fewer.size()

    cdef bint bounded_alive(self, int32_t lex, const Found& found) noexcept nogil:
        """Whether a token is legal in the bounded lexeme, by walking it."""
        cdef const uint8_t* text = &self.vocabulary.flat[self.vocabulary.offsets[2 * found.token]]
        cdef int64_t i
        for i in range(self.vocabulary.offsets[2 * found.token + 1]):
            lex = self.table.step(lex, text[i])
            if lex <= NODE_EMPTY:
                return False
        return True

    cdef Summary* difference(self, int32_t lex) noexcept nogil:
        """Summary of `(keep and not drop) rest` from that of `keep rest`; NULL if the lexeme is not of that kind, or
        differs from `keep` in too many places, or `keep` may end and also go on."""
        cdef Trie* trie = &self.vocabulary.trie
        cdef Node node = self.table.nodes[lex]
        cdef vector[int32_t] kept, gone
        cdef vector[Place] stack
        cdef Place place, deeper
        cdef Summary* plain
        cdef Summary* summary
        cdef int32_t i, keep, rest, child, part, both, visited = 0
        cdef size_t j
        rest = NODE_EPSILON
        if node.op == OP_CONCAT:
            rest = node.b
            node = self.table.nodes[node.a]
        if node.op != OP_AND:
            return NULL
        for i in range(node.b):
            if self.table.nodes[self.table.lists[node.a + i]].op != OP_NOT:
                kept.push_back(self.table.lists[node.a + i])
        if kept.empty() or <int32_t>kept.size() == node.b:
            return NULL
        keep = self.table.concat(self.table.and_of(kept), rest)
        if keep < 0:
            return NULL
        plain = self.of(keep)
        if plain == NULL or plain.bits == NULL:
            return NULL
        # `lex` of a place is the difference; its `counter` holds the state of `keep`.
        place.node = 0
        place.lex = lex
        place.counter = keep
        stack.push_back(place)
        while not stack.empty():
            place = stack.back()
            stack.pop_back()
            for child in range(trie.nodes[place.node].first, trie.nodes[place.node].first + trie.nodes[place.node].count):
                part = self.table.step(place.counter, trie.nodes[child].byte)
                both = self.table.step(place.lex, trie.nodes[child].byte)
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
                    for i in range(trie.nodes[child].low, trie.nodes[child].high):
                        gone.push_back(trie.ids[i])
                    if gone.size() > <size_t>DIFFERENCE_LIMIT:
                        return NULL
                elif trie.nodes[child].count:
                    deeper.node = child
                    deeper.lex = both
                    deeper.counter = part
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
