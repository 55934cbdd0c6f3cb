"""Pattern trees: what the parsers produce and the compilers read. Data and small rewrites only.

Trees are over *characters*; bytes appear only in the compilers. Constructors simplify on the spot
(`(a*)*` is `a*`, `a|[bc]` is one class), which keeps nested quantifiers from multiplying later.
``^``, ``$`` and ``\\b`` are not special: they are built from `Look` (``^`` is "no character
before"), so that one treatment of look-around covers them all.

Rejected: separate anchor nodes. Each later pass then needs a case per anchor and per flag.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from .charset import ALL, NONE, Ranges, unite

__all__ = [
    "ANY",
    "EPSILON",
    "NEVER",
    "And",
    "Chars",
    "Concat",
    "Look",
    "Node",
    "Not",
    "Repeat",
    "Union",
    "alternatives",
    "conjunction",
    "negation",
    "repetition",
    "sequence",
]


class Chars:
    """One character out of a set; the empty set matches nothing."""

    __slots__ = ("has_look", "nullable", "ranges")

    def __init__(self, ranges: Ranges) -> None:
        self.ranges: Final = ranges
        self.nullable: bool = False
        self.has_look: bool = False


class Concat:
    """The parts one after another; no parts: the empty text."""

    __slots__ = ("has_look", "nullable", "parts")

    def __init__(self, parts: tuple[Node, ...]) -> None:
        self.parts: Final = parts
        self.nullable: bool = all(part.nullable for part in parts)
        self.has_look: bool = any(part.has_look for part in parts)


class Union:
    """Any of the parts, two or more."""

    __slots__ = ("has_look", "nullable", "parts")

    def __init__(self, parts: tuple[Node, ...]) -> None:
        self.parts: Final = parts
        self.nullable: bool = any(part.nullable for part in parts)
        self.has_look: bool = any(part.has_look for part in parts)


class Repeat:
    """``low`` to ``high`` times the body; None: no upper bound."""

    __slots__ = ("body", "has_look", "high", "low", "nullable")

    def __init__(self, body: Node, low: int, high: int | None) -> None:
        self.body: Final = body
        self.low: Final = low
        self.high: Final = high
        self.nullable: bool = low == 0 or body.nullable
        self.has_look: bool = body.has_look


class Look:
    """A zero-width test of what follows, or of what stands before, the current place."""

    __slots__ = ("behind", "body", "has_look", "negative", "nullable")

    def __init__(self, body: Node, *, behind: bool, negative: bool) -> None:
        self.body: Final = body
        self.behind: Final = behind
        self.negative: Final = negative
        self.nullable: bool = True
        self.has_look: bool = True


class And:
    """All of the parts on the same span."""

    __slots__ = ("has_look", "nullable", "parts")

    def __init__(self, parts: tuple[Node, ...]) -> None:
        self.parts: Final = parts
        self.nullable: bool = all(part.nullable for part in parts)
        self.has_look: bool = any(part.has_look for part in parts)


class Not:
    """Any text that the body does not match as a whole."""

    __slots__ = ("body", "has_look", "nullable")

    def __init__(self, body: Node) -> None:
        self.body: Final = body
        self.nullable: bool = not body.nullable
        self.has_look: bool = body.has_look


Node: TypeAlias = Chars | Concat | Union | Repeat | Look | And | Not

#: ``nullable`` is exact where ``has_look`` is false, else "perhaps".
EPSILON: Final = Concat(())
NEVER: Final = Chars(NONE)
ANY: Final = Chars(ALL)


def _is_never(node: Node) -> bool:
    return isinstance(node, Chars) and not node.ranges


def sequence(parts: Sequence[Node]) -> Node:
    """The parts one after another, flattened."""
    if len(parts) == 1:
        return parts[0]
    flat: list[Node] = []
    for part in parts:
        if _is_never(part):
            return NEVER
        if isinstance(part, Concat):
            flat.extend(part.parts)
        else:
            flat.append(part)
    if len(flat) == 1:
        return flat[0]
    return Concat(tuple(flat)) if flat else EPSILON


def alternatives(parts: Iterable[Node]) -> Node:
    """Any of the parts; classes are joined, a part that never matches is dropped."""
    sets: list[Ranges] = []
    rest: list[Node] = []
    place = 0
    for part in parts:
        if isinstance(part, Chars):
            if not sets:
                place = len(rest)
            sets.append(part.ranges)
        elif isinstance(part, Union):
            rest.extend(part.parts)
        elif part not in rest[-1:]:
            rest.append(part)
    merged = unite(*sets) if sets else NONE
    if merged:
        rest.insert(place, Chars(merged))
    if not rest:
        return NEVER
    return rest[0] if len(rest) == 1 else Union(tuple(rest))


def repetition(body: Node, low: int, high: int | None) -> Node:
    """A counted repetition, with nested ones folded where the counts allow it exactly."""
    if high == 0 or body is EPSILON:
        return EPSILON
    if (low, high) == (1, 1):
        return body
    if _is_never(body):
        return EPSILON if low == 0 else NEVER
    if isinstance(body, Look):
        # A second test at the same place tells nothing new.
        return EPSILON if low == 0 else body
    if body.nullable and not body.has_look:
        low = 0
    if isinstance(body, Repeat):
        if body.high is None and body.low <= 1:
            return Repeat(body.body, low if body.low else 0, None)
        if (body.low, body.high) == (0, 1):
            return Repeat(body.body, 0, high)
    return Repeat(body, low, high)


def conjunction(parts: Sequence[Node]) -> Node:
    """All of the parts on one span."""
    if any(_is_never(part) for part in parts):
        return NEVER
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def negation(body: Node) -> Node:
    """Any text but what the body matches."""
    return body.body if isinstance(body, Not) else Not(body)
