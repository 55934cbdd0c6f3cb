"""An Earley recogniser over rules, byte by byte: the slow twin of the kernel's automaton.

Does: say after each byte whether the text so far is complete, and whether it can still become so.
Handles left, right and mutual recursion, nullable rules, ambiguity, counts and registers.
Does not: intern states or share anything between texts, which is what the kernel is about and
what this module checks.

The idea (Earley 1970): set j holds the items that are possible after j bytes; an item is an
expression that began at some origin, and how far it has got. Each set records who waits in it for
which sub-expression (they go on when it completes) and what completed without reading anything (late
waiters go on at once, which is what makes nullable rules right).

Rejected: parsing with derivatives of the whole grammar (Might, Darais and Spiewak 2011). Shorter,
but registers and token edges do not fit in it, and its termination argument is subtle.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from maskwright.rules import Act, Call, Expr, Lex, Rule, Tokens

from .lexemes import DerivativeTable
from .liveness import BOUNDARY, Context, Liveness, Spelling
from .positions import FRESH, Position, Positions, Register, apply_act

__all__ = ["ReferenceRecogniser", "accepts"]

#: What is waited for: an expression, entered with a register.
Goal = tuple[Expr, Register]


class Item(NamedTuple):
    """An expression that began after ``origin`` bytes, and how far it has got."""

    position: Position
    entry: Register
    origin: int
    register: Register


class EarleySet:
    """Everything that is possible after some number of bytes; not changed once it is closed."""

    def __init__(self) -> None:
        self.items: set[Item] = set()
        self.waiting: dict[Goal, list[Item]] = {}
        self.empty_matches: dict[Goal, list[Register]] = {}
        self.readers: list[Item] = []
        self.complete = False


class ReferenceRecogniser:
    """Follows one text through a grammar.

    Args:
        rule: The root. Lazy rules are expanded when first predicted or looked at for liveness.
        spelling: The byte strings that can follow; all of them if not given.
        token_ids: The ids that `Tokens` may use; any if not given.

    Raises:
        GrammarError: A rule reached so far is malformed.
    """

    def __init__(
        self,
        rule: Rule,
        *,
        spelling: Spelling | None = None,
        token_ids: frozenset[int] | None = None,
    ) -> None:
        self._table = DerivativeTable()
        self._positions = Positions(self._table)
        self._liveness = Liveness(self._positions, spelling or Spelling.all_bytes(), token_ids)
        # A call of our own around the root: nothing in the grammar can wait for it.
        self._root = Call(rule)
        start = Item(self._positions.start(self._root), FRESH, 0, FRESH)
        self._chart = [self._closed([start], 0)]

    def copy(self) -> ReferenceRecogniser:
        """An independent recogniser at the same place. Closed sets never change, so they are shared."""
        twin = object.__new__(ReferenceRecogniser)
        twin.__dict__.update(self.__dict__)
        twin._chart = list(self._chart)
        return twin

    @property
    def length(self) -> int:
        """How many steps were made: one per byte, and one for a token without text."""
        return len(self._chart) - 1

    def truncate(self, length: int) -> None:
        """Go back to an earlier `length`."""
        del self._chart[length + 1 :]

    def advance(self, byte: int) -> bool:
        """Read one byte, whatever comes of it. Returns `is_alive`."""
        self._chart.append(self._closed(self._after_byte(byte), len(self._chart)))
        return self.is_alive()

    def advance_token(self, token_id: int, text: bytes) -> bool:
        """Read one token: by its text, by `Tokens` expressions that name it, or both.

        Args:
            token_id: The id.
            text: Its bytes; empty for a token that has no text, such as a special token.

        Returns:
            `is_alive`.
        """
        named = [
            item._replace(position=self._positions.after_child(item.position))
            for item in self._chart[-1].readers
            if isinstance(item.position.expr, Tokens)
            and token_id in item.position.expr.ids
            and self._liveness.token_usable(token_id)
        ]
        for byte in text[:-1]:
            self._chart.append(self._closed(self._after_byte(byte), len(self._chart)))
        spelled = self._after_byte(text[-1]) if text else []
        # Both readings end after the same bytes, so that what follows is parsed once.
        self._chart.append(self._closed([*spelled, *named], len(self._chart)))
        return self.is_alive()

    def is_complete(self) -> bool:
        """Whether the text so far is in the language."""
        return self._chart[-1].complete

    def is_alive(self, spelling: frozenset[int] = frozenset((BOUNDARY,))) -> bool:
        """Whether some continuation makes the text complete. Exact.

        Args:
            spelling: Where the text stands inside tokens; by default between two.
        """
        if self.is_complete() and BOUNDARY in spelling:
            return True
        return self._can_end(self._chart[-1].readers, spelling)

    def awaits_token(self) -> bool:
        """Whether a `Tokens` expression may come next and lead to an end."""
        tokens = [item for item in self._chart[-1].readers if isinstance(item.position.expr, Tokens)]
        return self._can_end(tokens, frozenset((BOUNDARY,)))

    def _can_end(self, readers: list[Item], spelling: frozenset[int]) -> bool:
        """Whether one of the items leads to an end of the root: up through all who wait for it."""
        agenda = [(item, state) for item in readers for state in spelling]
        seen = set(agenda)
        while agenda:
            item, state = agenda.pop()
            for end in self._liveness.ends(item.position, Context(item.register, state)):
                if item.position.expr is self._root and end.spelling == BOUNDARY:
                    return True
                for parent in self._waiting_for(item):
                    pair = (self._gone_on(parent, end.register), end.spelling)
                    if pair not in seen:
                        seen.add(pair)
                        agenda.append(pair)
        return False

    def spelled(self, spelling: frozenset[int], byte: int) -> frozenset[int]:
        """Where the text stands inside tokens after one more byte."""
        return self._liveness.spelling.step(spelling, byte)

    def possible_bytes(self, spelling: frozenset[int] = frozenset((BOUNDARY,))) -> list[int]:
        """The bytes after which the text is still alive, in order."""
        possible = []
        for byte in range(256):
            after = self.spelled(spelling, byte)
            if after and (seeds := self._after_byte(byte)):
                self._chart.append(self._closed(seeds, len(self._chart)))
                if self.is_alive(after):
                    possible.append(byte)
                self._chart.pop()
        return possible

    # -- Earley's three steps --------------------------------------------------------------------

    def _after_byte(self, byte: int) -> list[Item]:
        """Scan: the readers that can take the byte."""
        seeds = []
        for item in self._chart[-1].readers:
            if isinstance(item.position.expr, Lex):
                state = self._table.step(item.position.progress, byte)
                if not self._table.is_empty(state):
                    seeds.append(item._replace(position=Position(item.position.expr, state)))
        return seeds

    def _closed(self, seeds: Iterable[Item], here: int) -> EarleySet:
        """Predict and complete until nothing new comes."""
        current = EarleySet()
        agenda = list(seeds)
        while agenda:
            item = agenda.pop()
            if item in current.items:
                continue
            current.items.add(item)
            if self._reads(item):
                current.readers.append(item)
            if isinstance(item.position.expr, Act) and item.position.progress == 0:
                agenda.extend(self._acted(item))
            agenda.extend(self._predicted(item, current, here))
            if self._positions.can_finish(item.position):
                agenda.extend(self._completed(item, current, here))
        return current

    @staticmethod
    def _reads(item: Item) -> bool:
        expr, progress = item.position
        return isinstance(expr, Lex) or (isinstance(expr, Tokens) and progress == 0)

    def _acted(self, item: Item) -> list[Item]:
        assert isinstance(item.position.expr, Act)
        register = apply_act(item.position.expr, item.register)
        if register is None:
            return []
        return [item._replace(position=self._positions.after_child(item.position), register=register)]

    def _predicted(self, item: Item, current: EarleySet, here: int) -> list[Item]:
        found = []
        for child in self._positions.children(item.position):
            entry = self._positions.register_in(item.position, item.register)
            goal = (child, entry)
            if goal not in current.waiting:
                current.waiting[goal] = []
                found.append(Item(self._positions.start(child), entry, here, entry))
            current.waiting[goal].append(item)
            found.extend(self._gone_on(item, register) for register in current.empty_matches.get(goal, ()))
        return found

    def _completed(self, item: Item, current: EarleySet, here: int) -> list[Item]:
        if item.position.expr is self._root:
            current.complete = True
            return []
        goal = (item.position.expr, item.entry)
        if item.origin == here:
            current.empty_matches.setdefault(goal, []).append(item.register)
            parents = current.waiting[goal]
        else:
            parents = self._chart[item.origin].waiting[goal]
        return [self._gone_on(parent, item.register) for parent in parents]

    def _gone_on(self, parent: Item, child_register: Register) -> Item:
        position = self._positions.after_child(parent.position)
        register = self._positions.register_back(parent.position, parent.register, child_register)
        return parent._replace(position=position, register=register)

    def _waiting_for(self, item: Item) -> list[Item]:
        if item.position.expr is self._root:
            return []
        return self._chart[item.origin].waiting[item.position.expr, item.entry]


def accepts(rule: Rule, data: bytes) -> bool:
    """Whether a text is in the language of a rule.

    >>> from maskwright.lexeme import literal
    >>> from maskwright.rules import Call, Lex, Repeat, Rule, Seq
    >>> nested = Rule("nested")
    >>> nested.define(Seq((Lex(literal(b"(")), Repeat(Call(nested), 0, 2), Lex(literal(b")")))))
    >>> accepts(nested, b"(()())"), accepts(nested, b"(()()())")
    (True, False)
    """
    recogniser = ReferenceRecogniser(rule)
    for byte in data:
        recogniser.advance(byte)
    return recogniser.is_complete()
