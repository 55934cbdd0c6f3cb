"""Sets of Unicode scalar values, as sorted tuples of inclusive ranges.

Does: the set algebra that character classes need. Does not: know any named class (`classes`)
or any spelling in bytes (`encoding`). Surrogates (U+D800 to U+DFFF) are never members, because
no well-formed text holds them; every function here keeps it so.

Rejected: bit sets over 0x110000 values. They make the algebra one operator each, but 136 KB per
class is slow to build and cannot be a key of a memo.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Final, TypeAlias

__all__ = [
    "ALL",
    "NONE",
    "Ranges",
    "contains",
    "intersect",
    "invert",
    "make",
    "size",
    "subtract",
    "unite",
]

#: Sorted, disjoint, not adjacent, inclusive; no surrogates.
Ranges: TypeAlias = tuple[tuple[int, int], ...]

NONE: Final[Ranges] = ()
ALL: Final[Ranges] = ((0, 0xD7FF), (0xE000, 0x10FFFF))


def make(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Normalise: sort, merge, drop surrogates."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            if high > merged[-1][1]:
                merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
    if any(low <= 0xDFFF and high >= 0xD800 for low, high in merged):
        return intersect(tuple(merged), ALL)
    return tuple(merged)


def unite(*sets: Ranges) -> Ranges:
    """Members of any of the sets."""
    return sets[0] if len(sets) == 1 else make(pair for one in sets for pair in one)


def intersect(left: Ranges, right: Ranges) -> Ranges:
    """Members of both."""
    out: list[tuple[int, int]] = []
    i = j = 0
    while i < len(left) and j < len(right):
        low, high = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if low <= high:
            out.append((low, high))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return tuple(out)


def invert(ranges: Ranges) -> Ranges:
    """All scalar values that are not members."""
    out: list[tuple[int, int]] = []
    start = 0
    for low, high in ranges:
        if start < low:
            out.append((start, low - 1))
        start = high + 1
    if start <= 0x10FFFF:
        out.append((start, 0x10FFFF))
    return intersect(tuple(out), ALL)


def subtract(left: Ranges, right: Ranges) -> Ranges:
    """Members of the first that are not in the second."""
    return intersect(left, invert(right))


def contains(ranges: Ranges, char: int) -> bool:
    """Whether a code point is a member."""
    i = bisect_right(ranges, (char, 0x110000)) - 1
    return i >= 0 and ranges[i][0] <= char <= ranges[i][1]


def size(ranges: Ranges) -> int:
    """Number of members."""
    return sum(high - low + 1 for low, high in ranges)
