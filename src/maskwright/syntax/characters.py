"""A lexeme as a deterministic automaton over characters, for printing.

What it does: spells out any lexeme, with intersection and complement, as a small explicit
automaton whose edges are ranges of code points. What it does not: serve matching. It is slow,
eager and bounded (`MAX_STATES`); the kernel has its own lazy derivatives.

The idea: Brzozowski derivatives (Brzozowski 1964) over hash-consed terms, one per class of bytes
that no part of the lexeme tells apart; then the four lengths of UTF-8 sequences are read as
single edges. A lexeme that accepts bytes which are not whole characters has no such automaton.

Rejected: asking the kernel for its automaton: front-ends do not import it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final

from ..errors import LimitExceeded
from ..lexeme import Lexeme, Op

__all__ = ["CharacterRow", "NotCharacters", "character_automaton"]

MAX_STATES: Final = 2000
#: Derivatives recurse over the nesting of a lexeme; fused ones stay far below.
MAX_DEPTH: Final = 150

#: Edges of one state: (first code point, last code point, target state).
CharacterRow = list[tuple[int, int, int]]

_EMPTY, _EPSILON = 0, 1


class NotCharacters(Exception):
    """The lexeme accepts bytes that are not whole UTF-8 characters."""


def character_automaton(lexeme: Lexeme) -> tuple[list[CharacterRow], set[int]]:
    """The rows (edges sorted and disjoint) and the accepting states; state 0 is the start.

    Raises:
        NotCharacters: Some accepted byte string is not UTF-8.
        LimitExceeded: More than `MAX_STATES` states, or nested too deep.
    """
    _check_depth(lexeme)
    rows, accepting = _byte_automaton(lexeme)
    reader = _Reader(rows, accepting)
    numbers = {0: 0}
    order = [0]
    table: list[CharacterRow] = []
    for state in order:
        row = reader.characters(state)
        for _, _, target in row:
            if target not in numbers:
                numbers[target] = len(order)
                order.append(target)
        table.append([(low, high, numbers[target]) for low, high, target in row])
    return table, {numbers[state] for state in order if state in accepting}


def _operands(lexeme: Lexeme) -> tuple[Lexeme, ...]:
    if lexeme.op in (Op.CONCAT, Op.UNION, Op.INTERSECTION, Op.COMPLEMENT):
        return lexeme.args
    if lexeme.op is Op.ARRANGEMENT:
        return (*lexeme.args[0], *lexeme.args[2:4])
    return lexeme.args[:1] if lexeme.op is Op.REPEAT else ()


def _check_depth(lexeme: Lexeme) -> None:
    level, depth = [lexeme], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise LimitExceeded(
                "a lexeme is nested too deep to be printed", resource="lexeme depth", limit=MAX_DEPTH
            )
        # By identity: shared operands would double at each level.
        level = list({id(part): part for one in level for part in _operands(one)}.values())


class _Terms:
    """Hash-consed terms; a term is an index. 0 is the empty language, 1 the empty string."""

    def __init__(self) -> None:
        self.nodes: list[tuple[Any, ...]] = []
        self.nullable: list[bool] = []
        self.numbers: dict[tuple[Any, ...], int] = {}
        self.derivatives: dict[tuple[int, int], int] = {}
        self.imported: dict[int, int] = {}
        self.add(("empty",), False)
        self.add(("epsilon",), True)

    def add(self, node: tuple[Any, ...], nullable: bool) -> int:
        number = self.numbers.get(node)
        if number is None:
            number = self.numbers[node] = len(self.nodes)
            self.nodes.append(node)
            self.nullable.append(nullable)
        return number

    def concat(self, parts: Iterable[int]) -> int:
        flat: list[int] = []
        for part in parts:
            if part == _EMPTY:
                return _EMPTY
            node = self.nodes[part]
            flat.extend(node[1] if node[0] == "concat" else [part] if part != _EPSILON else [])
        if len(flat) < 2:
            return flat[0] if flat else _EPSILON
        return self.add(("concat", tuple(flat)), all(self.nullable[part] for part in flat))

    def union(self, parts: Iterable[int]) -> int:
        flat: set[int] = set()
        for part in parts:
            node = self.nodes[part]
            flat.update(node[1] if node[0] == "union" else [part])
        flat.discard(_EMPTY)
        if len(flat) < 2:
            return flat.pop() if flat else _EMPTY
        return self.add(("union", frozenset(flat)), any(self.nullable[part] for part in flat))

    def intersection(self, parts: Iterable[int]) -> int:
        flat = frozenset(parts)
        if _EMPTY in flat:
            return _EMPTY
        if len(flat) == 1:
            return next(iter(flat))
        return self.add(("intersection", flat), all(self.nullable[part] for part in flat))

    def complement(self, part: int) -> int:
        return self.add(("complement", part), not self.nullable[part])

    def repeat(self, part: int, low: int, high: int) -> int:
        if high == 0 or part == _EPSILON:
            return _EPSILON
        if part == _EMPTY:
            return _EMPTY if low else _EPSILON
        if (low, high) == (1, 1):
            return part
        return self.add(("repeat", part, low, high), low == 0 or self.nullable[part])

    def texts(self, texts: Iterable[bytes]) -> int:
        members = frozenset(texts)
        if not members:
            return _EMPTY
        return _EPSILON if members == {b""} else self.add(("texts", members), b"" in members)

    def arranged(
        self,
        parts: tuple[Lexeme, ...],
        required: tuple[int, ...],
        separator: Lexeme,
        close: Lexeme,
        low: int,
        high: int,
    ) -> int:
        """All orders of the parts, a term for each set of them that may be there."""
        if 2 ** len(parts) > MAX_STATES:
            raise LimitExceeded(
                f"{len(parts)} parts in any order need too many states to be printed as EBNF",
                resource="printed states",
                limit=MAX_STATES,
            )
        terms, between, last = list(map(self.take, parts)), self.take(separator), self.take(close)

        @cache
        def behind(there: frozenset[int]) -> int:
            options = [last] if len(there) >= low and there.issuperset(required) else []
            if high < 0 or len(there) < high:
                options.append(self.concat((between, another(there))))
            return self.union(options)

        def another(there: frozenset[int]) -> int:
            left = [index for index in range(len(terms)) if index not in there]
            return self.union(self.concat((terms[index], behind(there | {index}))) for index in left)

        return another(frozenset())

    def take(self, lexeme: Lexeme) -> int:
        """The term of a lexeme."""
        known = self.imported.get(id(lexeme))
        if known is None:
            known = self.imported[id(lexeme)] = self._take(lexeme)
        return known

    def _take(self, lexeme: Lexeme) -> int:
        op, args = lexeme.op, lexeme.args
        if op is Op.EMPTY:
            return _EMPTY
        if op is Op.EPSILON:
            return _EPSILON
        if op is Op.BYTES:
            return self.add(("bytes", args[0]), False)
        if op in (Op.LITERAL, Op.LITERALS):
            return self.texts(args)
        if op is Op.AUTOMATON:
            return self.add(("state", args, 0), args[1][0])
        if op is Op.ARRANGEMENT:
            return self.arranged(*args)
        if op is Op.MULTIPLES:
            raise LimitExceeded(
                f"multiples of {args[0]} need too many states to be printed as EBNF",
                resource="printed states",
                limit=MAX_STATES,
            )
        parts = [self.take(part) for part in _operands(lexeme)]
        if op is Op.REPEAT:
            return self.repeat(parts[0], args[1], args[2])
        if op is Op.COMPLEMENT:
            return self.complement(parts[0])
        make: dict[Op, Callable[[Iterable[int]], int]] = {
            Op.CONCAT: self.concat,
            Op.UNION: self.union,
            Op.INTERSECTION: self.intersection,
        }
        return make[op](parts)

    def derive(self, term: int, byte: int) -> int:
        """What may follow after ``byte``."""
        key = (term, byte)
        known = self.derivatives.get(key)
        if known is None:
            known = self.derivatives[key] = self._derive(self.nodes[term], byte)
        return known

    def _derive(self, node: tuple[Any, ...], byte: int) -> int:
        kind = node[0]
        if kind == "bytes":
            return _EPSILON if node[1] >> byte & 1 else _EMPTY
        if kind == "texts":
            return self.texts(text[1:] for text in node[1] if text and text[0] == byte)
        if kind == "concat":
            return self._derive_concat(node[1], byte)
        if kind == "union":
            return self.union(self.derive(part, byte) for part in node[1])
        if kind == "intersection":
            return self.intersection(self.derive(part, byte) for part in node[1])
        if kind == "complement":
            return self.complement(self.derive(node[1], byte))
        if kind == "repeat":
            _, part, low, high = node
            rest = self.repeat(part, max(low - 1, 0), high if high < 0 else high - 1)
            return self.concat([self.derive(part, byte), rest])
        if kind == "state":
            return self._derive_state(node, byte)
        return _EMPTY

    def _derive_concat(self, parts: tuple[int, ...], byte: int) -> int:
        options: list[int] = []
        for at, part in enumerate(parts):
            options.append(self.concat([self.derive(part, byte), *parts[at + 1 :]]))
            if not self.nullable[part]:
                break
        return self.union(options)

    def _derive_state(self, node: tuple[Any, ...], byte: int) -> int:
        rows, accepting = node[1]
        for low, high, target in rows[node[2]]:
            if low <= byte <= high:
                return self.add(("state", node[1], target), accepting[target])
        return _EMPTY


def _byte_classes(lexeme: Lexeme) -> list[list[int]]:
    """Bytes that no part of the lexeme tells apart."""
    masks: set[int] = set()
    seen: set[int] = set()
    todo = [lexeme]
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        todo.extend(_operands(one))
        if one.op is Op.BYTES:
            masks.add(one.args[0])
        elif one.op in (Op.LITERAL, Op.LITERALS):
            masks.update(1 << byte for text in one.args for byte in text)
        elif one.op is Op.AUTOMATON:
            masks.update((1 << (high + 1)) - (1 << low) for row in one.args[0] for low, high, _ in row)
    classes = [(1 << 256) - 1]
    for mask in masks:
        classes = [part for old in classes for part in (old & mask, old & ~mask) if part]
    return [[byte for byte in range(256) if part >> byte & 1] for part in classes]


def _byte_automaton(lexeme: Lexeme) -> tuple[list[list[int]], set[int]]:
    """For each state its 256 targets (-1: a dead end), and the accepting states. 0 is the start."""
    terms = _Terms()
    classes = _byte_classes(lexeme)
    start = terms.take(lexeme)
    numbers = {start: 0}
    order = [start]
    edges: list[list[int]] = []
    for term in order:
        targets = []
        for members in classes:
            following = terms.derive(term, members[0])
            if following not in numbers:
                numbers[following] = len(order)
                order.append(following)
                if len(order) > MAX_STATES:
                    raise LimitExceeded(
                        "a part of this grammar needs too many states to be printed as EBNF",
                        resource="printed states",
                        limit=MAX_STATES,
                    )
            targets.append(numbers[following])
        edges.append(targets)
    accepting = {state for state, term in enumerate(order) if terms.nullable[term]}
    alive = _alive(edges, accepting)
    rows: list[list[int]] = []
    for targets in edges:
        row = [-1] * 256
        for members, target in zip(classes, targets, strict=True):
            for byte in members:
                row[byte] = target if target in alive else -1
        rows.append(row)
    return rows, accepting


def _alive(edges: list[list[int]], accepting: set[int]) -> set[int]:
    """States from which an accepting one can be reached."""
    sources: dict[int, list[int]] = {}
    for state, targets in enumerate(edges):
        for target in set(targets):
            sources.setdefault(target, []).append(state)
    alive = set(accepting)
    todo = list(accepting)
    while todo:
        for source in sources.get(todo.pop(), ()):
            if source not in alive:
                alive.add(source)
                todo.append(source)
    return alive


class _Reader:
    """Reads whole characters off a byte automaton."""

    def __init__(self, rows: list[list[int]], accepting: set[int]) -> None:
        self.rows = rows
        self.accepting = accepting
        self.known_tails: dict[tuple[int, int], CharacterRow] = {}

    def characters(self, state: int) -> CharacterRow:
        found: CharacterRow = []
        for lead, target in enumerate(self.rows[state]):
            if target < 0:
                continue
            if lead < 0x80:
                _append(found, lead, lead, target)
            elif 0xC2 <= lead <= 0xF4:
                n_tail = 1 if lead < 0xE0 else 2 if lead < 0xF0 else 3
                base = (lead & (0x3F >> n_tail)) << (6 * n_tail)
                for low, high, end in self.tails(target, n_tail):
                    self.check(base + low, base + high, n_tail)
                    _append(found, base + low, base + high, end)
            else:
                raise NotCharacters
        return found

    def check(self, low: int, high: int, n_tail: int) -> None:
        """Refuse overlong forms, surrogates and values beyond Unicode."""
        smallest = (0, 0x80, 0x800, 0x10000)[n_tail]
        if low < smallest or high > 0x10FFFF or (low <= 0xDFFF and high >= 0xD800):
            raise NotCharacters

    def tails(self, state: int, n_tail: int) -> CharacterRow:
        """Where ``n_tail`` continuation bytes lead, by the number that their bits spell."""
        if n_tail == 0:
            return [(0, 0, state)]
        key = (state, n_tail)
        known = self.known_tails.get(key)
        if known is None:
            row = self.rows[state]
            if state in self.accepting or any(t >= 0 for t in row[:0x80]) or any(t >= 0 for t in row[0xC0:]):
                raise NotCharacters
            known = self.known_tails[key] = []
            for bits, target in enumerate(row[0x80:0xC0]):
                base = bits << (6 * (n_tail - 1))
                for low, high, end in self.tails(target, n_tail - 1) if target >= 0 else ():
                    _append(known, base + low, base + high, end)
        return known


def _append(row: CharacterRow, low: int, high: int, target: int) -> None:
    """Add an edge, joined with the last one where the two touch."""
    if row and row[-1][2] == target and row[-1][1] + 1 == low:
        row[-1] = (row[-1][0], high, target)
    else:
        row.append((low, high, target))
