# Contrasting: what `a and not b` loses against `a`, whatever b is.
#
# The idea. Where b is a few texts these are followed alone (differences.pyx). Else `a and not b` differs from `a` only where a token comes near to spelling something of b. So the trie is walked
# with the states of both at once, no farther than they differ and could lose a token. A subtree is spared
#   - once both are the same state;
#   - if what is taken away cannot be spelled with its bytes, or is longer than its tokens (requiring.pyx);
#   - if all its characters lead on and on in both states (closures.pyx): a key that matches no pattern may still become one.
# Where one letter is enough to lose a token, half of them are lost, and the alphabets tell which (walking.pyx).
#
# Locking. Everything expects the table's lock.

from .alphabets cimport letter_bit
from .lexemes cimport LexemeTable
from .nodes cimport NODE_EMPTY, NODE_EPSILON
from .trie cimport TokenTrie, Trie
from .walking cimport Place

# Trie nodes that a difference may visit before it is walked like any other state.
cdef int32_t DIFFERENCE_LIMIT = 8192
# Of these, how many it visits before it looks for subtrees that are spared since all their characters lead on; how many
# closures it may make for that; how many states may turn out to be too much for `Requirements`.
cdef int32_t NARROW = 512
cdef size_t NEW_CLOSURES = 24
cdef int32_t GIVEN_UP = 4


cdef class ContrastTable(FamilyTable):
    """Lexemes of one vocabulary, walked side by side."""

    def __cinit__(self, TokenTrie vocabulary, LexemeTable table):
        self.requirements = Requirements(table, self.distances)

    cdef bint lacks_letters(self, int32_t lex, int32_t keep) noexcept nogil:
        """Whether a letter or digit leads the whole back to itself and the difference nowhere, while others lead it back
        too: so many tokens are gone that alphabets are quicker (walking.pyx)."""
        cdef bint gone = False, back = False
        cdef int32_t both
        cdef int byte
        for byte in range(128):
            if letter_bit[byte] and self.table.step(keep, <uint8_t>byte) == keep:
                both = self.table.step(lex, <uint8_t>byte)
                gone = gone or both == NODE_EMPTY
                back = back or both == lex
        return gone and back

    cdef bint losses(self, int32_t lex, int32_t keep, vector[int32_t]& gone) noexcept nogil:
        """Add the tokens that a difference takes from the whole, `keep`. False if they are many, or
        differ in too many places, or the whole may end and also go on."""
        cdef Trie* trie = &self.vocabulary.trie
        cdef vector[Place] stack
        cdef Place place, deeper
        cdef int32_t i, child, part, both, n_given_up, visited = 0
        cdef size_t n_closures
        if self.lacks_letters(lex, keep):
            return False
        # `lex` of a place is the difference; its `counter` holds the state of `keep`.
        place.node = 0
        place.lex = lex
        place.counter = keep
        place.depth = 0
        n_closures = self.closures.closures.size()
        n_given_up = self.requirements.n_given_up
        stack.push_back(place)
        while not stack.empty():
            place = stack.back()
            stack.pop_back()
            for child in range(trie.nodes[place.node].first, trie.nodes[place.node].first + trie.nodes[place.node].count):
                part = self.table.step(place.counter, trie.bytes[child])
                both = self.table.step(place.lex, trie.bytes[child])
                if part < 0 or both < 0:
                    return False
                if part == both:
                    continue
                if self.table.nodes[part].nullable and part != NODE_EPSILON:
                    return False
                visited += 1
                if visited > DIFFERENCE_LIMIT:
                    return False
                if both == NODE_EMPTY:
                    for i in range(trie.nodes[child].low, trie.nodes[child].high):
                        gone.push_back(trie.ids[i])
                    if gone.size() > <size_t>DIFFERENCE_LIMIT:
                        return False
                elif trie.nodes[child].count and not (
                    self.requirements.spares(part, both, trie.nodes[child].below)
                    or self.requirements.falls_short(part, both, trie.nodes[child].longest - place.depth - 1)
                ):
                    # Not for a few names, each state along which is another: finding its closure costs more than it saves.
                    if visited > NARROW:
                        if self.closures.closures.size() > n_closures + NEW_CLOSURES:
                            return False
                        if self.requirements.n_given_up > n_given_up + GIVEN_UP:
                            return False
                        if self.leads_on(both, child, place.depth + 1) and self.leads_on(part, child, place.depth + 1):
                            continue
                    deeper.node = child
                    deeper.depth = place.depth + 1
                    deeper.lex = both
                    deeper.counter = part
                    stack.push_back(deeper)
        return True
