r"""Patterns with any look-around to one explicit automaton over characters.

Does: what `look` steps aside for: look-around inside repetition (``(?:(?!ab).)*c``) and look-behinds
of any length and content, nested in each other as they like. Does not: combine look-around with the
operators ``&`` and ``~`` (refused), or keep counts as counts.

The idea is an alternating automaton, made deterministic on the spot. An *atom* is a continuation:
"the rest of the subject is accepted by these nodes in turn". The state of the whole pattern is a
boolean formula over atoms; a look-ahead conjoins the atom of its body, a negative one the negation,
and reading a character replaces every atom by the formula of its successors. Look-behinds run from
the start of the subject beside it: each keeps the continuations it may have reached, with the
formula under which (a look-behind may hold a look-ahead), so whether it holds *here* is again a
formula. Everything is metered, since formulas may grow doubly exponentially.

Rejected: translating to an NFA and back per look-around; nesting then costs one determinisation per
level, and look-ahead inside repetition has no NFA without product states anyway.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from ..errors import LimitExceeded
from ..lexeme import Lexeme
from .automata import Automaton, partition
from .charset import ALL, Ranges, contains
from .encoding import Encoding
from .formula import FALSE, TRUE, Algebra, Formula, atom
from .simplify import at_edge
from .tree import ANY, And, Chars, Concat, Look, Node, Not, Repeat, Union, repetition
from .walk import every_node

__all__ = ["compile_automaton"]

#: Single steps (state times class of characters) for one pattern; some fifty microseconds each.
_MAX_STEPS: Final = 30_000
#: Units of work for one pattern (see `Algebra`); one or two seconds.
_MAX_WORK: Final = 1_000_000
#: Places that one closure may visit without reading a character.
_MAX_CLOSURE: Final = 5_000
#: Look-arounds inside one another.
_MAX_DEPTH: Final = 40

#: Continuations with a fixed meaning.
_END: Final = 0  #: only the empty rest is accepted
_ANYTHING: Final = 1  #: every rest is accepted
_REACHED: Final = 2  #: the end of a look-behind's body


class _Test(NamedTuple):
    """A look-around met on the way: the continuation of its body, or the number of a look-behind."""

    behind: bool
    number: int
    negative: bool


class _Move(NamedTuple):
    """A way on from a continuation: under these tests, read a character of a kind, then go on.

    ``ranges`` is None when nothing is read and ``target`` is one of the fixed continuations.
    """

    tests: frozenset[_Test]
    ranges: Ranges | None
    target: int


class _State(NamedTuple):
    main: Formula
    #: For each look-behind, what it may have reached and under which condition.
    behind: tuple[frozenset[tuple[int, Formula]], ...]


def compile_automaton(root: Node, encoding: Encoding) -> Lexeme:
    """The lexeme of a tree that is matched as a whole.

    Raises:
        LimitExceeded: Too many states or alternatives.
        NotImplementedError: Look-around together with ``&`` or ``~``.
    """
    if any(isinstance(node, And | Not) for node in every_node(root)):
        raise NotImplementedError("look-around inside a repetition cannot be combined with `&` or `~`")
    return _Builder(root).automaton().lexeme(encoding)


class _Builder:
    def __init__(self, root: Node) -> None:
        self._numbers: dict[tuple[Node, int], int] = {}
        self._conts: list[tuple[Node, int] | None] = [None, None, None]
        self._moves: dict[int, list[_Move]] = {}
        self._repeats: dict[tuple[Node, int, int | None], Node] = {}
        self._bodies: dict[Node, Node] = {}
        self.algebra = Algebra(_MAX_WORK)
        self._behind: dict[Look, int] = {}
        self._behind_starts: list[int] = []
        #: Successors that depend on no look-behind, hence not on the state: (atom, kind) to formula.
        self.fixed: dict[tuple[int, int], Formula] = {}
        self._is_fixed: dict[int, bool] = {}
        self._kinds_in: dict[Ranges, frozenset[int]] = {}
        self._register(root)
        self._start = self._cont(root, _END)
        sets = {node.ranges for node in every_node(root) if isinstance(node, Chars)}
        self.kinds = partition(sorted(sets))

    def _register(self, root: Node) -> None:
        """Number the look-behinds, inner ones first: an outer one asks whether an inner one holds."""
        depth: dict[Node, int] = {root: 0}
        looks: list[Look] = []
        stack = [root]
        while stack:
            node = stack.pop()
            inner = depth[node] + isinstance(node, Look)
            if inner > _MAX_DEPTH:
                raise LimitExceeded(
                    "its look-arounds are nested too deep", resource="look-around nesting", limit=_MAX_DEPTH
                )
            for child in _children(node):
                if depth.get(child, -1) < inner:
                    depth[child] = inner
                    stack.append(child)
            if isinstance(node, Look) and node.behind:
                looks.append(node)
        any_text = repetition(ANY, 0, None)
        for look in sorted(set(looks), key=lambda look: -depth[look]):
            self._behind[look] = len(self._behind_starts)
            self._behind_starts.append(self._cont(any_text, self._cont(look.body, _REACHED)))

    def _cont(self, node: Node, then: int) -> int:
        key = (node, then)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._conts)
            self._conts.append(key)
        return number

    def kinds_in(self, ranges: Ranges) -> frozenset[int]:
        """The kinds of characters that make up a set."""
        found = self._kinds_in.get(ranges)
        if found is None:
            found = frozenset(
                number for number, kind in enumerate(self.kinds) if contains(ranges, kind[0][0])
            )
            self._kinds_in[ranges] = found
        return found

    def is_fixed(self, number: int) -> bool:
        """Whether what follows an atom is the same in every state: no look-behind is asked."""
        found = self._is_fixed.get(number)
        if found is None:
            tests = {test for move in self.closure(number) for test in move.tests}
            found = not any(test.behind or not self.is_fixed(test.number) for test in tests)
            self._is_fixed[number] = found
        return found

    # Closures: what a continuation may do next. They do not depend on the state.

    def closure(self, start: int) -> list[_Move]:
        found = self._moves.get(start)
        if found is not None:
            return found
        moves: list[_Move] = []
        seen: set[tuple[int, frozenset[_Test]]] = set()
        stack: list[tuple[int, frozenset[_Test]]] = [(start, frozenset())]
        while stack:
            place = stack.pop()
            if place in seen:
                continue
            seen.add(place)
            if len(seen) > _MAX_CLOSURE:
                raise LimitExceeded(
                    "it has too many empty repetitions around a look-around",
                    resource="look-around places",
                    limit=_MAX_CLOSURE,
                )
            number, tests = place
            entry = self._conts[number]
            if entry is None:
                moves.append(_Move(tests, None, number))
            elif isinstance(entry[0], Chars):
                moves.append(_Move(tests, entry[0].ranges, entry[1]))
            else:
                stack.extend(self._unfold(entry[0], entry[1], tests))
        found = self._moves[start] = moves
        return found

    def _unfold(
        self, node: Node, then: int, tests: frozenset[_Test]
    ) -> Iterator[tuple[int, frozenset[_Test]]]:
        if isinstance(node, Concat):
            for part in reversed(node.parts):
                then = self._cont(part, then)
            yield then, tests
        elif isinstance(node, Union):
            for part in node.parts:
                yield self._cont(part, then), tests
        elif isinstance(node, Repeat):
            if node.low == 0:
                yield then, tests
            yield self._cont(self._some(node), self._again(node, then)), tests
        elif isinstance(node, Look):
            if node.behind:
                test = _Test(True, self._behind[node], node.negative)
            else:
                test = _Test(False, self._cont(node.body, _ANYTHING), node.negative)
            yield then, tests | {test}

    def _some(self, node: Repeat) -> Node:
        """The body of one iteration. An empty one adds nothing where iterations are optional."""
        body = node.body
        if node.low > 0 or body.has_look or not body.nullable:
            return body
        if node.body not in self._bodies:
            self._bodies[body] = at_edge(body, ALL, last=True)
        return self._bodies[body]

    def _again(self, node: Repeat, then: int) -> int:
        low = max(node.low - 1, 0)
        high = None if node.high is None else node.high - 1
        if high == 0:
            return then
        key = (node.body, low, high)
        if key == (node.body, node.low, node.high):
            return self._cont(node, then)
        if key not in self._repeats:
            self._repeats[key] = Repeat(*key)
        return self._cont(self._repeats[key], then)

    # Steps.

    def automaton(self) -> Automaton:
        """Build all states."""
        first = _State(atom(self._start), tuple(frozenset([(at, TRUE)]) for at in self._behind_starts))
        numbers = {first: 0}
        states = [first]
        rows: list[list[int]] = []
        accepting: list[bool] = []
        for state in states:
            place = _Place(self, state)
            accepting.append(place.ends())
            row: list[int] = []
            for kind in range(len(self.kinds)):
                following = place.step(kind)
                if following not in numbers:
                    numbers[following] = len(states)
                    states.append(following)
                row.append(numbers[following])
            rows.append(row)
            if len(states) * len(self.kinds) > _MAX_STEPS:
                raise LimitExceeded(
                    "its look-around needs too many states", resource="look-around steps", limit=_MAX_STEPS
                )
        return Automaton(self.kinds, rows, accepting)


class _Place:
    """A state at one place of the subject, with what is worked out about it remembered."""

    def __init__(self, builder: _Builder, state: _State) -> None:
        self._builder = builder
        self._algebra = builder.algebra
        self._state = state
        self._holds: dict[int, Formula] = {}
        self._next: dict[int, Formula] = {}
        self._ends: dict[int, bool] = {}
        self._passes: dict[frozenset[_Test], Formula] = {}
        self._kind = -1

    def _behind(self, number: int) -> Formula:
        """Whether a look-behind holds here, as a formula over continuations from here on."""
        found = self._holds.get(number)
        if found is None:
            found = self._holds[number] = self._algebra.any_of(
                self._algebra.both(condition, self._here(move.tests))
                for at, condition in self._state.behind[number]
                for move in self._builder.closure(at)
                if move.target == _REACHED and move.ranges is None
            )
        return found

    def _here(self, tests: frozenset[_Test]) -> Formula:
        out = TRUE
        for test in tests:
            one = self._behind(test.number) if test.behind else atom(test.number)
            out = self._algebra.both(out, self._algebra.negated(one) if test.negative else one)
        return out

    # At the end of the subject.

    def ends(self) -> bool:
        """Whether the subject may end here."""
        return self._formula_ends(self._state.main)

    def _formula_ends(self, formula: Formula) -> bool:
        return any(
            all(self._atom_ends(number) if number >= 0 else not self._atom_ends(~number) for number in clause)
            for clause in formula
        )

    def _atom_ends(self, number: int) -> bool:
        if number not in self._ends:
            self._ends[number] = any(
                move.ranges is None and all(self._test_ends(test) for test in move.tests)
                for move in self._builder.closure(number)
            )
        return self._ends[number]

    def _test_ends(self, test: _Test) -> bool:
        if test.behind:
            return self._formula_ends(self._behind(test.number)) != test.negative
        return self._atom_ends(test.number) != test.negative

    # One character on.

    def step(self, kind: int) -> _State:
        """The state behind a character of a kind."""
        self._kind = kind
        self._next = {}
        self._passes = {}
        main = self._formula_next(self._state.main)
        if main in (TRUE, FALSE):
            # Nothing can change any more, so what the look-behinds saw is of no interest.
            return _State(main, ())
        return _State(main, tuple(self._behind_next(reached) for reached in self._state.behind))

    def _behind_next(self, reached: frozenset[tuple[int, Formula]]) -> frozenset[tuple[int, Formula]]:
        out: dict[int, list[Formula]] = {}
        for at, earlier in reached:
            before = self._formula_next(earlier)
            moves = self._builder.closure(at)
            self._algebra.spend(len(moves))
            for move in moves:
                if move.ranges is not None and self._kind in self._builder.kinds_in(move.ranges):
                    condition = self._algebra.both(before, self._tests_next(move.tests))
                    out.setdefault(move.target, []).append(condition)
        merged = ((target, self._algebra.any_of(conditions)) for target, conditions in out.items())
        return frozenset((target, condition) for target, condition in merged if condition)

    def _formula_next(self, formula: Formula) -> Formula:
        if formula in (TRUE, FALSE):
            return formula
        options: list[Formula] = []
        for clause in formula:
            out = TRUE
            for number in clause:
                one = self._atom_next(max(number, ~number))
                out = self._algebra.both(out, one if number >= 0 else self._algebra.negated(one))
                if not out:
                    break
            options.append(out)
        return self._algebra.any_of(options)

    def _atom_next(self, number: int) -> Formula:
        builder = self._builder
        key = (number, self._kind)
        found = builder.fixed.get(key)
        if found is None:
            found = self._next.get(number)
        if found is None:
            moves = builder.closure(number)
            self._algebra.spend(len(moves) + 1)
            found = self._algebra.any_of(
                self._algebra.both(
                    self._tests_next(move.tests), TRUE if move.target == _ANYTHING else atom(move.target)
                )
                for move in moves
                if (
                    move.target == _ANYTHING
                    if move.ranges is None
                    else self._kind in builder.kinds_in(move.ranges)
                )
            )
            self._next[number] = found
            if builder.is_fixed(number):
                builder.fixed[key] = found
        return found

    def _tests_next(self, tests: frozenset[_Test]) -> Formula:
        found = self._passes.get(tests)
        if found is None:
            found = TRUE
            for test in tests:
                if test.behind:
                    one = self._formula_next(self._behind(test.number))
                else:
                    one = self._atom_next(test.number)
                found = self._algebra.both(found, self._algebra.negated(one) if test.negative else one)
            self._passes[tests] = found
        return found


def _children(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Concat | Union | And):
        return node.parts
    if isinstance(node, Repeat | Not | Look):
        return (node.body,)
    return ()
