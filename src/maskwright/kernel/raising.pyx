# Raising: lexeme states that differ in upper bounds which hardly any token can reach.
#
# The idea. In `(\S+\s+){0,9}\S+` each word leads to another state, and each of them would be walked on its own. But a
# token has only so many words. So all bounds are raised to one large number and that one lexeme is walked; how far
# below the large number a bound is in the state after a token, its *drop*, tells how many repetitions the token has
# begun. A lexeme allows what the raised one does, if its bounds are no less than the drops.
#
# Why that is exact. Let c be the least bound that was raised. What the lexeme allows the raised one allows too. The
# other way round, let the state of the raised lexeme after a token reach its end by some string, and let no bound drop
# by more than c on the whole way. Then the same steps lead through the lexeme in which every raised bound is c instead,
# since the constructors of nodes never look at upper bounds other than 0; and that lexeme is part of the one in
# question. Not so under NOT, where nothing is raised.
#
# Clipping (clipping.pyx) counts bytes instead and drops the bounds: it is for those that are far away.
#
# Locking. Everything expects the table's lock.

from cython.operator cimport dereference as deref

from .distances cimport UNBOUNDED
from .nodes cimport NODE_EMPTY, OP_AND, OP_CONCAT, OP_LITERAL, OP_REPEAT, OP_UNION, Node

cdef int MAX_DEPTH = 500
# Bytes on the way to an end that are followed, and states that a search for it may look at.
cdef int MOST_HOPS = 64
cdef size_t SEARCH_LIMIT = 2_000


cdef class Raiser:
    """Raised forms of the nodes of one lexeme table, and how far bounds have dropped since."""

    def __cinit__(self, LexemeTable table, Distances distances):
        self.table = table
        self.distances = distances

    cdef Raised raise_bounds(self, int32_t node, int depth) noexcept nogil:
        """The node with all bounds raised that are raised at all; its code is negative if the table is full."""
        cdef unordered_map[int32_t, Raised].iterator known = self.memo.find(node)
        cdef Raised result
        if known != self.memo.end():
            return deref(known).second
        result = self.rebuild(node, depth)
        if result.node >= 0:
            self.memo[node] = result
        return result

    cdef Raised rebuild(self, int32_t node, int depth) noexcept nogil:
        cdef Node rec = self.table.nodes[node]
        cdef Raised result, part
        cdef vector[int32_t] kids
        cdef int32_t i
        cdef bint endless
        result.node = node
        result.least = UNBOUNDED
        result.by_bytes = False
        if depth > MAX_DEPTH:
            return result
        if rec.op == OP_LITERAL:
            part = self.raise_bounds(rec.c, depth + 1)
            if part.node != rec.c:
                result = part
                result.node = part.node if part.node < 0 else self.table.make(OP_LITERAL, rec.a, rec.b, part.node)
        elif rec.op == OP_REPEAT:
            part = self.raise_bounds(rec.a, depth + 1)
            result.least = part.least
            result.by_bytes = part.by_bytes
            # States that differ in how many must come at least stay apart all the same.
            if rec.b <= 1 and RAISED_FROM <= rec.c <= RAISED // 2:
                endless = self.is_endless(rec.a, 0)
                # Of parts that are never long a token may have many.
                if endless or rec.c >= FAR_FROM:
                    result.least = min(result.least, rec.c)
                    result.by_bytes = result.by_bytes or not endless
                    rec.c = RAISED
            result.node = self.table.repeat(part.node, rec.b, rec.c)
        elif rec.op == OP_CONCAT:
            part = self.raise_bounds(rec.a, depth + 1)
            result = self.raise_bounds(rec.b, depth + 1)
            result.least = min(result.least, part.least)
            result.by_bytes = result.by_bytes or part.by_bytes
            result.node = self.table.concat(part.node, result.node)
        elif rec.op == OP_UNION or rec.op == OP_AND:
            for i in range(rec.b):
                part = self.raise_bounds(self.table.lists[rec.a + i], depth + 1)
                kids.push_back(part.node)
                result.least = min(result.least, part.least)
                result.by_bytes = result.by_bytes or part.by_bytes
            result.node = self.table.union_of(kids) if rec.op == OP_UNION else self.table.and_of(kids)
        return result

    cdef bint is_endless(self, int32_t node, int depth) noexcept nogil:
        """Whether something in a node may be repeated without a bound."""
        cdef Node rec = self.table.nodes[node]
        cdef int32_t i
        if depth > MAX_DEPTH:
            return False
        if rec.op == OP_REPEAT:
            return rec.c < 0 or self.is_endless(rec.a, depth + 1)
        if rec.op == OP_LITERAL:
            return self.is_endless(rec.c, depth + 1)
        if rec.op == OP_CONCAT:
            return self.is_endless(rec.a, depth + 1) or self.is_endless(rec.b, depth + 1)
        if rec.op == OP_UNION or rec.op == OP_AND:
            for i in range(rec.b):
                if self.is_endless(self.table.lists[rec.a + i], depth + 1):
                    return True
        return False

    cdef int32_t drop(self, int32_t node, int depth) noexcept nogil:
        """How far the bounds of a node are below what they were raised to, at most."""
        cdef int32_t result
        if <size_t>node >= self.drops.size():
            self.drops.resize(self.table.nodes.size() + 64, 0)
        if self.drops[node] == 0:
            result = self.compute_drop(node, depth)
            if result == UNBOUNDED:
                return result
            self.drops[node] = 1 + result
        return self.drops[node] - 1

    cdef int32_t compute_drop(self, int32_t node, int depth) noexcept nogil:
        cdef Node rec = self.table.nodes[node]
        cdef int32_t i, result = 0
        if depth > MAX_DEPTH:
            return UNBOUNDED
        if rec.op == OP_LITERAL:
            result = self.drop(rec.c, depth + 1)
        elif rec.op == OP_CONCAT:
            result = max(self.drop(rec.a, depth + 1), self.drop(rec.b, depth + 1))
        elif rec.op == OP_REPEAT:
            result = self.drop(rec.a, depth + 1)
            if RAISED // 2 < rec.c <= RAISED:
                result = max(result, RAISED - rec.c)
        elif rec.op == OP_UNION or rec.op == OP_AND:
            for i in range(rec.b):
                result = max(result, self.drop(self.table.lists[rec.a + i], depth + 1))
        return result

    cdef int32_t drop_to_end(self, int32_t node) noexcept nogil:
        """The largest drop on a shortest way from a node to its end; UNBOUNDED if none is found."""
        cdef unordered_map[int32_t, int32_t].iterator known = self.ends.find(node)
        if known == self.ends.end():
            self.ends[node] = self.search_end(node)
            return self.ends[node]
        return deref(known).second

    cdef int32_t search_end(self, int32_t node) noexcept nogil:
        cdef int32_t result = self.drop(node, 0), near, child, following
        cdef int byte, hop
        if result == 0:
            return 0
        if self.table.nodes[node].boolean:
            # A search of the whole notes how far it is from every state on its way.
            self.distances.search(node, SEARCH_LIMIT)
        for hop in range(MOST_HOPS):
            if self.table.nodes[node].nullable:
                return result
            near = self.distances.of(node)
            following = NODE_EMPTY
            for byte in range(256):
                child = self.table.step(node, <uint8_t>byte)
                if child > NODE_EMPTY and 0 <= self.distances.noted(child) < near:
                    following = child
                    break
            if following == NODE_EMPTY:
                return UNBOUNDED
            node = following
            result = max(result, self.drop(node, 0))
        return UNBOUNDED
