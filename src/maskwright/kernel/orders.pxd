# Data dictionary of orders. See orders.pyx.
from libc.stdint cimport int32_t, uint8_t
from libcpp.vector cimport vector

from .lexemes cimport LexemeTable

cdef int32_t all_orders(LexemeTable table, const vector[uint8_t]& text) noexcept nogil
