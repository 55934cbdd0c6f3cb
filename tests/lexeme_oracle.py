"""A slow and simple recogniser of lexeme descriptions, independent of the kernel.

`spans` answers, for a lexeme and a byte string, at which positions a match that starts at a given
position may end; it follows the definition of each operation directly. Memoised per byte string.
"""

from __future__ import annotations

import re
import sys
from fractions import Fraction

from maskwright.lexeme import Lexeme, Op


class _Matcher:
    def __init__(self, text: bytes) -> None:
        self._text = text
        self._memo: dict[tuple[Lexeme, int], frozenset[int]] = {}

    def ends(self, lexeme: Lexeme, start: int) -> frozenset[int]:
        key = (lexeme, start)
        if key not in self._memo:
            self._memo[key] = frozenset(self._ends(lexeme, start))
        return self._memo[key]

    def _ends(self, lexeme: Lexeme, start: int) -> set[int] | frozenset[int]:
        text, args = self._text, lexeme.args
        match lexeme.op:
            case Op.EMPTY:
                return set()
            case Op.EPSILON:
                return {start}
            case Op.LITERAL:
                return {start + len(args[0])} if text.startswith(args[0], start) else set()
            case Op.BYTES:
                return {start + 1} if start < len(text) and args[0] >> text[start] & 1 else set()
            case Op.LITERALS:
                return {start + len(one) for one in args if text.startswith(one, start)}
            case Op.CONCAT:
                places = {start}
                for part in args:
                    places = {end for place in places for end in self.ends(part, place)}
                return places
            case Op.UNION:
                return {end for part in args for end in self.ends(part, start)}
            case Op.INTERSECTION:
                return frozenset.intersection(*(self.ends(part, start) for part in args))
            case Op.COMPLEMENT:
                return set(range(start, len(text) + 1)) - self.ends(args[0], start)
            case Op.REPEAT:
                return self._repeated(args[0], args[1], args[2], start)
            case Op.AUTOMATON:
                return self._walk(args[0], args[1], start)
            case Op.MULTIPLES:
                ends = range(start + 1, len(text) + 1)
                return {end for end in ends if is_multiple(args, text[start:end].decode("latin-1"))}
            case Op.ARRANGEMENT:
                return self._arranged(args, frozenset(), start)
        raise AssertionError(lexeme.op)

    def _arranged(self, args, used: frozenset[int], start: int) -> set[int]:
        parts, required, separator, close, low, high = args
        found = set()
        for index, part in enumerate(parts):
            if index in used or (high >= 0 and len(used) >= high):
                continue
            there = used | {index}
            for end in self.ends(part, start):
                if len(there) >= low and there.issuperset(required):
                    found |= self.ends(close, end)
                for place in self.ends(separator, end):
                    found |= self._arranged(args, there, place)
        return found

    def _repeated(self, body: Lexeme, low: int, high: int, start: int) -> set[int]:
        # Iterations beyond the required ones and the number of bytes reach nothing new.
        rounds = low + len(self._text) + 1 if high < 0 else min(high, low + len(self._text) + 1)
        places, found = {start}, {start} if low == 0 else set()
        for done in range(1, rounds + 1):
            following = {end for place in places for end in self.ends(body, place)}
            if following == places and done >= low:
                return found | places
            places = following
            if done >= low:
                found |= places
            if not places:
                break
        return found

    def _walk(self, rows, accepting, start: int) -> set[int]:
        state, found = 0, {start} if accepting[0] else set()
        for place in range(start, len(self._text)):
            targets = [to for low, high, to in rows[state] if low <= self._text[place] <= high]
            if not targets:
                break
            (state,) = targets
            if accepting[state]:
                found.add(place + 1)
        return found


def is_multiple(args, text: str) -> bool:
    """Whether a text is one of `lexeme.multiples`, by exact arithmetic."""
    wanted, unwanted, excluded, decimals, low, high, point = args
    if not re.fullmatch(r"(0|[1-9][0-9]*)(\.[0-9]+)?" if point else r"0|[1-9][0-9]*", text, re.ASCII):
        return False
    value = Fraction(text) * 10**decimals
    return (
        value.denominator == 1
        and value % wanted == 0
        and all(value % number for number in unwanted)
        and value not in excluded
        and low <= value
        and (high < 0 or value <= high)
    )


def accepts(lexeme: Lexeme, text: bytes) -> bool:
    """Whether the byte string is in the language."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        return len(text) in _Matcher(text).ends(lexeme, 0)
    finally:
        sys.setrecursionlimit(limit)


def nodes(lexeme: Lexeme) -> list[Lexeme]:
    """All sub-descriptions, each once."""
    found = [lexeme]
    seen = {lexeme}
    for one in found:
        for arg in (*one.args, *(one.args[0] if one.op is Op.ARRANGEMENT else ())):
            if isinstance(arg, Lexeme) and arg not in seen:
                seen.add(arg)
                found.append(arg)
    return found


def has_op(lexeme: Lexeme, op: Op) -> bool:
    """Whether an operation occurs anywhere in the description."""
    return any(one.op is op for one in nodes(lexeme))


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
