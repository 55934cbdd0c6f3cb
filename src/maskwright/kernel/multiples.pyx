# Multiples of large numbers: which digits may follow, by arithmetic.
#
# What it does. An automaton for multiples of m has a state per residue, which is hopeless for m = 123456789 if it
# is written down, and no matter if it is not: a state is what is known of the digits read, and states are made
# when they are visited. What automata do by search, "can this prefix still become a multiple?", is arithmetic
# here: appended digits reach every number of an interval, so the question is whether a multiple lies in it.
#
# A state is the value read so far while it is below a bound or may still meet an excluded value; beyond
# that it is a number of the same residue, so that a number without bounds has finitely many states.
#
# Multiples, numbers that are *not* multiples, bounds and excluded values are one leaf, because the
# intersection of several leaves would have to be searched.

# Candidates that one question may look at. Only excluded values and unwanted multiples make more than one necessary.
cdef int32_t MAX_TRIES = 20_000


cdef bint is_among(const Multiples* what, int64_t value) noexcept nogil:
    """Whether a multiple of `wanted` is none of what must not be."""
    cdef size_t i
    for i in range(what.unwanted.size()):
        if value % what.unwanted[i] == 0:
            return False
    for i in range(what.excluded.size()):
        if value == what.excluded[i]:
            return False
    return True


cdef int holds_any(const Multiples* what, int64_t low, int64_t high) noexcept nogil:
    """1 if a value of these is in an interval, 0 if none, -1 if that takes too long to tell."""
    cdef int64_t value
    cdef int32_t tries
    low = max(low, what.low)
    if what.high >= 0:
        high = min(high, what.high)
    value = low + (what.wanted - low % what.wanted) % what.wanted
    for tries in range(MAX_TRIES):
        if value > high:
            return 0
        if is_among(what, value):
            return 1
        value += what.wanted
    return -1


cdef bint has_ended(const Multiples* what, int32_t phase, int64_t value) noexcept nogil:
    """Whether the text may end here."""
    if phase == PHASE_START or phase == PHASE_POINT:
        return False
    if value < what.low or (what.high >= 0 and value > what.high):
        return False
    return value % what.wanted == 0 and is_among(what, value)


cdef bint step_multiple(
    const Multiples* what, int32_t* phase, int64_t* value, uint8_t byte
) noexcept nogil:
    """Read a byte. False if no number is written so, or it is beyond the bound already."""
    cdef int64_t digit = <int64_t>byte - 48
    cdef int32_t n_decimals
    if byte == 46:
        if not what.point or (phase[0] != PHASE_ZERO and phase[0] != PHASE_DIGITS):
            return False
        phase[0] = PHASE_POINT
        return True
    if digit < 0 or digit > 9 or phase[0] == PHASE_ZERO:
        return False
    if phase[0] == PHASE_START:
        phase[0] = PHASE_DIGITS if digit else PHASE_ZERO
        value[0] = digit * what.unit
    elif phase[0] == PHASE_DIGITS:
        value[0] = value[0] * 10 + digit * what.unit
        if what.high < 0 and value[0] >= what.base:
            value[0] = what.base + (value[0] - what.base) % what.modulus
    else:
        n_decimals = phase[0] - PHASE_POINT
        if n_decimals < what.decimals:
            phase[0] += 1
            while n_decimals + 1 < what.decimals:
                digit *= 10
                n_decimals += 1
            value[0] += digit
        else:
            # Beyond the decimals that count there are zeros only; the first is one decimal at least.
            phase[0] = PHASE_POINT + max(what.decimals, 1)
            if digit:
                return False
    return what.high < 0 or value[0] <= what.high


cdef int can_end(const Multiples* what, int32_t phase, int64_t value) noexcept nogil:
    """1 if some digits, or none, make the text whole; 0 if none do; -1 if that takes too long to tell."""
    cdef int64_t width = what.unit if what.point else 1
    cdef int32_t i
    cdef int found
    if phase == PHASE_START:
        return holds_any(what, what.low, what.high if what.high >= 0 else what.base + what.modulus)
    if phase == PHASE_DIGITS:
        if what.high < 0:
            return 1  # further digits reach every residue
        while value <= what.high:
            found = holds_any(what, value, value + width - 1)
            if found:
                return found
            value *= 10
            width *= 10
        return 0
    if phase > PHASE_ZERO:
        for i in range(min(phase - PHASE_POINT, what.decimals)):
            width //= 10
    return holds_any(what, value, value + width - 1)
