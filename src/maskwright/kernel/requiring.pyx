# Requirements: bytes without which a lexeme cannot be spelled.
#
# The idea. "A string that does not hold `after_`" differs from a string only in tokens that bring an `a`, an `f`, a `t`,
# an `e`, an `r` and an underscore. A subtree of the trie without one of these need not be looked at: whatever its tokens
# are, what is taken away cannot have been spelled, and the string can still be ended without spelling it.
#
# The second half is not for nothing. From "three characters or more" minus "anything with an x" nothing may be left as soon
# as the only way to the end has an x in it. So it is looked up, once for a state, whether each state that can be
# reached without these bytes can end without them.
#
# And a token that is shorter than all that is taken away cannot have spelled it either: to lose something by what is
# left of `additionalProperties`, tokens must be that long.
#
# Bytes are told apart by the groups of the trie (see trie.pyx).
#
# Locking. Everything expects the table's lock.

from cython.operator cimport dereference as deref

from .distances cimport UNBOUNDED
from .nodes cimport (
    NODE_EMPTY,
    NODE_EPSILON,
    OP_AND,
    OP_BYTES,
    OP_CONCAT,
    OP_EMPTY,
    OP_LITERAL,
    OP_NOT,
    OP_REPEAT,
    OP_UNION,
    Node,
)
from .trie cimport NO_GROUP, group_of

cdef int MAX_DEPTH = 200
# States that are looked at to see whether a lexeme can do without some bytes.
cdef size_t STATES_LIMIT = 64
# The same to see how far the end is from all of them: a JSON string has so many.
cdef size_t REACH_LIMIT = 32


cdef class Requirements:
    """What the nodes of one lexeme table require."""

    def __cinit__(self, LexemeTable table, Distances distances):
        self.table = table
        self.distances = distances

    cdef uint64_t required(self, int32_t node, int depth) noexcept nogil:
        """Groups of which each word of a node has a byte, as far as that is plain; all for a node without words."""
        cdef unordered_map[int32_t, uint64_t].iterator found = self.memo.find(node)
        cdef uint64_t result
        if found != self.memo.end():
            return deref(found).second
        result = self.compute_required(node, depth) if depth < MAX_DEPTH else 0
        self.memo[node] = result
        return result

    cdef uint64_t compute_required(self, int32_t node, int depth) noexcept nogil:
        cdef Node rec = self.table.nodes[node]
        cdef uint64_t result = 0
        cdef int32_t i
        cdef int byte
        if rec.op == OP_EMPTY:
            return ~<uint64_t>0
        if rec.op == OP_LITERAL:
            for i in range(rec.b):
                if group_of[self.table.pool[rec.a + i]] != NO_GROUP:
                    result |= <uint64_t>1 << group_of[self.table.pool[rec.a + i]]
            return result | self.required(rec.c, depth + 1)
        if rec.op == OP_CONCAT:
            return self.required(rec.a, depth + 1) | self.required(rec.b, depth + 1)
        if rec.op == OP_REPEAT:
            return self.required(rec.a, depth + 1) if rec.b > 0 else 0
        if rec.op == OP_UNION:
            result = ~<uint64_t>0
            for i in range(rec.b):
                result &= self.required(self.table.lists[rec.a + i], depth + 1)
            return result
        if rec.op == OP_AND:
            for i in range(rec.b):
                result |= self.required(self.table.lists[rec.a + i], depth + 1)
            return result
        if rec.op == OP_BYTES:
            for byte in range(256):
                if (self.table.sets[4 * rec.a + (byte >> 6)] >> (byte & 63)) & 1:
                    if group_of[byte] == NO_GROUP:
                        return 0
                    result |= <uint64_t>1 << group_of[byte]
            return result if not result & (result - 1) else 0
        return 0

    cdef bint can_do_without(self, int32_t node, uint64_t groups) noexcept nogil:
        """Whether each state that is reached from a node without bytes of some groups can end without them."""
        cdef pair[int32_t, uint64_t] key
        cdef map[pair[int32_t, uint64_t], uint8_t].iterator found
        key.first = node
        key.second = groups
        found = self.known.find(key)
        if found != self.known.end():
            return deref(found).second
        self.known[key] = self.explore(node, groups)
        return self.known[key]

    cdef bint explore(self, int32_t node, uint64_t groups) noexcept nogil:
        cdef vector[int32_t] states
        cdef vector[vector[int32_t]] before     # for each state those that lead to it
        cdef vector[uint8_t] ends
        cdef vector[int32_t] work
        cdef unordered_map[int32_t, int32_t] place
        cdef int32_t here = 0, child, previous
        cdef size_t i, n_ending = 0
        cdef int byte
        states.push_back(node)
        before.resize(1)
        place[node] = 0
        while here < <int32_t>states.size():
            if self.table.nodes[states[here]].nullable:
                work.push_back(here)
            previous = NODE_EMPTY
            for byte in range(256):
                if group_of[byte] != NO_GROUP and (groups >> group_of[byte]) & 1:
                    continue
                child = self.table.step(states[here], <uint8_t>byte)
                if child < 0:
                    return False
                if child == NODE_EMPTY or child == previous:
                    continue
                previous = child
                if place.find(child) == place.end():
                    if states.size() == STATES_LIMIT:
                        self.n_given_up += 1
                        return False
                    place[child] = <int32_t>states.size()
                    states.push_back(child)
                    before.resize(states.size())
                before[place[child]].push_back(here)
            here += 1
        ends.assign(states.size(), 0)
        while not work.empty():
            here = work.back()
            work.pop_back()
            if ends[here]:
                continue
            ends[here] = 1
            n_ending += 1
            for i in range(before[here].size()):
                work.push_back(before[here][i])
        return n_ending == states.size()

    cdef bint spares(self, int32_t keep, int32_t difference, uint64_t below) noexcept nogil:
        """Whether no token loses anything by what a difference takes away, if it has bytes of certain groups only.

        Args:
            keep: A state of `a rest`.
            difference: The state of `(a and not b ...) rest` that is beside it.
            below: The groups that occur in what follows.
        """
        cdef Node node = self.table.nodes[difference]
        cdef uint64_t without = 0
        cdef int32_t i, kid
        if node.op == OP_CONCAT:
            node = self.table.nodes[node.a]
        if node.op != OP_AND:
            return False
        for i in range(node.b):
            kid = self.table.lists[node.a + i]
            # What the whole cannot be ended without is no help.
            if self.table.nodes[kid].op == OP_NOT and not self.lacks(
                self.table.nodes[kid].a, below | self.required(keep, 0), &without
            ):
                return False
        return without and self.can_do_without(keep, without)

    cdef bint falls_short(self, int32_t keep, int32_t difference, int32_t n_bytes) noexcept nogil:
        """Whether no token loses anything by what a difference takes away, since all that is longer than so many bytes
        and a way on to the end. The states are as in `spares`."""
        cdef Node node = self.table.nodes[difference]
        cdef int32_t i, kid, least = UNBOUNDED
        if node.op == OP_CONCAT:
            node = self.table.nodes[node.a]
        if node.op != OP_AND:
            return False
        for i in range(node.b):
            kid = self.table.lists[node.a + i]
            if self.table.nodes[kid].op == OP_NOT:
                least = min(least, self.table.lower(self.table.nodes[kid].a, 0))
        return n_bytes < least and n_bytes < least - self.reach(keep)

    cdef int32_t reach(self, int32_t node) noexcept nogil:
        """The most bytes that any state reached from a node is away from its end; UNBOUNDED if there are many states."""
        cdef unordered_map[int32_t, int32_t].iterator known = self.reaches.find(node)
        cdef vector[int32_t] states
        cdef unordered_map[int32_t, uint8_t] met
        cdef size_t here = 0
        cdef int32_t child, result = 0
        cdef int byte
        if known != self.reaches.end():
            return deref(known).second
        states.push_back(node)
        met[node] = 1
        while here < states.size() and result < UNBOUNDED:
            result = max(result, self.distances.of(states[here]))
            for byte in range(256):
                child = self.table.step(states[here], <uint8_t>byte)
                if child < 0 or states.size() > REACH_LIMIT:
                    result = UNBOUNDED
                elif child != NODE_EMPTY and met.find(child) == met.end():
                    met[child] = 1
                    states.push_back(child)
            here += 1
        # None of them reaches farther than the first.
        for here in range(states.size()):
            if self.reaches.find(states[here]) == self.reaches.end():
                self.reaches[states[here]] = result
        return result

    cdef bint lacks(self, int32_t node, uint64_t below, uint64_t* without) noexcept nogil:
        """Whether no word of a node can be spelled with some groups alone; adds to `without` what is missing."""
        cdef Node rec = self.table.nodes[node]
        cdef uint64_t missing
        cdef int32_t i
        if rec.op == OP_UNION:
            for i in range(rec.b):
                if not self.lacks(self.table.lists[rec.a + i], below, without):
                    return False
            return True
        missing = self.required(node, 0) & ~below
        # One that is missing is enough, and the less must be done without the better: one that counts already, if any.
        if missing and not missing & without[0]:
            without[0] |= missing & (~missing + 1)
        return missing != 0
