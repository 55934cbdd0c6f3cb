"""Complete deterministic automata over classes of characters: trimmed, minimised, made a lexeme.

Does: the last leg of `look_automaton`. Does not: build automata. Minimisation is Moore's partition
refinement, plain and quadratic in the worst case, so it is given up (not approximated) beyond a
budget; Hopcroft's algorithm would only matter for automata that are too large to be leaves anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..lexeme import EMPTY, Lexeme
from .bytetrie import Interval
from .charset import ALL, Ranges, contains, make
from .encoding import Encoding

__all__ = ["Automaton", "partition"]

#: Row comparisons spent on minimisation.
_MAX_WORK: Final = 400_000


def partition(sets: Sequence[Ranges]) -> list[Ranges]:
    """The coarsest classes of characters that tell all the sets apart, covering everything."""
    cuts = {0, 0xE000}
    for ranges in sets:
        for low, high in ranges:
            cuts.update((low, high + 1))
    starts = sorted(cuts - {0xD800, 0x110000})
    groups: dict[tuple[bool, ...], list[tuple[int, int]]] = {}
    for start, following in zip(starts, [*starts[1:], 0x110000], strict=True):
        signature = tuple(contains(ranges, start) for ranges in sets)
        groups.setdefault(signature, []).append((start, following - 1))
    return [kind for kind in (make(spans) for spans in groups.values()) if kind]


@dataclass(frozen=True, slots=True)
class Automaton:
    """A complete automaton; state 0 is the start.

    Attributes:
        kinds: Classes of characters, disjoint, covering `charset.ALL`.
        rows: ``rows[state][kind]`` is the next state.
        accepting: Whether the subject may end in a state.
    """

    kinds: list[Ranges]
    rows: list[list[int]]
    accepting: list[bool]

    def lexeme(self, encoding: Encoding) -> Lexeme:
        """The language in an encoding, as a leaf without dead states."""
        small = self._minimal()
        live = small._live()
        if 0 not in live:
            return EMPTY
        number = {state: place for place, state in enumerate(sorted(live))}
        table = [small._intervals(state, number) for state in sorted(live)]
        if len(live) == 1 and table[0] == [(low, high, 0) for low, high in ALL]:
            return encoding.any_text
        return encoding.automaton(table, [number[state] for state in live if small.accepting[state]])

    def _intervals(self, state: int, number: dict[int, int]) -> list[Interval]:
        spans = [
            (low, high, number[target])
            for kind, target in zip(self.kinds, self.rows[state], strict=True)
            if target in number
            for low, high in kind
        ]
        out: list[Interval] = []
        for low, high, target in sorted(spans):
            if out and out[-1][2] == target and out[-1][1] + 1 == low:
                out[-1] = (out[-1][0], high, target)
            else:
                out.append((low, high, target))
        return out

    def _live(self) -> set[int]:
        """States from which an accepting state can be reached."""
        sources: dict[int, list[int]] = {}
        for state, row in enumerate(self.rows):
            for target in set(row):
                sources.setdefault(target, []).append(state)
        stack = [state for state, ends in enumerate(self.accepting) if ends]
        live = set(stack)
        while stack:
            for source in sources.get(stack.pop(), ()):
                if source not in live:
                    live.add(source)
                    stack.append(source)
        return live

    def _minimal(self) -> Automaton:
        block = [int(ends) for ends in self.accepting]
        n_blocks = len(set(block))
        work = 0
        while True:
            work += len(self.rows) * len(self.kinds)
            if work > _MAX_WORK:
                return self
            ids: dict[tuple[int, ...], int] = {}
            refined = [
                ids.setdefault((block[state], *(block[target] for target in row)), len(ids))
                for state, row in enumerate(self.rows)
            ]
            block = refined
            if len(ids) == n_blocks:
                break
            n_blocks = len(ids)
        first: dict[int, int] = {}
        for state, one in enumerate(block):
            first.setdefault(one, state)
        # Blocks are numbered by first appearance, so the start's block is 0.
        order = [first[one] for one in range(n_blocks)]
        rows = [[block[target] for target in self.rows[state]] for state in order]
        return Automaton(self.kinds, rows, [self.accepting[state] for state in order])
