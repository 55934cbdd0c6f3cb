"""Where a match stands inside an expression, and what a rule instance remembers.

Does: give the few facts about `maskwright.rules` expressions on which both the recogniser and the
liveness search stand, so that the two cannot disagree about what an expression means.
Does not: read input.

The idea: a *position* is an expression and how far it has got (the dot of an Earley item). Every
expression is treated alike: it is entered with a register, may need a sub-expression next, and may
finish with a register. Registers are passed in and out (Jim and Mandelbaum 2010), which makes the
sub-expressions of one rule share a register and keeps the instances of different rules apart.

| expression | progress |
|---|---|
| Lex | the lexeme's derivative (a number of the `DerivativeTable`) |
| Seq | parts done |
| Repeat | times done (with no upper bound: held at ``low``, since more makes no difference) |
| Alt, Call, Act, Tokens | 0, or 1 when done |

Rejected: translating the rules to textbook productions first. Counted repetition and registers
have no textbook form, and the translation would be one more thing to test.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from maskwright.errors import GrammarError
from maskwright.rules import Act, Action, Alt, Call, Expr, Lex, Repeat, Seq, Tokens

from .lexemes import DerivativeTable

__all__ = ["FRESH", "Position", "Positions", "Register", "apply_act"]


class Register(NamedTuple):
    """What one rule instance remembers: counters that are not 0, sorted, and a set of marks."""

    counters: tuple[tuple[int, int], ...]
    marks: frozenset[int]


FRESH: Final = Register((), frozenset())


class Position(NamedTuple):
    """How far the match of one expression has got."""

    expr: Expr
    progress: int


def apply_act(act: Act, register: Register) -> Register | None:
    """The register after an action, or None where the action fails.

    A counter fails *at or above* its limit: two actions with different limits may share a counter.
    """
    counters = dict(register.counters)
    count = counters.get(act.a, 0)
    marked = act.a in register.marks
    if act.action is Action.COUNT:
        if act.b >= 0 and count >= act.b:
            return None
        counters[act.a] = min(count + 1, act.c)
        kept = tuple(sorted((key, value) for key, value in counters.items() if value))
        return Register(kept, register.marks)
    if act.action is Action.AT_LEAST:
        return register if count >= act.b else None
    if act.action is Action.HAS:
        return register if marked else None
    if act.action is Action.LACKS:
        return None if marked else register
    if act.action is Action.MARK and marked:
        return None
    return Register(register.counters, register.marks | {act.a})


class Positions:
    """The facts about positions; needs the lexeme table to speak of `Lex`."""

    def __init__(self, table: DerivativeTable) -> None:
        self.table = table
        self._checked: set[Repeat] = set()

    def start(self, expr: Expr) -> Position:
        """The position before anything of the expression was matched.

        Raises:
            GrammarError: A `Repeat` whose body has an `Act` in it, or not an expression at all.
        """
        if isinstance(expr, Lex):
            return Position(expr, self.table.start(expr.lexeme))
        if isinstance(expr, Repeat):
            self._check_repeat(expr)
        elif not isinstance(expr, Call | Seq | Alt | Act | Tokens):
            raise GrammarError(f"not an expression: {expr!r}")
        return Position(expr, 0)

    def can_finish(self, position: Position) -> bool:
        """Whether the expression may end here, with the register as it is."""
        expr, progress = position
        if isinstance(expr, Lex):
            return self.table.nullable(progress)
        if isinstance(expr, Seq):
            return progress == len(expr.parts)
        if isinstance(expr, Repeat):
            return progress >= expr.low
        return progress == 1

    def children(self, position: Position) -> tuple[Expr, ...]:
        """The sub-expressions of which one may come next."""
        expr, progress = position
        if isinstance(expr, Seq):
            return expr.parts[progress : progress + 1]
        if isinstance(expr, Repeat):
            return (expr.body,) if expr.high is None or progress < expr.high else ()
        if isinstance(expr, Alt):
            return expr.options if progress == 0 else ()
        if isinstance(expr, Call):
            return (expr.rule.expand(),) if progress == 0 else ()
        return ()

    def after_child(self, position: Position) -> Position:
        """The position once the next sub-expression has been matched."""
        expr, progress = position
        if isinstance(expr, Repeat) and expr.high is None:
            return Position(expr, min(progress + 1, expr.low))
        return Position(expr, progress + 1)

    @staticmethod
    def register_in(position: Position, register: Register) -> Register:
        """The register with which the next sub-expression starts."""
        return FRESH if isinstance(position.expr, Call) else register

    @staticmethod
    def register_back(position: Position, own: Register, child: Register) -> Register:
        """The register to go on with, after the sub-expression ended with ``child``."""
        return own if isinstance(position.expr, Call) else child

    def _check_repeat(self, expr: Repeat) -> None:
        if expr in self._checked:
            return
        agenda: list[Expr] = [expr.body]
        while agenda:
            inner = agenda.pop()
            if isinstance(inner, Act):
                raise GrammarError(
                    "a repetition must not have an Act in its body",
                    hint="write the loop as a rule that calls itself, or count with the repetition",
                )
            if isinstance(inner, Seq):
                agenda.extend(inner.parts)
            elif isinstance(inner, Alt):
                agenda.extend(inner.options)
            elif isinstance(inner, Repeat):
                agenda.append(inner.body)
        self._checked.add(expr)
