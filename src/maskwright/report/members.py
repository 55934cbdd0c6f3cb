"""The values that a grammar allows at a place, where they are few: an enum, a boolean, a small range.

They are found by walking the grammar, not by reading the schema: what a pointer leads to in a schema may be
spread over references, unions and conditions, and answers of other grammars have no schema.
"""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ..bitmask import allocate_token_bitmask
from ..matcher import GrammarMatcher
from ..vocabulary import TokenizerInfo
from .json_scanner import JsonScanner, Kind

__all__ = ["MAX_MEMBERS", "Followed", "find_members", "follow_forced"]

#: More values than these are not few.
MAX_MEMBERS: Final = 64

_OPENING: Final = frozenset(b"{[")

#: A matcher, the same place as JSON, and the value so far.
_Place = tuple[GrammarMatcher, JsonScanner | None, bytes]


def find_members(matcher: GrammarMatcher, scanner: JsonScanner | None) -> list[bytes] | None:
    """The texts of all values that may stand at a place.

    Args:
        matcher: Stands where the value's first byte is next. Not changed.
        scanner: The same place as JSON; None for an answer that is one text.

    Returns:
        The texts, without what follows them; None if there are more than `MAX_MEMBERS`, or if an object
        or array may stand there.
    """
    found: list[bytes] = []
    waiting = deque([(matcher.fork(), scanner, b"")])
    while waiting:
        branches = _branches(*waiting.popleft(), found)
        # Breadth first: a free text or a number is given up after two levels.
        if branches is None or len(found) + len(waiting) + len(branches) > MAX_MEMBERS:
            return None
        waiting.extend(branches)
    return list(dict.fromkeys(found))


def _branches(
    matcher: GrammarMatcher, scanner: JsonScanner | None, text: bytes, found: list[bytes]
) -> list[_Place] | None:
    """The places one byte on, None if there is no end to them; values that are over are added to `found`."""
    value = follow_forced(matcher, scanner, text)
    if not value.is_scalar:
        return None
    text = value.text
    if value.over or (matcher.is_completed() and (scanner is None or scanner.in_number)):
        found.append(text)
    branches: list[_Place] = []
    for byte in [] if value.over else _next_bytes(matcher):
        place = scanner.copy() if scanner is not None else None
        kind = Kind.INSIDE if place is None else place.feed(byte)
        longer = text + bytes((byte,))
        if kind is Kind.INSIDE:
            branch = matcher.fork()
            branch.accept_string(bytes((byte,)))
            branches.append((branch, place, longer))
        elif kind is Kind.LAST:
            found.append(longer)
        elif kind is Kind.AFTER:
            found.append(text)
        elif text or byte in _OPENING:
            return None
        # Otherwise the value has not begun: white space, or an array that may also end here.
    return branches


class Followed(NamedTuple):
    """A value as far as it is certain, whether it is over, and whether it is no object and no array."""

    text: bytes
    over: bool
    is_scalar: bool = True


def follow_forced(matcher: GrammarMatcher, scanner: JsonScanner | None, text: bytes) -> Followed:
    """Go on with a value as far as its next bytes are certain.

    Args:
        matcher: Stands behind `text`; moved on.
        scanner: The same place as JSON; moved on. None for an answer that is one text.
        text: The value so far.
    """
    forced = matcher.find_jump_forward_bytes()
    matcher.accept_string(forced)
    if scanner is None:
        return Followed(text + forced, matcher.is_completed() and not _next_bytes(matcher))
    for byte in forced:
        kind = scanner.feed(byte)
        if kind is Kind.AFTER:
            return Followed(text, True)
        if kind is Kind.OUTSIDE or kind is Kind.WRONG:
            return Followed(text, False, is_scalar=False)
        text += bytes((byte,))
        if kind is Kind.LAST:
            return Followed(text, True)
    return Followed(text, False)


def _next_bytes(matcher: GrammarMatcher) -> list[int]:
    """The bytes that some legal token begins with."""
    info = matcher.compiled_grammar.tokenizer_info
    row = allocate_token_bitmask(1, info.vocab_size)
    matcher.fill_next_token_bitmask(row)
    bits = np.unpackbits(row[0].view(np.uint8), bitorder="little")[: info.vocab_size]
    bits[matcher.stop_token_ids] = 0
    return [int(byte) for byte in np.unique(_first_bytes(info)[bits.view(bool)]) if byte >= 0]


@lru_cache(maxsize=4)
def _first_bytes(info: TokenizerInfo) -> npt.NDArray[np.int16]:
    """int16, shape (vocab_size,): the first byte of each token, -1 for none."""
    return np.array([token[0] if token else -1 for token in info.decoded_vocab], np.int16)
