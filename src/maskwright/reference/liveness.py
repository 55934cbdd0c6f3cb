"""Can a match still be finished, with what the vocabulary can spell? Exactly.

Does: for a position, a register and a spelling state, give every (register, spelling state) in
which the expression can end after *some* further input. The recogniser walks its chart with that.
Does not: bound the search. It is a least fixpoint over a finite set of goals, so it ends by
itself; its size is (positions) x (registers) x (spelling states). A rule with n independent marks
has 2**n registers: fine for tests, not for wide objects in any order.

The idea: the texts a vocabulary can spell are a regular language, T* for the set T of its tokens,
and the intersection of a context-free with a regular language is context-free again (Bar-Hillel,
Perles and Shamir 1961). So the state of the T* automaton is carried along beside the register.

Rejected: a breadth-first search over token sequences. The stacks it meets grow without limit, so
it needs a bound and is wrong beyond it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from maskwright.rules import Act, Lex, Tokens

from .positions import Position, Positions, Register, apply_act

__all__ = ["BOUNDARY", "Context", "Liveness", "Spelling"]

#: The spelling state between two tokens.
BOUNDARY: Final = 0


class Spelling:
    """The automaton of all concatenations of tokens; nondeterministic.

    States are proper prefixes of tokens; 0 is the empty one, which is the boundary of two tokens.

    Args:
        tokens: The texts that can be emitted. Empty ones are ignored.
    """

    def __init__(self, tokens: Iterable[bytes]) -> None:
        texts = {text for text in tokens if text}
        singles = {text[0] for text in texts if len(text) == 1}
        #: For each state and byte the states that follow.
        self.rows: list[dict[int, tuple[int, ...]]] = [{}]
        if {byte for text in texts for byte in text} <= singles:
            # Each byte is a token of its own, so every text over these bytes can be spelled.
            self.rows[0] = dict.fromkeys(singles, (BOUNDARY,))
            return
        numbers = {b"": BOUNDARY}
        for text in sorted(texts):
            for end in range(1, len(text)):
                if text[:end] not in numbers:
                    numbers[text[:end]] = len(self.rows)
                    self.rows.append({})
        for prefix, state in numbers.items():
            for byte in range(256):
                longer = prefix + bytes([byte])
                ends = (BOUNDARY,) if longer in texts else ()
                goes_on = (numbers[longer],) if longer in numbers else ()
                if ends or goes_on:
                    self.rows[state][byte] = ends + goes_on

    @classmethod
    def all_bytes(cls) -> Spelling:
        """Every byte string can be spelled."""
        return cls(bytes([byte]) for byte in range(256))

    def step(self, states: frozenset[int], byte: int) -> frozenset[int]:
        """The states after one byte."""
        return frozenset(after for state in states for after in self.rows[state].get(byte, ()))


class Context(NamedTuple):
    """What is carried through an expression."""

    register: Register
    spelling: int


Goal = tuple[Position, Context]


class Liveness:
    """The contexts in which positions can end; remembers what it found.

    Args:
        positions: The facts about expressions.
        spelling: What can be spelled.
        token_ids: The ids that `Tokens` may use, or None for any.
    """

    def __init__(
        self, positions: Positions, spelling: Spelling, token_ids: frozenset[int] | None = None
    ) -> None:
        self.spelling = spelling
        self.positions = positions
        self._token_ids = token_ids
        self._found: dict[Goal, set[Context]] = {}
        self._lexeme_ends: dict[tuple[int, int], frozenset[int]] = {}

    def token_usable(self, token_id: int) -> bool:
        """Whether a `Tokens` expression may use this id."""
        return self._token_ids is None or token_id in self._token_ids

    def ends(self, position: Position, context: Context) -> set[Context]:
        """Every context in which the expression can end, over all continuations."""
        goal = (position, context)
        if goal not in self._found:
            # Only whole solutions are kept: a rule that cannot be expanded must not leave half of one.
            self._found.update(_Solution(self, self._found).solve(goal))
        return self._found[goal]

    def direct_ends(self, goal: Goal) -> set[Context]:
        """The ends that need no sub-expression."""
        position, context = goal
        expr, progress = position
        if isinstance(expr, Lex):
            states = self._lexeme_ends_from(progress, context.spelling)
            return {Context(context.register, state) for state in states}
        ends = {context} if self.positions.can_finish(position) else set()
        if isinstance(expr, Act) and progress == 0:
            after = apply_act(expr, context.register)
            if after is not None:
                ends.add(Context(after, context.spelling))
        if isinstance(expr, Tokens) and progress == 0 and context.spelling == BOUNDARY:
            usable = [token_id for token_id in expr.ids if self.token_usable(token_id)]
            ends |= {context} if usable else set()
        return ends

    def _lexeme_ends_from(self, state: int, spelling: int) -> frozenset[int]:
        """The spelling states in which a lexeme can end: a walk of the product of both automata."""
        key = (state, spelling)
        if key not in self._lexeme_ends:
            table = self.positions.table
            ends: set[int] = set()
            queue = [key]
            seen = {key}
            for lexeme_state, spelling_state in queue:
                if table.nullable(lexeme_state):
                    ends.add(spelling_state)
                if len(ends) == len(self.spelling.rows):
                    break
                for pair in self._product_steps(lexeme_state, spelling_state):
                    if pair not in seen:
                        seen.add(pair)
                        queue.append(pair)
            self._lexeme_ends[key] = frozenset(ends)
        return self._lexeme_ends[key]

    def _product_steps(self, lexeme_state: int, spelling_state: int) -> set[tuple[int, int]]:
        table = self.positions.table
        if table.is_empty(lexeme_state):
            return set()
        classes = table.byte_classes(lexeme_state)
        # Bytes of one class that lead to the same spelling states need one look only.
        alike = {(classes[byte], after): byte for byte, after in self.spelling.rows[spelling_state].items()}
        return {
            (table.step(lexeme_state, byte), state) for (_, after), byte in alike.items() for state in after
        }


class _Solution:
    """Least fixpoint of one question: a goal is looked at again whenever one that it used has grown."""

    def __init__(self, liveness: Liveness, known: dict[Goal, set[Context]]) -> None:
        self._liveness = liveness
        self._known = known
        self._found: dict[Goal, set[Context]] = {}
        self._users: dict[Goal, set[Goal]] = {}
        self._agenda: list[Goal] = []

    def solve(self, first: Goal) -> dict[Goal, set[Context]]:
        self._ends_so_far(first, first)
        while self._agenda:
            goal = self._agenda.pop()
            ends = self._liveness.direct_ends(goal)
            for successor in self._successors(goal):
                ends |= self._ends_so_far(successor, goal)
            if not ends <= self._found[goal]:
                self._found[goal] |= ends
                self._agenda.extend(self._users[goal])
        return self._found

    def _ends_so_far(self, wanted: Goal, user: Goal) -> frozenset[Context]:
        if wanted in self._known:
            return frozenset(self._known[wanted])
        if wanted not in self._found:
            self._found[wanted] = set()
            self._users[wanted] = set()
            self._agenda.append(wanted)
        self._users[wanted].add(user)
        return frozenset(self._found[wanted])

    def _successors(self, goal: Goal) -> list[Goal]:
        """The goals that are left once the next sub-expression is done."""
        positions = self._liveness.positions
        position, context = goal
        after = positions.after_child(position)
        successors: list[Goal] = []
        for child in positions.children(position):
            entry = Context(positions.register_in(position, context.register), context.spelling)
            for end in self._ends_so_far((positions.start(child), entry), goal):
                register = positions.register_back(position, context.register, end.register)
                successors.append((after, Context(register, end.spelling)))
        return successors
