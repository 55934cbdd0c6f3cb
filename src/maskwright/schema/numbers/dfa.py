"""Small deterministic automata over the symbols of numbers: trimming, minimising, and out to a lexeme.

Rows are dictionaries from a symbol's place in `SYMBOLS` to a state; a missing symbol is a dead end.
Minimising is Hopcroft's partition refinement (1971), because the automata here have long chains (a bound of
1e308) on which Moore's simpler rounds are quadratic.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from ...lexeme import EMPTY, Lexeme, automaton

__all__ = ["EXPONENT", "MINUS", "PLUS", "POINT", "SYMBOLS", "Rows", "to_lexeme"]

#: One entry per symbol: the bytes that spell it. Digits are their own places.
SYMBOLS: Final = (*(b"%d" % digit for digit in range(10)), b".", b"eE", b"+", b"-")
POINT, EXPONENT, PLUS, MINUS = 10, 11, 12, 13

Rows: TypeAlias = list[dict[int, int]]


def to_lexeme(rows: Rows, accepting: list[bool]) -> Lexeme:
    """The minimal lexeme of an automaton that starts in state 0; `lexeme.EMPTY` if it accepts nothing."""
    rows, accepting = _trimmed(rows, accepting)
    if not rows:
        return EMPTY
    block = _minimal_blocks(rows, accepting)
    # Number the blocks in order of discovery, so that the start is 0.
    order: dict[int, int] = {}
    for state in range(len(rows)):
        order.setdefault(block[state], len(order))
    merged: Rows = [{} for _ in order]
    ends: set[int] = set()
    for state, row in enumerate(rows):
        place = order[block[state]]
        merged[place] = {symbol: order[block[target]] for symbol, target in row.items()}
        if accepting[state]:
            ends.add(place)
    return automaton([_byte_ranges(row) for row in merged], ends)


def _byte_ranges(row: dict[int, int]) -> list[tuple[int, int, int]]:
    entries = sorted((byte, target) for symbol, target in row.items() for byte in SYMBOLS[symbol])
    ranges: list[tuple[int, int, int]] = []
    for byte, target in entries:
        if ranges and ranges[-1][1] == byte - 1 and ranges[-1][2] == target:
            ranges[-1] = (ranges[-1][0], byte, target)
        else:
            ranges.append((byte, byte, target))
    return ranges


def _trimmed(rows: Rows, accepting: list[bool]) -> tuple[Rows, list[bool]]:
    """Without the states from which nothing can be accepted; no states at all if the start is one."""
    sources: list[list[int]] = [[] for _ in rows]
    for state, row in enumerate(rows):
        for target in set(row.values()):
            sources[target].append(state)
    alive = list(accepting)
    queue = [state for state, ends in enumerate(accepting) if ends]
    while queue:
        for source in sources[queue.pop()]:
            if not alive[source]:
                alive[source] = True
                queue.append(source)
    if not alive[0]:
        return [], []
    renamed = {state: place for place, state in enumerate(s for s in range(len(rows)) if alive[s])}
    kept = [
        {symbol: renamed[target] for symbol, target in rows[state].items() if alive[target]}
        for state in renamed
    ]
    return kept, [accepting[state] for state in renamed]


def _minimal_blocks(rows: Rows, accepting: list[bool]) -> list[int]:
    """A block number for each state; states of one block accept the same texts."""
    sources_by_symbol: list[dict[int, list[int]]] = [{} for _ in SYMBOLS]
    for state, row in enumerate(rows):
        for symbol, target in row.items():
            sources_by_symbol[symbol].setdefault(target, []).append(state)
    # Most digits go the same ways everywhere; one of them is enough.
    into: list[dict[int, list[int]]] = []
    for found in sources_by_symbol:
        if found and found not in into:
            into.append(found)
    # The automaton is partial. The set of states that have a symbol is the symbol's pre-image of everything,
    # so starting with one splitter that holds all states separates those that lack it.
    block = [0] * len(rows)
    members: list[set[int]] = [set(range(len(rows)))]
    final = {state for state, ends in enumerate(accepting) if ends}
    _split(members, block, final)
    waiting = [set(range(len(rows))), *(set(part) for part in members)]
    while waiting:
        splitter = waiting.pop()
        for sources in into:
            before = {source for target in splitter if target in sources for source in sources[target]}
            if before:
                waiting += _split(members, block, before)
    return block


def _split(members: list[set[int]], block: list[int], chosen: set[int]) -> list[set[int]]:
    """Split each block into chosen and other states; return the smaller half of each split."""
    touched: dict[int, set[int]] = {}
    for state in chosen:
        touched.setdefault(block[state], set()).add(state)
    halves: list[set[int]] = []
    for number, inside in touched.items():
        if len(inside) == len(members[number]):
            continue
        outside = members[number] - inside
        small, large = (inside, outside) if len(inside) <= len(outside) else (outside, inside)
        members[number] = large
        for state in small:
            block[state] = len(members)
        members.append(small)
        halves.append(set(small))
    return halves
