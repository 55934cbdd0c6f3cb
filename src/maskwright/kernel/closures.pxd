# Data dictionary of the closures. See closures.pyx.
from libc.stdint cimport int32_t, uint8_t, uint64_t
from libcpp.deque cimport deque
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from .clipping cimport Clipper
from .distances cimport UNBOUNDED, Distances
from .lexemes cimport LexemeTable
from .nodes cimport Node
from .raising cimport Raiser

# Bytes that lead from a state to states from which all of them lead on, none of which may end.
cdef struct Closure:
    uint64_t[2] ascii           # single bytes
    uint64_t groups             # groups of bytes that all are in it
    uint64_t wide               # groups of characters of several bytes
    int32_t bound               # it holds for strings that can end within so many bytes
    int32_t margin              # bytes that suffice to end from any of the states; UNBOUNDED if not known
    uint8_t loose               # 1: each of the states can be drawn out (see draws_out)
    int32_t drop                # the most that raised bounds drop by in and after it (raising.pyx)

cdef class ClosureTable:
    cdef LexemeTable table
    cdef Distances distances
    cdef Clipper clipper
    cdef readonly Raiser raiser
    cdef deque[Closure] closures
    cdef vector[int32_t] closure_at     # per lexeme state: 1 + index; -tokens that asked for it so far
    cdef Closure* if_due(self, int32_t lex, int32_t n_tokens) noexcept nogil
    cdef Closure* of(self, int32_t lex) noexcept nogil
    cdef Closure* keep(self, int32_t lex, Closure* closure) noexcept nogil
    cdef bint of_bounded(self, int32_t lex, Closure* closure) noexcept nogil
    cdef bint of_next(self, int32_t lex, Closure* closure) noexcept nogil
    cdef bint of_union(self, int32_t lex, Closure* closure) noexcept nogil
    cdef bint holds_more(self, int32_t union_, int32_t part, Closure* closure) noexcept nogil
    cdef bint others_wait(self, Node node, int32_t except_, Closure* closure) noexcept nogil
    cdef bint waits(self, int32_t lex, Closure* closure, int depth) noexcept nogil
    cdef int alive_ascii(self, int32_t lex, Closure* closure) noexcept nogil
    cdef bint loops(self, int32_t lex, Closure* closure) noexcept nogil
    cdef uint64_t home_groups(self, int32_t lex) noexcept nogil
    cdef bint contains(self, int32_t large, int32_t small, int depth) noexcept nogil
    cdef bint of_inner_union(self, int32_t lex, Closure* closure) noexcept nogil
    cdef bint absorbs(self, int32_t large, int32_t small) noexcept nogil
    cdef bint dead_bytes(self, int32_t lex, Closure* closure, uint64_t* living, uint64_t* dead) noexcept nogil
    cdef bint has_loop(self, int32_t lex, Closure* closure) noexcept nogil
    cdef bint explore(self, int32_t lex, Closure* closure, vector[int32_t]& inside) noexcept nogil
    cdef bint takes_most(self, int32_t lex, Closure* closure) noexcept nogil
    cdef uint64_t characters_lead_on(self, int32_t lex, uint64_t groups, vector[int32_t]& targets) noexcept nogil
    cdef bint rest_leads_on(self, int32_t lex, int lead, vector[int32_t]& targets) noexcept nogil
