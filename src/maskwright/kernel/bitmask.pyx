"""Apply a token bitmask to logits: one pass, no Python per row.

Minus infinity is a bit pattern, so the loop is written once for each element size and never does
arithmetic on half floats. Masks are mostly runs: words of all ones are skipped, runs of words of
all zeros are one fill, and only mixed words are looked at bit by bit.

The arguments are addresses; `maskwright.bitmask` checks shapes, types and strides before it calls.
Nothing here can detect a wrong address.
"""

from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libcpp.algorithm cimport fill

cdef uint32_t ALL_ALLOWED = <uint32_t>0xFFFFFFFF


cdef void mask_row(
    element_t* logits, const uint32_t* words, int64_t limit, int64_t width, element_t minus_infinity
) noexcept nogil:
    """Mask one row. Invariant: elements before 32 * i are done, i <= n_words <= words of the row."""
    cdef int64_t n_words = limit >> 5
    cdef int64_t i = 0
    cdef int64_t run
    cdef int bit
    cdef int tail_bits = <int>(limit & 31)
    cdef uint32_t word
    cdef element_t keep
    cdef element_t* here
    while i < n_words:
        word = words[i]
        if word == ALL_ALLOWED:
            i += 1
        elif word == 0:
            run = i + 1
            while run < n_words and words[run] == 0:
                run += 1
            fill(logits + 32 * i, logits + 32 * run, minus_infinity)
            i = run
        else:
            here = logits + 32 * i
            # A select in arithmetic: with a branch per bit, a mask of random bits took 37 times as long.
            for bit in range(32):
                keep = <element_t>0 - <element_t>((word >> bit) & 1)
                here[bit] = <element_t>((here[bit] & keep) | (minus_infinity & ~keep))
            i += 1
    if tail_bits:
        word = words[n_words]
        here = logits + 32 * n_words
        for bit in range(tail_bits):
            if not (word >> bit) & 1:
                here[bit] = minus_infinity
    fill(logits + limit, logits + width, minus_infinity)


cdef void mask_rows(
    element_t* logits,
    int64_t logits_stride,
    const uint32_t* words,
    int64_t mask_stride,
    const int64_t* rows,
    int64_t n_rows,
    int64_t limit,
    int64_t width,
    element_t minus_infinity,
) noexcept nogil:
    """Mask the rows listed in `rows`, or rows 0 to n_rows - 1 if it is NULL."""
    cdef int64_t i, row
    for i in range(n_rows):
        row = i if rows == NULL else rows[i]
        mask_row[element_t](
            logits + row * logits_stride, words + row * mask_stride, limit, width, minus_infinity
        )


def apply_bitmask(
    uintptr_t logits,
    int element_size,
    uint64_t minus_infinity,
    int64_t logits_stride,
    uintptr_t bitmask,
    int64_t mask_stride,
    const int64_t[::1] rows,
    int64_t n_rows,
    int64_t limit,
    int64_t width,
):
    """Mask rows of logits in place, without the GIL.

    Args:
        logits: Address of the first element.
        element_size: Bytes per element: 2, 4 or 8.
        minus_infinity: The bit pattern to write.
        logits_stride: Elements from one row to the next.
        bitmask: Address of the first word.
        mask_stride: Words from one row to the next.
        rows: Rows to mask, each in range of both arrays, or None for the first `n_rows`.
        n_rows: Number of rows to mask.
        limit: Elements governed by the bitmask; those from here to `width` are masked.
        width: Elements per row.
    """
    if element_size not in (2, 4, 8):
        raise ValueError(f"elements of {element_size} bytes are not supported")
    cdef const int64_t* listed = NULL
    cdef const uint32_t* words = <const uint32_t*>bitmask
    if n_rows == 0 or width == 0:
        return
    if rows is not None:
        listed = &rows[0]
    with nogil:
        if element_size == 2:
            mask_rows[uint16_t](
                <uint16_t*>logits, logits_stride, words, mask_stride, listed, n_rows, limit, width,
                <uint16_t>minus_infinity,
            )
        elif element_size == 4:
            mask_rows[uint32_t](
                <uint32_t*>logits, logits_stride, words, mask_stride, listed, n_rows, limit, width,
                <uint32_t>minus_infinity,
            )
        else:
            mask_rows[uint64_t](
                <uint64_t*>logits, logits_stride, words, mask_stride, listed, n_rows, limit, width,
                minus_infinity,
            )
