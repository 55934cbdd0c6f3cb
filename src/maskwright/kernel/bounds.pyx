# Lower bounds: at least so many bytes has every string of a node.
#
# Without AND and NOT the length of the shortest string can be read off the expression: lengths add along a
# sequence, the least counts in a choice. With them that is a lower bound only: a conjunction needs at least what
# each of its parts needs. Searches through the derivatives are guided by it.
#
# Locking. Everything expects the table's lock.

from cython.operator cimport dereference as deref
from libc.stdint cimport int64_t, uint8_t

from libcpp.algorithm cimport sort

from .arrangements cimport Arrangement, Tally, has_part, tally_of
from .nodes cimport (
    OP_ARRANGEMENT,
    OP_BYTES,
    OP_CONCAT,
    OP_DFA,
    OP_EMPTY,
    OP_EPSILON,
    OP_LITERAL,
    OP_MULTIPLES,
    OP_NOT,
    OP_REPEAT,
    OP_TRIE,
    OP_UNION,
    Node,
)

cdef int MAX_DEPTH = 2_000


cdef class BoundedPool(NodePool):
    """Nodes with lower bounds of the lengths of their strings."""

    cdef int32_t lower(self, int32_t node, int depth) noexcept nogil:
        """At least so many bytes has every string of a node; FAR at most."""
        cdef int32_t result
        cdef bint outer = self.cut
        if <size_t>node >= self.bounds.size():
            self.bounds.resize(self.nodes.size() + 64, 0)
            self.inexact.resize(self.bounds.size(), 0)
        if self.bounds[node] == 0:
            if depth > MAX_DEPTH:
                self.cut = True
                return 0
            self.cut = False
            result = self.compute_lower(node, depth)
            # Kept even if it is not exact: there may be very many ways to a node.
            self.bounds[node] = 1 + result
            self.inexact[node] = self.cut
        self.cut = outer or self.inexact[node]
        return self.bounds[node] - 1

    cdef int32_t compute_lower(self, int32_t node, int depth) noexcept nogil:
        cdef Node rec = self.nodes[node]
        cdef int64_t result
        cdef int32_t i, part
        if rec.op == OP_EMPTY:
            return FAR
        if rec.nullable or rec.op == OP_EPSILON:
            return 0
        if rec.op == OP_BYTES:
            return 1
        if rec.op == OP_LITERAL:
            return min(FAR, rec.b + self.lower(rec.c, depth + 1))
        if rec.op == OP_TRIE:
            return self.trie_lower(rec.a)
        if rec.op == OP_DFA:
            return self.dfa_lower(rec.a)
        if rec.op == OP_CONCAT:
            return min(FAR, self.lower(rec.a, depth + 1) + self.lower(rec.b, depth + 1))
        if rec.op == OP_REPEAT:
            result = <int64_t>rec.b * self.lower(rec.a, depth + 1)
            return <int32_t>min(<int64_t>FAR, result)
        if rec.op == OP_MULTIPLES:
            # How many digits are missing is known to arithmetic alone: a search has to find out.
            self.cut = True
            return 1
        if rec.op == OP_ARRANGEMENT:
            return self.arrangement_lower(&rec, depth)
        if rec.op == OP_NOT:
            return 1
        part = FAR if rec.op == OP_UNION else 0
        for i in range(rec.b):
            if rec.op == OP_UNION:
                part = min(part, self.lower(self.lists[rec.a + i], depth + 1))
            else:
                part = max(part, self.lower(self.lists[rec.a + i], depth + 1))
        return part

    cdef int32_t arrangement_lower(self, const Node* rec, int depth) noexcept nogil:
        """The required parts that are missing, and the shortest of the others up to the least number."""
        cdef const Arrangement* what = &self.arrangements[rec.a >> 1]
        cdef Tally tally = tally_of(what, self.part_sets[rec.b], rec.a & 1)
        cdef vector[int32_t] spare
        cdef int64_t result = 0
        cdef int32_t part
        for part in range(<int32_t>what.parts.size()):
            if has_part(self.part_sets[rec.b], part):
                continue
            # A conjunction may be longer than its bound, and then so may this.
            self.cut = self.cut or self.nodes[what.parts[part]].boolean
            if part < what.n_required:
                result += self.lower(what.parts[part], depth + 1)
            elif tally.n_more > tally.n_missing:
                spare.push_back(self.lower(what.parts[part], depth + 1))
        sort(spare.begin(), spare.end())
        for part in range(tally.n_more - tally.n_missing):
            result += spare[part]
        result += <int64_t>self.lower(what.separator, depth + 1) * (tally.n_more - 1 + (rec.a & 1))
        return <int32_t>min(<int64_t>FAR, result + self.lower(what.close, depth + 1))

    cdef int32_t trie_lower(self, int32_t leaf) noexcept nogil:
        """Depth of the nearest end of a literal, breadth first; a trie has no node twice."""
        cdef vector[int32_t] level, deeper
        cdef size_t i
        cdef int32_t depth = 0, k
        cdef unordered_map[int32_t, int32_t].iterator known = self.trie_bounds.find(leaf)
        if known != self.trie_bounds.end():
            return deref(known).second
        level.push_back(leaf)
        while not level.empty():
            deeper.clear()
            for i in range(level.size()):
                if self.trie_end[level[i]]:
                    self.trie_bounds[leaf] = depth
                    return depth
                for k in range(self.trie_count[level[i]]):
                    deeper.push_back(self.trie_first[level[i]] + k)
            level.swap(deeper)
            depth += 1
        return FAR

    cdef int32_t dfa_lower(self, int32_t leaf) noexcept nogil:
        """Steps to the nearest accepting state of an explicit automaton, breadth first."""
        cdef vector[int32_t] level, deeper
        cdef unordered_map[int32_t, uint8_t] met
        cdef size_t i
        cdef int32_t depth = 0, k, target
        cdef unordered_map[int32_t, int32_t].iterator known = self.dfa_bounds.find(leaf)
        if known != self.dfa_bounds.end():
            return deref(known).second
        level.push_back(leaf)
        met[leaf] = 1
        while not level.empty():
            deeper.clear()
            for i in range(level.size()):
                if self.dfa_end[level[i]]:
                    self.dfa_bounds[leaf] = depth
                    return depth
                for k in range(self.dfa_count[level[i]]):
                    target = self.dfa_ranges[self.dfa_row[level[i]] + 3 * k + 2]
                    if target >= 0 and met.find(target) == met.end():
                        met[target] = 1
                        deeper.push_back(target)
            level.swap(deeper)
            depth += 1
        return FAR
