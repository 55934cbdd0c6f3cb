# Data dictionary of the mask builder. See masks.pyx.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libcpp.set cimport set
from libcpp.string cimport string
from libcpp.unordered_set cimport unordered_set
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from .automaton cimport Automaton, Item, Mask, State
from .lexemes cimport LexemeTable
from .residuals cimport ResidualTable
from .summaries cimport ExitGroup, Summary, SummaryTable
from .trie cimport TokenTrie

# How sure it is that a token is legal, part of which is matched. Where a Fresh edge ends inside a token, the text that
# it has to remember depends on the token's beginning, which merged exits do not know.
cdef enum:
    SURE
    OPEN                # a Fresh edge has ended: sure as long as nothing depends on what it remembers
    DOUBTFUL            # it does: to be checked by walking the token

# Part of a token is matched up to a node of a trie of exits; an automaton state says how it may go on.
cdef struct Task:
    State* state
    ExitGroup* group    # what of the tokens counts; its trie is walked
    int32_t node
    int doubt

# A node of a trie of exits, and the lexeme state after its bytes.
cdef struct Spot:
    int32_t node
    int32_t lex

cdef class MaskBuilder:
    cdef readonly TokenTrie vocabulary
    cdef LexemeTable table
    cdef readonly SummaryTable summaries
    cdef readonly ResidualTable residuals
    cdef int32_t n_words
    # Scratch of one mask.
    cdef vector[int32_t] tokens         # ids found so far; may repeat
    cdef vector[Summary*] wide          # summaries that are bitmasks
    cdef vector[int32_t] removed
    cdef vector[int32_t] doubtful       # ids to check by walking them
    cdef int64_t n_wide                 # tokens in the base, counted once per item
    cdef vector[Task] tasks
    cdef vector[Task] seen_tasks        # all that there have been
    cdef set[pair[pair[size_t, size_t], size_t]] seen_keys  # theirs, once they are many: (state, group), node and doubt
    cdef vector[Spot] spots

    cdef Mask* mask_of(self, Automaton automaton, State* state) noexcept nogil
    cdef void note_coast(self, Automaton automaton, State* state) noexcept nogil
    cdef bint may_share(self, Automaton automaton, State* state, string& key) noexcept nogil
    cdef Mask* build(self, Automaton automaton, State* state) noexcept nogil
    cdef bint collect(self, Automaton automaton, State* state, uint32_t** base) noexcept nogil
    cdef bint run_tasks(self, Automaton automaton) noexcept nogil
    cdef bint walk_item(self, Automaton automaton, Task* task, int32_t which) noexcept nogil
    cdef bint is_seen(self, const Task* task) noexcept nogil
    cdef int doubt_within(self, Automaton automaton, int doubt, Item* item, int32_t lex) noexcept nogil
    cdef int doubt_after(self, Automaton automaton, int doubt, Item* item) noexcept nogil
    cdef void emit(self, Task* task, int32_t node, bint doubtful) noexcept nogil
    cdef void add_task(self, State* state, ExitGroup* group, int32_t node, int doubt) noexcept nogil
    cdef bint check_doubtful(self, Automaton automaton, State* state) noexcept nogil
    cdef int token_live(self, Automaton automaton, State* state) noexcept nogil
    cdef State* walk_token(self, Automaton automaton, State* state, int32_t token) noexcept nogil
    cdef bint drop_dead_ends(self, Automaton automaton, State* state) noexcept nogil

cdef void write_mask(const Mask* mask, uint32_t* row, int32_t n_words) noexcept nogil
