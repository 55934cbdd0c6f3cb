# Many rows at once: the rows of a batch, and the nodes of a speculative draft tree.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memset
from libcpp.vector cimport vector

from time import monotonic

from .automaton cimport Mask, State
from .compiled import Renew
from .masks cimport write_mask
from .matcher cimport MatcherCore

cdef extern from *:
    """
    #define MW_MASK(state) __atomic_load_n(&(state)->mask, __ATOMIC_ACQUIRE)
    """
    Mask* MW_MASK(State* state) noexcept nogil


cdef struct Pending:
    Mask* mask
    uint32_t* row
    int32_t n_words
    int32_t all_words
    int32_t* stop_tokens
    int32_t n_stop
    uint8_t accepting


cdef void write_job(Pending* job) noexcept nogil:
    cdef int32_t i, token
    write_mask(job.mask, job.row, job.n_words)
    if job.all_words > job.n_words:
        memset(job.row + job.n_words, 0, (job.all_words - job.n_words) * sizeof(uint32_t))
    for i in range(job.n_stop):
        token = job.stop_tokens[i]
        if job.accepting:
            job.row[token >> 5] |= <uint32_t>1 << (token & 31)
        else:
            job.row[token >> 5] &= ~(<uint32_t>1 << (token & 31))


def fill_tree(MatcherCore matcher, list order, list parents, list tokens, bitmask, double deadline) -> bool:
    """Fill one row per node of a draft tree given in an order in which parents come first.

    Args:
        order: Node numbers; the first is the root, whose token was accepted before.
        parents: For each entry of `order` the position of its parent in it; -1 for the root.
        tokens: For each entry its token.
        bitmask: int32 with a row for every node; unreachable and illegal nodes get zeros.
        deadline: `time.monotonic()` after which to give up; 0 for never.

    Returns:
        Whether all rows were filled in time.
    """
    cdef vector[State*] states
    cdef vector[int64_t] lefts
    cdef int64_t left
    cdef State* state
    cdef State* dead
    cdef int32_t n_words = 0, n_nodes = len(order), i, token
    cdef int32_t* row
    while True:
        try:
            matcher.settle()
            states.clear()
            lefts.clear()
            dead = matcher.automaton.dead
            for i in range(n_nodes):
                if deadline and monotonic() > deadline:
                    return False
                state = dead
                left = matcher.left()
                if left > 0 and parents[i] >= 0:
                    left = lefts[parents[i]] - 1
                lefts.push_back(left)
                if parents[i] < 0:
                    state = dead if matcher.stopped else matcher.state
                elif states[parents[i]] != dead:
                    token = tokens[i]
                    if 0 <= token < matcher.core.vocabulary.vocab_size and not matcher.is_stop(token):
                        state = matcher.after_token(states[parents[i]], token)
                        if not matcher.affords(states[parents[i]], state, lefts[parents[i]]):
                            state = dead
                if state != dead and matcher.terminate_without_stop_token and state.accepting:
                    state = dead
                states.push_back(state)
                row = matcher.core.row(bitmask, order[i], &n_words)
                if state == dead:
                    memset(row, 0, n_words * sizeof(int32_t))
                else:
                    matcher.write_row(state, row, n_words, left)
            return True
        except Renew:
            matcher.renew()


def fill_rows(list matchers, bitmask, indices) -> list:
    """Fill one row per matcher where the mask exists already, in one stretch without the GIL.

    Args:
        matchers: `MatcherCore` objects; terminated ones get a row of zeros.
        bitmask: int32, shape (rows, words).
        indices: Row of each matcher.

    Returns:
        The (matcher, row) pairs whose mask has yet to be made, or narrowed to a budget.
    """
    cdef vector[Pending] ready
    cdef Pending job
    cdef MatcherCore matcher
    cdef int32_t n_words = 0
    cdef size_t i
    slow = []
    for matcher, index in zip(matchers, indices, strict=True):
        job.row = <uint32_t*>matcher.core.row(bitmask, index, &n_words)
        job.n_words = matcher.core.masks.n_words
        job.all_words = n_words
        job.mask = MW_MASK(matcher.state)
        if matcher.stopped:
            memset(job.row, 0, n_words * sizeof(uint32_t))
        elif job.mask == NULL or not matcher.is_loose(matcher.state, matcher.left()):
            slow.append((matcher, index))
        else:
            job.accepting = matcher.state.accepting and matcher.left() != 0
            job.stop_tokens = &matcher.stop_tokens[0] if matcher.stop_tokens.size() else NULL
            job.n_stop = <int32_t>matcher.stop_tokens.size()
            ready.push_back(job)
    with nogil:
        for i in range(ready.size()):
            write_job(&ready[i])
    return slow
