# Data dictionary of compiled grammars. See compiled.pyx.
from libc.stdint cimport int32_t, int64_t

from .automaton cimport Automaton
from .lexemes cimport LexemeTable
from .masks cimport MaskBuilder
from .network cimport Network
from .shortest cimport Shortest
from .trie cimport TokenTrie

# A grammar made ready for a vocabulary. Shared by all its matchers, on all threads.
cdef class CompiledCore:
    cdef readonly TokenTrie vocabulary
    cdef readonly LexemeTable table
    cdef readonly MaskBuilder masks
    cdef readonly Network network
    cdef readonly Automaton automaton   # current generation
    cdef Shortest shortest
    cdef size_t max_bytes
    cdef bint check_live                # legal tokens need a completion in tokens, not just in bytes
    cdef object seen_tensor             # last torch tensor whose layout was checked
    cdef int32_t seen_rows
    cdef int32_t seen_words

    cdef int64_t nodes_left             # lexeme nodes that this grammar may still make
    cdef int64_t n_prepared             # rules, by number, that `prepare` has seen to
    cdef size_t nodes_at_entry

    cdef int _expand_light(self) except -1
    cdef void enter(self) noexcept nogil
    cdef void leave(self) noexcept nogil
    cdef int resolve(self, Automaton automaton, int error, int32_t pending) except -1
    cdef tuple _checked_layout(self, Py_buffer* view)
    cdef int32_t* row(self, bitmask, int32_t index, int32_t* n_words) except NULL
