# Differences: which tokens a lexeme loses by what is taken away from it.
#
# The idea. The key of an open object is "a string, but none of these names", and a text that must be new "a string, but
# none of those". Such a lexeme says what the whole string says, except along what is taken away. So the tokens that
# are lost are looked for, and the summary of the whole is used for all others.
#
# What begins with fewer bytes than it goes on with (`x+`, a name that no digit may begin) is such a difference too: from
# the state behind its first byte, tokens are lost that begin with the others.
#
# Where few texts are taken from endlessly many, something is left wherever a text has not been read to its end. So only
# the texts are followed, side by side with the whole; no state of the difference is made, and there are as many of
# these as the names have bytes. Anything else is found by following the states of both (contrasting.pyx).
#
# Locking. Everything expects the table's lock.

from .nodes cimport (
    NODE_EMPTY,
    NODE_EPSILON,
    OP_AND,
    OP_CONCAT,
    OP_DFA,
    OP_LITERAL,
    OP_NOT,
    OP_TRIE,
    Node,
)
from .trie cimport TrieNode, trie_child

# Trie nodes that may be visited, and tokens lost, before a difference is walked like any other state.
cdef int32_t DIFFERENCE_LIMIT = 8192


cdef class Differences:
    """Differences over one vocabulary and one lexeme table."""

    def __cinit__(self, TokenTrie vocabulary, LexemeTable table):
        self.vocabulary = vocabulary
        self.table = table
        self.plenty = Plenty(table)

    cdef Difference take_apart(self, int32_t lex) noexcept nogil:
        """`(keep and not dropped) rest`, which a literal may precede, as its parts."""
        cdef Node node = self.table.nodes[lex]
        cdef Difference what
        cdef vector[int32_t] kept
        cdef size_t j
        cdef int32_t i, kid
        if node.op == OP_LITERAL:
            what = self.take_apart(node.c)
            if what.whole > NODE_EMPTY:
                what.whole = self.table.make(OP_LITERAL, node.a, node.b, what.whole)
                what.keep = self.table.make(OP_LITERAL, node.a, node.b, what.keep)
                for j in range(what.dropped.size()):
                    what.dropped[j] = self.table.make(OP_LITERAL, node.a, node.b, what.dropped[j])
            what.lex = lex
            return what
        what.lex = lex
        what.whole = what.keep = NODE_EMPTY
        what.rest = NODE_EPSILON
        if node.op == OP_CONCAT:
            what.rest = node.b
            node = self.table.nodes[node.a]
        if node.op != OP_AND:
            return what
        for i in range(node.b):
            kid = self.table.lists[node.a + i]
            if self.table.nodes[kid].op == OP_NOT:
                what.dropped.push_back(self.table.nodes[kid].a)
            else:
                kept.push_back(kid)
        if not kept.empty() and not what.dropped.empty():
            what.keep = self.table.and_of(kept)
            what.whole = self.table.concat(what.keep, what.rest)
        return what

    # ---- first bytes -----------------------------------------------------------------------------

    cdef int32_t wider(self, int32_t lex, vector[int32_t]& gone) noexcept nogil:
        """A state that goes on as `lex` does by each byte that `lex` takes, and by some more; adds the tokens that
        begin with those. NODE_EMPTY if none is found."""
        cdef Trie* trie = &self.vocabulary.trie
        cdef int32_t whole = self.next_of_most(lex), target, child
        cdef int byte
        if whole <= NODE_EPSILON or whole == lex:
            return NODE_EMPTY
        for byte in range(256):
            target = self.table.derive(lex, <uint8_t>byte, 0)
            if target == self.table.derive(whole, <uint8_t>byte, 0):
                continue
            if target != NODE_EMPTY:
                return NODE_EMPTY
            child = trie_child(trie, 0, <uint8_t>byte)
            if child >= 0:
                self.lose(trie.nodes[child].low, trie.nodes[child].high, gone)
        return whole if gone.size() <= <size_t>DIFFERENCE_LIMIT else NODE_EMPTY

    cdef int32_t next_of_most(self, int32_t lex) noexcept nogil:
        """The state to which more than half of the single bytes lead that a state takes, if there is one (Boyer and
        Moore's majority vote, 1981)."""
        cdef int32_t target, result = NODE_EMPTY
        cdef int byte, votes = 0
        for byte in range(128):
            target = self.table.derive(lex, <uint8_t>byte, 0)
            if target == NODE_EMPTY:
                continue
            if votes == 0:
                result = target
            votes += 1 if target == result else -1
        return result

    # ---- few texts -------------------------------------------------------------------------------

    cdef bint lost_to_few(self, Difference* what, vector[int32_t]& gone) noexcept nogil:
        """Add the tokens that are legal in the whole and not in the difference; others may be among them.

        Returns:
            False if more than a few texts are taken away, too many tokens are lost, or something is not plain.
        """
        cdef size_t i
        if what.rest != NODE_EPSILON and self.table.nodes[what.rest].nullable:
            return False
        for i in range(what.dropped.size()):
            if not self.plenty.is_few(what.dropped[i], 0):
                return False
        # Of endlessly many texts as many are left, so each of these loses what it loses on its own.
        for i in range(what.dropped.size()):
            if not self.lost_to_one(what, what.dropped[i], gone):
                return False
        return True

    cdef bint lost_to_one(self, Difference* what, int32_t dropped, vector[int32_t]& gone) noexcept nogil:
        cdef Trie* trie = &self.vocabulary.trie
        cdef vector[Beside] stack
        cdef Beside at, below
        cdef uint8_t byte
        cdef int32_t visited = 0
        cdef size_t i
        cdef bint may_end
        at.node = 0
        at.keep = what.keep
        at.other = dropped
        if not self.note_lost(what, &at, gone):
            return False
        stack.push_back(at)
        while not stack.empty():
            at = stack.back()
            stack.pop_back()
            may_end = what.rest != NODE_EPSILON and self.table.nodes[at.keep].nullable
            self.find_ways(at.node, at.other)
            for i in range(self.ways.size()):
                below.node = self.ways[i].first
                below.other = self.ways[i].second
                byte = trie.bytes[below.node]
                below.keep = self.table.step(at.keep, byte)
                if below.keep < 0 or below.other < 0:
                    return False
                if below.keep == NODE_EMPTY:
                    continue
                # What is read as the rest here is no part of the text that is taken away.
                if may_end and self.table.derive(what.rest, byte, 0) != NODE_EMPTY:
                    return False
                visited += 1
                if visited > DIFFERENCE_LIMIT or not self.note_lost(what, &below, gone):
                    return False
                if trie.nodes[below.node].count:
                    stack.push_back(below)
        return True

    cdef bint note_lost(self, Difference* what, const Beside* at, vector[int32_t]& gone) noexcept nogil:
        """Add what is lost where a text that is taken away ends. False if it is not plain that all is left elsewhere."""
        cdef Trie* trie = &self.vocabulary.trie
        cdef TrieNode* node = &trie.nodes[at.node]
        cdef bint may_end = self.table.nodes[at.keep].nullable
        cdef int32_t child
        if at.keep != NODE_EPSILON and not self.plenty.has(at.keep, True):
            return False
        if what.rest == NODE_EPSILON and may_end and at.keep != NODE_EPSILON:
            return False
        if not (may_end and self.table.nodes[at.other].nullable):
            return True
        if at.keep == NODE_EPSILON:
            self.lose(node.low, node.own if what.rest != NODE_EPSILON else node.high, gone)
        if what.rest != NODE_EPSILON:
            for child in range(node.first, node.first + node.count):
                if self.table.derive(what.rest, trie.bytes[child], 0) == NODE_EMPTY:
                    continue
                if self.table.derive(at.keep, trie.bytes[child], 0) != NODE_EMPTY:
                    return False
                self.lose(trie.nodes[child].low, trie.nodes[child].high, gone)
        return gone.size() <= <size_t>DIFFERENCE_LIMIT

    cdef void find_ways(self, int32_t node, int32_t dropped) noexcept nogil:
        """Set `ways` to the children of a trie node by which a text that is taken away goes on, and to where.

        States that only this asks for get no row of derivatives.
        """
        cdef Trie* trie = &self.vocabulary.trie
        cdef Node rec = self.table.nodes[dropped]
        cdef pair[int32_t, int32_t] way
        cdef int32_t i, low, high, byte, child
        self.ways.clear()
        if rec.op == OP_DFA or rec.op == OP_TRIE:
            for i in range(self.table.dfa_count[rec.a] if rec.op == OP_DFA else self.table.trie_count[rec.a]):
                if rec.op == OP_DFA:
                    child = self.table.dfa_row[rec.a] + 3 * i
                    low = self.table.dfa_ranges[child]
                    high = self.table.dfa_ranges[child + 1]
                    way.second = self.table.dfa_leaf(self.table.dfa_ranges[child + 2])
                else:
                    child = self.table.trie_first[rec.a] + i
                    low = high = self.table.trie_byte[child]
                    way.second = self.table.trie_leaf(child)
                for byte in range(low, high + 1):
                    way.first = trie_child(trie, node, <uint8_t>byte)
                    if way.first >= 0 and way.second != NODE_EMPTY:
                        self.ways.push_back(way)
            return
        for child in range(trie.nodes[node].first, trie.nodes[node].first + trie.nodes[node].count):
            way.first = child
            way.second = self.table.derive(dropped, trie.bytes[child], 0)
            if way.second != NODE_EMPTY:
                self.ways.push_back(way)

    cdef void lose(self, int32_t low, int32_t high, vector[int32_t]& gone) noexcept nogil:
        """Add the tokens of entries `low` to `high`."""
        cdef Trie* trie = &self.vocabulary.trie
        gone.insert(gone.end(), trie.ids.begin() + low, trie.ids.begin() + high)
