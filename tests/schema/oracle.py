"""A slow matcher for lexemes: sets of positions per sub-expression, no derivatives, no sharing.

It shares no idea with the kernel, so that agreement means something.
"""

from __future__ import annotations

from maskwright.lexeme import Lexeme, Op

__all__ = ["accepts", "is_empty"]


def accepts(lexeme: Lexeme, data: bytes) -> bool:
    """Whether the language holds exactly these bytes."""
    return len(data) in _Matcher(data).ends(lexeme, 0)


def is_empty(lexeme: Lexeme) -> bool:
    """Whether an explicit automaton (or list of texts) accepts nothing."""
    if lexeme.op is Op.EMPTY:
        return True
    if lexeme.op is not Op.AUTOMATON:
        return False
    rows, accepting = lexeme.args
    seen, queue = {0}, [0]
    for state in queue:
        if accepting[state]:
            return False
        fresh = {target for _, _, target in rows[state]} - seen
        seen |= fresh
        queue += fresh
    return True


class _Matcher:
    """Where a sub-expression that starts at a position may end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._memo: dict[tuple[int, int], frozenset[int]] = {}
        self._alive: list[Lexeme] = []  # keeps ids in the memo from being reused

    def ends(self, lexeme: Lexeme, start: int) -> frozenset[int]:
        key = (id(lexeme), start)
        if key not in self._memo:
            self._alive.append(lexeme)
            self._memo[key] = frozenset(self._ends(lexeme, start))
        return self._memo[key]

    def _ends(self, lexeme: Lexeme, start: int) -> set[int]:
        data, args = self._data, lexeme.args
        match lexeme.op:
            case Op.EMPTY:
                return set()
            case Op.EPSILON:
                return {start}
            case Op.LITERAL:
                return {start + len(args[0])} if data.startswith(args[0], start) else set()
            case Op.LITERALS:
                return {start + len(text) for text in args if data.startswith(text, start)}
            case Op.BYTES:
                return {start + 1} if start < len(data) and args[0] >> data[start] & 1 else set()
            case Op.CONCAT:
                return self._concat(args, start)
            case Op.UNION:
                return set().union(*(self.ends(part, start) for part in args))
            case Op.INTERSECTION:
                return set.intersection(*(set(self.ends(part, start)) for part in args))
            case Op.COMPLEMENT:
                return set(range(start, len(data) + 1)) - self.ends(args[0], start)
            case Op.REPEAT:
                return self._repeat(*args, start)
            case Op.AUTOMATON:
                return self._automaton(*args, start)
        raise AssertionError(lexeme.op)

    def _concat(self, parts: tuple[Lexeme, ...], start: int) -> set[int]:
        positions = {start}
        for part in parts:
            positions = {end for position in positions for end in self.ends(part, position)}
        return positions

    def _repeat(self, part: Lexeme, low: int, high: int, start: int) -> set[int]:
        # An iteration that consumes nothing can be put anywhere, so it stands for the missing ones.
        found: set[int] = set()
        layer, count, seen = {start}, 0, set()
        while layer:
            if count >= low:
                found |= layer
            if count == high or (high < 0 and count >= low and layer <= seen):
                break
            if count >= low:
                seen |= layer
            following = {end for position in layer for end in self.ends(part, position)}
            if following == layer and count >= low:
                break
            layer, count = following, count + 1
        return found

    def _automaton(
        self, rows: tuple[tuple[tuple[int, int, int], ...], ...], accepting: tuple[bool, ...], start: int
    ) -> set[int]:
        state: int | None = 0
        found = {start} if accepting[0] else set()
        for position in range(start, len(self._data)):
            byte = self._data[position]
            state = next((target for low, high, target in rows[state] if low <= byte <= high), None)
            if state is None:
                break
            if accepting[state]:
                found.add(position + 1)
        return found
