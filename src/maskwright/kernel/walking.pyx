# Walking the vocabulary with one lexeme state.
#
# The idea. A depth-first walk over the token trie, stepping the lexeme along, finds the tokens that stay
# inside it and the places where it may end with more of a token to come. Three things keep it short:
#
#   - Closures (closures.pyx). A subtree of tokens made of characters that all lead on, in any order, is taken whole.
#   - Alphabets (alphabets.pyx). The tokens of such characters alone, from the root on, are known without a walk. Then
#     only those with another byte are walked; and if all such characters lead back to the root, only those with
#     another byte that it takes.
#   - Merged exits. Of the tokens in which the lexeme ends, the leftover suffixes form a trie of their own;
#     many tokens share one (`",`, ` ",` and `a",` all leave `,`). It is made by merging the subtrees of the
#     vocabulary's trie below the exits, breadth first; nothing is sorted.
#
# What occurs in a subtree is noted as 64 groups of bytes rather than as 256 bits: then a node of the trie is half a
# cache line with its groups, so that even a subtree of one token can be tested and not walked. A closure that
# holds only some bytes of a group does not hold the group; its subtrees are walked a little deeper.
#
# Rejected: a bit set of bytes per token, tested against the lexeme's bytes. It reads four megabytes per
# walk where the trie's subtrees are a few thousand.
#
# Locking. Everything expects the table's lock.

from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
from libcpp.algorithm cimport sort
from libcpp.string cimport string

from .alphabets cimport completed, unmixed
from .nodes cimport CODE_UNKNOWN, LIVE_UNKNOWN, LIVE_YES, NODE_EMPTY, NODE_EPSILON, OP_LITERAL
from .raising cimport FAR_FROM
from .trie cimport NO_GROUP, TrieNode, group_of, trie_child

# Children of several places of a trie, by byte.
cdef struct Branch:
    int32_t byte
    int32_t node
    int32_t count


cdef inline bint in_groups(uint8_t byte, uint64_t groups) noexcept nogil:
    return group_of[byte] != NO_GROUP and (groups >> group_of[byte]) & 1


cdef bint branch_less(const Branch& left, const Branch& right) noexcept nogil:
    return left.byte < right.byte


cdef class Walker:
    """One vocabulary and one lexeme table, and what walks found out about them."""

    def __cinit__(self, TokenTrie vocabulary, LexemeTable table):
        self.vocabulary = vocabulary
        self.table = table
        self.n_words = (vocabulary.vocab_size + 31) // 32
        self.distances = Distances(table)
        self.closures = ClosureTable(table, self.distances)
        self.raiser = self.closures.raiser
        self.simplifier = Simplifier(table)
        self.alphabets = Alphabets(vocabulary)

    def __dealloc__(self):
        free(self.all_bits)

    cdef bint walk(self, int32_t lex, Family* family) noexcept nogil:
        """Walk the vocabulary from a lexeme state. False if the lexeme table is full.

        Without a family, the tokens that stay inside are in `selected` and `spans`. With one they are in `selected`,
        `found` and `ranges`: `lex` is its base, and repetitions begun are counted along the way by following the family's counter
        beside it, or bytes if what it counts is bytes. The places of exits are in `exit_places`.
        """
        cdef Trie* trie = &self.vocabulary.trie
        cdef Place place
        cdef int32_t child, first, following
        cdef const uint8_t* classes = NULL
        cdef int32_t* targets = NULL
        cdef bint has_row
        self.start_walk(lex, family)
        self.take_alphabets(lex, family)
        while not self.places.empty():
            place = self.places.back()
            self.places.pop_back()
            if self.take_subtree(&place, family):
                continue
            first = trie.nodes[place.node].first
            child = first + trie.nodes[place.node].count
            has_row = False
            if self.table.nodes[place.lex].op == OP_LITERAL:
                first = trie_child(trie, place.node, self.table.pool[self.table.nodes[place.lex].a])
                child = first + 1 if first >= 0 else first
            else:
                has_row = self.table.row(place.lex, &classes, &targets)
            # Last child first: then the first is the next to be looked at, and ranges come in order.
            while child > first:
                child -= 1
                # Most children lead nowhere, and that is known after the first visit: no call for those.
                following = targets[classes[trie.bytes[child]]] if has_row else CODE_UNKNOWN
                if following != NODE_EMPTY and (following < 0 or self.table.nodes[following].live != LIVE_YES):
                    following = self.step(place.lex, trie.bytes[child])
                    if following < 0:
                        return False
                if following != NODE_EMPTY:
                    self.descend(&place, child, following, family)
        return True

    cdef int32_t step(self, int32_t lex, uint8_t byte) noexcept nogil:
        """The table's `step`, which is spared its search where counts tell that there is a way on."""
        cdef int32_t following = self.table.derive(lex, byte, 0)
        if following > NODE_EPSILON and self.table.nodes[following].live == LIVE_UNKNOWN:
            if self.simplifier.is_plainly_live(following, 0):
                self.table.nodes[following].live = LIVE_YES
        return self.table.step(lex, byte)

    cdef void start_walk(self, int32_t lex, Family* family) noexcept nogil:
        cdef Place root
        self.clear_taken()
        self.found.clear()
        self.ranges.clear()
        self.exit_places.clear()
        self.places.clear()
        root.node = 0
        root.lex = lex
        root.depth = 0
        root.leads = 0
        root.counter = family.counter if family != NULL and family.part >= 0 else NODE_EMPTY
        root.count = 0
        root.drop = 0
        root.after = 0
        root.home = 1
        self.places.push_back(root)

    cdef void take_alphabets(self, int32_t lex, Family* family) noexcept nogil:
        """Set `selected` if tokens are made up of characters that stay inside from the root on, in any order."""
        cdef Closure* closure
        cdef Closure* chosen
        cdef uint64_t back, groups, barred = 0
        cdef uint64_t[2] living, dead
        self.home_groups = 0
        if self.table.nodes[lex].nullable or self.table.nodes[lex].op == OP_LITERAL:
            return
        back = self.closures.home_groups(lex)
        groups = back
        closure = self.closures.if_due(lex, <int32_t>self.vocabulary.trie.ids.size())
        if closure != NULL and closure.groups & ~back and self.is_out_of_reach(closure, family):
            groups = closure.groups
        chosen = closure if groups != back else NULL
        if family != NULL and family.part >= 0:
            groups &= family.single_groups
        if unmixed(groups) != groups and self.closures.dead_bytes(lex, chosen, living, dead):
            if family != NULL and family.part >= 0:
                living[0] &= family.single.words[0]
                living[1] &= family.single.words[1]
            groups = completed(groups, living, dead, &barred)
        self.home_groups = unmixed(groups)
        if not self.home_groups:
            return
        self.selected = self.alphabets.without(self.home_groups, barred)
        self.away_groups = ~self.home_groups
        if not self.home_groups & ~back:
            # No other state is ever passed, so what this one does not take ends all.
            self.away_groups &= self.taken_groups(lex)

    cdef bint is_out_of_reach(self, Closure* closure, Family* family) noexcept nogil:
        """Whether no token of a closure's characters alone can reach its bound."""
        if closure.bound == UNBOUNDED:
            return True
        return family == NULL and (
            self.alphabets.within(unmixed(closure.groups)).longest <= closure.bound - closure.margin
        )

    cdef uint64_t taken_groups(self, int32_t lex) noexcept nogil:
        """Groups of bytes some of which a state takes."""
        cdef uint64_t groups = 0
        cdef int byte
        for byte in range(256):
            if group_of[byte] != NO_GROUP and self.table.derive(lex, <uint8_t>byte, 0) != NODE_EMPTY:
                groups |= <uint64_t>1 << group_of[byte]
        return groups

    cdef void descend(self, Place* place, int32_t child, int32_t lex, Family* family) noexcept nogil:
        """Note the tokens of a child, whether the lexeme may end there, and that its children are to be walked."""
        cdef Trie* trie = &self.vocabulary.trie
        cdef TrieNode* node = &trie.nodes[child]
        cdef uint8_t byte = trie.bytes[child]
        cdef bint counting = family != NULL and family.part >= 0
        cdef Place deeper = place[0]
        cdef Found token
        cdef int32_t i
        deeper.node = child
        deeper.lex = lex
        deeper.depth += 1
        deeper.leads += 0 if 0x80 <= byte < 0xC0 else 1
        if family != NULL and family.raised:
            deeper.drop = max(deeper.drop, self.raiser.drop(lex, 0))
        deeper.home = place.home and (0x80 <= byte < 0xC0 or in_groups(byte, self.home_groups))
        if counting and not place.after:
            # Without a conjunction the base is its own counter.
            deeper.counter = lex
            if family.base != family.counter:
                deeper.counter = self.table.derive(place.counter, byte, 0)
            if place.counter == family.counter:
                if (family.starts.words[byte >> 6] >> (byte & 63)) & 1:
                    deeper.count += 1
                else:
                    deeper.after = 1
        if deeper.home and node.low < node.own and trie.is_whole[node.low]:
            # They are among the alphabets.
            pass
        elif family == NULL:
            self.take(node.low, node.own)
        elif node.low < node.own:
            token.lex = lex
            token.count = deeper.count if counting else deeper.depth
            token.drop = deeper.drop
            token.after = deeper.after
            for i in range(node.low, node.own):
                token.token = trie.ids[i]
                self.found.push_back(token)
        if node.count:
            if self.table.nodes[lex].nullable:
                self.exit_places.push_back(deeper)
            if lex != NODE_EPSILON:
                self.places.push_back(deeper)

    cdef bint take_subtree(self, Place* place, Family* family) noexcept nogil:
        """Add all tokens below a place at once if none of their characters can end or leave the lexeme."""
        cdef TrieNode* node = &self.vocabulary.trie.nodes[place.node]
        cdef bint counting = family != NULL and family.part >= 0
        cdef Closure* closure
        cdef Range taken
        if self.table.nodes[place.lex].nullable or self.table.nodes[place.lex].op == OP_LITERAL:
            return False
        if place.home and self.selected != NULL:
            # Those of its tokens that stay inside are among the alphabets.
            return node.whole and not node.below & self.away_groups
        if counting and (place.after or place.counter != family.counter or node.below & ~family.single_groups):
            return False
        if not self.leads_on(place.lex, place.node, place.depth):
            return False
        if family == NULL:
            self.take(node.own, node.high)
            return True
        closure = self.closures.of(place.lex)
        taken.drop = max(place.drop, closure.drop)
        if closure.bound < UNBOUNDED and family.raised:
            # Found without the bounds, so it is not known by how much they drop; not by more than there are bytes.
            taken.drop = node.longest + closure.margin
            if not family.by_bytes or closure.margin >= FAR_FROM or taken.drop > FAR_FROM:
                return False
        taken.low = node.own
        taken.high = node.high
        taken.node = place.node
        taken.lex = place.lex
        taken.more = place.count - place.leads if counting else 0
        self.ranges.push_back(taken)
        return True

    cdef bint leads_on(self, int32_t lex, int32_t node, int32_t depth) noexcept nogil:
        """Whether all tokens below a node of the trie, so many bytes below the root, stay inside a lexeme that is in this
        state there, since its closure has all their characters."""
        cdef TrieNode* below = &self.vocabulary.trie.nodes[node]
        cdef Closure* closure = self.closures.if_due(lex, below.high - below.own)
        # Characters of several bytes pass through other states, so they must be whole ones.
        if closure == NULL or below.below & ~closure.groups or not below.whole:
            return False
        return closure.bound == UNBOUNDED or below.longest - depth <= closure.bound - closure.margin

    # ---- sets of tokens --------------------------------------------------------------------------

    cdef void take(self, int32_t low, int32_t high) noexcept nogil:
        """Add entries `low` to `high` of the vocabulary's `ids` to `spans`. None is ever added twice."""
        cdef Span span
        if low < high:
            span.low = low
            span.high = high
            self.spans.push_back(span)
            self.n_taken += high - low

    cdef void clear_taken(self) noexcept nogil:
        self.selected = NULL
        self.spans.clear()
        self.n_taken = 0

    cdef void list_taken(self, vector[int32_t]& tokens) noexcept nogil:
        """Append the ids of `spans`."""
        cdef Trie* trie = &self.vocabulary.trie
        cdef size_t i
        for i in range(self.spans.size()):
            tokens.insert(
                tokens.end(), trie.ids.begin() + self.spans[i].low, trie.ids.begin() + self.spans[i].high
            )

    cdef uint32_t* taken_bits(self) noexcept nogil:
        """A new bitmask of `selected` and `spans`."""
        cdef Trie* trie = &self.vocabulary.trie
        cdef uint32_t* bits
        cdef size_t i
        cdef int32_t j
        if 2 * self.n_taken > <int64_t>trie.ids.size():
            bits = self.bits_but()
        else:
            bits = self.new_bits()
            for i in range(self.spans.size()):
                for j in range(self.spans[i].low, self.spans[i].high):
                    bits[trie.ids[j] >> 5] |= <uint32_t>1 << (trie.ids[j] & 31)
        if self.selected != NULL:
            self.alphabets.add_bits(self.selected, bits)
        return bits

    cdef uint32_t* bits_but(self) noexcept nogil:
        """A new bitmask of `spans`, which are most tokens: the others are cleared from all of them."""
        cdef Trie* trie = &self.vocabulary.trie
        cdef uint32_t* bits = self.new_bits()
        cdef vector[uint8_t] taken
        cdef size_t i
        if self.all_bits == NULL:
            self.all_bits = self.new_bits()
            for i in range(trie.ids.size()):
                self.all_bits[trie.ids[i] >> 5] |= <uint32_t>1 << (trie.ids[i] & 31)
        memcpy(bits, self.all_bits, self.n_words * sizeof(uint32_t))
        taken.assign(trie.ids.size(), 0)
        for i in range(self.spans.size()):
            memset(&taken[self.spans[i].low], 1, self.spans[i].high - self.spans[i].low)
        for i in range(trie.ids.size()):
            if not taken[i]:
                bits[trie.ids[i] >> 5] &= ~(<uint32_t>1 << (trie.ids[i] & 31))
        return bits

    # ---- exits -----------------------------------------------------------------------------------

    cdef int32_t distance(self, int32_t lex) noexcept nogil:
        """Bytes of the shortest string of a lexeme state; UNBOUNDED if a short search does not find it."""
        return self.distances.of(lex)

    cdef uint32_t* new_bits(self) noexcept nogil:
        cdef uint32_t* bits = <uint32_t*>malloc(self.n_words * sizeof(uint32_t))
        memset(bits, 0, self.n_words * sizeof(uint32_t))
        self.memory_size_bytes += self.n_words * sizeof(uint32_t)
        return bits

    cdef Exits* merged_exits(self) noexcept nogil:
        """A trie of the suffixes below `exit_places`; NULL if there are none."""
        cdef Exits* exits
        cdef size_t i
        cdef string key
        # Lexemes that only differ inside leave at the same places (patterns of strings, at their quote).
        for i in range(self.exit_places.size()):
            key.append(<char*>&self.exit_places[i].node, sizeof(int32_t))
            key.append(<char*>&self.exit_places[i].count, sizeof(int32_t))
        if self.known_exits.find(key) != self.known_exits.end():
            return self.known_exits[key]
        exits = NULL
        if not self.exit_places.empty():
            self.exit_sets.resize(self.exit_sets.size() + 1)
            exits = &self.exit_sets.back()
            exits.max_count = 0
            exits.max_length = 0
            self.merge_subtrees(exits)
            self.memory_size_bytes += exits.trie.nodes.size() * (sizeof(TrieNode) + 1) + exits.trie.ids.size() * 6
        self.known_exits[key] = exits
        return exits

    cdef void merge_subtrees(self, Exits* exits) noexcept nogil:
        """Fill the trie of `exits` from the subtrees below `exit_places`, breadth first.

        Each new node stands for several nodes of the vocabulary's trie (`branches`); its children are theirs,
        grouped by byte. Entries of `ids` come in the order of the nodes, so a node knows its own and not its
        subtree's.
        """
        cdef Trie* trie = &self.vocabulary.trie
        cdef vector[Branch] branches, below
        cdef vector[size_t] first_branch
        cdef Branch branch
        cdef TrieNode fresh
        cdef size_t here = 0, i, j
        cdef int32_t k
        fresh.below = 0
        fresh.whole = 0
        fresh.longest = 0
        fresh.most_leads = 0
        fresh.low = fresh.own = fresh.high = 0
        exits.trie.nodes.push_back(fresh)
        exits.trie.bytes.push_back(0)
        first_branch.push_back(0)
        for i in range(self.exit_places.size()):
            branch.byte = 0
            branch.node = self.exit_places[i].node
            branch.count = min(self.exit_places[i].count, 32767)
            branches.push_back(branch)
        first_branch.push_back(branches.size())
        while here < exits.trie.nodes.size():
            below.clear()
            for i in range(first_branch[here], first_branch[here + 1]):
                branch.count = branches[i].count
                for k in range(trie.nodes[branches[i].node].count):
                    branch.node = trie.nodes[branches[i].node].first + k
                    branch.byte = trie.bytes[branch.node]
                    below.push_back(branch)
            if first_branch[here + 1] - first_branch[here] > 1:
                sort(below.begin(), below.end(), branch_less)
            exits.trie.nodes[here].first = <int32_t>exits.trie.nodes.size()
            i = 0
            while i < below.size():
                fresh.low = <int32_t>exits.trie.ids.size()
                j = i
                while j < below.size() and below[j].byte == below[i].byte:
                    branches.push_back(below[j])
                    for k in range(trie.nodes[below[j].node].low, trie.nodes[below[j].node].own):
                        exits.trie.ids.push_back(trie.ids[k])
                        exits.counts.push_back(<int16_t>below[j].count)
                        exits.max_count = max(exits.max_count, below[j].count)
                        exits.max_length = max(exits.max_length, trie.lengths[k])
                    j += 1
                fresh.own = fresh.high = <int32_t>exits.trie.ids.size()
                exits.trie.nodes.push_back(fresh)
                exits.trie.bytes.push_back(<uint8_t>below[i].byte)
                first_branch.push_back(branches.size())
                i = j
            exits.trie.nodes[here].count = <uint16_t>(exits.trie.nodes.size() - exits.trie.nodes[here].first)
            here += 1
