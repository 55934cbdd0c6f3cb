# Data dictionary of the completions. See completion.pyx.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libcpp.map cimport map
from libcpp.unordered_map cimport unordered_map
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from .automaton cimport Automaton, Item, State
from .lexemes cimport LexemeTable
from .network cimport Network
from .shortest cimport Shortest
from .trie cimport TokenTrie

cdef enum:
    # No number of tokens completes the output, or none was found.
    NEVER = 1 << 30

# Who goes on when a rule ends: in a completion that was planned, one place; after what the automaton has read,
# any of the callers that wait at a return address.
cdef struct Frame:
    int32_t ret         # return address of the automaton; -1: the place below
    int32_t node
    int32_t register
    int32_t up          # frame of that place

# A piece of a completion: some text, and the pieces that may follow.
cdef struct Cell:
    int32_t node        # -1: the cell of an item
    int32_t register
    int32_t frame
    uint8_t kind        # CELL_*
    uint8_t stage       # STAGE_*
    int32_t text        # offset in `pool`
    int32_t length      # of the text
    int32_t next        # offset in `nexts`
    int32_t n_next
    int32_t least       # offset in `leasts`: for each position in the text the fewest tokens to the end
    int64_t n_bytes     # fewest bytes to the end; MW_FAR if none, or if a token by id is on the way

# A shortest string of a lexeme state, or its beginning.
cdef struct Chunk:
    int32_t text        # offset in `pool`
    int32_t length      # -1: none was found
    int32_t state       # lexeme state after it

cdef class Completions:
    cdef TokenTrie vocabulary
    cdef LexemeTable table
    cdef Network network
    cdef Shortest shortest
    cdef vector[Frame] frames
    cdef map[pair[uint64_t, uint64_t], int32_t] frame_ids
    cdef vector[Cell] cells
    cdef map[pair[uint64_t, uint64_t], int32_t] cell_ids        # by node, register and frame
    cdef map[pair[uint64_t, uint64_t], int32_t] item_ids        # by edge, lexeme state, frame and register
    cdef vector[uint8_t] pool
    cdef unordered_map[int32_t, Chunk] chunks                   # by lexeme state
    cdef vector[int32_t] nexts
    cdef vector[int32_t] leasts
    cdef vector[int32_t] work                                   # scratch of one evaluation
    cdef vector[int32_t] evaluated
    cdef bint cyclic

    cdef int32_t frame_of(self, int32_t ret, int32_t node, int32_t register, int32_t up) noexcept nogil
    cdef int32_t cell_at(self, int32_t node, int32_t register, int32_t frame) noexcept nogil
    cdef int32_t cell_of(self, State* state, Item* item) noexcept nogil
    cdef int32_t cell_inside(self, int32_t edge, int32_t lex, int32_t frame, int32_t register) noexcept nogil
    cdef int32_t new_cell(self, int32_t node, int32_t register, int32_t frame) noexcept nogil
    cdef void add_next(self, int32_t cell, int32_t following) noexcept nogil
    cdef Chunk chunk_of(self, int32_t lex) noexcept nogil
    cdef int build(self, Automaton automaton, int32_t cell) noexcept nogil
    cdef int evaluate(self, Automaton automaton, int32_t cell) noexcept nogil
    cdef bint compute(self, int32_t cell) noexcept nogil
    cdef int32_t fewest_from(self, int32_t cell, int32_t place) noexcept nogil
    cdef int32_t need(self, Automaton automaton, State* state) noexcept nogil
    cdef int32_t cheapest(self, Automaton automaton, State* state) noexcept nogil
    cdef void forget(self) noexcept nogil
