# Data dictionary of the lexeme nodes. See nodes.pyx.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libcpp.string cimport string
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from ..records cimport Lexeme
from .arrangements cimport Arrangement
from .multiples cimport Multiples

# Node ids that every table shares.
cdef enum:
    NODE_EMPTY = 0      # the empty language: no way on from here
    NODE_EPSILON = 1    # exactly the empty string: complete, and no way on

# Negative results of the kernel. Never a node or state id.
cdef enum:
    CODE_UNKNOWN = -1   # not computed yet (internal)
    CODE_EXPAND = -2    # a lazy rule must be expanded by Python; then try again
    CODE_LIMIT = -3     # a lexeme or a state needs more than it may have
    CODE_FULL = -5      # this generation of the automaton is full; start another

# Whether a node's language is empty.
cdef enum:
    LIVE_UNKNOWN = 0
    LIVE_YES = 1
    LIVE_NO = 2

cdef enum NodeOp:
    OP_EMPTY
    OP_EPSILON
    OP_LITERAL      # a = offset in `pool`, b = length > 0, c = node that follows
    OP_BYTES        # a = index into `sets`
    OP_TRIE         # a = node of the literal tries (`trie_*`)
    OP_DFA          # a = state of the explicit automata (`dfa_*`)
    OP_CONCAT       # a, b = first and rest; first is never a CONCAT or LITERAL
    OP_UNION        # a = offset in `lists`, b = length; sorted, distinct
    OP_AND          # the same
    OP_NOT          # a = operand
    OP_REPEAT       # a = operand, b = min, c = max (-1: unbounded)
    OP_MULTIPLES    # a = index into `multiples` * 64 + phase; b, c = low and high half of the value
    OP_ARRANGEMENT  # a = index into `arrangements` * 2 + 1 behind a part; b = index into `part_sets`

cdef struct Node:
    uint8_t op
    uint8_t nullable    # 1: the empty string is in the language
    uint8_t boolean     # 1: an AND or NOT is inside, so emptiness needs a search
    uint8_t live        # LIVE_*
    int32_t a
    int32_t b
    int32_t c
    int32_t classes     # id of the byte-class map; -1 until asked for
    int32_t follow      # OP_LITERAL: node after its first byte; -1 until asked for
    int32_t* targets    # derivative per byte class, CODE_UNKNOWN until computed; NULL until asked for

cdef class NodePool:
    cdef vector[Node] nodes
    cdef vector[uint64_t] slots         # open addressing: low half of the hash, then 1 + node id; 0 free
    cdef vector[uint8_t] pool           # bytes of the literals
    cdef unordered_map[string, int32_t] pool_offsets
    cdef vector[int32_t] lists          # children of UNION and AND
    cdef vector[uint64_t] sets          # byte sets, 4 words each
    cdef unordered_map[string, int32_t] set_ids
    cdef vector[int32_t] trie_first     # first child of a literal-trie node
    cdef vector[int32_t] trie_count     # number of children
    cdef vector[uint8_t] trie_byte      # byte that leads to the node
    cdef vector[uint8_t] trie_end       # 1: a literal ends here
    cdef vector[int32_t] dfa_row        # offset into dfa_ranges
    cdef vector[int32_t] dfa_count      # number of ranges
    cdef vector[uint8_t] dfa_end        # 1: accepting
    cdef vector[int32_t] dfa_ranges     # triples low, high, target (-1: dead)
    cdef vector[Multiples] multiples
    cdef dict multiples_memo            # arguments of `lexeme.multiples` -> index into `multiples`
    cdef vector[Arrangement] arrangements
    cdef unordered_map[string, int32_t] arrangement_ids
    cdef vector[vector[uint64_t]] part_sets     # bit sets; 0 is the empty one
    cdef unordered_map[string, int32_t] part_set_ids
    cdef uint64_t[4] alphabet           # bytes that the vocabulary can spell
    cdef vector[int32_t] alphabet_bytes
    cdef int32_t max_nodes
    cdef dict trie_memo
    cdef int32_t intern(self, Lexeme lexeme, int depth=*) except -4
    cdef int32_t make(self, uint8_t op, int32_t a, int32_t b, int32_t c) noexcept nogil
    cdef int32_t make_list(self, uint8_t op, vector[int32_t]& kids) noexcept nogil
    cdef int32_t concat(self, int32_t first, int32_t rest) noexcept nogil
    cdef int32_t union_of(self, vector[int32_t]& kids) noexcept nogil
    cdef void absorb(self, vector[int32_t]& parts) noexcept nogil
    cdef int32_t and_of(self, vector[int32_t]& kids) noexcept nogil
    cdef bint has_opposites(self, vector[int32_t]& kids) noexcept nogil
    cdef int32_t not_of(self, int32_t part) noexcept nogil
    cdef int32_t repeat(self, int32_t part, int32_t low, int32_t high) noexcept nogil
    cdef int32_t byte_set(self, uint64_t* words) noexcept nogil
    cdef int32_t literal(self, bytes text)
    cdef int32_t literal_before(self, const uint8_t* text, size_t length, int32_t rest) noexcept nogil
    cdef int32_t literal_trie(self, tuple texts)
    cdef int32_t explicit_automaton(self, tuple rows, tuple accepting)
    cdef int32_t multiples_start(self, tuple args)
    cdef int32_t multiples_leaf(self, int32_t which, int32_t phase, int64_t value) noexcept nogil
    cdef int32_t arrangement_start(self, tuple args) except -4
    cdef int32_t trie_leaf(self, int32_t trie_node) noexcept nogil
    cdef int32_t dfa_leaf(self, int32_t dfa_state) noexcept nogil
    cdef bint _spellable(self, bytes text)
    cdef bint _spells_digits(self, bint point) noexcept nogil
    cdef int32_t _new_trie_node(self, uint8_t byte)
    cdef set _live_states(self, tuple rows, tuple accepting)
    cdef bint _overlaps_alphabet(self, int low, int high)
    cdef uint64_t hash_node(self, uint8_t op, int32_t a, int32_t b, int32_t c) noexcept nogil
    cdef bint same_node(self, int32_t node, uint8_t op, int32_t a, int32_t b, int32_t c) noexcept nogil
    cdef bint is_plainly_live(self, uint8_t op, int32_t a, int32_t b, int32_t c) noexcept nogil
    cdef void grow_slots(self) noexcept nogil


cdef inline int64_t multiple_value(int32_t low, int32_t high) noexcept nogil:
    """The value of an OP_MULTIPLES node out of its two halves."""
    return (<int64_t>high << 32) | <uint32_t>low
