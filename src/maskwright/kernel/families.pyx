# Families: lexeme states that come by the hundred and differ in how far away their bounds are.
#
# In `x{m,n}` each count is another state. If x is a prefix code (a JSON character, a byte of white space)
# and what follows starts differently, the tokens and their number of x's are found once for `x*`
# (the *base*), and a bound only selects by that number. The same holds under a conjunction, as of
# a length and a pattern. Any other lexeme with distant bounds, and a conjunction with more of them inside, is
# treated likewise after clipping them (clipping.pyx), counting bytes instead.
#
# A token that begins k repetitions is legal if the rest can end within what the bounds leave. That is a
# comparison of numbers once two things are known about the state after it: a number of repetitions
# that suffice to end (its margin), and whether it can be drawn out to any length.
#
# Locking. Everything expects the table's lock.

from cython.operator cimport dereference as deref
from libc.stdlib cimport free
from libc.string cimport memcpy, memset
from libcpp.algorithm cimport sort

from .clipping cimport Clipped
from .nodes cimport (
    CODE_UNKNOWN,
    NODE_EMPTY,
    NODE_EPSILON,
    OP_AND,
    OP_CONCAT,
    OP_REPEAT,
    Node,
)
from .raising cimport RAISED_FROM, Raised
from .trie cimport FIRST_WIDE, LengthOrder, TrieNode, groups_in, n_longer

# Bounds nearer than this are not worth dropping.
cdef int32_t NEAR = 24
# A lexeme that more bytes than this may start is worth more than walking it.
cdef int32_t WIDE_FROM = 16
# Tokens and exits that may be looked at one by one rather than walking a family's own base.
cdef size_t MOST_STRAINS = 512
# Long tokens that are cleared from a full mask one by one rather than building the mask anew.
cdef int32_t CLEAR_LIMIT = 16_384


cdef inline bint needs_margins(Family* family) noexcept nogil:
    """Whether some token could begin too many repetitions, or too few to have ended."""
    return family.high >= 0 or family.low > 1


cdef bint more_strained(const Strain& left, const Strain& right) noexcept nogil:
    return left.drop > right.drop


cdef class FamilyTable(Walker):
    """Counted lexemes taken apart, and the bases that their members share."""

    def __cinit__(self, TokenTrie vocabulary, LexemeTable table):
        self.clipper = Clipper(table, NEAR, False)

    def __dealloc__(self):
        cdef size_t i, j
        for i in range(self.base_pool.size()):
            for j in range(self.base_pool[i].up_to.size()):
                free(self.base_pool[i].up_to[j])
                free(self.base_pool[i].inside_up_to[j])

    # ---- taking lexemes apart --------------------------------------------------------------------

    cdef bint family_of(self, int32_t lex, Family* family) noexcept nogil:
        """Take a counted lexeme apart; False if it is not one.

        Three shapes: `x{m,n} rest`; `(x{m,n} and more) rest`; `x{m,n} rest and more`.
        """
        cdef Node node = self.table.nodes[lex]
        cdef vector[int32_t] kids
        cdef int32_t rest = NODE_EPSILON, conjunction = lex, i, kid, place = -1
        if self.split_repeat(lex, family):
            family.base = family.counter
            return self.simplifier.is_code(family.part) and self.simplifier.starts_apart(family.part, family.rest)
        if node.op == OP_CONCAT:
            rest = node.b
            conjunction = node.a
            node = self.table.nodes[conjunction]
        # Few bytes to start with are walked as quickly.
        if node.op != OP_AND or not self.is_wide(lex):
            return False
        for i in range(node.b):
            kid = self.table.lists[node.a + i]
            kids.push_back(kid)
            if self.split_repeat(kid, family):
                if place >= 0 or (rest != NODE_EPSILON and family.rest != NODE_EPSILON):
                    return False
                place = i
        if place < 0:
            return False
        self.split_repeat(kids[place], family)
        if family.rest == NODE_EPSILON:
            family.rest = rest
            kids[place] = self.table.repeat(family.part, 0, -1)
            family.counter = self.table.concat(kids[place], rest)
            family.base = self.table.concat(self.table.and_of(kids), rest)
        else:
            kids[place] = family.counter
            family.base = self.table.and_of(kids)
        if family.base < 0 or family.counter < 0:
            return False
        # With distant bounds inside, each of their counts would have a base of its own: all are clipped instead.
        if self.clipper.clip(family.base, 0).node != family.base:
            return False
        return self.simplifier.is_code(family.part) and self.simplifier.starts_apart(family.part, family.rest)

    cdef bint clipped_family(self, int32_t lex, Family* family) noexcept nogil:
        """Any other lexeme with distant bounds, as `byte{0,bound}` of its clipped form: what is counted
        is bytes."""
        cdef Clipped clipped
        if not self.is_wide(lex):
            return False
        clipped = self.clipper.clip(lex, 0)
        if clipped.node < 0 or clipped.node == lex:
            return False
        family.part = -1
        family.raised = False
        family.low = 0
        family.high = clipped.bound
        family.rest = NODE_EPSILON
        family.base = clipped.node
        family.counter = NODE_EMPTY
        return True

    cdef bint is_wide(self, int32_t lex) noexcept nogil:
        """Whether more than a handful of bytes may start the lexeme."""
        cdef int32_t n_alive = 0
        cdef int byte
        for byte in range(256):
            if self.table.derive(lex, <uint8_t>byte, 0) > NODE_EMPTY:
                n_alive += 1
                if n_alive > WIDE_FROM:
                    return True
        return False

    cdef bint split_repeat(self, int32_t lex, Family* family) noexcept nogil:
        """`part{low,high} rest` with a bound, taken apart."""
        cdef Node node = self.table.nodes[lex]
        family.rest = NODE_EPSILON
        if node.op == OP_CONCAT:
            family.rest = node.b
            node = self.table.nodes[node.a]
        # Of `x+` there are two states only: they are walked.
        if node.op != OP_REPEAT or (node.b <= 1 and node.c < 0):
            return False
        family.part = node.a
        family.raised = False
        family.low = node.b
        family.high = node.c
        family.counter = self.table.concat(self.table.repeat(node.a, 0, -1), family.rest)
        return family.counter > NODE_EPSILON

    # ---- bases -----------------------------------------------------------------------------------

    cdef CountedBase* base_of(self, Family* family) noexcept nogil:
        """What a family says with counts; NULL if the lexeme table is full."""
        cdef uint64_t key = (<uint64_t><uint32_t>family.base << 32) | <uint32_t>family.counter
        cdef unordered_map[uint64_t, CountedBase*].iterator known = self.bases.find(key)
        cdef Trie* trie = &self.vocabulary.trie
        cdef CountedBase* base
        cdef TrieNode* node
        cdef int byte
        cdef size_t i
        cdef int32_t k, after
        if known != self.bases.end():
            base = deref(known).second
            if needs_margins(family) and not base.measured:
                self.measure(base, family)
            return base
        memset(family.single.words, 0, sizeof(family.single.words))
        memset(family.starts.words, 0, sizeof(family.starts.words))
        for byte in range(256 if family.part >= 0 else 0):
            after = self.table.derive(family.part, <uint8_t>byte, 0)
            if after == NODE_EPSILON:
                family.single.words[byte >> 6] |= <uint64_t>1 << (byte & 63)
            if after != NODE_EMPTY:
                family.starts.words[byte >> 6] |= <uint64_t>1 << (byte & 63)
        if family.part >= 0:
            family.single_groups = groups_in(family.single.words) | self.single_characters(family)
        if not self.walk(family.base, family):
            return NULL
        self.base_pool.resize(self.base_pool.size() + 1)
        base = &self.base_pool.back()
        base.tokens = self.found
        base.ranges = self.ranges
        base.selected = self.selected
        base.lex = family.base
        base.max_count = 0
        base.n_tokens = <int64_t>self.found.size()
        for i in range(base.tokens.size()):
            if base.tokens[i].count > base.max_count:
                base.max_count = base.tokens[i].count
            if base.tokens[i].after:
                base.ends.push_back(base.tokens[i])
        for i in range(base.ranges.size()):
            base.n_tokens += base.ranges[i].high - base.ranges[i].low
            node = &trie.nodes[base.ranges[i].node]
            k = base.ranges[i].more + (node.most_leads if family.part >= 0 else node.longest)
            base.max_count = max(base.max_count, k)
        if base.selected != NULL:
            base.n_tokens += base.selected.n_tokens
            k = base.selected.most_leads if family.part >= 0 else base.selected.longest
            base.max_count = max(base.max_count, k)
        self.sort_base(base)
        base.up_to.assign(base.max_count + 1, NULL)
        base.inside_up_to.assign(base.max_count + 1, NULL)
        base.n_up_to.assign(base.max_count + 1, 0)
        base.n_inside_up_to.assign(base.max_count + 1, 0)
        base.exits = self.merged_exits()
        if family.raised:
            self.note_strains(base, family)
        base.measured = False
        base.margin = 0
        base.rigid = False
        base.unbounded = NULL
        if needs_margins(family):
            self.measure(base, family)
        self.memory_size_bytes += base.tokens.size() * sizeof(Found) + base.ranges.size() * sizeof(Range)
        self.bases[key] = base
        return base

    cdef CountedBase* wider_base(self, Family* family, int32_t* least) noexcept nogil:
        """The base of a family with the bounds that it does not count by raised, if nearly all of what it says is true of
        the family too: of all but the strains that drop by more than `least`. NULL if not, or if nothing is raised.

        A length and a pattern of so many words: the states after each word share it.
        """
        cdef Raised raised
        cdef Family wider = family[0]
        if family.part < 0 or family.base == family.counter or family.low > 1:
            return NULL
        raised = self.raiser.raise_bounds(family.base, 0)
        # What is counted, and what follows it, must stay the same.
        if raised.node <= NODE_EPSILON or raised.node == family.base:
            return NULL
        if self.raiser.raise_bounds(family.counter, 0).node != family.counter:
            return NULL
        # The states of a short part's counts differ by the character: one that is passed over by a token pays nothing.
        if raised.by_bytes and self.raised_once.insert(raised.node).second:
            return NULL
        wider.base = raised.node
        wider.raised = True
        wider.by_bytes = raised.by_bytes
        least[0] = raised.least
        return self.serving_base(&wider, raised.least)

    cdef CountedBase* raised_base(self, int32_t lex, Family* family, int32_t* least) noexcept nogil:
        """The same for a lexeme of which nothing is counted; sets the family, which has no bound."""
        cdef Raised raised
        if not self.is_wide(lex):
            return NULL
        raised = self.raiser.raise_bounds(lex, 0)
        if raised.node <= NODE_EPSILON or raised.node == lex or raised.by_bytes:
            return NULL
        family.part = -1
        family.low = 0
        family.high = -1
        family.rest = NODE_EPSILON
        family.base = raised.node
        family.counter = NODE_EMPTY
        family.raised = True
        family.by_bytes = False
        least[0] = raised.least
        return self.serving_base(family, raised.least)

    cdef CountedBase* serving_base(self, Family* family, int32_t least) noexcept nogil:
        """The base of a raised family; NULL if it says too much that is not true where bounds are no larger."""
        cdef CountedBase* base = self.base_of(family)
        if base == NULL or base.drop > least:
            return NULL
        if base.strains.size() >= MOST_STRAINS and base.strains[MOST_STRAINS - 1].drop > least:
            return NULL
        return base

    cdef void note_strains(self, CountedBase* base, Family* family) noexcept nogil:
        """Find out by how much raised bounds drop in the tokens of a base."""
        cdef Strain strain
        cdef size_t i
        base.drop = 0
        strain.node = strain.depth = -1
        for i in range(base.tokens.size()):
            strain.token = base.tokens[i].token
            strain.drop = max(base.tokens[i].drop, self.raiser.drop_to_end(base.tokens[i].lex))
            if strain.drop > RAISED_FROM:
                base.strains.push_back(strain)
        for i in range(base.ranges.size()):
            base.drop = max(base.drop, base.ranges[i].drop)
        if base.selected != NULL:
            base.drop = max(base.drop, self.raiser.drop_to_end(base.lex))
            base.drop = max(base.drop, self.closures.of(base.lex).drop)
        strain.token = -1
        for i in range(self.exit_places.size()):
            strain.drop = self.exit_places[i].drop
            strain.node = self.exit_places[i].node
            strain.depth = self.exit_places[i].depth
            if strain.drop > RAISED_FROM and self.exit_places[i].lex == NODE_EPSILON:
                base.strains.push_back(strain)
            else:
                # A token that may leave here and also farther on is not told apart.
                base.drop = max(base.drop, strain.drop)
        sort(base.strains.begin(), base.strains.end(), more_strained)

    cdef uint64_t single_characters(self, Family* family) noexcept nogil:
        """Groups of characters of several bytes each of which is one repetition."""
        cdef vector[int32_t] targets
        cdef uint64_t result = 0
        cdef size_t i
        cdef int group
        cdef bint good
        for group in range(FIRST_WIDE, 64):
            targets.clear()
            good = self.closures.characters_lead_on(family.counter, <uint64_t>1 << group, targets) != 0
            for i in range(targets.size()):
                good = good and targets[i] == family.counter
            if good:
                result |= <uint64_t>1 << group
        return result

    cdef void sort_base(self, CountedBase* base) noexcept nogil:
        """Counting sort of the tokens found one by one."""
        cdef vector[Found] sorted_tokens
        cdef vector[int32_t] place
        cdef size_t i
        cdef int32_t k
        base.n_above.assign(base.max_count + 1, 0)
        for i in range(base.tokens.size()):
            base.n_above[base.tokens[i].count] += 1
        place.assign(base.max_count + 1, 0)
        for k in range(base.max_count - 1, -1, -1):
            place[k] = place[k + 1] + base.n_above[k + 1]
        base.n_above = place
        sorted_tokens.resize(base.tokens.size())
        for i in range(base.tokens.size()):
            k = base.tokens[i].count
            sorted_tokens[place[k]] = base.tokens[i]
            place[k] += 1
        base.tokens.swap(sorted_tokens)

    cdef bint measure(self, CountedBase* base, Family* family) noexcept nogil:
        """How soon the states after all tokens can end, and whether they can be drawn out."""
        cdef size_t i
        cdef int32_t lex, previous = CODE_UNKNOWN, least = self.distance(family.rest)
        base.measured = True
        if family.base == family.counter:
            # Nothing but the repetition: it can end wherever it stands, and go on as long as it may.
            return True
        for i in range(base.tokens.size()):
            lex = base.tokens[i].lex
            # Nearly all tokens in a row lead to the same state.
            if lex == previous or base.tokens[i].after:
                continue
            previous = lex
            if base.margins.find(lex) == base.margins.end():
                self.note_margin(base, lex, self.distance(lex), least)
                base.rigid = base.rigid or not (family.part < 0 or self.draws_out(lex, family))
        for i in range(base.ranges.size()):
            self.measure_closure(base, family, base.ranges[i].lex, least)
        if base.selected != NULL:
            self.measure_closure(base, family, base.lex, least)
        return True

    cdef void measure_closure(self, CountedBase* base, Family* family, int32_t lex, int32_t least) noexcept nogil:
        cdef Closure* closure
        if base.range_margins.find(lex) == base.range_margins.end():
            closure = self.closures.of(lex)
            base.range_margins[lex] = self.note_margin(base, UNBOUNDED, closure.margin, least)
            base.rigid = base.rigid or not (family.part < 0 or closure.loose)

    cdef int32_t note_margin(self, CountedBase* base, int32_t lex, int32_t distance, int32_t least) noexcept nogil:
        # Bytes to the end bound the repetitions to the end; those of `rest` are none.
        cdef int32_t margin = distance - least if distance < UNBOUNDED and least < UNBOUNDED else UNBOUNDED
        if lex != UNBOUNDED:
            base.margins[lex] = margin
        base.margin = max(base.margin, margin)
        base.rigid = base.rigid or margin == UNBOUNDED
        return margin

    cdef bint draws_out(self, int32_t lex, Family* family) noexcept nogil:
        """Whether a state, or one on its shortest way to the end, has a byte that is one repetition and changes
        nothing: then every length from its shortest on is possible."""
        cdef int byte, hop
        cdef int32_t child, following, near
        for hop in range(8):
            near = self.distance(lex)
            following = NODE_EMPTY
            for byte in range(256):
                child = self.table.step(lex, <uint8_t>byte)
                if child < 0:
                    return False
                if child == lex and (family.single.words[byte >> 6] >> (byte & 63)) & 1:
                    return True
                # The search from `lex` noted the distances along its way, so no other is started here.
                if child > NODE_EMPTY and following == NODE_EMPTY and 0 <= self.distances.noted(child) < near:
                    following = child
            if following <= NODE_EPSILON:
                return False
            lex = following
        return False

    cdef bint is_taken(self, CountedBase* base, int32_t entry, Range* taken) noexcept nogil:
        """Whether an entry of the trie's ids was taken with a subtree or by its characters; sets `taken.lex` and
        `taken.more`."""
        cdef int32_t low = 0, high = <int32_t>base.ranges.size(), middle
        if base.selected != NULL and self.alphabets.holds(base.selected, entry):
            taken.lex = base.lex
            taken.more = 0
            return True
        while low < high:
            middle = (low + high) >> 1
            if base.ranges[middle].low <= entry:
                low = middle + 1
            else:
                high = middle
        if low == 0 or entry >= base.ranges[low - 1].high:
            return False
        taken[0] = base.ranges[low - 1]
        return True

    cdef uint32_t* prefix_bits(
        self, CountedBase* base, int32_t most, bint inside, bint by_bytes
    ) noexcept nogil:
        """Bitmask of the tokens with at most `most` repetitions; `inside`: only where it is not over.

        Tokens with many repetitions are few, so unless `most` is small they are cleared from the full mask.
        """
        cdef Trie* trie = &self.vocabulary.trie
        cdef LengthOrder* order = &self.vocabulary.by_length if by_bytes else &self.vocabulary.by_leads
        cdef vector[uint32_t*]* masks = &base.inside_up_to if inside else &base.up_to
        cdef vector[int64_t]* sizes = &base.n_inside_up_to if inside else &base.n_up_to
        cdef uint32_t* bits
        cdef int64_t count
        cdef size_t i
        cdef Range taken
        cdef int32_t j, k
        if masks[0][most] != NULL:
            return masks[0][most]
        if most == base.max_count:
            return self.full_prefix(base, inside)
        if n_longer(order, most) > CLEAR_LIMIT:
            self.low_prefixes(base, inside, by_bytes)
            return masks[0][most]
        bits = self.new_bits()
        memcpy(
            bits, self.prefix_bits(base, base.max_count, inside, by_bytes), self.n_words * sizeof(uint32_t)
        )
        count = sizes[0][base.max_count]
        for i in range(<size_t>base.n_above[most]):
            if not (inside and base.tokens[i].after):
                bits[base.tokens[i].token >> 5] &= ~(<uint32_t>1 << (base.tokens[i].token & 31))
                count -= 1
        for k in range(n_longer(order, most)):
            j = order.entries[k]
            if self.is_taken(base, j, &taken) and taken.more + (trie.lengths[j] if by_bytes else trie.leads[j]) > most:
                bits[trie.ids[j] >> 5] &= ~(<uint32_t>1 << (trie.ids[j] & 31))
                count -= 1
        masks[0][most] = bits
        sizes[0][most] = count
        return bits

    cdef void low_prefixes(self, CountedBase* base, bint inside, bint by_bytes) noexcept nogil:
        """All prefixes up to the least count that few tokens exceed, in one pass: a string that is near its
        bound needs them one after another."""
        cdef Trie* trie = &self.vocabulary.trie
        cdef LengthOrder* order = &self.vocabulary.by_length if by_bytes else &self.vocabulary.by_leads
        cdef vector[uint32_t*]* masks = &base.inside_up_to if inside else &base.up_to
        cdef vector[int64_t]* sizes = &base.n_inside_up_to if inside else &base.n_up_to
        cdef vector[uint32_t*] bits
        cdef vector[int64_t] counts
        cdef size_t i
        cdef int32_t j, k, last = 0
        cdef Range taken
        while last < base.max_count and n_longer(order, last) > CLEAR_LIMIT:
            last += 1
        for k in range(last + 1):
            bits.push_back(self.new_bits())
            counts.push_back(0)
        for i in range(base.tokens.size()):
            k = base.tokens[i].count
            if k <= last and not (inside and base.tokens[i].after):
                bits[k][base.tokens[i].token >> 5] |= <uint32_t>1 << (base.tokens[i].token & 31)
                counts[k] += 1
        for i in range(base.ranges.size()):
            taken = base.ranges[i]
            for j in range(taken.low, taken.high):
                k = taken.more + (trie.lengths[j] if by_bytes else trie.leads[j])
                if k <= last:
                    bits[k][trie.ids[j] >> 5] |= <uint32_t>1 << (trie.ids[j] & 31)
                    counts[k] += 1
        if base.selected != NULL:
            # The entries after `n_longer(last)` are those with at most `last`.
            for i in range(n_longer(order, last), order.entries.size()):
                j = order.entries[i]
                if self.alphabets.holds(base.selected, j):
                    k = trie.lengths[j] if by_bytes else trie.leads[j]
                    bits[k][trie.ids[j] >> 5] |= <uint32_t>1 << (trie.ids[j] & 31)
                    counts[k] += 1
        for k in range(1, last + 1):
            counts[k] += counts[k - 1]
            for j in range(self.n_words):
                bits[k][j] |= bits[k - 1][j]
        for k in range(last + 1):
            if masks[0][k] == NULL:
                masks[0][k] = bits[k]
                sizes[0][k] = counts[k]
            else:
                free(bits[k])

    cdef uint32_t* full_prefix(self, CountedBase* base, bint inside) noexcept nogil:
        """Bitmask of all tokens; `inside`: only where the repetition is not over."""
        cdef int32_t most = base.max_count
        cdef uint32_t* bits
        cdef int64_t count
        cdef size_t i
        self.clear_taken()
        self.selected = base.selected
        for i in range(base.ranges.size()):
            self.take(base.ranges[i].low, base.ranges[i].high)
        count = self.n_taken + (base.selected.n_tokens if base.selected != NULL else 0)
        bits = self.taken_bits()
        for i in range(base.tokens.size()):
            if not (inside and base.tokens[i].after):
                bits[base.tokens[i].token >> 5] |= <uint32_t>1 << (base.tokens[i].token & 31)
                count += 1
        if inside:
            base.inside_up_to[most] = bits
            base.n_inside_up_to[most] = count
        else:
            base.up_to[most] = bits
            base.n_up_to[most] = count
        return bits
