# The loop that writes minus infinity over the logits of tokens that are not allowed.
#
# Layout. `logits` is n rows of `width` elements of 2, 4 or 8 bytes; the elements of a row are
# contiguous, rows are `logits_stride` elements apart. `bitmask` has one row of int32 words per row of
# logits, `mask_stride` words apart: bit (t & 31) of word (t >> 5) is 1 iff token t is allowed.
# Elements from `limit` on (limit <= width, limit <= 32 * words of a row) are always masked.

from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t

ctypedef fused element_t:
    uint16_t  # float16, bfloat16
    uint32_t  # float32
    uint64_t  # float64

cdef void mask_row(
    element_t* logits, const uint32_t* words, int64_t limit, int64_t width, element_t minus_infinity
) noexcept nogil
