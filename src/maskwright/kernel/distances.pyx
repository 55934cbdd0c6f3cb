# Distances: bytes of the shortest string of a lexeme.
#
# The idea. Without AND and NOT the length of the shortest string can be read off the expression (bounds.pyx). With them
# that is a lower bound only, but a good one, so the search for a shortest way through the derivatives goes
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
from .bounds cimport FAR
from .nodes cimport NODE_EMPTY, OP_ARRANGEMENT, OP_CONCAT, OP_LITERAL, Node

# Lexeme states that one search may look at, unless asked for more.
cdef size_t SEARCH_LIMIT = 2_000
cdef int MAX_DEPTH = 2_000


cdef class Distances:
    """Lengths of shortest strings of the nodes of one lexeme table."""

    def __cinit__(self, LexemeTable table):
        self.table = table

    cdef int32_t of(self, int32_t lex) noexcept nogil:
        """Bytes of the shortest string of a lexeme state; UNBOUNDED if a short search does not find it."""
        cdef int32_t found = self.noted(lex)
        if found < 0 and self.table.nodes[lex].op == OP_ARRANGEMENT:
            found = self.of_arrangement(lex)
        if found < 0:
            found = self.by_parts(lex, 0)
        if found < 0:
            found = self.search(lex, SEARCH_LIMIT)
        return found

    cdef int32_t of_arrangement(self, int32_t lex) noexcept nogil:
        """The same of parts in any order, each measured on its own; -1 if one cannot be.

        The required parts that are missing, and the shortest of the others up to the least number.
        """
        cdef Node rec = self.table.nodes[lex]
        cdef const Arrangement* what = &self.table.arrangements[rec.a >> 1]
        cdef Tally tally = tally_of(what, self.table.part_sets[rec.b], rec.a & 1)
        cdef vector[int32_t] spare
        cdef int32_t part, length, separator = self.of(what.separator), close = self.of(what.close)
        cdef int64_t result = 0
        for part in range(<int32_t>what.parts.size()):
            if has_part(self.table.part_sets[rec.b], part):
                continue
            length = self.of(what.parts[part])
            if length == UNBOUNDED:
                return -1
            if part < what.n_required:
                result += length
            elif tally.n_more > tally.n_missing:
                spare.push_back(length)
        sort(spare.begin(), spare.end())
        for part in range(tally.n_more - tally.n_missing):
            result += spare[part]
        result += <int64_t>separator * (tally.n_more - 1 + (rec.a & 1)) + close
        return <int32_t>result if result < FAR else -1

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
            self.table.cut = False
            bound = self.table.lower(lex, 0)
            if not self.table.cut:
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
                bound = self.table.lower(child, 0)
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
