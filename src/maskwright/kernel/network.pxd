# Data dictionary of the network. See network.pyx.
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libcpp.string cimport string
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from .lexemes cimport LexemeTable
from .lowering cimport Fragment, LocalEdge

cdef enum EdgeKind:
    EDGE_EPSILON = 0    # zero-width; `action` and a, b, c test and update the register
    EDGE_LEXEME = 1     # label = lexeme node
    EDGE_CALL = 2       # label = rule id; `tail` = 1: nothing follows in the calling rule
    EDGE_TOKENS = 3     # label = index into `token_sets`
    EDGE_DEAD = 4       # pruned: nothing can end from its target
    # label = lexeme node; a = slot whose remembered texts it must not repeat; b = 1: in any order; c = 1: must repeat
    EDGE_FRESH = 5

cdef struct NetNode:
    int32_t first       # first outgoing edge
    int32_t count       # number of outgoing edges
    uint8_t final       # 1: the rule may end here
    uint8_t last        # 1: final, and no edge leaves

cdef struct NetEdge:
    int32_t kind
    int32_t label
    int32_t target      # node
    int32_t action      # rules.Action, 0 for none
    int32_t a
    int32_t b
    int32_t c
    uint8_t tail

# Value of a register that is more than one counter.
cdef struct RegisterValue:
    vector[int32_t] counters
    vector[uint64_t] members    # bit set
    vector[int32_t] texts       # per slot: what was remembered, an index into `text_sets`; 0 for nothing
    int32_t pending             # text matched so far by the open Fresh, an index into `texts`; 0 for none

# A text, as its last byte and the text before it. 0 is the empty text.
cdef struct Text:
    int32_t before
    uint8_t byte

# Remembered texts, as the last one and those before. 0 is the empty set.
cdef struct TextSet:
    int32_t before
    int32_t text
    int32_t lexeme              # union of them, perhaps with the members of objects in any order
    bint is_open                # 1: some texts more may be remembered that are not known

cdef class Network:
    cdef LexemeTable table
    cdef vector[NetNode] nodes
    cdef vector[NetEdge] edges
    cdef vector[int32_t] rule_start     # start node of a rule; -1 while it is not expanded
    cdef vector[vector[int32_t]] token_sets
    cdef vector[RegisterValue] registers
    cdef unordered_map[string, int32_t] register_ids
    cdef vector[Text] texts
    cdef unordered_map[uint64_t, int32_t] text_ids
    cdef vector[TextSet] text_sets
    cdef unordered_map[uint64_t, int32_t] text_set_ids
    cdef frozenset refused_token_ids    # ids that no token edge leads through
    cdef readonly list rules            # Rule objects by id
    cdef dict rule_ids                  # id(Rule) -> rule id (the list keeps the objects alive)
    cdef readonly int32_t root          # rule id
    cdef readonly bint fragile          # a state may exist from which nothing can end
    cdef bint has_counts                # some register is used
    cdef bint has_cuts                  # something was left out that this vocabulary cannot spell
    cdef readonly bint may_skip_fresh   # a Fresh edge may match the empty text
    cdef bint has_guards                # an Act was installed without that promise
    cdef readonly bint guards_checked   # no Act can fail on every way on

    cdef int32_t rule_id(self, rule)
    cdef int install(self, int32_t rule, Fragment fragment) except -1
    cdef int _install_edge(self, Fragment fragment, LocalEdge* local, int32_t base, bint may_fail) except -1
    cdef int32_t _joined(self, label) except -4
    cdef bint _can_match(self, int32_t lexeme) except -1
    cdef int32_t _token_set(self, tuple ids)
    cdef int32_t apply(self, int32_t register, NetEdge* edge) noexcept nogil
    cdef int32_t apply_to_value(self, int32_t register, NetEdge* edge) noexcept nogil
    cdef RegisterValue value_of(self, int32_t register) noexcept nogil
    cdef int32_t fresh_lexeme(self, int32_t register, NetEdge* edge) noexcept nogil
    cdef int32_t extend_text(self, int32_t register, uint8_t byte) noexcept nogil
    cdef int32_t remember(self, int32_t register, NetEdge* edge) noexcept nogil
    cdef int32_t remember_any(self, int32_t register, NetEdge* edge) noexcept nogil
    cdef int32_t lexeme_of(self, int32_t text, bint any_order) noexcept nogil
    cdef int32_t intern_register(self, RegisterValue& value) noexcept nogil
