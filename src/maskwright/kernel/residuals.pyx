# Residuals: in which state of a lexeme each token leaves it.
#
# The idea. How many tokens it takes to finish after a token that stays inside a lexeme depends on the state in which
# the token leaves it. Nearly all tokens leave the body of a string in the state they found it in; some are half
# an escape or half a character. So the tokens of a wide lexeme state are kept as a few sets, one for each state
# after them, found by one walk of the vocabulary and shared by all grammars on the table.
#
# Locking. Everything expects the table's lock.

from cython.operator cimport dereference as deref
from libc.stdlib cimport calloc, free

from .families cimport SPARSE_LIMIT
from .nodes cimport NODE_EMPTY
from .shortest cimport MW_FAR, Shortest
from .trie cimport FIRST_WIDE, Trie, TrieNode, groups_in
from .walking cimport Family

# More repetitions than a token has, and few enough to decide that a conjunction with them can end.
cdef int32_t FAR_BOUND = 400
# Lexeme nodes that one partition may make.
cdef size_t NODE_LIMIT = 50_000
# A subtree of fewer tokens is not worth finding out whether it can be taken whole.
cdef int32_t HOME_FROM = 32
# States that `reach` looks at.
cdef size_t REACH_LIMIT = 256

cdef struct Here:
    int32_t node
    int32_t lex


cdef class ResidualTable:
    """Residuals of one vocabulary over one lexeme table."""

    def __cinit__(self, SummaryTable summaries):
        self.summaries = summaries
        self.vocabulary = summaries.vocabulary
        self.table = summaries.table

    def __dealloc__(self):
        cdef size_t i, j
        for i in range(self.pool.size()):
            for j in range(self.pool[i].residuals.size()):
                free(self.pool[i].residuals[j].bits)

    cdef int32_t base_of(self, int32_t lex, bint* exact) noexcept nogil:
        """The state whose partition serves for that of `lex`.

        In `x{0,n} rest` the bound changes which tokens are legal, but not how soon they can end: `x* rest` has the same
        residuals (`exact`). Other counted lexemes share how tokens are told apart: by the state without bounds
        and by the number of repetitions, as `x{0,FAR_BOUND} rest` does. Where the tokens of a set lead is then found with
        one that is legal.
        """
        cdef Family family
        cdef vector[int32_t] parts
        cdef int32_t counted
        exact[0] = True
        if not self.summaries.family_of(lex, &family) or family.part < 0:
            return lex
        if family.base == family.counter and family.low == 0:
            return family.counter
        counted = self.table.concat(self.table.repeat(family.part, 0, FAR_BOUND), family.rest)
        if family.base != family.counter:
            parts.push_back(family.base)
            parts.push_back(counted)
            counted = self.table.and_of(parts)
        if counted < 0:
            return lex
        exact[0] = False
        return counted

    cdef Partition* of(self, int32_t lex) noexcept nogil:
        """Tokens that stay inside a lexeme or end exactly with it, by the state after them. NULL if it has too many states."""
        cdef unordered_map[int32_t, Partition*].iterator known = self.partitions.find(lex)
        cdef Trie* trie = &self.vocabulary.trie
        cdef vector[Here] work
        cdef unordered_map[int32_t, int32_t] places
        cdef unordered_map[int32_t, Home] homes
        cdef Partition* partition
        cdef Here here, below
        cdef int32_t child, place
        cdef size_t limit = self.table.nodes.size() + NODE_LIMIT
        if known != self.partitions.end():
            return deref(known).second
        self.pool.resize(self.pool.size() + 1)
        partition = &self.pool.back()
        here.node = 0
        here.lex = lex
        work.push_back(here)
        while not work.empty():
            here = work.back()
            work.pop_back()
            if self.table.nodes.size() > limit:
                partition.residuals.clear()
                self.partitions[lex] = NULL
                return NULL
            child = trie.nodes[here.node].first
            # One byte tells most states that have no home; those of counted lexemes are made for nothing else.
            if (
                trie.nodes[here.node].high - trie.nodes[here.node].own >= HOME_FROM
                and self.table.step(here.lex, trie.bytes[child]) == here.lex
            ):
                if homes.find(here.lex) == homes.end():
                    homes[here.lex] = self.home_of(here.lex)
                if self.stays(here.node, homes[here.lex]):
                    self.add(partition, places, here.lex, trie.nodes[here.node].own, trie.nodes[here.node].high)
                    continue
            for child in range(trie.nodes[here.node].first, trie.nodes[here.node].first + trie.nodes[here.node].count):
                below.lex = self.table.step(here.lex, trie.bytes[child])
                if below.lex < 0:
                    partition.residuals.clear()
                    self.partitions[lex] = NULL
                    return NULL
                if below.lex != NODE_EMPTY:
                    self.add(partition, places, below.lex, trie.nodes[child].low, trie.nodes[child].own)
                    if trie.nodes[child].count:
                        below.node = child
                        work.push_back(below)
        for place in range(<int32_t>partition.residuals.size()):
            self.settle(&partition.residuals[place])
        self.partitions[lex] = partition
        return partition

    cdef void add(
        self, Partition* partition, unordered_map[int32_t, int32_t]& places, int32_t lex, int32_t low, int32_t high
    ) noexcept nogil:
        """Add entries of the trie's ids to the tokens that lead to a state."""
        cdef Residual* residual
        if low == high:
            return
        if places.find(lex) == places.end():
            places[lex] = <int32_t>partition.residuals.size()
            partition.residuals.resize(partition.residuals.size() + 1)
            partition.residuals.back().lex = lex
            partition.residuals.back().bits = NULL
        residual = &partition.residuals[places[lex]]
        residual.tokens.insert(
            residual.tokens.end(), self.vocabulary.trie.ids.begin() + low, self.vocabulary.trie.ids.begin() + high
        )

    cdef Home home_of(self, int32_t lex) noexcept nogil:
        cdef Home home
        cdef uint64_t[2] ascii
        cdef vector[int32_t] targets
        cdef uint64_t wide
        cdef int byte
        cdef size_t i
        ascii[0] = ascii[1] = 0
        for byte in range(128):
            if self.table.step(lex, <uint8_t>byte) == lex:
                ascii[byte >> 6] |= <uint64_t>1 << (byte & 63)
        home.groups = groups_in(ascii)
        for byte in range(FIRST_WIDE, 64):
            targets.clear()
            wide = self.summaries.closures.characters_lead_on(lex, <uint64_t>1 << byte, targets)
            for i in range(targets.size()):
                if targets[i] != lex:
                    wide = 0
            home.groups |= wide
        return home

    cdef bint stays(self, int32_t node, const Home& home) noexcept nogil:
        """Whether all tokens below a node of the trie leave the state as it is."""
        cdef TrieNode* below = &self.vocabulary.trie.nodes[node]
        return below.whole and not below.below & ~home.groups

    cdef void settle(self, Residual* residual) noexcept nogil:
        """Keep many tokens as bits."""
        cdef size_t i
        if residual.tokens.size() > SPARSE_LIMIT:
            residual.bits = <uint32_t*>calloc(self.summaries.n_words, sizeof(uint32_t))
            for i in range(residual.tokens.size()):
                residual.bits[residual.tokens[i] >> 5] |= <uint32_t>1 << (residual.tokens[i] & 31)
            residual.tokens.clear()
            residual.tokens.shrink_to_fit()
            self.memory_size_bytes += self.summaries.n_words * sizeof(uint32_t)
        else:
            self.memory_size_bytes += residual.tokens.size() * sizeof(int32_t)

    cdef int64_t reach(self, int32_t lex, Shortest shortest) noexcept nogil:
        """The most bytes that any state reachable from a lexeme state is away from its end; MW_FAR if there are too many
        states to tell."""
        cdef unordered_map[int32_t, int64_t].iterator known = self.reaches.find(lex)
        cdef vector[int32_t] seen
        cdef unordered_map[int32_t, uint8_t] met
        cdef vector[uint8_t] tried
        cdef size_t here = 0, i
        cdef int32_t child, classes
        cdef int64_t most = 0
        cdef int byte
        if known != self.reaches.end():
            return deref(known).second
        seen.push_back(lex)
        met[lex] = 1
        while here < seen.size():
            classes = self.table.class_map(seen[here], 0)
            if classes < 0 or seen.size() > REACH_LIMIT:
                most = MW_FAR
                break
            most = max(most, shortest.distance(seen[here]))
            tried.assign(self.table.map_sizes[classes], 0)
            for byte in range(256):
                if not tried[self.table.maps[classes][byte]]:
                    tried[self.table.maps[classes][byte]] = 1
                    child = self.table.step(seen[here], <uint8_t>byte)
                    if child > NODE_EMPTY and met.find(child) == met.end():
                        met[child] = 1
                        seen.push_back(child)
            here += 1
        if most < MW_FAR:
            # All of them reach no further than the first.
            for i in range(seen.size()):
                if self.reaches.find(seen[i]) == self.reaches.end():
                    self.reaches[seen[i]] = most
        self.reaches[lex] = most
        return most
