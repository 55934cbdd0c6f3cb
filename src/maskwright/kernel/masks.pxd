# Data dictionary of the mask builder. See masks.pyx.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libcpp.deque cimport deque
from libcpp.unordered_set cimport unordered_set
from libcpp.vector cimport vector

from .automaton cimport Automaton, Mask, State
from .lexemes cimport LexemeTable
from .trie cimport TokenTrie, Trie

# What one lexeme state says about all tokens, whatever the grammar around it.
cdef struct Summary:
    int32_t n_inner         # tokens that stay inside the lexeme (or end exactly with it)
    int32_t* inner          # their ids; NULL if `bits` is used
    uint32_t* bits          # the same as a bitmask, for wide states
    bint owns_bits          # False: `bits` belongs to another summary
    vector[int32_t] removed # ids in `bits` that are not legal after all
    Trie* exits             # suffixes left over when the lexeme ends inside a token, merged; or NULL
    vector[int32_t] raw_exits   # vocabulary trie nodes below which tokens leave, when not merged
    vector[int32_t] barred      # ids in `exits` that are not legal, sorted

# Somewhere in a trie, in the middle of a lexeme.
cdef struct Place:
    int32_t node
    int32_t lex
    int32_t depth

# Part of a token is matched up to a trie node; an automaton state says how it may go on.
cdef struct Task:
    State* state
    Trie* trie
    int32_t node

cdef class MaskBuilder:
    cdef readonly TokenTrie vocabulary
    cdef LexemeTable table
    cdef vector[Summary*] summaries     # by lexeme node
    cdef deque[Summary] summary_pool    # owns them; a deque, because its elements never move
    cdef deque[Trie] exit_tries
    cdef int32_t n_words
    cdef readonly long long summary_bytes
    # Scratch of one mask.
    cdef vector[int32_t] tokens         # ids found so far; may repeat
    cdef vector[int32_t] removed
    cdef int64_t n_wide                 # tokens in the base, counted once per item
    cdef vector[Task] tasks
    cdef unordered_set[uint64_t] seen_tasks
    cdef vector[Place] places
    cdef vector[Place] exit_places

    cdef Mask* mask_of(self, Automaton automaton, State* state) noexcept nogil
    cdef Mask* build(self, Automaton automaton, State* state) noexcept nogil
    cdef bint collect(self, Automaton automaton, State* state, uint32_t** base, bint* owned) noexcept nogil
    cdef bint run_tasks(self, Automaton automaton) noexcept nogil
    cdef bint walk_item(self, Automaton automaton, Task task, int32_t which) noexcept nogil
    cdef Summary* summary_of(self, int32_t lex) noexcept nogil
    cdef Summary* summarise(self, int32_t lex) noexcept nogil
    cdef void merge_exits(self, Summary* summary) noexcept nogil
    cdef void add_task(self, State* state, Trie* trie, int32_t node) noexcept nogil
    cdef int token_live(self, Automaton automaton, State* state) noexcept nogil
    cdef State* walk_token(self, Automaton automaton, State* state, int32_t token) noexcept nogil
    cdef bint drop_dead_ends(self, Automaton automaton, State* state) noexcept nogil

cdef void write_mask(const Mask* mask, uint32_t* row, int32_t n_words) noexcept nogil
