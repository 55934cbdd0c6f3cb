# Forced text: what must come next, whatever the model prefers.
#
# As bytes it follows the automaton while only one byte is possible. As tokens it is the longest match over
# those bytes, given up where a boundary is not certain.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memset
from libcpp.vector cimport vector

from ..errors import MatcherError
from .automaton cimport Mask, State
from .compiled import Renew
from .masks cimport write_mask
from .matcher cimport MatcherCore
from .trie cimport Trie, trie_child


def jump_forward_bytes(MatcherCore matcher) -> bytes:
    """The longest byte string that every continuation starts with.

    It ends where the output is complete, where two bytes are possible, or where the grammar wants
    a token by id. The matcher does not change.

    Raises:
        MatcherError: A stop token was accepted.
    """
    cdef State* state
    cdef int byte
    if matcher.stopped:
        raise MatcherError("nothing can follow a stop token", hint="roll back or reset first")
    while True:
        forced = bytearray()
        try:
            matcher.settle()
            state = matcher.state
            if matcher.core.check_live:
                return forced_by_tokens(matcher)
            while not state.accepting and not state.has_tokens:
                byte = only_byte(matcher, state)
                if byte < 0:
                    break
                forced.append(byte)
                state = matcher.step_byte(state, <uint8_t>byte)
                if len(forced) > 1_000_000:
                    break
            return bytes(forced)
        except Renew:
            matcher.renew()


cdef int only_byte(MatcherCore matcher, State* state) except -2:
    """The one byte that may come next, or -1 if there are several."""
    cdef int32_t[256] first
    cdef int32_t[256] members
    cdef int32_t i, found = -1
    memset(members, 0, sizeof(members))
    for i in range(256):
        # A byte that no token holds cannot come next.
        if (matcher.core.table.alphabet[i >> 6] >> (i & 63)) & 1:
            if members[state.classes[i]] == 0:
                first[state.classes[i]] = i
            members[state.classes[i]] += 1
    for i in range(state.n_classes):
        if members[i] and matcher.step_byte(state, <uint8_t>first[i]) != matcher.automaton.dead:
            if found >= 0 or members[i] > 1:
                return -1
            found = first[i]
    return found


cdef bytes forced_by_tokens(MatcherCore matcher):
    """`jump_forward_bytes` where some byte has no token of its own.

    A byte is forced if all texts that legal tokens can spell from here go on with it, so the walk
    keeps, beside the state by bytes, every place at which a spelling may stand: the state before
    its last token, and the part of that token that is spelled.
    """
    cdef State* by_bytes = matcher.state
    forced = bytearray()
    places = {(<size_t>matcher.state, b"")}
    legal = {}
    while not by_bytes.accepting and len(forced) < 1_000_000:
        following = {}
        for address, begun in places:
            if not begun and (<State*><size_t>address).has_tokens:
                return bytes(forced)
            if address not in legal:
                legal[address] = legal_texts(matcher, <State*><size_t>address)
            for token, text in legal[address]:
                if len(text) > len(begun) and text.startswith(begun):
                    goes_on = following.setdefault(text[len(begun)], set())
                    if len(text) == len(begun) + 1:
                        after = matcher.after_token(<State*><size_t>address, token)
                        goes_on.add((<size_t>after, b""))
                    else:
                        goes_on.add((address, text[: len(begun) + 1]))
        if len(following) != 1:
            break
        ((byte, places),) = following.items()
        forced.append(byte)
        by_bytes = matcher.step_byte(by_bytes, <uint8_t>byte)
    return bytes(forced)


cdef list legal_texts(MatcherCore matcher, State* state):
    """(id, bytes) of every text token that is legal in a state."""
    cdef int32_t token
    cdef const Mask* mask = matcher.mask_at(state)
    cdef vector[uint32_t] row
    row.assign(matcher.core.masks.n_words, 0)
    write_mask(mask, &row[0], matcher.core.masks.n_words)
    found = []
    for token in range(matcher.core.vocabulary.vocab_size):
        if (row[token >> 5] >> (token & 31)) & 1 and not matcher.is_stop(token):
            text = matcher.core.vocabulary.token_bytes(token)
            if text is not None:
                found.append((token, text))
    return found


def jump_forward_tokens(MatcherCore matcher) -> list:
    """Tokens for the forced bytes, as far as their boundaries are certain.

    Longest match first. It stops where some token would cover the rest of the forced bytes and
    more, because what follows may then be merged with it.
    """
    cdef bytes forced = jump_forward_bytes(matcher)
    cdef Trie* trie = &matcher.core.vocabulary.trie
    cdef int32_t node, child, best, i
    cdef Py_ssize_t start = 0, end, best_end
    tokens = []
    while start < len(forced):
        node = 0
        end = start
        best = -1
        best_end = start
        while end < len(forced):
            child = trie_child(trie, node, <uint8_t>forced[end])
            if child < 0:
                break
            node = child
            end += 1
            for i in range(trie.nodes[node].low, trie.nodes[node].own):
                if not matcher.is_stop(trie.ids[i]):
                    best = trie.ids[i]
                    best_end = end
                    break
        if best < 0 or (end == len(forced) and trie.nodes[node].count > 0):
            break
        tokens.append(best)
        start = best_end
    return tokens
