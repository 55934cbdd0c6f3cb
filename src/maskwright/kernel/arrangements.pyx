# Arrangements: parts in any order, each at most once, as states that are made when they are visited.
#
# What it does. "These members in any order" is a regular language whose automaton has a state for each subset of the
# members: hopeless for twenty if it is written down, and no matter if it is not. A state is the set of the parts that
# are there, and counting says what may follow, so that no state is ever entered from which the bounds on
# the number of parts cannot be met.
#
# Rejected: a conjunction of "at most once" per part. Each byte takes the derivative of all of them.


cdef bint has_part(const vector[uint64_t]& there, int32_t part) noexcept nogil:
    """Whether a part is in a set; words that are not there are zero."""
    cdef size_t word = <size_t>part >> 6
    return word < there.size() and (there[word] >> (part & 63)) & 1


cdef Tally tally_of(const Arrangement* what, const vector[uint64_t]& there, bint is_behind) noexcept nogil:
    """Count a set's parts, behind one of them or where another must come."""
    cdef Tally tally
    cdef int32_t part
    tally.n_there = 0
    tally.n_missing = what.n_required
    for part in range(<int32_t>what.parts.size()):
        if has_part(there, part):
            tally.n_there += 1
            if part < what.n_required:
                tally.n_missing -= 1
    tally.n_more = max(tally.n_missing, what.low - tally.n_there, 0 if is_behind else 1)
    return tally


cdef bint may_add(const Arrangement* what, Tally tally, int32_t part) noexcept nogil:
    """Whether one more part leaves room for those that are required."""
    return tally.n_there + tally.n_missing + (part >= what.n_required) <= what.high


cdef bint may_close(Tally tally) noexcept nogil:
    """Whether these parts are enough."""
    return tally.n_more == 0
