# Summaries: what one lexeme state says about every token of the vocabulary.
#
# The idea. From a lexeme state a token either dies, stays inside the lexeme, or leaves it somewhere in
# the middle. The first two do not depend on the grammar around the lexeme, so they are found once per
# lexeme state by walking the token trie. Of the tokens that leave, the suffixes after the exit are
# kept as a trie of their own; many tokens share one (`",`, ` ",` and `a",` all leave `,`), so walking
# it from whatever follows is cheap.
#
# Some kinds of states would be expensive to walk each on their own, because they come in families:
#
#   - Counted. In `x{m,n}` each count is another state. If x is a prefix code (a JSON character, a byte of
#     white space) and what follows starts differently, the tokens and their number of x's are found
#     once for `x*`, and a bound only selects by that number.
#   - Clipped. Distant bounds elsewhere in a lexeme (see clipping.pyx): the same, counting bytes.
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

from .clipping cimport Clipped
from .lexemes cimport (
    CODE_UNKNOWN,
    NODE_EMPTY,
    NODE_EPSILON,
    OP_AND,
    OP_CONCAT,
    OP_LITERAL,
    OP_NOT,
    OP_REPEAT,
    Node,
)
from .trie cimport LengthOrder, TrieNode, build_trie, n_longer, trie_child

# Trie nodes that a difference may visit before it is walked like any other state.
cdef int32_t DIFFERENCE_LIMIT = 8192
# A lexeme that more bytes than this may start is worth more than walking it.
cdef int32_t WIDE_FROM = 16
# States that a closure may hold.
cdef size_t CLOSURE_LIMIT = 256
# Long tokens that are cleared from a full mask one by one rather than building the mask anew.
cdef int32_t CLEAR_LIMIT = 16_384
# Lexeme states that the search for a shortest string may look at.
cdef size_t DISTANCE_LIMIT = 2_000
# Largest number of derivatives of a repeated part that is_code looks at.
cdef size_t CODE_LIMIT_NODES = 256
# "No bound", for `Summary.most`.
cdef int32_t UNBOUNDED = 2147483647


cdef inline uint64_t mix(uint64_t value, uint64_t more) noexcept nogil:
    value = (value ^ more) * <uint64_t>0x9E3779B97F4A7C15
    return value ^ (value >> 29)


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


cdef inline bint is_overlong(int lead, int second) noexcept nogil:
    """Whether no character begins with these two bytes: overlong forms, surrogates, beyond U+10FFFF."""
    return (
        (lead == 0xE0 and second < 0xA0)
        or (lead == 0xED and second >= 0xA0)
        or (lead == 0xF0 and second < 0x90)
        or (lead == 0xF4 and second >= 0x90)
    )


cdef bint range_less(const Range& left, const Range& right) noexcept nogil:
    return left.low < right.low


cdef inline int32_t range_of(const vector[Range]& ranges, int32_t entry) noexcept nogil:
    """Index of the range that holds an entry of the trie's ids, or -1."""
    cdef int32_t low = 0, high = <int32_t>ranges.size(), middle
    while low < high:
        middle = (low + high) >> 1
        if ranges[middle].low <= entry:
            low = middle + 1
        else:
            high = middle
    return low - 1 if low > 0 and entry < ranges[low - 1].high else -1


cdef class SummaryTable:
    """Summaries of one vocabulary over one lexeme table."""

    def __cinit__(self, TokenTrie vocabulary, LexemeTable table):
        self.vocabulary = vocabulary
        self.table = table
        self.clipper = Clipper(table)
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

    # ---- walking ---------------------------------------------------------------------------------

    cdef bint walk(self, int32_t lex, Family* family) noexcept nogil:
        """Walk the vocabulary from a lexeme state into `found` and `exit_places`.

        With a family, `lex` is its base, and repetitions begun are counted along the way by following
        the family's counter beside it; without one, bytes are. False if the lexeme table is full.
        """
        cdef Trie* trie = &self.vocabulary.trie
        cdef Place place, deeper
        cdef Found token
        cdef int32_t child, last, i
        self.found.clear()
        self.ranges.clear()
        self.exit_places.clear()
        self.places.clear()
        place.node = 0
        place.lex = lex
        place.depth = 0
        place.leads = 0
        place.counter = family.counter if family != NULL else NODE_EMPTY
        place.count = 0
        place.after = 0
        self.places.push_back(place)
        while not self.places.empty():
            place = self.places.back()
            self.places.pop_back()
            child = trie.nodes[place.node].first
            last = child + trie.nodes[place.node].count
            if self.table.nodes[place.lex].op == OP_LITERAL:
                child = trie_child(trie, place.node, self.table.pool[self.table.nodes[place.lex].a])
                if child < 0:
                    continue
                last = child + 1
            while child < last:
                deeper.lex = self.table.step(place.lex, trie.nodes[child].byte)
                if deeper.lex < 0:
                    return False
                if deeper.lex != NODE_EMPTY:
                    deeper.node = child
                    deeper.depth = place.depth + 1
                    deeper.leads = place.leads + (0 if 0x80 <= trie.nodes[child].byte < 0xC0 else 1)
                    deeper.count = place.count
                    deeper.after = place.after
                    deeper.counter = place.counter
                    if family != NULL and not place.after:
                        deeper.counter = self.table.derive(place.counter, trie.nodes[child].byte, 0)
                        if place.counter == family.counter:
                            if self.table.derive(family.part, trie.nodes[child].byte, 0) != NODE_EMPTY:
                                deeper.count += 1
                            else:
                                deeper.after = 1
                    token.lex = deeper.lex
                    token.count = deeper.count if family != NULL else deeper.depth
                    token.after = deeper.after
                    for i in range(trie.nodes[child].low, trie.nodes[child].own):
                        token.token = trie.ids[i]
                        self.found.push_back(token)
                    if trie.nodes[child].count:
                        if self.table.nodes[deeper.lex].nullable:
                            self.exit_places.push_back(deeper)
                        if deeper.lex != NODE_EPSILON and not self.take_subtree(&deeper, family):
                            self.places.push_back(deeper)
                child += 1
        return True

    cdef bint take_subtree(self, Place* place, Family* family) noexcept nogil:
        """Add all tokens below a place at once if none of their characters can end or leave the lexeme."""
        cdef Trie* trie = &self.vocabulary.trie
        cdef TrieNode* node = &trie.nodes[place.node]
        cdef Closure* closure
        cdef uint64_t* below
        cdef Range taken
        cdef int32_t i
        if node.set_of < 0 or self.table.nodes[place.lex].nullable:
            return False
        if family != NULL and (place.after or place.counter != family.counter):
            return False
        closure = self.closure_of(place.lex)
        below = &trie.sets[4 * node.set_of]
        for i in range(2):
            if below[i] & ~closure.ascii[i] or (family != NULL and below[i] & ~family.single.words[i]):
                return False
        if below[2] | below[3]:
            # Characters of several bytes pass through other states; each counts as one.
            if not node.whole or not closure.characters or (family != NULL and not family.characters):
                return False
        taken.low = node.own
        taken.high = node.high
        taken.lex = place.lex
        taken.more = place.count - place.leads if family != NULL else 0
        self.ranges.push_back(taken)
        return True

    cdef Closure* closure_of(self, int32_t lex) noexcept nogil:
        """The largest set of characters that a state and all states they lead to take, without ending.

        Starts from all characters that the state takes and drops, until nothing changes, those that some state
        reached does not take. What holds for the state then holds for all those.
        """
        cdef unordered_map[int32_t, Closure].iterator known = self.closures.find(lex)
        cdef Closure closure
        cdef vector[int32_t] inside
        cdef size_t i
        cdef int32_t margin
        cdef int byte
        if known != self.closures.end():
            return &deref(known).second
        closure.ascii[0] = closure.ascii[1] = 0
        for byte in range(128):
            if self.table.step(lex, <uint8_t>byte) > NODE_EMPTY:
                closure.ascii[byte >> 6] |= <uint64_t>1 << (byte & 63)
        closure.characters = 1
        while self.explore(lex, &closure, inside):
            pass
        closure.margin = 0
        closure.loose = 1
        if closure.ascii[0] | closure.ascii[1]:
            for i in range(inside.size()):
                margin = self.distance(inside[i])
                closure.margin = max(closure.margin, margin)
                # A byte that changes nothing lets a state take its time.
                if self.table.nodes[inside[i]].nullable or not self.has_loop(inside[i], &closure):
                    closure.loose = 0
        for i in range(inside.size()):
            self.closures[inside[i]] = closure
        self.closures[lex] = closure
        return &self.closures[lex]

    cdef bint has_loop(self, int32_t lex, Closure* closure) noexcept nogil:
        cdef int byte
        for byte in range(128):
            if (closure.ascii[byte >> 6] >> (byte & 63)) & 1:
                if self.table.derive(lex, <uint8_t>byte, 0) == lex:
                    return True
        return False

    cdef bint explore(self, int32_t lex, Closure* closure, vector[int32_t]& inside) noexcept nogil:
        """Visit what the closure's characters reach; drops those that fail, and returns whether it did."""
        cdef unordered_map[int32_t, uint8_t] met
        cdef vector[int32_t] targets
        cdef size_t here = 0, i
        cdef int byte, previous
        cdef int32_t target, classes
        cdef bint good = True, dropped = False
        inside.assign(1, lex)
        met[lex] = 1
        while here < inside.size():
            targets.clear()
            if closure.characters and not self.characters_lead_on(inside[here], targets):
                closure.characters = 0
                dropped = True
                targets.clear()
            classes = self.table.class_map(inside[here], 0)
            if classes < 0:
                closure.ascii[0] = closure.ascii[1] = 0
                return False
            previous = -1
            for byte in range(128):
                if not (closure.ascii[byte >> 6] >> (byte & 63)) & 1:
                    continue
                if self.table.maps[classes][byte] == previous:
                    if not good:
                        closure.ascii[byte >> 6] &= ~(<uint64_t>1 << (byte & 63))
                    continue
                previous = self.table.maps[classes][byte]
                target = self.table.step(inside[here], <uint8_t>byte)
                # A byte that narrows what may follow (a backslash) is dropped, and not what it rules out.
                good = (
                    target > NODE_EPSILON
                    and not self.table.nodes[target].nullable
                    and (met.find(target) != met.end() or self.takes_most(target, closure))
                )
                if not good:
                    closure.ascii[byte >> 6] &= ~(<uint64_t>1 << (byte & 63))
                    dropped = True
                elif targets.empty() or targets.back() != target:
                    targets.push_back(target)
            for i in range(targets.size()):
                if met.find(targets[i]) == met.end():
                    met[targets[i]] = 1
                    inside.push_back(targets[i])
            here += 1
            if inside.size() > CLOSURE_LIMIT:
                closure.ascii[0] = closure.ascii[1] = 0
                closure.characters = 0
                inside.assign(1, lex)
                return False
        return dropped

    cdef bint takes_most(self, int32_t lex, Closure* closure) noexcept nogil:
        """Whether a state takes at least half of the closure's single bytes."""
        cdef int byte, taken = 0, total = 0
        for byte in range(128):
            if (closure.ascii[byte >> 6] >> (byte & 63)) & 1:
                total += 1
                if self.table.derive(lex, <uint8_t>byte, 0) > NODE_EMPTY:
                    taken += 1
        return 2 * taken >= total

    cdef bint characters_lead_on(self, int32_t lex, vector[int32_t]& targets) noexcept nogil:
        """Whether every UTF-8 character of two bytes or more leads on without ending; adds where to."""
        cdef vector[int32_t] states, following
        cdef int lead, byte, left, previous
        cdef size_t i
        cdef int32_t classes, first = NODE_EMPTY
        for lead in range(0xC2, 0xF5):
            states.assign(1, self.table.step(lex, <uint8_t>lead))
            if lead > 0xC2 and states[0] == first and lead not in (0xE0, 0xE1, 0xED, 0xEE, 0xF0, 0xF1, 0xF4):
                continue
            first = states[0]
            left = 1 if lead < 0xE0 else 2 if lead < 0xF0 else 3
            while left > 0:
                left -= 1
                following.clear()
                for i in range(states.size()):
                    if states[i] <= NODE_EPSILON or self.table.nodes[states[i]].nullable:
                        return False
                    classes = self.table.class_map(states[i], 0)
                    if classes < 0:
                        return False
                    previous = -1
                    for byte in range(0x80, 0xC0):
                        if left == (2 if lead >= 0xF0 else 1) and is_overlong(lead, byte):
                            continue
                        # Bytes of one class lead to one state.
                        if self.table.maps[classes][byte] == previous:
                            continue
                        previous = self.table.maps[classes][byte]
                        following.push_back(self.table.step(states[i], <uint8_t>byte))
                    if following.size() > 64:
                        return False
                states.swap(following)
            for i in range(states.size()):
                if states[i] <= NODE_EPSILON or self.table.nodes[states[i]].nullable:
                    return False
                if targets.empty() or targets.back() != states[i]:
                    targets.push_back(states[i])
        return True

    cdef bint counts_characters(self, Family* family) noexcept nogil:
        """Whether each character of several bytes is one repetition."""
        cdef vector[int32_t] targets
        cdef size_t i
        if not self.characters_lead_on(family.counter, targets):
            return False
        for i in range(targets.size()):
            if targets[i] != family.counter:
                return False
        return True

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
        cdef uint64_t key = self.exit_places.size()
        # Lexemes that only differ inside leave at the same places (patterns of strings, at their quote).
        for i in range(self.exit_places.size()):
            key = mix(key, (<uint64_t>self.exit_places[i].node << 32) | <uint32_t>self.exit_places[i].count)
        if self.known_exits.find(key) != self.known_exits.end():
            return self.known_exits[key]
        self.known_exits[key] = NULL
        for i in range(self.exit_places.size()):
            for j in range(trie.nodes[self.exit_places[i].node].own, trie.nodes[self.exit_places[i].node].high):
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
        exits.max_length = 0
        offsets.push_back(0)
        for i in range(suffixes.size()):
            flat.insert(flat.end(), suffixes[i].start, suffixes[i].start + suffixes[i].length)
            offsets.push_back(<int64_t>flat.size())
            ids.push_back(suffixes[i].token)
            exits.max_length = max(
                exits.max_length, <int32_t>self.vocabulary.offsets[2 * suffixes[i].token + 1]
            )
            k = suffixes[i].count if suffixes[i].count < 32767 else 32767
            exits.counts.push_back(<int16_t>k)
            if k > exits.max_count:
                exits.max_count = k
        self.known_exits[key] = exits
        build_trie(&exits.trie, &flat[0], &offsets[0], &ids[0], <int32_t>ids.size())
        self.memory_size_bytes += exits.trie.nodes.size() * 21 + ids.size() * 6
        return exits

    # ---- counted repetitions ---------------------------------------------------------------------

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
        if sure >= base.max_count and not again:
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
        cdef int32_t margin
        cdef bint legal
        if found.count <= sure and found.count >= family.low:
            return
        margin = base.range_margins[found.lex] if closed else base.margins[found.lex]
        if not base.rigid and (family.high < 0 or found.count + margin <= family.high):
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

    cdef bint family_of(self, int32_t lex, Family* family) noexcept nogil:
        """Take a counted lexeme apart; False if it is not one.

        Three shapes: `x{m,n} rest`; `(x{m,n} and more) rest`; `x{m,n} rest and more`.
        """
        cdef Node node = self.table.nodes[lex]
        cdef vector[int32_t] kids
        cdef int32_t rest = NODE_EPSILON, conjunction = lex, i, kid, place = -1
        if self.split_repeat(lex, family):
            family.base = family.counter
            return self.is_code(family.part) and self.starts_apart(family.part, family.rest)
        if node.op == OP_CONCAT:
            rest = node.b
            conjunction = node.a
            node = self.table.nodes[conjunction]
        if node.op != OP_AND:
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
        return self.is_code(family.part) and self.starts_apart(family.part, family.rest)

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
        if node.op != OP_REPEAT or (node.b == 0 and node.c < 0):
            return False
        family.part = node.a
        family.low = node.b
        family.high = node.c
        family.counter = self.table.concat(self.table.repeat(node.a, 0, -1), family.rest)
        return family.counter > NODE_EPSILON

    cdef CountedBase* base_of(self, Family* family) noexcept nogil:
        """What a family says with counts; NULL if the lexeme table is full."""
        cdef uint64_t key = (<uint64_t><uint32_t>family.base << 32) | <uint32_t>family.counter
        cdef unordered_map[uint64_t, CountedBase*].iterator known = self.bases.find(key)
        cdef Trie* trie = &self.vocabulary.trie
        cdef CountedBase* base
        cdef int byte
        cdef size_t i
        cdef int32_t j, k
        if known != self.bases.end():
            return deref(known).second
        memset(family.single.words, 0, sizeof(family.single.words))
        for byte in range(256 if family.part >= 0 else 0):
            if self.table.derive(family.part, <uint8_t>byte, 0) == NODE_EPSILON:
                family.single.words[byte >> 6] |= <uint64_t>1 << (byte & 63)
        family.characters = family.part >= 0 and self.counts_characters(family)
        if not self.walk(family.base, family if family.part >= 0 else NULL):
            return NULL
        self.base_pool.resize(self.base_pool.size() + 1)
        base = &self.base_pool.back()
        base.tokens = self.found
        base.ranges = self.ranges
        base.max_count = 0
        base.n_tokens = <int64_t>self.found.size()
        sort(base.ranges.begin(), base.ranges.end(), range_less)
        for i in range(base.tokens.size()):
            if base.tokens[i].count > base.max_count:
                base.max_count = base.tokens[i].count
            if base.tokens[i].after:
                base.ends.push_back(base.tokens[i])
        for i in range(base.ranges.size()):
            base.n_tokens += base.ranges[i].high - base.ranges[i].low
            for j in range(base.ranges[i].low, base.ranges[i].high):
                k = base.ranges[i].more + (trie.leads[j] if family.part >= 0 else trie.lengths[j])
                if k > base.max_count:
                    base.max_count = k
        self.sort_base(base)
        base.up_to.assign(base.max_count + 1, NULL)
        base.inside_up_to.assign(base.max_count + 1, NULL)
        base.n_up_to.assign(base.max_count + 1, 0)
        base.n_inside_up_to.assign(base.max_count + 1, 0)
        base.exits = self.merged_exits()
        if not self.measure(base, family):
            return NULL
        self.memory_size_bytes += base.tokens.size() * sizeof(Found) + base.ranges.size() * sizeof(Range)
        self.bases[key] = base
        return base

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
        cdef Closure* closure
        base.margin = 0
        base.rigid = False
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
            lex = base.ranges[i].lex
            if base.range_margins.find(lex) == base.range_margins.end():
                closure = self.closure_of(lex)
                base.range_margins[lex] = self.note_margin(base, UNBOUNDED, closure.margin, least)
                base.rigid = base.rigid or not (family.part < 0 or closure.loose)
        return True

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
                if child > NODE_EMPTY and following == NODE_EMPTY:
                    if self.distances.find(child) != self.distances.end() and self.distances[child] < near:
                        following = child
            if following <= NODE_EPSILON:
                return False
            lex = following
        return False

    cdef int32_t distance(self, int32_t lex) noexcept nogil:
        """Bytes of the shortest string of a lexeme state; UNBOUNDED if a short search does not find it."""
        cdef unordered_map[int32_t, int32_t].iterator known = self.distances.find(lex)
        cdef vector[int32_t] seen, parents
        cdef unordered_map[int32_t, uint8_t] met
        cdef vector[uint8_t] tried
        cdef size_t here = 0
        cdef int32_t child, up, classes, result = UNBOUNDED, hops
        cdef int byte
        if known != self.distances.end():
            return deref(known).second
        seen.push_back(lex)
        parents.push_back(-1)
        met[lex] = 1
        while here < seen.size() and seen.size() < DISTANCE_LIMIT:
            if self.table.nodes[seen[here]].nullable:
                # Every state on the way is one byte nearer.
                up = <int32_t>here
                hops = 0
                while up >= 0:
                    self.distances[seen[up]] = hops
                    hops += 1
                    up = parents[up]
                return self.distances[lex]
            classes = self.table.class_map(seen[here], 0)
            if classes < 0:
                break
            tried.assign(self.table.map_sizes[classes], 0)
            for byte in range(256):
                if tried[self.table.maps[classes][byte]]:
                    continue
                tried[self.table.maps[classes][byte]] = 1
                child = self.table.step(seen[here], <uint8_t>byte)
                if child > NODE_EMPTY and met.find(child) == met.end():
                    met[child] = 1
                    seen.push_back(child)
                    parents.push_back(<int32_t>here)
            here += 1
        self.distances[lex] = result
        return result

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
        cdef int32_t j, k, where
        if masks[0][most] != NULL:
            return masks[0][most]
        if most == base.max_count or n_longer(order, most) > CLEAR_LIMIT:
            return self.full_prefix(base, most, inside, by_bytes)
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
            where = range_of(base.ranges, j)
            if where >= 0 and base.ranges[where].more + (trie.lengths[j] if by_bytes else trie.leads[j]) > most:
                bits[trie.ids[j] >> 5] &= ~(<uint32_t>1 << (trie.ids[j] & 31))
                count -= 1
        masks[0][most] = bits
        sizes[0][most] = count
        return bits

    cdef uint32_t* full_prefix(
        self, CountedBase* base, int32_t most, bint inside, bint by_bytes
    ) noexcept nogil:
        cdef Trie* trie = &self.vocabulary.trie
        cdef vector[uint32_t*]* masks = &base.inside_up_to if inside else &base.up_to
        cdef vector[int64_t]* sizes = &base.n_inside_up_to if inside else &base.n_up_to
        cdef uint32_t* bits = self.new_bits()
        cdef int64_t count = 0
        cdef size_t i
        cdef int32_t j, limit
        cdef Range taken
        for i in range(<size_t>base.n_above[most], base.tokens.size()):
            if not (inside and base.tokens[i].after):
                bits[base.tokens[i].token >> 5] |= <uint32_t>1 << (base.tokens[i].token & 31)
                count += 1
        for i in range(base.ranges.size()):
            taken = base.ranges[i]
            limit = most - taken.more
            for j in range(taken.low, taken.high):
                if (trie.lengths[j] if by_bytes else trie.leads[j]) <= limit:
                    bits[trie.ids[j] >> 5] |= <uint32_t>1 << (trie.ids[j] & 31)
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

