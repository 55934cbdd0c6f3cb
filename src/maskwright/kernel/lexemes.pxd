# Data dictionary of the lexeme table. See lexemes.pyx for the idea.
from libc.stdint cimport int16_t, int32_t, uint8_t, uint32_t, uint64_t
from libcpp.mutex cimport mutex
from libcpp.string cimport string
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from .arrangements cimport Arrangement
from .bounds cimport BoundedPool
from .nodes cimport Node

ctypedef uint8_t* bytemap

cdef class LexemeTable(BoundedPool):
    cdef mutex lock                     # held by every slow step of every automaton on this table
    cdef vector[bytemap] maps           # byte -> class, 256 entries each, owned
    cdef vector[int32_t] map_sizes      # number of classes
    cdef unordered_map[string, int32_t] map_ids
    cdef unordered_map[uint64_t, int32_t] meets
    cdef vector[int32_t] byte_maps      # map of "this byte | all others", -1 until asked for
    cdef unordered_map[string, int32_t] range_maps  # map of "each of these ranges | all others", by their bounds
    cdef int32_t one_class              # the map with a single class
    cdef int32_t each_byte              # the map with a class for each byte
    cdef size_t target_words            # words in `targets` arrays and in arrangements, for the memory figure
    cdef object __weakref__
    cdef int32_t step(self, int32_t node, uint8_t byte) noexcept nogil
    cdef int32_t derive(self, int32_t node, uint8_t byte, int depth) noexcept nogil
    cdef bint row(self, int32_t node, const uint8_t** classes, int32_t** targets) noexcept nogil
    cdef int32_t compute_derivative(self, int32_t node, uint8_t byte, int depth) noexcept nogil
    cdef int32_t class_map(self, int32_t node, int depth) noexcept nogil
    cdef int32_t meet(self, int32_t left, int32_t right) noexcept nogil
    cdef int32_t intern_map(self, uint8_t* classes) noexcept nogil
    cdef int32_t byte_map(self, uint8_t byte) noexcept nogil
    cdef int32_t range_map(self, int32_t dfa_state) noexcept nogil
    cdef int32_t next_multiple(self, const Node* rec, uint8_t byte) noexcept nogil
    cdef int32_t next_arranged(self, const Node* rec, uint8_t byte, int depth) noexcept nogil
    cdef int is_live(self, int32_t node) noexcept nogil
    cdef int32_t arrangement_start(self, tuple args) except -4
    cdef int32_t arrangement(self, Arrangement& what) noexcept nogil
    cdef int32_t with_part(self, int32_t there, int32_t part) noexcept nogil
