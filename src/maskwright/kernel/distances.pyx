# Distances: bytes of the shortest string of a lexeme.
#
# The idea. Without AND and NOT the length of the shortest string can be read off the expression: lengths add along a
# sequence, the least counts in a choice. With them that is a lower bound only (a conjunction needs at least what
# each of its parts needs), but a good one, so the search for a shortest way through the derivatives goes
# nearly straight to it (A*; Hart, Nilsson and Raphael 1968). States whose bound turns out too low are opened
# again, so the length found is exact.
#
# Rejected: a breadth-first search. Thirty bytes to the end of a date, ten digits each: it meets every prefix.
#
# Locking. Everything expects the table's lock.

from cython.operator cimport dereference as deref
from libc.stdint cimport int64_t, uint8_t
from libcpp.algorithm cimport sort
from libcpp.queue cimport priority_queue
from libcpp.utility cimport pair

from .arrangements cimport Arrangement, Tally, has_part, tally_of
from .nodes cimport (
    NODE_EMPTY,
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

# Lexeme states that one search may look at, unless asked for more.
cdef size_t SEARCH_LIMIT = 2_000
cdef int MAX_DEPTH = 2_000
# Longer than anything that matters; sums of two do not overflow.
cdef int32_t FAR = 1_000_000_000


cdef class Distances:
    """Lengths of shortest strings of the nodes of one lexeme table."""

    def __cinit__(self, LexemeTable table):
        self.table = table

    cdef int32_t of(self, int32_t lex) noexcept nogil:
        """Bytes of the shortest string of a lexeme state; UNBOUNDED if a short search does not find it."""
        cdef int32_t found = self.noted(lex)
        if found < 0:
            found = self.by_parts(lex, 0)
        if found < 0:
            found = self.search(lex, SEARCH_LIMIT)
        return found

    cdef int32_t by_parts(self, int32_t lex, int depth) noexcept nogil:
        """The same from the parts of a sequence, each searched on its own; -1 if that is not how to find it.

        What follows a conjunction may have very many states that have nothing to do with how it ends.
        """
        cdef Node rec = self.table.nodes[lex]
        cdef int32_t first, rest
        if (rec.op != OP_CONCAT and rec.op != OP_LITERAL) or depth > MAX_DEPTH:
            return -1
        first = rec.b if rec.op == OP_LITERAL else self.of(rec.a)
        lex = rec.c if rec.op == OP_LITERAL else rec.b
        rest = self.noted(lex)
        if rest < 0:
            rest = self.by_parts(lex, depth + 1)
        if rest < 0:
            rest = self.search(lex, SEARCH_LIMIT)
        if first == UNBOUNDED or rest == UNBOUNDED or first + rest >= FAR:
            return -1
        return first + rest

    cdef int32_t noted(self, int32_t lex) noexcept nogil:
        """The same if no search is needed; -1 if one is."""
        cdef unordered_map[int32_t, int32_t].iterator known
        cdef int32_t bound
        if not self.table.nodes[lex].boolean:
            self.cut = False
            bound = self.lower(lex, 0)
            if not self.cut:
                return bound if bound < FAR else UNBOUNDED
        known = self.known.find(lex)
        return deref(known).second if known != self.known.end() else -1

    cdef int32_t search(self, int32_t lex, size_t limit) noexcept nogil:
        cdef priority_queue[pair[int64_t, int32_t]] queue
        cdef pair[int64_t, int32_t] entry
        cdef unordered_map[int32_t, int32_t] place_of
        cdef unordered_map[int32_t, int32_t].iterator met
        cdef vector[int32_t] seen, parents, steps
        cdef vector[uint8_t] tried
        cdef int32_t here, child, classes, up, bound
        cdef size_t i
        cdef int byte
        seen.push_back(lex)
        parents.push_back(-1)
        steps.push_back(0)
        place_of[lex] = 0
        entry.second = 0
        entry.first = 0
        queue.push(entry)
        while not queue.empty() and seen.size() < limit:
            here = queue.top().second
            queue.pop()
            if self.table.nodes[seen[here]].nullable:
                # What is on the way is nearer by as many bytes as it is along.
                up = here
                while up >= 0:
                    self.known[seen[up]] = steps[here] - steps[up]
                    up = parents[up]
                return steps[here]
            classes = self.table.class_map(seen[here], 0)
            if classes < 0:
                break
            tried.assign(self.table.map_sizes[classes], 0)
            # Only bytes that the vocabulary can spell: a complement has strings of others too.
            for i in range(self.table.alphabet_bytes.size()):
                byte = self.table.alphabet_bytes[i]
                if tried[self.table.maps[classes][byte]]:
                    continue
                tried[self.table.maps[classes][byte]] = 1
                child = self.table.step(seen[here], <uint8_t>byte)
                if child <= NODE_EMPTY:
                    continue
                met = place_of.find(child)
                if met == place_of.end():
                    entry.second = <int32_t>seen.size()
                    place_of[child] = entry.second
                    seen.push_back(child)
                    parents.push_back(here)
                    steps.push_back(steps[here] + 1)
                elif steps[deref(met).second] > steps[here] + 1:
                    entry.second = deref(met).second
                    parents[entry.second] = here
                    steps[entry.second] = steps[here] + 1
                else:
                    continue
                self.cut = False
                bound = self.lower(child, 0)
                # Least bound first; of equal ones the state that is farther along.
                entry.first = -((<int64_t>(steps[entry.second] + bound) << 24) - steps[entry.second])
                queue.push(entry)
        self.known[lex] = UNBOUNDED
        return UNBOUNDED

    def shortest(self, int32_t node) -> int | None:
        """Bytes of the shortest string of a node; None if a short search does not find it."""
        with nogil:
            self.table.lock.lock()
        cdef int32_t found = self.of(node)
        self.table.lock.unlock()
        return None if found == UNBOUNDED else found

    # ---- lower bounds ----------------------------------------------------------------------------

    cdef int32_t lower(self, int32_t node, int depth) noexcept nogil:
        """At least so many bytes has every string of a node; FAR at most."""
        cdef int32_t result
        if <size_t>node >= self.bounds.size():
            self.bounds.resize(self.table.nodes.size() + 64, 0)
        if self.bounds[node] == 0:
            if depth > MAX_DEPTH:
                self.cut = True
                return 0
            result = self.compute_lower(node, depth)
            if self.cut:
                return result
            self.bounds[node] = 1 + result
        return self.bounds[node] - 1

    cdef int32_t compute_lower(self, int32_t node, int depth) noexcept nogil:
        cdef Node rec = self.table.nodes[node]
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
                part = min(part, self.lower(self.table.lists[rec.a + i], depth + 1))
            else:
                part = max(part, self.lower(self.table.lists[rec.a + i], depth + 1))
        return part

    cdef int32_t arrangement_lower(self, const Node* rec, int depth) noexcept nogil:
        """The required parts that are missing, and the shortest of the others up to the least number.

        This is no bound but what it is, as long as the parts are not too hard to measure.
        """
        cdef const Arrangement* what = &self.table.arrangements[rec.a >> 1]
        cdef Tally tally = tally_of(what, self.table.part_sets[rec.b], rec.a & 1)
        cdef int32_t part
        cdef vector[int32_t] spare
        cdef int64_t result = 0
        for part in range(<int32_t>what.parts.size()):
            if has_part(self.table.part_sets[rec.b], part):
                continue
            if part < what.n_required:
                result += self.measured(what.parts[part], depth + 1)
            elif tally.n_more > tally.n_missing:
                spare.push_back(self.measured(what.parts[part], depth + 1))
        sort(spare.begin(), spare.end())
        for part in range(tally.n_more - tally.n_missing):
            result += spare[part]
        result += <int64_t>self.lower(what.separator, depth + 1) * (tally.n_more - 1 + (rec.a & 1))
        return <int32_t>min(<int64_t>FAR, result + self.lower(what.close, depth + 1))

    cdef int32_t measured(self, int32_t part, int depth) noexcept nogil:
        """Bytes of the shortest string of a part of an arrangement, or a bound with `cut` set."""
        cdef bint before = self.cut
        cdef int32_t found = self.of(part) if depth < MAX_DEPTH else UNBOUNDED
        self.cut = before
        if found != UNBOUNDED:
            return found
        found = self.lower(part, depth)
        self.cut = True
        return found

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
                if self.table.trie_end[level[i]]:
                    self.trie_bounds[leaf] = depth
                    return depth
                for k in range(self.table.trie_count[level[i]]):
                    deeper.push_back(self.table.trie_first[level[i]] + k)
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
                if self.table.dfa_end[level[i]]:
                    self.dfa_bounds[leaf] = depth
                    return depth
                for k in range(self.table.dfa_count[level[i]]):
                    target = self.table.dfa_ranges[self.table.dfa_row[level[i]] + 3 * k + 2]
                    if target >= 0 and met.find(target) == met.end():
                        met[target] = 1
                        deeper.push_back(target)
            level.swap(deeper)
            depth += 1
        return FAR
