# Data dictionary of the automaton. See automaton.pyx.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libcpp.deque cimport deque
from libcpp.map cimport map
from libcpp.string cimport string
from libcpp.unordered_map cimport unordered_map
from libcpp.unordered_set cimport unordered_set
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from .alphabets cimport Selected
from .lexemes cimport LexemeTable
from .network cimport Network

# Return addresses (`Item.ret`): who is told when a rule instance ends.
#   RET_ROOT        the whole grammar
#   > 0             an entry of `ret_states`: (state that predicted the rule, which prediction)
#   <= RET_SELF     prediction number RET_SELF - ret of the state that is being built or holds the item
cdef enum:
    RET_ROOT = 0
    RET_SELF = -1
    EDGE_DONE = -2147483647     # kernel item: the root is complete

# A position inside a lexeme edge. In a kernel also "at a node": edge = -1 - node, lex = 0.
cdef struct Item:
    int32_t edge
    int32_t lex         # lexeme node still to match; -1 on a token edge
    int32_t ret
    int32_t reg

# A rule instance that waits for a rule it called.
cdef struct Wait:
    int32_t pred        # which prediction of the state it waits for
    int32_t edge        # the call edge
    int32_t ret
    int32_t reg

cdef struct Mask:
    uint32_t* base      # words to start from; NULL for none
    bint owns_base
    int32_t n_extra
    int32_t* extra      # token ids to add
    int32_t n_removed
    int32_t* removed    # token ids to take away from `base`, before `extra` is added
    int64_t n_legal     # at least the number of legal tokens

# What can be read over and over inside a string whose bound is far away: as long as no token can reach the bound, the
# states of all its counts have one mask, so a matcher need not visit them (see stepping.pyx).
cdef struct Coast:
    Selected* selected  # tokens of characters each of which is one repetition
    int32_t slack       # repetitions after which the mask may be another one

cdef struct State:
    # Read without a lock once published: never changes, or is set once (targets, mask, coast).
    const uint8_t* classes      # byte -> class
    State** targets             # per class, each NULL until stepped; shared and empty before the first step
    Mask* mask                  # NULL until asked for; several states may share one
    Coast* coast                # NULL if there is none, or the mask has not been asked for
    uint8_t accepting           # the whole output may end here
    uint8_t has_tokens          # some item is on a token edge
    uint8_t live                # with tokens: 0 unknown, 1 yes, 2 no (see masks.pyx)
    int32_t n_classes
    int32_t need                # tokens that suffice to finish, plus 1 (see completion.pyx); 0 until asked for
    int32_t loose_at            # tokens that suffice after any legal token, plus 1 (see budget.pyx); 0 until asked for
    # Read under the lock only.
    int32_t item_off
    int32_t n_items
    int32_t kernel_off
    int32_t n_kernel
    int32_t wait_off
    int32_t n_waits
    int32_t ret_base            # first of this state's entries in `ret_states`
    int32_t n_preds
    uint64_t hash

cdef inline int32_t resolved(const State* state, int32_t ret) noexcept nogil:
    """A return address of `state` as others must write it."""
    return ret if ret >= 0 else state.ret_base + (RET_SELF - ret)

cdef struct Visit:
    int32_t node
    int32_t ret
    int32_t reg

cdef class Automaton:
    cdef readonly Network network
    cdef LexemeTable table
    cdef State* dead
    cdef State* start                   # NULL until closed
    cdef object budgets                 # Budgets of its states; None until asked for
    cdef vector[State*] chunks
    cdef int32_t chunk_used
    cdef readonly long long n_states
    cdef vector[State*] slots           # open addressing over kernels
    cdef vector[Item] items
    cdef vector[Item] kernels
    cdef vector[Wait] waits
    cdef vector[State*] ret_states
    cdef vector[Mask*] masks
    cdef deque[Coast] coasts
    cdef unordered_map[string, Mask*] shared_masks  # by what they depend on (see masks.pyx)
    cdef map[pair[pair[uint64_t, uint64_t], pair[uint64_t, uint64_t]], int32_t] apart   # see `classes_apart`
    cdef size_t bytes_used
    cdef size_t max_bytes
    cdef int32_t pending_rule           # which rule CODE_EXPAND is about
    cdef int error                      # CODE_* of the last failed slow step
    cdef int64_t n_visits               # positions that closures have been asked to visit so far
    # Scratch of one slow step.
    cdef vector[Item] kernel
    cdef vector[Item] new_items
    cdef vector[Wait] new_waits
    cdef vector[int32_t] preds          # rule ids predicted here
    cdef vector[uint8_t] pred_done      # 1: that rule also matches the empty text here
    cdef vector[Visit] work
    cdef vector[Visit] visited
    cdef vector[int32_t] visit_slots    # open addressing over `visited` once it is long: 1 + index; 0 free
    cdef vector[int32_t] returned       # return addresses handled in this step
    cdef unordered_set[int32_t] returned_keys
    cdef vector[int32_t] ending
    cdef uint8_t new_accepting

    cdef State* step(self, State* state, uint8_t byte) noexcept nogil
    cdef State* slow_step(self, State* state, uint8_t byte) noexcept nogil
    cdef void give_row(self, State* state) noexcept nogil
    cdef State* step_token(self, State* state, int32_t token, State* as_text) noexcept nogil
    cdef State* start_state(self) noexcept nogil
    cdef int32_t register_after(self, Item* item) noexcept nogil
    cdef State* coasted(self, State* state, int32_t count) noexcept nogil
    cdef State* continuation(self, State* state, Item* item, bint any_text) noexcept nogil
    cdef State* intern_kernel(self) noexcept nogil
    cdef State* close(self, uint64_t hash) noexcept nogil
    cdef bint close_items(self) noexcept nogil
    cdef bint follow_edges(self, Visit at) noexcept nogil
    cdef void finish_rule(self, int32_t ret) noexcept nogil
    cdef int32_t classes_of_items(self) noexcept nogil
    cdef int32_t classes_apart(self, const uint64_t* members) noexcept nogil
    cdef bint is_visited(self, const Visit& at) noexcept nogil
    cdef size_t visit_slot(self, const Visit& at) noexcept nogil
    cdef void visit(self, int32_t node, int32_t ret, int32_t reg) noexcept nogil
    cdef void push_node(self, int32_t node, int32_t ret, int32_t reg) noexcept nogil
    cdef void push_return(self, int32_t ret) noexcept nogil
    cdef bint has_returned(self, int32_t ret) noexcept nogil
    cdef State* new_state(self) noexcept nogil
    cdef void grow(self) noexcept nogil
