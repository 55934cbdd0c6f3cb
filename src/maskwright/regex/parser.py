"""The part of pattern parsing that all flavours share: groups, alternatives, quantifiers.

Does: one left-to-right pass with an explicit stack of open groups. Does not: decide what an escape,
a class or a ``(?`` means; `ecma` and `rust` do.

Rejected: recursive descent. A pattern is untrusted input, and 60,000 open parentheses must be an
error, not a stack overflow. Nesting is metered all the same, because everything downstream (the
tree passes, the kernel) has work that grows with depth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NoReturn

from ..errors import LimitExceeded, RegexError
from .charset import Ranges, invert
from .classes import fold_case
from .tree import (
    ANY,
    Chars,
    Look,
    Node,
    alternatives,
    conjunction,
    negation,
    repetition,
    sequence,
)

__all__ = ["MAX_COUNT", "MAX_NESTING", "Group", "NotRegularError", "PatternParser"]

#: Open groups at one place. Patterns that people write stay below twenty.
MAX_NESTING: Final = 1_000
#: Largest repetition count; the kernel keeps counts in 32 bits.
MAX_COUNT: Final = 2**31 - 2

GroupKind = Literal["group", "ahead", "not ahead", "behind", "not behind"]


class NotRegularError(RegexError):
    """The pattern is well-formed but asks for something that no regular language has."""


@dataclass(slots=True)
class Group:
    """An open group while its inside is read."""

    kind: GroupKind
    offset: int
    flags: frozenset[str]
    options: list[Node]
    conjuncts: list[Node]
    items: list[Node]
    negated: bool = False  #: a ``~`` waits for the next item


class PatternParser:
    """Base of the flavours. One instance parses one pattern.

    Args:
        pattern: The text.
        flags: Letters of the flags in force at the start.
    """

    extended_operators = False

    def __init__(self, pattern: str, flags: frozenset[str]) -> None:
        self.pattern = pattern
        self.flags = flags
        self.pos = 0
        self._groups: list[Group] = [Group("group", 0, flags, [], [], [])]

    def parse(self) -> Node:
        """The tree of the whole pattern.

        Raises:
            RegexError: The pattern is malformed or not regular.
            LimitExceeded: Groups are nested too deep, or a count is too large.
        """
        pattern = self.pattern
        end = len(pattern)
        while self.pos < end:
            char = pattern[self.pos]
            if char == "(":
                self._open()
            elif char == ")":
                self._close()
            elif char == "|":
                self._end_option()
                self.pos += 1
            elif self.skip_blank() or (self.extended_operators and self._operator(char)):
                continue
            else:
                start = self.pos
                self._add(self.quantified(self.atom(char), start))
        if len(self._groups) > 1:
            self.fail("this group is never closed", self._groups[-1].offset, hint="add `)`")
        return self._finish(self._groups[0])

    # Hooks of the flavours.

    def atom(self, char: str) -> Node:
        """Read one atom that starts with ``char`` at ``self.pos``."""
        raise NotImplementedError

    def open_special(self) -> GroupKind | None:
        """Read what follows ``(?``. None: no group was opened (only flags were set)."""
        raise NotImplementedError

    def braces(self) -> tuple[int, int | None] | None:
        """Read ``{m,n}`` at ``self.pos``, or return None without moving: it is not a quantifier."""
        raise NotImplementedError

    def skip_blank(self) -> bool:
        """Skip what the flavour ignores at this place; whether anything was skipped."""
        return False

    # Helpers.

    def fail(self, message: str, offset: int | None = None, *, hint: str | None = None) -> NoReturn:
        """Raise for a malformed pattern."""
        place = self.pos if offset is None else offset
        raise RegexError(message, pattern=self.pattern, offset=place, hint=hint)

    def refuse(self, message: str, offset: int, *, hint: str | None = None) -> NoReturn:
        """Raise for a well-formed pattern that cannot be enforced."""
        raise NotRegularError(message, pattern=self.pattern, offset=offset, hint=hint)

    def eat(self, text: str) -> bool:
        """Move past ``text`` if it comes next."""
        if self.pattern.startswith(text, self.pos):
            self.pos += len(text)
            return True
        return False

    def chars(self, ranges: Ranges) -> Node:
        """A class, widened to both cases under the ``i`` flag."""
        return Chars(fold_case(ranges) if "i" in self.flags else ranges)

    def char(self, code: int) -> Node:
        """One character; a surrogate matches nothing."""
        if 0xD800 <= code <= 0xDFFF:
            return Chars(())
        return self.chars(((code, code),))

    def line_start(self, terminators: Ranges) -> Node:
        """``^`` under the flags in force."""
        body = Chars(invert(terminators)) if "m" in self.flags else ANY
        return Look(body, behind=True, negative=True)

    def line_end(self, terminators: Ranges) -> Node:
        """``$`` under the flags in force."""
        body = Chars(invert(terminators)) if "m" in self.flags else ANY
        return Look(body, behind=False, negative=True)

    def word_boundary(self, word: Ranges, *, negative: bool) -> Node:
        """``\\b``, or ``\\B``: the kinds of the characters on the two sides differ, or agree."""

        def beside(kind: Chars, *, behind: bool, inside: bool) -> Node:
            return Look(kind, behind=behind, negative=not inside)

        kind = Chars(word)
        return alternatives(
            sequence(
                [
                    beside(kind, behind=True, inside=before),
                    beside(kind, behind=False, inside=before == negative),
                ]
            )
            for before in (True, False)
        )

    def quantified(self, node: Node, start: int) -> Node:
        """Apply the quantifier that follows, if any."""
        while self.skip_blank():
            pass
        pattern = self.pattern
        char = pattern[self.pos] if self.pos < len(pattern) else ""
        if char == "*":
            low, high = 0, None
        elif char == "+":
            low, high = 1, None
        elif char == "?":
            low, high = 0, 1
        elif char == "{":
            found = self.braces()
            if found is None:
                return node
            low, high = found
            self.pos -= 1
        else:
            return node
        at = self.pos
        self.pos += 1
        self.check_quantifiable(node, start, at)
        if high is not None and high < low:
            self.fail(f"the counts {low} and {high} are out of order", start)
        if max(low, high or 0) > MAX_COUNT:
            raise LimitExceeded(
                f"pattern offset {start}: a repetition count is too large",
                resource="repetition count",
                limit=MAX_COUNT,
            )
        # Laziness chooses among matches; which texts match does not depend on it.
        if not self.eat("?") and self.pos < len(pattern) and pattern[self.pos] == "+":
            self.possessive()
        if self.pos < len(pattern) and pattern[self.pos] in "*+?":
            self.fail("nothing to repeat here", hint="group the quantified part: (?:...)")
        return repetition(node, low, high)

    def possessive(self) -> None:
        """A ``+`` follows a quantifier."""

    def check_quantifiable(self, node: Node, start: int, at: int) -> None:
        """Fail if a quantifier may not follow this node."""

    def count(self) -> int | None:
        """Read a decimal number."""
        start = self.pos
        pattern = self.pattern
        while self.pos < len(pattern) and pattern[self.pos] in "0123456789":
            self.pos += 1
        digits = pattern[start : self.pos]
        # Ten digits exceed MAX_COUNT already; more only cost time.
        return int(digits.lstrip("0")[:11] or 0) if digits else None

    # Groups.

    def _open(self) -> None:
        start = self.pos
        if len(self._groups) > MAX_NESTING:
            raise LimitExceeded(
                f"pattern offset {start}: groups are nested too deep",
                resource="group nesting",
                limit=MAX_NESTING,
                hint="flatten the pattern",
            )
        flags = self.flags
        self.pos += 1
        kind = self.open_special() if self.eat("?") else "group"
        if kind is not None:
            self._groups.append(Group(kind, start, flags, [], [], []))

    def _close(self) -> None:
        if len(self._groups) == 1:
            self.fail("this `)` closes no group", hint="write `\\)` for the character")
        self.pos += 1
        group = self._groups.pop()
        node = self._finish(group)
        self.flags = group.flags
        if group.kind != "group":
            node = Look(node, behind="behind" in group.kind, negative="not" in group.kind)
        self._add(self.quantified(node, group.offset))

    def _add(self, node: Node) -> None:
        group = self._groups[-1]
        if group.negated:
            group.negated = False
            node = negation(node)
        group.items.append(node)

    def _end_conjunct(self) -> None:
        group = self._groups[-1]
        if group.negated:
            self.fail("nothing follows `~`", hint="write `\\~` for the character")
        group.conjuncts.append(sequence(group.items))
        group.items = []

    def _end_option(self) -> None:
        group = self._groups[-1]
        self._end_conjunct()
        group.options.append(conjunction(group.conjuncts))
        group.conjuncts = []

    def _finish(self, group: Group) -> Node:
        self._groups.append(group)
        self._end_option()
        self._groups.pop()
        return group.options[0] if len(group.options) == 1 else alternatives(group.options)

    def _operator(self, char: str) -> bool:
        group = self._groups[-1]
        if char == "&":
            self._end_conjunct()
        elif char == "~":
            group.negated = not group.negated
        else:
            return False
        self.pos += 1
        return True
