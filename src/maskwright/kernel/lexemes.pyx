# Lexeme table: regular languages over bytes, hash-consed, walked by derivatives.
#
# What it does. On the nodes of nodes.pyx, `step(node, byte)` is the Brzozowski derivative: the node for what may follow after `byte`, NODE_EMPTY when nothing
# may. Nodes are therefore the states of a lazily built DFA, and a counted repetition is a node with
# two numbers.
#
# Sources. Brzozowski, "Derivatives of regular expressions" (1964); Owens, Reppy and Turon,
# "Regular-expression derivatives re-examined" (2009) for the byte classes: bytes that no leaf tells
# apart share one derivative, so a node stores one target per class, not 256.
#
# Emptiness. Without AND and NOT a node is dead only if it is NODE_EMPTY, because constructors let
# EMPTY propagate. With them, `is_live` searches the derivatives for one that is nullable and
# remembers every answer, so that no state is entered from which the lexeme cannot end.
#
# Rejected: position automata (Glushkov). They unroll counts and have no intersection or complement.
#
# Locking. Every method expects `lock` to be held by the caller, except `intern`'s public wrappers.

from cython.operator cimport dereference as deref
from libc.stdint cimport int16_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
from libcpp.algorithm cimport sort
from libcpp.queue cimport priority_queue
from libcpp.utility cimport pair

from .arrangements cimport Arrangement, Tally, has_part, may_add, may_close, tally_of
from .multiples cimport Multiples, can_end, step_multiple
from .nodes cimport (
    CODE_LIMIT,
    CODE_UNKNOWN,
    LIVE_NO,
    LIVE_UNKNOWN,
    LIVE_YES,
    NODE_EMPTY,
    NODE_EPSILON,
    OP_AND,
    OP_ARRANGEMENT,
    OP_BYTES,
    OP_CONCAT,
    OP_DFA,
    OP_EPSILON,
    OP_LITERAL,
    OP_MULTIPLES,
    OP_NOT,
    OP_REPEAT,
    OP_TRIE,
    OP_UNION,
    multiple_value,
)

# Recursion follows the nesting of an expression; 4,000 frames stay far below any thread's stack.
cdef int MAX_DEPTH = 4000
# How many nodes one emptiness search may create or visit.
cdef int32_t SEARCH_LIMIT = 200_000


cdef class LexemeTable(BoundedPool):
    """Nodes with their derivatives: the states of a lazily built DFA.

    Args:
        alphabet: The byte values that can occur, or None for all of them.
        max_nodes: Growth limit; beyond it stepping raises `LimitExceeded`.
    """

    def __cinit__(self, alphabet=None, int32_t max_nodes=4_000_000):
        cdef uint8_t[256] classes
        cdef int byte
        self.target_words = 0
        self.byte_maps.assign(256, -1)
        memset(classes, 0, sizeof(classes))
        self.one_class = self.intern_map(classes)
        for byte in range(256):
            classes[byte] = <uint8_t>byte
        self.each_byte = self.intern_map(classes)

    def __dealloc__(self):
        cdef size_t i
        for i in range(self.maps.size()):
            free(self.maps[i])

    # ---- byte classes ----------------------------------------------------------------------------

    cdef int32_t intern_map(self, uint8_t* classes) noexcept nogil:
        """Id of a byte-to-class map; classes are renumbered in order of first use."""
        cdef int32_t[256] names
        cdef uint8_t[256] normal
        cdef int byte, count = 0
        memset(names, 0xFF, sizeof(names))
        for byte in range(256):
            if names[classes[byte]] < 0:
                names[classes[byte]] = count
                count += 1
            normal[byte] = <uint8_t>names[classes[byte]]
        cdef string key = string(<char*>normal, 256)
        cdef unordered_map[string, int32_t].iterator found = self.map_ids.find(key)
        if found != self.map_ids.end():
            return deref(found).second
        cdef uint8_t* kept = <uint8_t*>malloc(256)
        memcpy(kept, normal, 256)
        cdef int32_t index = <int32_t>self.maps.size()
        self.maps.push_back(kept)
        self.map_sizes.push_back(count)
        self.map_ids[key] = index
        return index

    cdef int32_t byte_map(self, uint8_t byte) noexcept nogil:
        cdef uint8_t[256] classes
        if self.byte_maps[byte] < 0:
            memset(classes, 0, sizeof(classes))
            classes[byte] = 1
            self.byte_maps[byte] = self.intern_map(classes)
        return self.byte_maps[byte]

    cdef int32_t range_map(self, int32_t dfa_state) noexcept nogil:
        """The map of a state of an explicit automaton. In sets of names most go on by the same few bytes."""
        cdef uint8_t[256] classes
        cdef string key
        cdef int32_t i, j, first = self.dfa_row[dfa_state]
        for i in range(self.dfa_count[dfa_state]):
            key.push_back(<char>self.dfa_ranges[first + 3 * i])
            key.push_back(<char>self.dfa_ranges[first + 3 * i + 1])
        if self.range_maps.find(key) == self.range_maps.end():
            memset(classes, 0, sizeof(classes))
            for i in range(self.dfa_count[dfa_state]):
                for j in range(self.dfa_ranges[first + 3 * i], self.dfa_ranges[first + 3 * i + 1] + 1):
                    classes[j] = <uint8_t>(i + 1)
            self.range_maps[key] = self.intern_map(classes)
        return self.range_maps[key]

    cdef int32_t meet(self, int32_t left, int32_t right) noexcept nogil:
        """The coarsest map that refines both."""
        if left == right or right == self.one_class:
            return left
        if left == self.one_class:
            return right
        if left > right:
            left, right = right, left
        cdef uint64_t key = (<uint64_t>left << 32) | <uint32_t>right
        cdef unordered_map[uint64_t, int32_t].iterator found = self.meets.find(key)
        if found != self.meets.end():
            return deref(found).second
        # Number the pairs of classes as they appear: at most 256 distinct ones.
        cdef uint8_t[256] classes
        cdef vector[int16_t] numbers
        cdef int16_t* number
        cdef int16_t count = 0
        cdef int byte
        numbers.assign(self.map_sizes[left] * self.map_sizes[right], -1)
        for byte in range(256):
            number = &numbers[self.maps[left][byte] * self.map_sizes[right] + self.maps[right][byte]]
            if number[0] < 0:
                number[0] = count
                count += 1
            classes[byte] = <uint8_t>number[0]
        cdef int32_t result = self.intern_map(classes)
        self.meets[key] = result
        return result

    cdef int32_t class_map(self, int32_t node, int depth) noexcept nogil:
        """Map of bytes to classes that have the same derivative of this node."""
        cdef Node rec = self.nodes[node]
        if rec.classes >= 0:
            return rec.classes
        if depth > MAX_DEPTH:
            return CODE_LIMIT
        cdef uint8_t[256] classes
        cdef int32_t i, j, result = self.one_class
        if rec.op == OP_LITERAL:
            result = self.byte_map(self.pool[rec.a])
        elif rec.op == OP_BYTES:
            for i in range(256):
                classes[i] = (self.sets[4 * rec.a + (i >> 6)] >> (i & 63)) & 1
            result = self.intern_map(classes)
        elif rec.op == OP_TRIE:
            memset(classes, 0, sizeof(classes))
            for i in range(self.trie_count[rec.a]):
                classes[self.trie_byte[self.trie_first[rec.a] + i]] = <uint8_t>(i + 1)
            # 256 children and a class for "others" do not fit in a byte, but then there are no others.
            result = self.intern_map(classes)
        elif rec.op == OP_DFA:
            result = self.range_map(rec.a)
        elif rec.op == OP_MULTIPLES:
            memset(classes, 0, sizeof(classes))
            classes[46] = 11
            for i in range(10):
                classes[48 + i] = <uint8_t>(i + 1)
            result = self.intern_map(classes)
        elif rec.op == OP_ARRANGEMENT:
            result = self.class_map(self.arrangements[rec.a >> 1].separator, depth + 1)
            i = self.class_map(self.arrangements[rec.a >> 1].close, depth + 1)
            result = self.meet(result, i) if result >= 0 and i >= 0 else CODE_LIMIT
            # Also the parts that are there already: finer than need be, and the same for all sets.
            for i in range(<int32_t>self.arrangements[rec.a >> 1].parts.size()):
                j = self.class_map(self.arrangements[rec.a >> 1].parts[i], depth + 1)
                if j < 0 or result < 0:
                    return CODE_LIMIT
                result = self.meet(result, j)
        elif rec.op == OP_CONCAT:
            result = self.class_map(rec.a, depth + 1)
            if result >= 0 and self.nodes[rec.a].nullable:
                i = self.class_map(rec.b, depth + 1)
                result = self.meet(result, i) if i >= 0 else i
        elif rec.op == OP_UNION or rec.op == OP_AND:
            for i in range(rec.b):
                j = self.class_map(self.lists[rec.a + i], depth + 1)
                if j < 0:
                    return j
                result = self.meet(result, j)
        elif rec.op == OP_NOT or rec.op == OP_REPEAT:
            result = self.class_map(rec.a, depth + 1)
        if result >= 0:
            self.nodes[node].classes = result
        return result

    # ---- derivatives -----------------------------------------------------------------------------

    cdef int32_t step(self, int32_t node, uint8_t byte) noexcept nogil:
        """What may follow `byte`: a node, NODE_EMPTY if nothing can end from there, or CODE_LIMIT."""
        cdef int32_t target = self.derive(node, byte, 0)
        if target <= NODE_EPSILON or self.nodes[target].live == LIVE_YES:
            return target
        cdef int live = self.is_live(target)
        if live < 0:
            return CODE_LIMIT
        return target if live else NODE_EMPTY

    cdef int32_t derive(self, int32_t node, uint8_t byte, int depth) noexcept nogil:
        """The derivative, memoised per byte class; emptiness is not searched for."""
        cdef Node* rec = &self.nodes[node]
        cdef int32_t target, classes, i
        if rec.op == OP_LITERAL:
            if self.pool[rec.a] != byte:
                return NODE_EMPTY
            if rec.b == 1:
                return rec.c
            if rec.follow < 0:
                target = self.make(OP_LITERAL, rec.a + 1, rec.b - 1, rec.c)
                self.nodes[node].follow = target
                return target
            return rec.follow
        if rec.op <= OP_EPSILON:
            return NODE_EMPTY
        if rec.targets == NULL:
            classes = self.class_map(node, depth)
            if classes < 0:
                return classes
            rec = &self.nodes[node]
            rec.targets = <int32_t*>malloc(self.map_sizes[classes] * sizeof(int32_t))
            for i in range(self.map_sizes[classes]):
                rec.targets[i] = CODE_UNKNOWN
            self.target_words += self.map_sizes[classes]
        i = self.maps[rec.classes][byte]
        target = rec.targets[i]
        if target == CODE_UNKNOWN:
            target = self.compute_derivative(node, byte, depth)
            if target >= 0:
                self.nodes[node].targets[i] = target
        return target

    cdef bint row(self, int32_t node, const uint8_t** classes, int32_t** targets) noexcept nogil:
        """Where a node's derivatives are kept: `targets[0][classes[0][byte]]`, CODE_UNKNOWN until computed.

        For loops over many bytes of one node; both arrays stay where they are. False for nodes without rows.
        """
        cdef int32_t found
        if self.nodes[node].op == OP_LITERAL or self.nodes[node].op <= OP_EPSILON:
            return False
        if self.nodes[node].targets == NULL:
            found = self.derive(node, 0, 0)
            if found < 0:
                return False
        classes[0] = self.maps[self.nodes[node].classes]
        targets[0] = self.nodes[node].targets
        return True

    cdef int32_t compute_derivative(self, int32_t node, uint8_t byte, int depth) noexcept nogil:
        # A copy: making nodes may move the vector.
        cdef Node rec = self.nodes[node]
        cdef int32_t i, first, rest
        cdef vector[int32_t] kids
        if depth > MAX_DEPTH:
            return CODE_LIMIT
        if rec.op == OP_BYTES:
            return NODE_EPSILON if (self.sets[4 * rec.a + (byte >> 6)] >> (byte & 63)) & 1 else NODE_EMPTY
        if rec.op == OP_TRIE:
            for i in range(self.trie_first[rec.a], self.trie_first[rec.a] + self.trie_count[rec.a]):
                if self.trie_byte[i] == byte:
                    return self.trie_leaf(i)
            return NODE_EMPTY
        if rec.op == OP_DFA:
            first = self.dfa_row[rec.a]
            for i in range(self.dfa_count[rec.a]):
                if self.dfa_ranges[first + 3 * i] <= byte <= self.dfa_ranges[first + 3 * i + 1]:
                    return self.dfa_leaf(self.dfa_ranges[first + 3 * i + 2])
            return NODE_EMPTY
        if rec.op == OP_MULTIPLES:
            return self.next_multiple(&rec, byte)
        if rec.op == OP_ARRANGEMENT:
            return self.next_arranged(&rec, byte, depth)
        if rec.op == OP_CONCAT:
            # Each count of a repetition is a node that only this one asks: a row of its own would be used once.
            if self.nodes[rec.a].op == OP_REPEAT and self.nodes[rec.a].c > 0:
                first = self.compute_derivative(rec.a, byte, depth + 1)
            else:
                first = self.derive(rec.a, byte, depth + 1)
            first = self.concat(first, rec.b)
            if first < 0 or not self.nodes[rec.a].nullable:
                return first
            rest = self.derive(rec.b, byte, depth + 1)
            kids.push_back(first)
            kids.push_back(rest)
            return self.union_of(kids)
        if rec.op == OP_REPEAT:
            first = self.derive(rec.a, byte, depth + 1)
            if first <= NODE_EMPTY:
                return first
            rest = self.repeat(rec.a, rec.b - 1 if rec.b > 0 else 0, rec.c - 1 if rec.c > 0 else rec.c)
            return self.concat(first, rest)
        if rec.op == OP_NOT:
            return self.not_of(self.derive(rec.a, byte, depth + 1))
        for i in range(rec.b):
            first = self.derive(self.lists[rec.a + i], byte, depth + 1)
            if first < 0:
                return first
            if first == NODE_EMPTY and rec.op == OP_AND:
                return NODE_EMPTY
            kids.push_back(first)
        return self.union_of(kids) if rec.op == OP_UNION else self.and_of(kids)

    cdef int32_t next_multiple(self, const Node* rec, uint8_t byte) noexcept nogil:
        """The derivative of an OP_MULTIPLES node."""
        cdef const Multiples* what = &self.multiples[rec.a >> 6]
        cdef int32_t phase = rec.a & 63
        cdef int64_t value = multiple_value(rec.b, rec.c)
        cdef int live
        if not step_multiple(what, &phase, &value, byte):
            return NODE_EMPTY
        live = can_end(what, phase, value)
        if live < 0:
            return CODE_LIMIT
        return self.multiples_leaf(rec.a >> 6, phase, value) if live else NODE_EMPTY

    cdef int32_t next_arranged(self, const Node* rec, uint8_t byte, int depth) noexcept nogil:
        """The derivative of an OP_ARRANGEMENT node: into one of the parts that may come, or behind them all."""
        cdef const Arrangement* what = &self.arrangements[rec.a >> 1]
        cdef Tally tally = tally_of(what, self.part_sets[rec.b], rec.a & 1)
        cdef vector[int32_t] kids
        cdef int32_t i, child
        if rec.a & 1:
            if tally.n_there < what.high:
                child = self.derive(what.separator, byte, depth + 1)
                kids.push_back(self.concat(child, self.make(OP_ARRANGEMENT, rec.a - 1, rec.b, 0)))
            if may_close(tally):
                kids.push_back(self.derive(what.close, byte, depth + 1))
            return self.union_of(kids)
        for i in range(<int32_t>what.parts.size()):
            if has_part(self.part_sets[rec.b], i) or not may_add(what, tally, i):
                continue
            child = self.derive(what.parts[i], byte, depth + 1)
            if child != NODE_EMPTY:
                kids.push_back(self.concat(child, self.make(OP_ARRANGEMENT, rec.a + 1, self.with_part(rec.b, i), 0)))
        return self.union_of(kids)

    cdef int is_live(self, int32_t node) noexcept nogil:
        """1 if some byte string over the alphabet is in the language, 0 if none, -1 if undecided in
        SEARCH_LIMIT steps.

        Looks for the nearest end through the derivatives, guided by the bytes that each needs at least (A*; Hart,
        Nilsson and Raphael 1968): nearly straight where the parts of a conjunction get along. Every other step goes
        deeper from the node seen last, which soon finds an end where all short strings are ruled out. All nodes on
        the path to a live one are live; when the search ends without one, all that it saw are dead.
        """
        if self.nodes[node].live != LIVE_UNKNOWN:
            return self.nodes[node].live == LIVE_YES
        cdef priority_queue[pair[int64_t, int32_t]] queue
        cdef pair[int64_t, int32_t] entry
        cdef vector[int32_t] seen, parents, steps, stack
        cdef vector[uint8_t] done
        cdef bint deeper = True
        cdef unordered_map[int32_t, int32_t] index
        cdef vector[uint8_t] tried
        cdef int32_t current, child, classes, here
        cdef size_t i
        seen.push_back(node)
        parents.push_back(-1)
        steps.push_back(0)
        index[node] = 0
        entry.first = 0
        entry.second = 0
        queue.push(entry)
        done.push_back(0)
        while not queue.empty():
            deeper = not deeper
            if deeper and not stack.empty():
                here = stack.back()
                stack.pop_back()
            else:
                here = queue.top().second
                queue.pop()
            if done[here]:
                continue
            done[here] = 1
            current = seen[here]
            classes = self.class_map(current, 0)
            if classes < 0:
                return -1
            tried.assign(self.map_sizes[classes], 0)
            for i in range(self.alphabet_bytes.size()):
                if tried[self.maps[classes][self.alphabet_bytes[i]]]:
                    continue
                tried[self.maps[classes][self.alphabet_bytes[i]]] = 1
                child = self.derive(current, <uint8_t>self.alphabet_bytes[i], 0)
                if child < 0:
                    return -1
                if self.nodes[child].live == LIVE_YES:
                    while here >= 0:
                        self.nodes[seen[here]].live = LIVE_YES
                        here = parents[here]
                    return 1
                if self.nodes[child].live == LIVE_UNKNOWN and index.find(child) == index.end():
                    entry.second = index[child] = <int32_t>seen.size()
                    seen.push_back(child)
                    parents.push_back(here)
                    steps.push_back(steps[here] + 1)
                    # Least first; of equal ones the state that is farther along.
                    entry.first = steps[here] - (<int64_t>(steps[here] + self.lower(child, 0)) << 24)
                    queue.push(entry)
                    stack.push_back(entry.second)
                    done.push_back(0)
            if seen.size() > <size_t>SEARCH_LIMIT:
                return -1
        for i in range(seen.size()):
            self.nodes[seen[i]].live = LIVE_NO
        return 0

    # ---- arrangements ----------------------------------------------------------------------------

    cdef int32_t arrangement_start(self, tuple args) except -4:
        """The node of `lexeme.arrangement` in which nothing is read; a code if the table is full."""
        cdef Arrangement what
        parts, required, separator, close, low, high = args
        nodes = [self.intern(part) for part in parts]
        what.parts = [node for index, node in enumerate(nodes) if index in required]
        what.n_required = <int32_t>what.parts.size()
        for index, node in enumerate(nodes):
            if index not in required:
                what.parts.push_back(node)
        what.separator = self.intern(separator)
        what.close = self.intern(close)
        what.low = low
        what.high = high
        return self.arrangement(what)

    cdef int32_t arrangement(self, Arrangement& what) noexcept nogil:
        """The node of an arrangement of which nothing is read, `high` being -1 for no bound.

        Parts that are empty, because the vocabulary cannot spell them, are dropped, so that counting
        is all that decides what may follow.
        """
        cdef Arrangement kept
        cdef string key
        cdef int32_t i
        cdef int live
        cdef unordered_map[string, int32_t].iterator found
        kept = what
        kept.parts.clear()
        for i in range(<int32_t>what.parts.size()):
            if what.parts[i] < 0:
                return CODE_LIMIT
            live = what.parts[i] != NODE_EMPTY and self.is_live(what.parts[i])
            if live < 0:
                return CODE_LIMIT
            if live:
                kept.parts.push_back(what.parts[i])
            elif i < what.n_required:
                return NODE_EMPTY
        if what.close < 0 or what.separator < 0:
            return CODE_LIMIT
        kept.high = min(<int32_t>kept.parts.size(), what.high if what.high >= 0 else <int32_t>kept.parts.size())
        if what.separator == NODE_EMPTY:
            kept.high = min(kept.high, 1)
        if what.close == NODE_EMPTY or kept.high < max(max(kept.low, kept.n_required), 1):
            return NODE_EMPTY
        # Parts in one order, so that equal arrangements meet.
        sort(kept.parts.begin(), kept.parts.begin() + kept.n_required)
        sort(kept.parts.begin() + kept.n_required, kept.parts.end())
        key = string(<char*>&kept.parts[0], kept.parts.size() * sizeof(int32_t))
        key.append(<char*>&kept.n_required, 5 * sizeof(int32_t))
        found = self.arrangement_ids.find(key)
        if found != self.arrangement_ids.end():
            return self.make(OP_ARRANGEMENT, deref(found).second << 1, 0, 0)
        self.arrangements.push_back(kept)
        self.target_words += kept.parts.size()
        self.arrangement_ids[key] = <int32_t>self.arrangements.size() - 1
        return self.make(OP_ARRANGEMENT, <int32_t>(self.arrangements.size() - 1) << 1, 0, 0)

    cdef int32_t with_part(self, int32_t there, int32_t part) noexcept nogil:
        """The set with one part more."""
        cdef vector[uint64_t] words = self.part_sets[there]
        cdef string key
        if words.size() <= <size_t>(part >> 6):
            words.resize((part >> 6) + 1, 0)
        words[part >> 6] |= <uint64_t>1 << (part & 63)
        key = string(<char*>&words[0], words.size() * sizeof(uint64_t))
        if self.part_set_ids.find(key) == self.part_set_ids.end():
            self.part_set_ids[key] = <int32_t>self.part_sets.size()
            self.part_sets.push_back(words)
            self.target_words += 4 * words.size()
        return self.part_set_ids[key]

    # ---- for Python ------------------------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        """Number of nodes so far."""
        return self.nodes.size()

    @property
    def memory_size_bytes(self) -> int:
        """Bytes held, hash tables estimated."""
        return (
            self.nodes.capacity() * sizeof(Node)
            + self.slots.capacity() * 8
            + (self.lists.capacity() + self.target_words) * 4
            + self.pool.capacity()
            + self.maps.size() * 320
            + self.meets.size() * 32
        )

    def node_of(self, lexeme) -> int:
        """Intern a description. Raises `LimitExceeded` when the table is full."""
        with nogil:
            self.lock.lock()
        try:
            return self.intern(lexeme)
        finally:
            self.lock.unlock()

    def walk(self, int32_t node, bytes text) -> int:
        """Node after all bytes of `text`, NODE_EMPTY (0) if they are no prefix of the language."""
        cdef uint8_t byte
        for byte in text:
            node = self.step(node, byte)
            if node < 0:
                self._raise_limit()
            if node == NODE_EMPTY:
                break
        return node

    def successors(self, int32_t node) -> dict:
        """How many bytes lead to each node from which a text can end. Raises `LimitExceeded`."""
        cdef int32_t classes = self.class_map(node, 0)
        cdef int32_t target
        cdef int32_t[256] n_bytes
        cdef uint8_t[256] member
        cdef int i
        if classes < 0:
            self._raise_limit()
        memset(n_bytes, 0, sizeof(n_bytes))
        for i in range(256):
            n_bytes[self.maps[classes][i]] += 1
            member[self.maps[classes][i]] = <uint8_t>i
        found = {}
        for i in range(self.map_sizes[classes]):
            target = self.step(node, member[i])
            if target < 0:
                self._raise_limit()
            if target != NODE_EMPTY:
                found[target] = found.get(target, 0) + n_bytes[i]
        return found

    def is_nullable(self, int32_t node) -> bool:
        """Whether the empty string is in the node's language."""
        return bool(self.nodes[node].nullable)

    def is_node_empty(self, int32_t node) -> bool:
        """Whether no string at all is in the node's language."""
        live = self.is_live(node)
        if live < 0:
            self._raise_limit()
        return not live


cdef LexemeTable _scratch = None


def scratch_table() -> LexemeTable:
    """The table that serves all questions which no vocabulary asks; it starts afresh before it grows big."""
    global _scratch
    if _scratch is None or _scratch.n_nodes > 500_000:
        _scratch = LexemeTable()
    return _scratch


def is_empty(lexeme) -> bool:
    """Whether a lexeme description holds no byte string at all. Raises `LimitExceeded`."""
    cdef LexemeTable table = scratch_table()
    return table.is_node_empty(table.node_of(lexeme))


def accepts(lexeme, bytes text) -> bool:
    """Whether a byte string is in the language of a lexeme description."""
    cdef LexemeTable table = scratch_table()
    return table.is_nullable(table.walk(table.node_of(lexeme), text))


def go_on_alike(one, other, bytes text) -> bool:
    """Whether it is plain that two lexemes go on alike after a text: both are one node then."""
    cdef LexemeTable table = scratch_table()
    return table.walk(table.node_of(one), text) == table.walk(table.node_of(other), text)
