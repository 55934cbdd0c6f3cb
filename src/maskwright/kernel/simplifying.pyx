# Simplifying: conjunctions with a counted repetition that say nothing, or can be said as a count.
#
# The idea. A string's length stands in a conjunction with its pattern: `char{3,20} & [a-z]+`, and after three
# characters `char{0,17} & [a-z]*`. Where the repeated part is a prefix code and the other operand is made of its words,
# both count the same words:
#   - if they are always as many as the bounds allow, the repetition says nothing and is left out;
#   - if the other operand is itself a repetition, of fewer words, one repetition says both: `[a-z]{3,20}`.
# The language stays the same. What changes is that nothing has to be searched for (whether a conjunction can
# still end), and that lexemes that say the same are one node and share a summary.
#
# Rejected: doing so whenever a conjunction is made. Every state of an automaton would pay, and only summaries profit.
#
# Locking. Everything expects the table's lock.

from cython.operator cimport dereference as deref
from libc.string cimport memcmp

from .nodes cimport (
    LIVE_YES,
    NODE_EMPTY,
    NODE_EPSILON,
    OP_AND,
    OP_CONCAT,
    OP_LITERAL,
    OP_NOT,
    OP_REPEAT,
    OP_UNION,
    Node,
)

cdef int MAX_DEPTH = 500
cdef int64_t MANY = 1 << 40
# Pairs of states that a comparison of two nodes may look at.
cdef size_t PAIRS_LIMIT = 64
# Derivatives of a repeated part that may be looked at to see whether it is a code.
cdef size_t CODE_LIMIT_NODES = 256


cdef inline Counts count_range(int64_t low, int64_t high) noexcept nogil:
    cdef Counts result
    result.low = low
    result.high = min(high, MANY)
    return result


cdef class Simplifier:
    """Simpler nodes for the nodes of one lexeme table."""

    def __cinit__(self, LexemeTable table):
        self.table = table

    cdef int32_t simplify(self, int32_t node, int depth) noexcept nogil:
        """A node of the same language; a negative code if the table is full."""
        cdef unordered_map[int32_t, int32_t].iterator known
        cdef int32_t result
        if not self.table.nodes[node].boolean or depth > MAX_DEPTH:
            return node
        known = self.memo.find(node)
        if known != self.memo.end():
            return deref(known).second
        result = self.rebuild(node, depth)
        # A table that is full for one grammar may have room for the next.
        if result >= 0:
            self.memo[node] = result
        return result

    def simpler(self, int32_t node) -> int:
        """A node of the same language. Raises `LimitExceeded` when the table is full."""
        with nogil:
            self.table.lock.lock()
        cdef int32_t found = self.simplify(node, 0)
        self.table.lock.unlock()
        if found < 0:
            self.table._raise_limit()
        return found

    def is_live(self, int32_t node) -> bool:
        """Whether it shows without a search that a node has a string."""
        with nogil:
            self.table.lock.lock()
        cdef bint found = self.is_plainly_live(node, 0)
        self.table.lock.unlock()
        return found

    cdef int32_t rebuild(self, int32_t node, int depth) noexcept nogil:
        cdef Node rec = self.table.nodes[node]
        cdef vector[int32_t] kids
        cdef int32_t i, part
        if rec.op == OP_LITERAL:
            part = self.simplify(rec.c, depth + 1)
            return part if part < 0 else self.table.make(OP_LITERAL, rec.a, rec.b, part)
        if rec.op == OP_REPEAT:
            return self.table.repeat(self.simplify(rec.a, depth + 1), rec.b, rec.c)
        if rec.op == OP_NOT:
            return self.table.not_of(self.simplify(rec.a, depth + 1))
        if rec.op == OP_CONCAT:
            part = self.simplify(rec.a, depth + 1)
            return self.table.concat(part, self.simplify(rec.b, depth + 1))
        if rec.op != OP_UNION and rec.op != OP_AND:
            return node
        for i in range(rec.b):
            kids.push_back(self.simplify(self.table.lists[rec.a + i], depth + 1))
        return self.table.union_of(kids) if rec.op == OP_UNION else self.conjunction(kids)

    cdef int32_t conjunction(self, vector[int32_t]& kids) noexcept nogil:
        cdef size_t i
        cdef bint again = True
        while again:
            # What has been absorbed may be a node for which there was no room.
            for i in range(kids.size()):
                if kids[i] < 0:
                    return kids[i]
            again = self.absorb(kids)
        return self.table.and_of(kids)

    cdef bint absorb(self, vector[int32_t]& kids) noexcept nogil:
        """Let one of the repetitions go into another operand; False if none can."""
        cdef size_t i, j
        cdef int32_t part = 0, low = 0, high = 0, rest = 0, other = 0, least = 0, most = 0, tail = 0
        cdef Counts found
        for i in range(kids.size()):
            if not self.split(kids[i], &part, &low, &high, &rest) or not self.is_code(part):
                continue
            for j in range(kids.size()):
                if i == j:
                    continue
                found = self.counts(kids[j], part, rest, 0)
                if found.low < 0:
                    continue
                if found.low < low or (0 <= high < found.high):
                    # Both count the same words only if each word of the other is one of the code.
                    if not self.split(kids[j], &other, &least, &most, &tail) or tail != rest:
                        continue
                    if not self.is_subset(other, part) or not self.starts_apart(part, rest):
                        continue
                    low = max(low, least)
                    high = most if high < 0 else high if most < 0 else min(high, most)
                    if 0 <= high < low:
                        kids[j] = NODE_EMPTY
                    else:
                        kids[j] = self.table.concat(self.table.repeat(other, low, high), rest)
                kids.erase(kids.begin() + i)
                return True
        return False

    cdef bint split(self, int32_t node, int32_t* part, int32_t* low, int32_t* high, int32_t* rest) noexcept nogil:
        """`part{low,high} rest`, taken apart."""
        cdef Node rec = self.table.nodes[node]
        rest[0] = NODE_EPSILON
        if rec.op == OP_CONCAT:
            rest[0] = rec.b
            rec = self.table.nodes[rec.a]
        if rec.op != OP_REPEAT:
            return False
        part[0] = rec.a
        low[0] = rec.b
        high[0] = rec.c
        return True

    cdef bint is_plainly_live(self, int32_t node, int depth) noexcept nogil:
        """Whether it shows without a search that a node has a string: some count of words is within the bounds."""
        cdef Node rec = self.table.nodes[node]
        cdef int32_t part = 0, low = 0, high = 0, rest = 0, i, other
        cdef int64_t some
        if not rec.boolean or rec.nullable or rec.live == LIVE_YES:
            return node != NODE_EMPTY
        if depth > MAX_DEPTH:
            return False
        if rec.op == OP_LITERAL:
            return self.is_plainly_live(rec.c, depth + 1)
        if rec.op == OP_CONCAT:
            return self.is_plainly_live(rec.a, depth + 1) and self.is_plainly_live(rec.b, depth + 1)
        if rec.op == OP_UNION:
            for i in range(rec.b):
                if self.is_plainly_live(self.table.lists[rec.a + i], depth + 1):
                    return True
        if rec.op != OP_AND or rec.b != 2:
            return False
        for i in range(2):
            other = self.table.lists[rec.a + 1 - i]
            if not self.split(self.table.lists[rec.a + i], &part, &low, &high, &rest) or not self.is_code(part):
                continue
            if self.counts(other, part, rest, 0).low >= low:
                some = self.some_count(other, part, rest, 0)
                if 0 <= some and (high < 0 or some <= high):
                    return True
        return False

    cdef int64_t some_count(self, int32_t node, int32_t code, int32_t rest, int depth) noexcept nogil:
        """No fewer words than some string of the node has; -1 if that does not show."""
        cdef Node rec = self.table.nodes[node]
        cdef int64_t first, second, result = -1
        cdef int32_t i
        # Without AND and NOT inside, the least count is that of a string.
        if not rec.boolean:
            return self.counts(node, code, rest, 0).low
        if depth > MAX_DEPTH:
            return -1
        if rec.op == OP_LITERAL:
            second = self.some_count(rec.c, code, rest, depth + 1)
            return second + rec.b if second >= 0 else -1
        if rec.op == OP_CONCAT:
            first = self.some_count(rec.a, code, NODE_EPSILON, depth + 1)
            second = self.some_count(rec.b, code, rest, depth + 1)
            return first + second if first >= 0 and second >= 0 else -1
        if rec.op == OP_UNION:
            for i in range(rec.b):
                first = self.some_count(self.table.lists[rec.a + i], code, rest, depth + 1)
                if first >= 0 and (result < 0 or first < result):
                    result = first
        return result

    # ---- counting words --------------------------------------------------------------------------

    cdef Counts counts(self, int32_t node, int32_t code, int32_t rest, int depth) noexcept nogil:
        """How many words of a code stand before `rest` in the strings of a node."""
        cdef pair[pair[int32_t, int32_t], int32_t] key
        cdef map[pair[pair[int32_t, int32_t], int32_t], Counts].iterator known
        cdef Counts result
        if depth > MAX_DEPTH:
            return count_range(-1, -1)
        key.first.first = node
        key.first.second = code
        key.second = rest
        known = self.known_counts.find(key)
        if known != self.known_counts.end():
            return deref(known).second
        result = self.compute_counts(node, code, rest, depth)
        self.known_counts[key] = result
        return result

    cdef Counts compute_counts(self, int32_t node, int32_t code, int32_t rest, int depth) noexcept nogil:
        cdef Node rec = self.table.nodes[node]
        cdef Counts result, part
        cdef int32_t i
        if node == rest:
            return count_range(0, 0)
        if rest == NODE_EPSILON and self.is_subset(node, code):
            return count_range(1, 1)
        if rec.op == OP_LITERAL:
            return self.counts_literal(node, code, rest, depth)
        if rec.op == OP_CONCAT:
            result = self.counts(rec.a, code, NODE_EPSILON, depth + 1)
            part = self.counts(rec.b, code, rest, depth + 1)
            if result.low < 0 or part.low < 0:
                return count_range(-1, -1)
            return count_range(result.low + part.low, result.high + part.high)
        if rec.op == OP_REPEAT and rest == NODE_EPSILON:
            part = self.counts(rec.a, code, NODE_EPSILON, depth + 1)
            if part.low < 0:
                return part
            return count_range(part.low * rec.b, MANY if rec.c < 0 else part.high * rec.c)
        if rec.op != OP_UNION and rec.op != OP_AND:
            return count_range(-1, -1)
        # All alternatives must be made of words; of operands of a conjunction one suffices.
        result = count_range(-1, -1)
        for i in range(rec.b):
            part = self.counts(self.table.lists[rec.a + i], code, rest, depth + 1)
            if rec.op == OP_AND:
                if part.low >= 0:
                    return part
            elif part.low < 0:
                return part
            elif result.low < 0:
                result = part
            else:
                result = count_range(min(result.low, part.low), max(result.high, part.high))
        return result

    cdef Counts counts_literal(self, int32_t node, int32_t code, int32_t rest, int depth) noexcept nogil:
        """Reads a literal's bytes as words; what follows it must begin with a word too, or be `rest`."""
        cdef Node rec = self.table.nodes[node]
        cdef Node last = self.table.nodes[rest]
        cdef Counts result
        cdef int32_t state = code, i, n_words = 0
        cdef bint at_start = True
        for i in range(rec.b):
            # `rest` may be the end of the literal: a string's quote.
            if at_start and last.op == OP_LITERAL and last.b == rec.b - i and last.c == rec.c:
                if memcmp(&self.table.pool[rec.a + i], &self.table.pool[last.a], last.b) == 0:
                    return count_range(n_words, n_words)
            state = self.table.derive(state, self.table.pool[rec.a + i], 0)
            if state <= NODE_EMPTY:
                return count_range(-1, -1)
            at_start = state == NODE_EPSILON
            if at_start:
                n_words += 1
                state = code
        if not at_start:
            return count_range(-1, -1)
        result = count_range(0, 0)
        if rec.c != NODE_EPSILON or rest != NODE_EPSILON:
            result = self.counts(rec.c, code, rest, depth + 1)
        if result.low < 0:
            return result
        return count_range(result.low + n_words, result.high + n_words)

    # ---- comparing -------------------------------------------------------------------------------

    cdef bint is_subset(self, int32_t small, int32_t large) noexcept nogil:
        """Whether all strings of one node are strings of the other, as far as a short search can tell."""
        cdef uint64_t key = (<uint64_t>small << 32) | <uint64_t>large
        cdef unordered_map[uint64_t, uint8_t].iterator known = self.subsets.find(key)
        cdef bint result
        if small == large:
            return True
        if known != self.subsets.end():
            return deref(known).second
        result = self.compare(small, large)
        self.subsets[key] = result
        return result

    cdef bint compare(self, int32_t small, int32_t large) noexcept nogil:
        cdef vector[pair[int32_t, int32_t]] seen
        cdef unordered_map[uint64_t, uint8_t] met
        cdef vector[uint8_t] tried
        cdef pair[int32_t, int32_t] both
        cdef uint64_t key
        cdef size_t here = 0
        cdef int32_t classes, others
        cdef int byte
        both.first = small
        both.second = large
        seen.push_back(both)
        while here < seen.size():
            if self.table.nodes[seen[here].first].nullable and not self.table.nodes[seen[here].second].nullable:
                return False
            classes = self.table.class_map(seen[here].first, 0)
            others = self.table.class_map(seen[here].second, 0)
            if classes < 0 or others < 0:
                return False
            classes = self.table.meet(classes, others)
            tried.assign(self.table.map_sizes[classes], 0)
            for byte in range(256):
                if tried[self.table.maps[classes][byte]]:
                    continue
                tried[self.table.maps[classes][byte]] = 1
                both.first = self.table.derive(seen[here].first, <uint8_t>byte, 0)
                if both.first == NODE_EMPTY:
                    continue
                both.second = self.table.derive(seen[here].second, <uint8_t>byte, 0)
                if both.first < 0 or both.second <= NODE_EMPTY or seen.size() > PAIRS_LIMIT:
                    return False
                key = (<uint64_t>both.first << 32) | <uint64_t>both.second
                if both.first != both.second and met.find(key) == met.end():
                    met[key] = 1
                    seen.push_back(both)
            here += 1
        return True

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
        cdef uint64_t key = (<uint64_t>part << 32) | <uint64_t>rest
        cdef unordered_map[uint64_t, uint8_t].iterator known = self.apart.find(key)
        if known == self.apart.end():
            self.apart[key] = self.no_common_start(part, rest)
            return self.apart[key]
        return deref(known).second

    cdef bint no_common_start(self, int32_t part, int32_t rest) noexcept nogil:
        cdef int byte
        for byte in range(256):
            if (
                self.table.derive(part, <uint8_t>byte, 0) != NODE_EMPTY
                and self.table.derive(rest, <uint8_t>byte, 0) != NODE_EMPTY
            ):
                return False
        return True
