# Walking the vocabulary with one lexeme state.
#
# The idea. A depth-first walk over the token trie, stepping the lexeme along, finds the tokens that stay
# inside it and the places where it may end with more of a token to come. Two things keep it short:
#
#   - Closures. Inside a string nearly every character leads to a state in which nearly every character
#     leads on. The largest set of characters of which that is true, for a state and all that they reach, is
#     found once; a subtree of tokens made of such characters alone is taken whole, whatever the
#     states in between are (a pattern's progress, say).
#   - Merged exits. Of the tokens in which the lexeme ends, the leftover suffixes form a trie of their own;
#     many tokens share one (`",`, ` ",` and `a",` all leave `,`).
#
# Rejected: a bit set of bytes per token, tested against the lexeme's bytes. It reads four megabytes per
# walk where the trie's subtrees are a few thousand.
#
# Locking. Everything expects the table's lock.

from cython.operator cimport dereference as deref
from libc.stdlib cimport malloc
from libc.string cimport memcmp, memset
from libcpp.algorithm cimport sort
from libcpp.string cimport string

from .nodes cimport (
    CODE_UNKNOWN,
    LIVE_YES,
    NODE_EMPTY,
    NODE_EPSILON,
    OP_CONCAT,
    OP_LITERAL,
    OP_UNION,
    Node,
)
from .trie cimport TrieNode, build_trie, trie_child

# States that fewer single bytes than this may follow have no closure worth looking for.
cdef int32_t CLOSURE_FROM = 32
# States that a closure may hold.
cdef size_t CLOSURE_LIMIT = 256
# Lexeme states that the search for a shortest string may look at.
cdef size_t DISTANCE_LIMIT = 2_000


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


cdef class Walker:
    """One vocabulary and one lexeme table, and what walks found out about them."""

    def __cinit__(self, TokenTrie vocabulary, LexemeTable table):
        self.vocabulary = vocabulary
        self.table = table
        self.n_words = (vocabulary.vocab_size + 31) // 32

    cdef bint walk(self, int32_t lex, Family* family) noexcept nogil:
        """Walk the vocabulary from a lexeme state into `found` and `exit_places`.

        With a family, `lex` is its base, and repetitions begun are counted along the way by following
        the family's counter beside it; without one, bytes are. False if the lexeme table is full.
        """
        cdef Trie* trie = &self.vocabulary.trie
        cdef Place place, deeper
        cdef Found token
        cdef int32_t child, last, i
        cdef const uint8_t* classes = NULL
        cdef int32_t* targets = NULL
        cdef bint has_row
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
                has_row = False
            else:
                has_row = self.table.row(place.lex, &classes, &targets)
            while child < last:
                # Most children lead nowhere, and that is known after the first visit: no call for those.
                deeper.lex = targets[classes[trie.nodes[child].byte]] if has_row else CODE_UNKNOWN
                if deeper.lex != NODE_EMPTY and (deeper.lex < 0 or self.table.nodes[deeper.lex].live != LIVE_YES):
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
        cdef int32_t margin, n_alive = 0
        cdef int byte
        if known != self.closures.end():
            return &deref(known).second
        if self.closure_of_union(lex, &closure):
            self.closures[lex] = closure
            return &self.closures[lex]
        closure.ascii[0] = closure.ascii[1] = 0
        for byte in range(128):
            if self.table.step(lex, <uint8_t>byte) > NODE_EMPTY:
                closure.ascii[byte >> 6] |= <uint64_t>1 << (byte & 63)
                n_alive += 1
        closure.characters = 1
        if n_alive < CLOSURE_FROM:
            closure.ascii[0] = closure.ascii[1] = 0
            closure.characters = 0
            inside.assign(1, lex)
        else:
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
                if met.find(targets[i]) == met.end() and not self.holds_more(targets[i], lex, closure):
                    met[targets[i]] = 1
                    inside.push_back(targets[i])
            here += 1
            if inside.size() > CLOSURE_LIMIT:
                closure.ascii[0] = closure.ascii[1] = 0
                closure.characters = 0
                inside.assign(1, lex)
                return False
        return dropped

    cdef bint closure_of_union(self, int32_t lex, Closure* closure) noexcept nogil:
        """A union leads on wherever one of its parts does, as long as no other part ends there."""
        cdef Node node = self.table.nodes[lex]
        cdef Closure* part
        cdef int32_t i
        if node.op != OP_UNION:
            return False
        # The part that a search pattern falls back to is the oldest node, so it comes first.
        for i in range(min(node.b, 2)):
            part = self.closure_of(self.table.lists[node.a + i])
            if (part.ascii[0] | part.ascii[1]) and self.others_wait(node, i, part):
                closure[0] = part[0]
                return True
        return False

    cdef bint holds_more(self, int32_t union_, int32_t part, Closure* closure) noexcept nogil:
        """Whether a node is the union of `part` with what cannot end within the closure: then all that is true of
        `part` is true of it. A search pattern is in such a state whatever it has seen so far."""
        cdef Node node = self.table.nodes[union_]
        cdef int32_t i
        if node.op != OP_UNION:
            return False
        for i in range(node.b):
            if self.table.lists[node.a + i] == part:
                return self.others_wait(node, i, closure)
        return False

    cdef bint others_wait(self, Node node, int32_t except_, Closure* closure) noexcept nogil:
        cdef int32_t i
        for i in range(node.b):
            if i != except_ and not self.waits(self.table.lists[node.a + i], closure, 0):
                return False
        return True

    cdef bint waits(self, int32_t lex, Closure* closure, int depth) noexcept nogil:
        """Whether every string of a node holds a single byte that is not in the closure (a string's last quote).
        False if that is not plain from its structure."""
        cdef Node node = self.table.nodes[lex]
        cdef int32_t i
        if depth > 100:
            return False
        if node.op == OP_LITERAL:
            for i in range(node.b):
                if self.table.pool[node.a + i] < 128 and not (
                    (closure.ascii[self.table.pool[node.a + i] >> 6] >> (self.table.pool[node.a + i] & 63)) & 1
                ):
                    return True
            return self.waits(node.c, closure, depth + 1)
        if node.op == OP_CONCAT:
            # The end first: that is where a string's quote is.
            return self.waits(node.b, closure, depth + 1) or self.waits(node.a, closure, depth + 1)
        if node.op == OP_UNION:
            for i in range(node.b):
                if not self.waits(self.table.lists[node.a + i], closure, depth + 1):
                    return False
            return True
        return False

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
        cdef string key
        # Lexemes that only differ inside leave at the same places (patterns of strings, at their quote).
        for i in range(self.exit_places.size()):
            key.append(<char*>&self.exit_places[i].node, sizeof(int32_t))
            key.append(<char*>&self.exit_places[i].count, sizeof(int32_t))
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
