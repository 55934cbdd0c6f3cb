"""Rules: what every front-end produces and the network is lowered from. Data only.

A grammar is a set of rules. A rule's body is an expression over lexemes (terminals that are
regular languages), calls of other rules, sequence, choice, repetition and token ids. A rule may be
**lazy**: its body is a function that runs when the automaton first predicts the rule, so a large
schema costs what generation visits.

Each *instance* of a rule owns one register: counters and a set of small integers. `Act`
expressions test and update it (how many items, which properties were seen). They are zero-width.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Final

from .records import Act, Alt, Call, Expr, Fresh, Lex, Repeat, Seq, Tokens

__all__ = [
    "NOTHING",
    "Act",
    "Action",
    "Alt",
    "Call",
    "Expr",
    "Fresh",
    "Lex",
    "Never",
    "Repeat",
    "Rule",
    "Seq",
    "Tokens",
]


class Rule:
    """A named production. Rules compare by identity.

    Args:
        name: For messages and printing; need not be unique.
        body: The expression, or a function that makes it on first use.

    Attributes:
        origin: For the rule of a whole JSON document, what a front-end made it from (the root schema's node,
            or the name of a built-in grammar); None for all others. For explanations.
        is_light: Whether the body is quickly made, so that compiling may make it ahead.
    """

    __slots__ = ("_body", "is_light", "name", "origin")

    def __init__(self, name: str, body: Expr | Callable[[], Expr] | None = None) -> None:
        self.name = name
        self.origin: object = None
        self.is_light = False
        self._body = body

    def define(self, body: Expr | Callable[[], Expr]) -> None:
        """Set the body of a rule that had to exist before its body could (recursion)."""
        self._body = body

    @property
    def is_lazy(self) -> bool:
        """Whether the body has not been made (or defined) yet."""
        return not isinstance(self._body, Expr)

    def expand(self) -> Expr:
        """The body. A lazy body is made at the first call and kept."""
        body = self._body
        if body is None:
            raise RuntimeError(f"rule {self.name!r} was never defined")
        if not isinstance(body, Expr):
            body = self._body = body()
        return body

    def __repr__(self) -> str:
        return f"Rule({self.name!r})"


class Action(IntEnum):
    """What an `Act` does to the register. ``a``, ``b``, ``c`` are its arguments."""

    COUNT = 1  #: counter a: fails at b (-1: never); else adds one, saturating at c
    AT_LEAST = 2  #: counter a: fails below b
    MARK = 3  #: fails if a is in the set; else adds a
    ADD = 4  #: adds a to the set
    HAS = 5  #: fails unless a is in the set
    LACKS = 6  #: fails if a is in the set


NOTHING: Final = Seq(())
Never: Final = Alt(())
