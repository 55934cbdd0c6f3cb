"""What this room asks the kernel about a lexeme: does it hold anything, this text, how many texts."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Final

from ..errors import LimitExceeded
from ..kernel.lexemes import LexemeTable, accepts, scratch_table
from ..kernel.lexemes import go_on_alike as kernel_go_on_alike
from ..kernel.lexemes import is_empty as kernel_is_empty
from ..lexeme import Lexeme, Op

__all__ = [
    "go_on_alike",
    "has_no_text",
    "holds_text",
    "is_empty",
    "is_plainly_endless",
    "size_of",
    "texts_of",
]

#: Nodes of the automaton of the strings of one place.
_MAX_NODES: Final = 250_000
#: From so many texts on a language counts as endless: no output holds as many.
_MANY: Final = 1_000_000
#: States looked at to find out how many texts there are.
_MAX_STATES: Final = 500
#: Bytes tried on the way to a loop, and how far.
_LIKELY: Final = [bytes([byte]) for byte in (*b'z1a"{[', *range(256))]
_MAX_STEPS: Final = 100
#: Longest texts counted before a loop is looked for.
_MAX_LEVELS: Final = 300


def is_empty(lexeme: Lexeme) -> bool:
    """Whether the language is empty."""
    if lexeme.op is Op.EMPTY:
        return True
    return bool(kernel_is_empty(lexeme))


def go_on_alike(one: Lexeme, other: Lexeme, text: bytes) -> bool:
    """Whether it is plain that two languages go on alike after a text; they may do so if this is False."""
    return bool(kernel_go_on_alike(one, other, text))


@lru_cache(maxsize=1024)
def has_no_text(lexeme: Lexeme) -> bool:
    """Whether no text meets several patterns, formats and lengths at once.

    Raises:
        LimitExceeded: Together they make an automaton that would also be slow to generate with.
    """
    table = LexemeTable(max_nodes=_MAX_NODES)
    try:
        return bool(table.is_node_empty(table.node_of(lexeme)))
    except LimitExceeded as error:
        raise LimitExceeded(
            "these patterns, formats and lengths together need too large an automaton",
            resource="automaton states",
            limit=_MAX_NODES,
            hint="anchor the patterns with ^ and $, lower maxLength, or use fewer patterns at once",
        ) from error


def holds_text(lexeme: Lexeme, text: bytes) -> bool:
    """Whether one byte string is in the language."""
    return bool(accepts(lexeme, text))


@lru_cache(maxsize=1024)
def is_plainly_endless(lexeme: Lexeme) -> bool:
    """Whether a short walk shows that a language holds endless texts. It may also do so if this is False."""
    table = scratch_table()
    node = table.node_of(lexeme)
    return not table.is_node_empty(node) and _has_plain_loop(table, node)


@lru_cache(maxsize=1024)
def size_of(lexeme: Lexeme) -> int | None:
    """How many texts a language holds: None when there are more than any output could use up.

    The number is a lower bound where counting takes too long.
    """
    if lexeme.op is Op.EMPTY:
        return 0
    if lexeme.op is Op.LITERALS:
        return len(lexeme.args)
    table = scratch_table()
    node = table.node_of(lexeme)
    if table.is_node_empty(node):
        return 0
    if _has_plain_loop(table, node):
        return None
    after: dict[int, dict[int, int]] = {}
    level: Counter[int] = Counter({node: 1})
    found = n_levels = 0
    while level:
        found += sum(n for state, n in level.items() if table.is_nullable(state))
        n_levels += 1
        if found >= _MANY or (n_levels > _MAX_LEVELS and _loops(after)):
            return None
        following: Counter[int] = Counter()
        for state, n in level.items():
            if state not in after:
                if len(after) >= _MAX_STATES:
                    return found
                after[state] = table.successors(state)
            for target, ways in after[state].items():
                following[target] += n * ways
        level = following
    return found


def texts_of(lexeme: Lexeme, most: int) -> list[bytes] | None:
    """All texts of a language without an endless one, in the order of their bytes; None if there are more."""
    table = scratch_table()
    found: list[bytes] = []
    stack = [(table.node_of(lexeme), b"")]
    while stack:
        node, text = stack.pop()
        if table.is_nullable(node):
            found.append(text)
        following = ((table.walk(node, bytes([byte])), byte) for byte in range(255, -1, -1))
        stack.extend((target, text + bytes([byte])) for target, byte in following if target)
        if len(found) > most:
            return None
    return found


def _has_plain_loop(table: LexemeTable, node: int) -> bool:
    """Whether a walk that prefers to repeat its last byte comes back to a state: then there is no end."""
    seen: set[int] = set()
    last = b"z"
    for _ in range(_MAX_STEPS):
        if node in seen:
            return True
        seen.add(node)
        for byte in (last, *_LIKELY):
            target = table.walk(node, byte)
            if target:
                node, last = target, byte if byte != b'"' else b"z"
                break
        else:
            return False
    return False


def _loops(after: dict[int, dict[int, int]]) -> bool:
    """Whether some state leads back to itself."""
    left = {state: sum(target in after for target in targets) for state, targets in after.items()}
    into: dict[int, list[int]] = {}
    for state, targets in after.items():
        for target in targets:
            into.setdefault(target, []).append(state)
    ends = [state for state, n in left.items() if n == 0]
    n_ended = 0
    while ends:
        n_ended += 1
        for before in into.get(ends.pop(), ()):
            left[before] -= 1
            if left[before] == 0:
                ends.append(before)
    return n_ended < len(after)
