# Plenty: lexemes of which something is left, whatever few texts are taken away.
#
# The idea. To take finitely many texts away from endlessly many leaves some, and nothing need be searched for to know
# it. That a lexeme has endlessly many is seen on one way through it: where a byte leads back to the state that it
# came from, it can be read any number of times. That one has few is seen in its expression.
#
# Both answers are on the safe side: no means that it was not plain.
#
# Locking. Everything expects the table's lock.

from cython.operator cimport dereference as deref

from .nodes cimport (
    NODE_EMPTY,
    OP_AND,
    OP_ARRANGEMENT,
    OP_BYTES,
    OP_CONCAT,
    OP_DFA,
    OP_EPSILON,
    OP_LITERAL,
    OP_REPEAT,
    OP_TRIE,
    OP_UNION,
    Node,
)
from .arrangements cimport Arrangement

cdef int MAX_DEPTH = 200
# Bytes on the one way through a lexeme that is looked at.
cdef int WAY_LIMIT = 64
# States of an explicit automaton that are looked at for a cycle.
cdef size_t STATES_LIMIT = 100_000


cdef class Plenty:
    """Which nodes of one lexeme table have plenty of texts, and which have few."""

    def __cinit__(self, LexemeTable table):
        self.table = table

    cdef bint has(self, int32_t lex, bint endless) noexcept nogil:
        """Whether a lexeme state has at least two texts, or endlessly many. False if that is not found soon."""
        cdef int64_t key = 2 * <int64_t>lex + endless
        if self.plenty.find(key) == self.plenty.end():
            self.plenty[key] = self.find(lex, endless)
        return self.plenty[key]

    cdef bint find(self, int32_t lex, bint endless) noexcept nogil:
        cdef int32_t target, following
        cdef int n_ways, hop
        cdef size_t i
        for hop in range(WAY_LIMIT):
            following = NODE_EMPTY
            n_ways = self.table.nodes[lex].nullable
            for i in range(self.table.alphabet_bytes.size()):
                target = self.table.step(lex, <uint8_t>self.table.alphabet_bytes[i])
                if target <= NODE_EMPTY:
                    continue
                n_ways += 1
                if target == lex or (n_ways > 1 and not endless):
                    return True
                following = target
            if following == NODE_EMPTY:
                return False
            lex = following
        return False

    cdef bint is_few(self, int32_t node, int depth) noexcept nogil:
        """Whether a node plainly has finitely many texts, and none of them is a class of characters repeated: of those
        there are more than can be followed."""
        cdef unordered_map[int32_t, uint8_t].iterator found = self.few.find(node)
        cdef bint result
        if found != self.few.end():
            return deref(found).second
        if depth > MAX_DEPTH:
            return False
        result = self.compute_few(node, depth)
        self.few[node] = result
        return result

    cdef bint compute_few(self, int32_t node, int depth) noexcept nogil:
        cdef Node rec = self.table.nodes[node]
        cdef Arrangement* what
        cdef size_t j
        cdef int32_t i
        if rec.op <= OP_EPSILON or rec.op == OP_BYTES or rec.op == OP_TRIE:
            return True
        if rec.op == OP_LITERAL:
            return self.is_few(rec.c, depth + 1)
        if rec.op == OP_DFA:
            return self.ends_soon(rec.a)
        if rec.op == OP_CONCAT:
            return self.is_few(rec.a, depth + 1) and self.is_few(rec.b, depth + 1)
        if rec.op == OP_REPEAT:
            return 0 <= rec.c <= 1 and self.is_few(rec.a, depth + 1)
        if rec.op == OP_UNION or rec.op == OP_AND:
            for i in range(rec.b):
                if self.is_few(self.table.lists[rec.a + i], depth + 1) == (rec.op == OP_AND):
                    return rec.op == OP_AND
            return rec.op == OP_UNION
        if rec.op == OP_ARRANGEMENT:
            what = &self.table.arrangements[rec.a >> 1]
            for j in range(what.parts.size()):
                if not self.is_few(what.parts[j], depth + 1):
                    return False
            return self.is_few(what.separator, depth + 1) and self.is_few(what.close, depth + 1)
        return False

    cdef bint ends_soon(self, int32_t dfa_state) noexcept nogil:
        """Whether no cycle can be reached in an explicit automaton: a depth-first search that meets no state on the
        way to itself."""
        cdef unordered_map[int32_t, uint8_t] seen   # 1: on the way; 2: done
        cdef vector[int32_t] stack
        cdef int32_t here, child, first, i
        stack.push_back(dfa_state)
        while not stack.empty():
            here = stack.back()
            if seen[here]:
                seen[here] = 2
                stack.pop_back()
                continue
            seen[here] = 1
            if seen.size() > STATES_LIMIT:
                return False
            first = self.table.dfa_row[here]
            for i in range(self.table.dfa_count[here]):
                child = self.table.dfa_ranges[first + 3 * i + 2]
                if seen[child] == 1:
                    return False
                if seen[child] == 0:
                    stack.push_back(child)
        return True
