"""Lexemes by memoised Brzozowski derivatives: the slow twin of `maskwright.kernel.lexemes`.

Does: decide membership, nullability and emptiness for every `maskwright.lexeme.Lexeme`, exactly.
Does not: minimise, compress tables, or try to be quick.

The idea (Brzozowski 1964; Owens, Reppy and Turon 2009): the derivative of a language by a byte is
what may follow that byte. Expressions are interned as shallow tuples ``(op, operand numbers...)``,
so equal expressions are equal numbers and every walk is a loop over an explicit stack. Unions and
intersections are kept as sorted sets without duplicates, which is what makes the number of
derivatives finite.

Rejected: compiling to an NFA and simulating it. Complement and intersection would need
determinisation, which is more code to trust than the eight derivative rules below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from maskwright.lexeme import Lexeme, Op

from .multiples import written_out

__all__ = ["DerivativeTable", "accepts", "is_empty"]

EMPTY: Final = 0
EPSILON: Final = 1
#: All byte strings: the complement of the empty language.
EVERYTHING: Final = 2

Node = tuple[Any, ...]


class DerivativeTable:
    """Interned expressions and their derivatives. A *state* is the number of an expression.

    The table only grows and is owned by whoever made it; it needs a lock to be shared by threads.
    """

    def __init__(self) -> None:
        self._nodes: list[Node] = []
        self._numbers: dict[Node, int] = {}
        self._nullable: list[bool] = []
        # Built from literals, sets, concatenation, union and repetition only: such an expression
        # is empty only if it is EMPTY itself, because the constructors below absorb EMPTY.
        self._positive: list[bool] = []
        self._automata: dict[Node, int] = {}
        self._automaton_rows: list[Node] = []
        self._automaton_ends: list[Node] = []
        self._starts: dict[Lexeme, int] = {}
        self._steps: dict[tuple[int, int], int] = {}
        self._splits: dict[int, frozenset[int]] = {}
        self._classes: dict[int, tuple[int, ...]] = {}
        self._is_empty: dict[int, bool] = {}
        self._intern((Op.EMPTY,))
        self._intern((Op.EPSILON,))
        self._intern((Op.COMPLEMENT, EMPTY))

    # -- the questions ---------------------------------------------------------------------------

    def start(self, lexeme: Lexeme) -> int:
        """The state of a whole lexeme."""
        agenda = [lexeme]
        while agenda:
            top = agenda[-1]
            missing = [part for part in _operands(top) if part not in self._starts]
            if top not in self._starts and missing:
                agenda.extend(missing)
                continue
            agenda.pop()
            if top not in self._starts:
                self._starts[top] = self._build(top)
        return self._starts[lexeme]

    def step(self, state: int, byte: int) -> int:
        """The state after one byte."""
        steps = self._steps
        agenda = [state]
        while agenda:
            top = agenda[-1]
            missing = [part for part in self._inner(top) if (part, byte) not in steps]
            if (top, byte) not in steps and missing:
                agenda.extend(missing)
                continue
            agenda.pop()
            if (top, byte) not in steps:
                steps[top, byte] = self._derivative(top, byte)
        return steps[state, byte]

    def nullable(self, state: int) -> bool:
        """Whether the text may end here."""
        return self._nullable[state]

    def is_empty(self, state: int) -> bool:
        """Whether no text at all leads from here to an end. Exact: searches all derivatives."""
        known = self._is_empty
        if state in known:
            return known[state]
        came_from = {state: state}
        queue = [state]
        for current in queue:
            holds_text = self._nullable[current] or (self._positive[current] and current != EMPTY)
            if holds_text or known.get(current) is False:
                # So does everything on the way here.
                while current != came_from[current]:
                    known[current] = False
                    current = came_from[current]
                known[current] = False
                return False
            if current == EMPTY or known.get(current) is True:
                continue
            for byte in self.representatives(current):
                following = self.step(current, byte)
                if following not in came_from:
                    came_from[following] = current
                    queue.append(following)
        known.update(dict.fromkeys(queue, True))
        return True

    def byte_classes(self, state: int) -> tuple[int, ...]:
        """For each of the 256 bytes a class number; bytes of one class lead to the same state."""
        if state not in self._classes:
            classes = [0] * 256
            for mask in sorted(self._split_masks(state)):
                numbers: dict[tuple[int, int], int] = {}
                for byte in range(256):
                    pair = (classes[byte], mask >> byte & 1)
                    classes[byte] = numbers.setdefault(pair, len(numbers))
            self._classes[state] = tuple(classes)
        return self._classes[state]

    def representatives(self, state: int) -> list[int]:
        """One byte out of each class of `byte_classes`."""
        first: dict[int, int] = {}
        for byte, number in enumerate(self.byte_classes(state)):
            first.setdefault(number, byte)
        return list(first.values())

    # -- from descriptions -----------------------------------------------------------------------

    def _build(self, lexeme: Lexeme) -> int:
        """The number of a description whose operands have numbers already."""
        op, args = lexeme.op, lexeme.args
        parts = [self._starts[part] for part in _operands(lexeme)]
        if op is Op.EMPTY:
            return EMPTY
        if op is Op.EPSILON:
            return EPSILON
        if op in (Op.LITERAL, Op.LITERALS):
            return self._literals(args)
        if op is Op.BYTES:
            return self._intern((op, args[0])) if args[0] else EMPTY
        if op is Op.CONCAT:
            return self._concat(parts)
        if op is Op.UNION:
            return self._union(parts)
        if op is Op.INTERSECTION:
            return self._intersection(parts)
        if op is Op.COMPLEMENT:
            return self._complement(parts[0])
        if op is Op.REPEAT:
            return self._repeat(parts[0], args[1], args[2])
        if op is Op.ARRANGEMENT:
            return self._arrangement(args)
        if op is Op.MULTIPLES:
            args = written_out(args)
        number = self._automata.setdefault(args, len(self._automata))
        if number == len(self._automaton_rows):
            self._automaton_rows.append(args[0])
            self._automaton_ends.append(args[1])
        return self._intern((Op.AUTOMATON, number, 0)) if args[0] else EMPTY

    # -- constructors that keep expressions in normal form ---------------------------------------

    def _intern(self, node: Node) -> int:
        number = self._numbers.get(node)
        if number is None:
            number = self._numbers[node] = len(self._nodes)
            self._nodes.append(node)
            self._nullable.append(self._find_nullable(node))
            self._positive.append(self._find_positive(node))
        return number

    def _find_nullable(self, node: Node) -> bool:
        op, *args = node
        if op is Op.EPSILON:
            return True
        if op is Op.LITERALS:
            return b"" in args[0]
        if op in (Op.CONCAT, Op.INTERSECTION):
            return all(self._nullable[part] for part in args)
        if op is Op.UNION:
            return any(self._nullable[part] for part in args)
        if op is Op.COMPLEMENT:
            return not self._nullable[args[0]]
        if op is Op.REPEAT:
            return args[1] == 0 or self._nullable[args[0]]
        if op is Op.AUTOMATON:
            return bool(self._automaton_ends[args[0]][args[1]])
        return False  # EMPTY, BYTES

    def _find_positive(self, node: Node) -> bool:
        op, *args = node
        if op in (Op.CONCAT, Op.UNION):
            return all(self._positive[part] for part in args)
        if op is Op.REPEAT:
            return self._positive[args[0]]
        return op in (Op.EPSILON, Op.LITERALS, Op.BYTES)

    def _literals(self, texts: Iterable[bytes]) -> int:
        members = tuple(sorted(set(texts)))
        if not members:
            return EMPTY
        return EPSILON if members == (b"",) else self._intern((Op.LITERALS, members))

    def _concat(self, parts: Iterable[int]) -> int:
        """Nested to the right, always in pairs: (a (b (c ...)))."""
        flat: list[int] = []
        for part in parts:
            while self._nodes[part][0] is Op.CONCAT:
                _, head, part = self._nodes[part]
                flat.append(head)
            flat.append(part)
        if EMPTY in flat:
            return EMPTY
        result = EPSILON
        for part in reversed(flat):
            if part == EPSILON:
                continue
            result = part if result == EPSILON else self._intern((Op.CONCAT, part, result))
        return result

    def _members(self, op: Op, parts: Iterable[int]) -> set[int]:
        flat: set[int] = set()
        for part in parts:
            node = self._nodes[part]
            flat.update(node[1:] if node[0] is op else (part,))
        return flat

    def _union(self, parts: Iterable[int]) -> int:
        members = self._members(Op.UNION, parts) - {EMPTY}
        if EVERYTHING in members:
            return EVERYTHING
        if len(members) < 2:
            return members.pop() if members else EMPTY
        return self._intern((Op.UNION, *sorted(members)))

    def _intersection(self, parts: Iterable[int]) -> int:
        members = self._members(Op.INTERSECTION, parts) - {EVERYTHING}
        if EMPTY in members:
            return EMPTY
        if len(members) < 2:
            return members.pop() if members else EVERYTHING
        return self._intern((Op.INTERSECTION, *sorted(members)))

    def _complement(self, part: int) -> int:
        node = self._nodes[part]
        return int(node[1]) if node[0] is Op.COMPLEMENT else self._intern((Op.COMPLEMENT, part))

    def _repeat(self, part: int, low: int, high: int) -> int:
        """``high`` is -1 for unbounded."""
        if high == 0 or part == EPSILON:
            return EPSILON
        if part == EMPTY:
            return EPSILON if low == 0 else EMPTY
        if low == 1 and high == 1:
            return part
        return self._intern((Op.REPEAT, part, low, high))

    def _arrangement(self, args: tuple[Any, ...]) -> int:
        parts, required, separator, close, low, high = args
        left = tuple((self._starts[part], index in required) for index, part in enumerate(parts))
        most = len(parts) if high < 0 else high
        node = (Op.ARRANGEMENT, False, left, self._starts[separator], self._starts[close], low, most)
        return self._intern(node)

    # -- derivatives -----------------------------------------------------------------------------

    def _inner(self, state: int) -> tuple[int, ...]:
        """The parts of which the derivative needs the derivative."""
        op, *args = self._nodes[state]
        if op is Op.CONCAT:
            return (args[0], args[1]) if self._nullable[args[0]] else (args[0],)
        if op in (Op.UNION, Op.INTERSECTION):
            return tuple(args)
        if op is Op.ARRANGEMENT:
            is_behind, left, separator, close, *_ = args
            return (separator, close) if is_behind else tuple(part for part, _ in left)
        return (args[0],) if op in (Op.COMPLEMENT, Op.REPEAT) else ()

    def _derivative(self, state: int, byte: int) -> int:
        """One rule per kind; the derivatives of `_inner` are in the memo already."""
        op, *args = self._nodes[state]
        inner = [self._steps[part, byte] for part in self._inner(state)]
        if op is Op.BYTES:
            return EPSILON if args[0] >> byte & 1 else EMPTY
        if op is Op.LITERALS:
            return self._literals(text[1:] for text in args[0] if text[:1] == bytes([byte]))
        if op is Op.CONCAT:
            first = self._concat((inner[0], args[1]))
            return self._union((first, inner[1])) if len(inner) == 2 else first
        if op is Op.UNION:
            return self._union(inner)
        if op is Op.INTERSECTION:
            return self._intersection(inner)
        if op is Op.COMPLEMENT:
            return self._complement(inner[0])
        if op is Op.REPEAT:
            # Also right for a nullable part: leaving out a turn is then the same as an empty turn.
            part, low, high = args
            rest = self._repeat(part, max(low - 1, 0), high if high < 0 else high - 1)
            return self._concat((inner[0], rest))
        if op is Op.ARRANGEMENT:
            return self._arranged(args, inner)
        if op is Op.AUTOMATON:
            for low, high, target in self._automaton_rows[args[0]][args[1]]:
                if low <= byte <= high:
                    return self._intern((op, args[0], target))
        return EMPTY

    def _arranged(self, args: list[Any], inner: list[int]) -> int:
        """Behind a part: a separator and more, or the close. Else: one of the parts that are left.

        ``low`` and ``high`` are what is still needed and what there still is room for. Whether that can be
        met is left to the search for emptiness.
        """
        is_behind, left, separator, close, low, high = args
        if is_behind:
            another = self._intern((Op.ARRANGEMENT, False, left, separator, close, low, high))
            options = [self._concat((inner[0], another))] if left and high > 0 else []
            if low <= 0 and not any(required for _, required in left):
                options.append(inner[1])
            return self._union(options)
        options = []
        for place, after in enumerate(inner):
            rest = (*left[:place], *left[place + 1 :])
            behind = self._intern((Op.ARRANGEMENT, True, rest, separator, close, max(low - 1, 0), high - 1))
            options.append(self._concat((after, behind)))
        return self._union(options)

    def _split_masks(self, state: int) -> frozenset[int]:
        """Byte sets (256-bit masks) such that bytes in exactly the same ones behave alike."""
        splits = self._splits
        agenda = [state]
        while agenda:
            top = agenda[-1]
            missing = [part for part in self._inner(top) if part not in splits]
            if top not in splits and missing:
                agenda.extend(missing)
                continue
            agenda.pop()
            if top not in splits:
                inner: Callable[..., frozenset[int]] = frozenset[int]().union
                splits[top] = self._own_masks(top) | inner(*(splits[part] for part in self._inner(top)))
        return splits[state]

    def _own_masks(self, state: int) -> frozenset[int]:
        op, *args = self._nodes[state]
        if op is Op.BYTES:
            return frozenset((args[0],))
        if op is Op.LITERALS:
            return frozenset(1 << text[0] for text in args[0] if text)
        if op is Op.AUTOMATON:
            row = self._automaton_rows[args[0]][args[1]]
            return frozenset((1 << (high + 1)) - (1 << low) for low, high, _ in row)
        return frozenset()


def _operands(lexeme: Lexeme) -> tuple[Lexeme, ...]:
    if lexeme.op in (Op.CONCAT, Op.UNION, Op.INTERSECTION):
        return lexeme.args
    if lexeme.op is Op.ARRANGEMENT:
        return (*lexeme.args[0], *lexeme.args[2:4])
    return (lexeme.args[0],) if lexeme.op in (Op.COMPLEMENT, Op.REPEAT) else ()


def accepts(lexeme: Lexeme, text: bytes) -> bool:
    """Whether a lexeme holds a byte string.

    >>> from maskwright.lexeme import literal, star
    >>> accepts(star(literal(b"ab")), b"abab"), accepts(star(literal(b"ab")), b"aba")
    (True, False)
    """
    table = DerivativeTable()
    state = table.start(lexeme)
    for byte in text:
        state = table.step(state, byte)
    return table.nullable(state)


def is_empty(lexeme: Lexeme) -> bool:
    """Whether a lexeme holds no byte string at all.

    >>> from maskwright.lexeme import intersection, literal
    >>> is_empty(intersection(literal(b"a"), literal(b"b")))
    True
    """
    table = DerivativeTable()
    return table.is_empty(table.start(lexeme))
