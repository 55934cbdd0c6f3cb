# Summaries: what one lexeme state says about every token of the vocabulary.
#
# The idea. From a lexeme state a token either dies, stays inside the lexeme, or leaves it somewhere in
# the middle. The first two do not depend on the grammar around the lexeme, so they are found once per
# lexeme state by walking the token trie. Of the tokens that leave, the suffixes after the exit are
# kept as a trie of their own; many tokens share one (`",`, ` ",` and `a",` all leave `,`), so walking
# it from whatever follows is cheap.
#
# Three kinds of states would be expensive to walk each on their own:
#   - The members of a family (families.pyx).
#   - Unions. What a choice allows is what its alternatives allow. Inside a search pattern (`.*@`, and what has been
#     seen of it so far) nearly all comes from one alternative, which all its states have.
#   - Differences. The key of an open object is "a string, but none of these names": another lexeme in every
#     schema. It loses few tokens of the plain string's (differences.pyx).
#
# Rejected: splitting the vocabulary into fixed slices by regular expressions chosen for JSON. It
# serves the slices that were foreseen and no other lexeme.
#
# Locking. Everything expects the table's lock.

from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
from libcpp.algorithm cimport sort, unique

from .lexemes cimport LexemeTable
from .nodes cimport CODE_UNKNOWN, NODE_EMPTY, NODE_EPSILON, OP_CONCAT, OP_LITERAL, OP_UNION, Node
from .trie cimport LengthOrder, TokenTrie, n_longer

# Alternatives that a union may have, and how many of them may be wide and new, to be taken apart rather than walked.
cdef int32_t MOST_PARTS = 16
cdef int NEW_PARTS = 2
# Tokens of a clipped lexeme that may be too long to be sure of.
cdef int32_t UNSURE_LIMIT = 16_384


cdef class SummaryTable(ContrastTable):
    """Summaries of one vocabulary over one lexeme table."""

    def __cinit__(self, TokenTrie vocabulary, LexemeTable table):
        self.differences = Differences(vocabulary, table)

    def __dealloc__(self):
        cdef size_t i
        for i in range(self.summaries.size()):
            if self.summaries[i].owns_bits:
                free(self.summaries[i].bits)

    cdef Summary* of(self, int32_t lex) noexcept nogil:
        """Summary of a lexeme state, made at the first call; NULL if the lexeme table is full."""
        cdef Summary* summary
        cdef int32_t simple
        if <size_t>lex >= self.by_node.size():
            self.by_node.resize(self.table.nodes.size() + 64, NULL)
        if self.by_node[lex] == NULL:
            summary = NULL
            # A byte to start with and nothing to search for: nothing is quicker than walking it.
            if self.table.nodes[lex].op != OP_LITERAL or self.table.nodes[lex].boolean:
                simple = self.simplifier.simplify(lex, 0)
                if simple < 0:
                    return NULL
                if simple != lex:
                    summary = self.of(simple)
                    if summary != NULL:
                        summary.common = True
                if summary == NULL and self.table.nodes[lex].op != OP_LITERAL:
                    summary = self.of_union(lex)
                    if summary == NULL:
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

    cdef int64_t wide_union(
        self, vector[Summary*]& parts, uint32_t** bits, vector[int32_t]& removed
    ) noexcept nogil:
        """The bitmask of several wide summaries and the ids in it that are not legal after all; at least how many are
        set. NULL for none. A state in which white space or a number may come is one of many, so unions are kept."""
        cdef string key
        cdef Summary* whole
        cdef size_t i, kept = 0
        sort(parts.begin(), parts.end())
        for i in range(parts.size()):
            if i == 0 or parts[i] != parts[kept - 1]:
                parts[kept] = parts[i]
                kept += 1
        parts.resize(kept)
        if parts.empty():
            return 0
        whole = parts[0]
        if parts.size() > 1:
            key.append(<char*>parts.data(), parts.size() * sizeof(Summary*))
            whole = self.unions[key]
            if whole == NULL:
                whole = self.fresh()
                for i in range(parts.size()):
                    if i == 0:
                        removed.assign(parts[0].removed.begin(), parts[0].removed.end())
                        whole.bits = self_owned(parts[0].bits, False, removed, self.n_words)
                        whole.owns_bits = True
                    else:
                        add_summary(whole.bits, parts[i], self.n_words)
                    whole.n_bits += parts[i].n_bits
                self.unions[key] = whole
                self.memory_size_bytes += self.n_words * sizeof(uint32_t) + key.size()
        removed.assign(whole.removed.begin(), whole.removed.end())
        bits[0] = whole.bits
        return whole.n_bits

    cdef Summary* fresh(self) noexcept nogil:
        self.summaries.resize(self.summaries.size() + 1)
        cdef Summary* summary = &self.summaries.back()
        summary.bits = NULL
        summary.n_bits = 0
        summary.owns_bits = False
        summary.common = False
        self.memory_size_bytes += sizeof(Summary)
        return summary

    cdef void add_exits(self, Summary* summary, Exits* exits, int32_t least, int32_t most) noexcept nogil:
        cdef ExitGroup group
        if exits != NULL:
            group.exits = exits
            group.least = least
            group.most = most
            summary.exits.push_back(group)

    cdef Summary* plain(self, int32_t lex) noexcept nogil:
        cdef Summary* summary
        cdef int64_t count
        if not self.walk(lex, NULL):
            return NULL
        summary = self.fresh()
        count = self.n_taken + (self.selected.n_tokens if self.selected != NULL else 0)
        if count <= SPARSE_LIMIT or (self.selected != NULL and self.n_taken <= SPARSE_LIMIT):
            self.list_taken(summary.inner)
            if count <= SPARSE_LIMIT and self.selected != NULL:
                self.alphabets.list(self.selected, summary.inner)
            elif self.selected != NULL:
                summary.bits = self.alphabets.bits_of(self.selected)
                summary.n_bits = self.selected.n_tokens
            self.memory_size_bytes += summary.inner.size() * sizeof(int32_t)
        else:
            summary.bits = self.taken_bits()
            summary.owns_bits = True
            summary.n_bits = count
        self.add_exits(summary, self.merged_exits(), 0, UNBOUNDED)
        return summary

    cdef Summary* of_union(self, int32_t lex) noexcept nogil:
        """Summary of `(a | b) rest` from those of `a rest` and `b rest`; NULL if the lexeme is not of that kind, or
        would need many new ones."""
        cdef vector[int32_t] parts
        cdef vector[Summary*] known
        cdef Summary* summary
        cdef size_t i, j
        cdef int n_new = 0
        if not self.split_union(lex, parts) or not self.is_wide(lex):
            return NULL
        for i in range(parts.size()):
            if not self.is_summarised(parts[i]) and self.is_wide(parts[i]):
                n_new += 1
        if n_new > NEW_PARTS:
            return NULL
        for i in range(parts.size()):
            known.push_back(self.of(parts[i]))
            if known[i] == NULL:
                return NULL
        summary = self.fresh()
        for i in range(known.size()):
            summary.inner.insert(summary.inner.end(), known[i].inner.begin(), known[i].inner.end())
            summary.exits.insert(summary.exits.end(), known[i].exits.begin(), known[i].exits.end())
            summary.n_bits += known[i].n_bits
            if known[i].bits != NULL and summary.bits == NULL:
                summary.bits = known[i].bits
                summary.removed = known[i].removed
            elif known[i].bits != NULL:
                summary.bits = self_owned(summary.bits, summary.owns_bits, summary.removed, self.n_words)
                summary.owns_bits = True
                add_summary(summary.bits, known[i], self.n_words)
        if summary.inner.size() > SPARSE_LIMIT:
            summary.bits = self_owned(summary.bits, summary.owns_bits, summary.removed, self.n_words)
            summary.owns_bits = True
            summary.n_bits += <int64_t>summary.inner.size()
            for j in range(summary.inner.size()):
                summary.bits[summary.inner[j] >> 5] |= <uint32_t>1 << (summary.inner[j] & 31)
            summary.inner.clear()
        self.memory_size_bytes += (summary.inner.size() + summary.removed.size()) * sizeof(int32_t)
        if summary.owns_bits:
            self.memory_size_bytes += self.n_words * sizeof(uint32_t)
        return summary

    cdef bint split_union(self, int32_t lex, vector[int32_t]& parts) noexcept nogil:
        """The alternatives of `(a | b) rest`, each with its rest. False if there are none, or too many."""
        cdef Node node = self.table.nodes[lex]
        cdef int32_t i, rest = NODE_EPSILON
        if node.op == OP_CONCAT:
            rest = node.b
            node = self.table.nodes[node.a]
        if node.op != OP_UNION or node.b > MOST_PARTS:
            return False
        for i in range(node.b):
            parts.push_back(self.table.concat(self.table.lists[node.a + i], rest))
            if parts.back() < 0:
                return False
        return True

    cdef bint is_summarised(self, int32_t lex) noexcept nogil:
        return <size_t>lex < self.by_node.size() and self.by_node[lex] != NULL

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
        cdef bint strained
        cdef int32_t sure, most, least = UNBOUNDED
        if self.family_of(lex, &family) or self.clipped_family(lex, &family):
            base = self.wider_base(&family, &least)
            if base == NULL:
                base = self.base_of(&family)
                least = UNBOUNDED
        else:
            base = self.raised_base(lex, &family, &least)
        if base == NULL:
            return NULL
        strained = not base.strains.empty() and base.strains[0].drop > least
        if family.part < 0 and 0 <= family.high and base.exits != NULL and base.exits.max_length > family.high:
            return NULL
        most = base.max_count
        if family.part >= 0 and 0 <= family.high < most:
            # Beyond a bound on repetitions tokens are illegal; beyond one on bytes they must be walked.
            most = family.high
        sure = base.max_count
        if family.high >= 0:
            sure = family.high - base.margin if family.high >= base.margin else -1
            sure = sure if sure < base.max_count else base.max_count
        if not strained and family.low == 0 and sure == base.max_count <= most and (
            family.high < 0 or base.exits == NULL or base.exits.max_count <= family.high
        ):
            return self.out_of_reach(&family, base)
        if family.part < 0 and n_longer(&self.vocabulary.by_length, sure) > UNSURE_LIMIT:
            # So much would have to be checked token by token that walking the lexeme is quicker.
            return NULL
        summary = self.fresh()
        self.add_exits(
            summary, base.exits, family.low, family.high if family.high >= 0 and family.part >= 0 else UNBOUNDED
        )
        if sure >= 0 and base.n_tokens > SPARSE_LIMIT:
            summary.bits = self.prefix_bits(base, sure, family.low > 0, family.part < 0)
            summary.n_bits = base.n_inside_up_to[sure] if family.low > 0 else base.n_up_to[sure]
        else:
            sure = -1
        # What the prefix does not settle: tokens too close to the upper bound, tokens in which the repetition is
        # over before the lower one, states that cannot be drawn out to it.
        selection = self.select(lex, &family, base, sure, most)
        if strained:
            self.relieve(lex, base, least, summary, &selection)
        if selection.more.size() + selection.fewer.size() > SPARSE_LIMIT:
            self.settle(summary, selection.more, selection.fewer)
        else:
            summary.inner = selection.more
            summary.removed = selection.fewer
        self.memory_size_bytes += (selection.more.size() + selection.fewer.size()) * sizeof(int32_t)
        return summary

    cdef Selected* coast(self, int32_t lex, int32_t* slack) noexcept nogil:
        """The tokens that only count in `x{0,n} rest` far from its bound, and how many repetitions it stays far from it;
        NULL if the lexeme is not of that kind. Its summary must have been asked for."""
        cdef Family family
        cdef CountedBase* base
        cdef int32_t reach
        if not self.is_summarised(lex) or not self.by_node[lex].common:
            return NULL
        # Not a conjunction that only says the same: who coasts takes the lexeme apart again.
        if not self.split_repeat(lex, &family) or not self.family_of(lex, &family):
            return NULL
        if family.low != 0 or family.high < 0:
            return NULL
        base = self.base_of(&family)
        if base == NULL or base.selected == NULL or self.by_node[lex] != <Summary*>base.unbounded:
            return NULL
        # A matcher tells tokens by their alphabets alone.
        if base.selected.barred:
            return NULL
        # As in `counted`: where the bound is that far away, no token can reach it.
        reach = base.max_count + base.margin
        if base.exits != NULL:
            reach = max(reach, base.exits.max_count)
        slack[0] = family.high - reach
        return base.selected if slack[0] > 0 else NULL

    cdef Summary* out_of_reach(self, Family* family, CountedBase* base) noexcept nogil:
        """The one summary of all members of a family whose bounds no token can reach."""
        cdef Summary* summary
        cdef size_t i
        if base.unbounded == NULL:
            summary = self.fresh()
            summary.common = True
            self.add_exits(summary, base.exits, 0, UNBOUNDED)
            if base.n_tokens > SPARSE_LIMIT:
                summary.bits = self.prefix_bits(base, base.max_count, False, family.part < 0)
                summary.n_bits = base.n_up_to[base.max_count]
            else:
                if base.selected != NULL:
                    self.alphabets.list(base.selected, summary.inner)
                for i in range(base.tokens.size()):
                    summary.inner.push_back(base.tokens[i].token)
                for i in range(base.ranges.size()):
                    summary.inner.insert(
                        summary.inner.end(),
                        self.vocabulary.trie.ids.begin() + base.ranges[i].low,
                        self.vocabulary.trie.ids.begin() + base.ranges[i].high,
                    )
            base.unbounded = summary
        return <Summary*>base.unbounded

    cdef Selection select(self, int32_t lex, Family* family, CountedBase* base, int32_t sure, int32_t most) noexcept nogil:
        cdef Trie* trie = &self.vocabulary.trie
        cdef Selection selection
        cdef unordered_map[uint64_t, uint8_t] alive
        cdef LengthOrder* order
        cdef Range taken
        cdef Found found
        cdef size_t i, last
        cdef int32_t j, k
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
            if not self.is_taken(base, j, &taken):
                continue
            found.count = taken.more + (trie.leads[j] if family.part >= 0 else trie.lengths[j])
            if found.count <= most and (found.count > sure or again):
                found.lex = taken.lex
                found.token = trie.ids[j]
                self.judge(lex, family, base, sure, found, True, alive, &selection)
        return selection

    cdef void relieve(
        self, int32_t lex, CountedBase* base, int32_t least, Summary* summary, Selection* selection
    ) noexcept nogil:
        """Look at what a raised base says of tokens and exits for which its bounds drop by more than the least of the
        lexeme's own: they are walked with the lexeme."""
        cdef Trie* trie = &self.vocabulary.trie
        cdef vector[int32_t] tokens
        cdef vector[int32_t]* barred
        cdef Found found
        cdef size_t i
        cdef int32_t node, token
        cdef bint legal
        for i in range(base.strains.size()):
            if base.strains[i].drop <= least:
                break
            if base.strains[i].token >= 0:
                tokens.push_back(base.strains[i].token)
            elif not self.may_end_at(lex, trie.ids[trie.nodes[base.strains[i].node].low], base.strains[i].depth):
                node = base.strains[i].node
                barred = &summary.exits.back().barred
                barred.insert(
                    barred.end(), trie.ids.begin() + trie.nodes[node].own, trie.ids.begin() + trie.nodes[node].high
                )
        if not summary.exits.empty():
            sort(summary.exits.back().barred.begin(), summary.exits.back().barred.end())
        sort(tokens.begin(), tokens.end())
        drop_all(selection.more, tokens)
        drop_all(selection.fewer, tokens)
        for i in range(tokens.size()):
            token = found.token = tokens[i]
            legal = self.bounded_alive(lex, found)
            if legal and not (summary.bits != NULL and has_bit(summary.bits, token)):
                selection.more.push_back(token)
            elif not legal and summary.bits != NULL and has_bit(summary.bits, token):
                selection.fewer.push_back(token)

    cdef bint may_end_at(self, int32_t lex, int32_t token, int32_t depth) noexcept nogil:
        """Whether a lexeme may end after so many bytes of a token."""
        cdef const uint8_t* text = &self.vocabulary.flat[self.vocabulary.offsets[2 * token]]
        cdef int32_t i
        for i in range(depth):
            lex = self.table.step(lex, text[i])
            if lex <= NODE_EMPTY:
                return False
        return self.table.nodes[lex].nullable

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
        """Summary of a lexeme from that of one that has more texts; NULL if none is known, or too many tokens differ, or
        it may end where it may also go on."""
        cdef Difference what = self.differences.take_apart(lex)
        cdef vector[int32_t] gone
        cdef vector[int32_t]* barred
        cdef Summary* plain
        cdef Summary* summary
        cdef size_t j
        if what.whole <= NODE_EMPTY:
            plain = self.of_wider(lex, gone)
        else:
            if not self.differences.lost_to_few(&what, gone):
                gone.clear()
                if not self.losses(lex, what.whole, gone):
                    return NULL
            plain = self.of(what.whole)
        if plain == NULL:
            return NULL
        summary = self.fresh()
        summary.bits = plain.bits
        summary.n_bits = plain.n_bits
        summary.exits = plain.exits
        sort(gone.begin(), gone.end())
        # A token may be lost to several of the texts.
        gone.resize(unique(gone.begin(), gone.end()) - gone.begin())
        for j in range(summary.exits.size()):
            barred = &summary.exits[j].barred
            barred.insert(barred.end(), gone.begin(), gone.end())
            sort(barred.begin(), barred.end())
        for j in range(gone.size()):
            if summary.bits != NULL and has_bit(summary.bits, gone[j]):
                summary.removed.push_back(gone[j])
        summary.removed.insert(summary.removed.end(), plain.removed.begin(), plain.removed.end())
        if summary.removed.size() > SPARSE_LIMIT:
            # Every mask that is made from it would clear them again.
            summary.bits = self_owned(summary.bits, False, summary.removed, self.n_words)
            summary.owns_bits = True
            self.memory_size_bytes += self.n_words * sizeof(uint32_t)
        for j in range(plain.inner.size()):
            if not holds(gone, plain.inner[j]):
                summary.inner.push_back(plain.inner[j])
        self.memory_size_bytes += (summary.removed.size() + gone.size()) * sizeof(int32_t)
        return summary

    cdef Summary* of_wider(self, int32_t lex, vector[int32_t]& gone) noexcept nogil:
        """Summary of a state that differs from a wide one by beginning with more bytes, and the tokens that begin with
        those; NULL if there is none."""
        cdef Summary* summary
        cdef int32_t wider
        # The wider one may be a union that this one is a part of.
        if self.widening or not self.is_wide(lex):
            return NULL
        wider = self.differences.wider(lex, gone)
        if wider == NODE_EMPTY:
            return NULL
        self.widening = True
        summary = self.of(wider)
        self.widening = False
        return summary


cdef void drop_all(vector[int32_t]& values, vector[int32_t]& gone) noexcept nogil:
    """Remove values that are among sorted others."""
    cdef size_t i, kept = 0
    for i in range(values.size()):
        if not holds(gone, values[i]):
            values[kept] = values[i]
            kept += 1
    values.resize(kept)


cdef uint32_t* self_owned(
    uint32_t* base, bint owned, vector[int32_t]& removed, int32_t n_words
) noexcept nogil:
    """A bitmask of one's own: `base` if it already is, else a copy with `removed` applied and cleared."""
    cdef uint32_t* copy
    cdef size_t i
    if owned:
        return base
    copy = <uint32_t*>malloc(n_words * sizeof(uint32_t))
    if base != NULL:
        memcpy(copy, base, n_words * sizeof(uint32_t))
    else:
        memset(copy, 0, n_words * sizeof(uint32_t))
    for i in range(removed.size()):
        copy[removed[i] >> 5] &= ~(<uint32_t>1 << (removed[i] & 31))
    removed.clear()
    return copy


cdef void add_summary(uint32_t* bits, Summary* summary, int32_t n_words) noexcept nogil:
    """OR a wide summary in; ids it removes stay if they were set before."""
    cdef vector[int32_t] absent
    cdef size_t i
    cdef int32_t word
    for i in range(summary.removed.size()):
        if not has_bit(bits, summary.removed[i]):
            absent.push_back(summary.removed[i])
    for word in range(n_words):
        bits[word] |= summary.bits[word]
    for i in range(absent.size()):
        bits[absent[i] >> 5] &= ~(<uint32_t>1 << (absent[i] & 31))
