# Data dictionary of arrangements. See arrangements.pyx.
from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector

# `lexeme.arrangement`. Parts that can end nowhere are left out.
cdef struct Arrangement:
    vector[int32_t] parts   # lexeme nodes: first the required ones, then the others
    int32_t n_required
    int32_t separator       # lexeme node
    int32_t close           # lexeme node
    int32_t low             # least number of parts, at least 1
    int32_t high            # greatest number; no more than there are parts

# What a set of parts amounts to.
cdef struct Tally:
    int32_t n_there
    int32_t n_missing       # required ones that are not there
    int32_t n_more          # how many more there must be at least

cdef bint has_part(const vector[uint64_t]& there, int32_t part) noexcept nogil
cdef Tally tally_of(const Arrangement* what, const vector[uint64_t]& there, bint is_behind) noexcept nogil
cdef bint may_add(const Arrangement* what, Tally tally, int32_t part) noexcept nogil
cdef bint may_close(Tally tally) noexcept nogil
