"""Arrays of unique items inside items that are compared as texts: what of them is regular.

An item of a unique array is one lexeme (see `canonical`), so an array of unique items inside of it has to be
regular too. A few values may come in any order. Of endless values no finite automaton remembers which ones
were written; there the items stand in the order of how they start, and no two start alike, as the open names
of objects do. That is less than the schema allows: whoever asks says so in the report.

Rejected: one conjunction of "at most one item starts like this" per start, which would leave the order free.
It has a hundred parts, and each byte takes the derivative of all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final

from ..lexeme import EMPTY, Lexeme, Op, byte_range, concat, intersection, literal, star, union
from .emptiness import is_empty

__all__ = ["cut_by_starts", "in_any_order", "in_order_of_starts"]

_ANY: Final = star(byte_range(0, 0xFF))
#: How values start: strings by their first character (all escapes alike), the rest by a byte.
_STARTS: Final = (
    *((byte,) for byte in b'"-0123456789[fnt{' if byte != 0x22),
    *((0x22, byte) for byte in range(0x20, 0x80)),
)


def in_any_order(texts: Sequence[bytes], separator: bytes, low: int, high: int | None) -> Lexeme:
    """Sequences of different texts, at least one of them; a state per set of texts used.

    >>> len(in_any_order([b"a", b"b"], b",", 0, None).args)  # a, a,b, b and b,a
    2
    """
    most = len(texts) if high is None else min(high, len(texts))

    @cache
    def after(used: int) -> Lexeme:
        n_used = used.bit_count()
        lead = literal(separator if used else b"")
        options = [
            concat(lead, literal(text), after(used | 1 << index))
            for index, text in enumerate(texts)
            if n_used < most and not used >> index & 1
        ]
        if used and n_used >= low:
            options.append(literal(b""))
        return union(*options)

    return after(0)


@lru_cache(maxsize=1)
def _starting() -> list[Lexeme]:
    """Texts by how they start; strings that start beyond ASCII do so alike."""
    beyond = concat(literal(b'"'), byte_range(0x80, 0xFF), _ANY)
    return [*(concat(literal(bytes(start)), _ANY) for start in _STARTS), beyond]


def cut_by_starts(item: Lexeme) -> list[Lexeme]:
    """The texts of `item` by how they start, as far as there are some.

    Containers start with one bracket. They are not cut: an intersection has to be searched for its end.
    """
    containers: dict[int, list[Lexeme]] = {}
    others: list[Lexeme] = []
    for part in _alternatives(item):
        head = part.args[0] if part.op is Op.CONCAT else part
        if head.op is Op.LITERAL and head.args[0][0] in b"[{":
            containers.setdefault(head.args[0][0], []).append(part)
        else:
            others.append(part)
    cuts = [intersection(union(*others), start) for start in _starting()]
    whole = (union(*parts) for parts in containers.values())
    return [cut for cut in (*cuts, *whole) if not is_empty(cut)]


def _alternatives(item: Lexeme) -> list[Lexeme]:
    if item.op is not Op.UNION:
        return [item]
    return [one for part in item.args for one in _alternatives(part)]


def in_order_of_starts(item: Lexeme, separator: bytes, low: int, high: int | None) -> Lexeme:
    """Sequences of texts of `item`, at least one of them, that start differently; in one order.

    `EMPTY` if so few start differently that none is long enough.
    """
    # Counts end where they no longer matter.
    top = max(low, 1 if high is None else high + 1)
    after = [
        literal(b"") if n >= max(low, 1) and (high is None or n <= high) else EMPTY for n in range(top + 1)
    ]
    for cut in reversed(cut_by_starts(item)):
        after = [
            union(concat(literal(separator if n else b""), cut, after[min(n + 1, top)]), after[n])
            for n in range(top + 1)
        ]
    return after[0]
