"""The compiled grammars that a compiler remembers, least recently used first out.

Their memory grows while they are used, so a sum of their sizes is out of date at once. Rejected: adding all
of them up again for each new grammar. With some hundred grammars remembered that was the larger part of
compiling a small schema, since each of them is a miss of the processor's cache. Instead, every look-up
measures what it hands out, and every few additions some of the others in turn: what that costs does not
depend on how many there are, and none goes unmeasured for long.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .compiler import CompiledGrammar

__all__ = ["GrammarCache"]

#: Additions after which others are measured again, and how many of them.
_MEASURED_EVERY: Final = 8
_MEASURED_AT_ONCE: Final = 16


class GrammarCache:
    """Remembers compiled grammars by what was asked for. Safe to use from many threads.

    Args:
        limit_bytes: Memory that they may hold together, in bytes; -1 for no limit.
    """

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes: Final = limit_bytes
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, CompiledGrammar] = OrderedDict()
        self._sizes: dict[Hashable, int] = {}
        self._total = 0
        self._due: list[Hashable] = []  # what is measured next, from the end
        self._n_added = 0

    def get(self, key: Hashable) -> CompiledGrammar | None:
        """The grammar of a request, or None."""
        with self._lock:
            found = self._entries.get(key)
            if found is not None:
                self._entries.move_to_end(key)
                self._measure(key, found)
            return found

    def put(self, key: Hashable, compiled: CompiledGrammar) -> None:
        """Remember a grammar; forget those used longest ago while there is too much. One always stays."""
        with self._lock:
            self._entries[key] = compiled
            self._measure(key, compiled)
            self._n_added += 1
            if self._n_added % _MEASURED_EVERY == 0:
                self._measure_others()
            while 0 <= self.limit_bytes < self._total and len(self._entries) > 1:
                oldest, _ = self._entries.popitem(last=False)
                self._total -= self._sizes.pop(oldest)

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._entries.clear()
            self._sizes.clear()
            self._due.clear()
            self._total = 0

    @property
    def memory_size_bytes(self) -> int:
        """Bytes that the grammars hold now; measures them all."""
        with self._lock:
            for key, compiled in self._entries.items():
                self._measure(key, compiled)
            return self._total

    def _measure_others(self) -> None:
        for _ in range(min(_MEASURED_AT_ONCE, len(self._entries))):
            if not self._due:
                self._due = list(self._entries)
            due = self._due.pop()
            entry = self._entries.get(due)
            if entry is not None:
                self._measure(due, entry)

    def _measure(self, key: Hashable, compiled: CompiledGrammar) -> None:
        size = compiled.memory_size_bytes
        self._total += size - self._sizes.get(key, 0)
        self._sizes[key] = size
