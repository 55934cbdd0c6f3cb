"""What is still to come of a terminal, as texts that a person can read.

A terminal is a regular language; what is left of it after some bytes is another one. Small languages are
listed, for others there are the bytes that must come, those that may come then, and a shortest text.

JSON allows white space nearly everywhere outside strings. There it is left out where something else may
come, so that a comma is a comma and not thousands of texts.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Final

from ..kernel.compiled import CompiledCore
from ..kernel.explaining import ways_on

__all__ = ["ResidueReader", "is_in_string"]

#: Texts of a language that is listed, and members of a byte class that may still be one of a few texts.
_MAX_TEXTS: Final = 40
_MAX_MEMBERS: Final = 16
#: Nodes that one search may visit.
_MAX_VISITS: Final = 400
_MAX_FORCED: Final = 120
_SPACE: Final = frozenset(b" \t\n\r")
_QUOTES: Final = re.compile(rb'\\.|(")', re.DOTALL)
#: Bytes from the most telling to the least, for examples.
_TASTE: Final = {byte: rank for rank, byte in enumerate(b"abcdefghijklmnopqrstuvwxyz1234567890")}

Ways = tuple[bool, list[tuple[bytes, int]]]


class ResidueReader:
    """Reads nodes of a grammar's lexeme table.

    Args:
        core: The grammar.
        is_json: Whether white space outside strings means nothing.
    """

    def __init__(self, core: CompiledCore, *, is_json: bool) -> None:
        self._core = core
        self._is_json = is_json
        self._known: dict[int, Ways] = {}

    def texts(self, node: int, begun: bytes) -> list[bytes] | None:
        """All texts of a node, ascending; None if there are many.

        Args:
            node: What is still to come.
            begun: What came before it.
        """
        found: list[bytes] = []
        waiting = [(node, b"")]
        for _ in range(_MAX_VISITS):
            if not waiting:
                return sorted(found)
            node, text = waiting.pop()
            ends, ways = self._ways(node, begun + text)
            found += [text] * ends
            if len(found) > _MAX_TEXTS or any(len(members) > _MAX_MEMBERS for members, _ in ways):
                return None
            for members, target in ways:
                waiting.extend((target, text + bytes([byte])) for byte in members)
        return None

    def forced(self, node: int, begun: bytes) -> tuple[bytes, bytes, bool]:
        """The bytes that must come, those that may come next, and whether the terminal may end there."""
        text = b""
        while True:
            ends, ways = self._ways(node, begun + text)
            if ends or len(ways) != 1 or len(ways[0][0]) != 1 or len(text) == _MAX_FORCED:
                return text, bytes(sorted(b"".join(members for members, _ in ways))), ends
            text += ways[0][0]
            node = ways[0][1]

    def shortest(self, node: int, begun: bytes) -> bytes | None:
        """A shortest text of a node; None if the search gives up."""
        seen = {node}
        waiting = deque([(node, b"")])
        while waiting and len(seen) < _MAX_VISITS:
            node, text = waiting.popleft()
            ends, ways = self._ways(node, begun + text)
            if ends:
                return text
            for members, target in sorted(ways, key=lambda way: _taste(way[0])):
                if target not in seen:
                    seen.add(target)
                    waiting.append((target, text + bytes([min(members, key=_rank)])))
        return None

    def _ways(self, node: int, before: bytes) -> Ways:
        """`ways_on`, without white space that means nothing."""
        known = self._known.get(node)
        if known is None:
            known = self._known[node] = ways_on(self._core, node)
        ends, ways = known
        if not self._is_json or is_in_string(before):
            return known
        solid = [(bytes(byte for byte in members if byte not in _SPACE), target) for members, target in ways]
        solid = [(members, target) for members, target in solid if members]
        return (ends, solid) if solid or ends else known


def is_in_string(text: bytes) -> bool:
    """Whether a piece of JSON that begins outside strings ends inside one."""
    return sum(bool(found[1]) for found in _QUOTES.finditer(text)) % 2 == 1


def _rank(byte: int) -> int:
    return _TASTE.get(byte, 256 + byte if 0x20 <= byte < 0x7F else 1024 + byte)


def _taste(members: bytes) -> int:
    return min(map(_rank, members))
