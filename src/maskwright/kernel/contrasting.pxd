# Data dictionary of the side-by-side walk. See contrasting.pyx.
from libc.stdint cimport int32_t, uint8_t
from libcpp.vector cimport vector

from .families cimport FamilyTable
from .requiring cimport Requirements

cdef class ContrastTable(FamilyTable):
    cdef Requirements requirements
    cdef bint lacks_letters(self, int32_t lex, int32_t keep) noexcept nogil
    cdef bint losses(self, int32_t lex, int32_t keep, vector[int32_t]& gone) noexcept nogil
