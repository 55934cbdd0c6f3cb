# Data dictionary of multiples. See multiples.pyx.
from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.vector cimport vector

# Values are counted in units of 10**-decimals. None is beyond 2 * 10**17, so that ten times one fits 64 bits.
cdef struct Multiples:
    int64_t wanted              # the value is a multiple of it
    vector[int64_t] unwanted    # ... and of none of these
    vector[int64_t] excluded    # ... and none of these; ascending
    int64_t low                 # least value, not negative
    int64_t high                # greatest value, or -1 if there is none
    int64_t modulus             # common multiple of `wanted` and `unwanted`
    int64_t base                # without `high`: from here on residues by `modulus` decide
    int64_t unit                # 10**decimals
    int32_t decimals
    uint8_t point               # 1: decimals may be written

# How far a text has got.
cdef enum:
    PHASE_START = 0
    PHASE_ZERO = 1      # a leading zero: only a point may follow
    PHASE_DIGITS = 2
    PHASE_POINT = 3     # plus the number of decimals read, as far as they count

cdef bint has_ended(const Multiples* what, int32_t phase, int64_t value) noexcept nogil
cdef bint step_multiple(
    const Multiples* what, int32_t* phase, int64_t* value, uint8_t byte
) noexcept nogil
cdef int can_end(const Multiples* what, int32_t phase, int64_t value) noexcept nogil
