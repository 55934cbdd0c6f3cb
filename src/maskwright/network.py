"""Lowering: the expression of one rule becomes nodes and edges of the network.

One pass, Thompson's construction (1968) with two savings: consecutive lexemes are joined into one
while everything before the last is narrow (so `"name": ` and the quote of its value are one
terminal), and a counted repetition becomes a hidden rule of its own, because a rule instance has
one register to count in.

A lexeme is narrow if exactly one byte string starts it. A run of white space is not: inside it almost half
of a vocabulary can follow, and its summary is shared by all schemas only as long as nothing particular comes
after it.

Rejected: joining whatever is regular. A string body followed by the rest of its object would be a
different lexeme at each property, and the summary of "inside a string" could no longer be shared.
"""

from __future__ import annotations

from typing import Final

from .lexeme import Lexeme, Op, concat
from .rules import Act, Action, Alt, Call, Expr, Fresh, Lex, Repeat, Rule, Seq, Tokens

__all__ = ["lower"]

#: Kinds of edges, as in kernel/network.pxd.
EPSILON, LEXEME, CALL, TOKENS = range(4)
FRESH: Final = 5

Edge = tuple[int, int, object, int, int, int, int, int]

#: The end of every fragment; `lower` never adds an edge that leaves it.
END: Final = 1


def lower(rule: Rule) -> tuple[int, list[Edge]]:
    """Nodes and edges of a rule; expands it if it is lazy.

    Returns:
        The number of nodes (0 is the start, 1 the end) and the edges
        ``(source, kind, label, target, action, a, b, c)``.
    """
    lowering = _Lowering()
    body = rule.expand()
    if isinstance(body, Repeat) and rule.name.endswith("#"):
        lowering.counted(body)
    else:
        lowering.build(body, 0, END)
    return lowering.n_nodes, lowering.edges


class _Lowering:
    """State of one pass: how many nodes there are, and the edges so far."""

    def __init__(self) -> None:
        self.n_nodes = 2
        self.edges: list[Edge] = []

    def node(self) -> int:
        self.n_nodes += 1
        return self.n_nodes - 1

    def edge(self, source: int, kind: int, label: object, target: int) -> None:
        self.edges.append((source, kind, label, target, 0, 0, 0, 0))

    def build(self, expr: Expr, source: int, target: int) -> None:
        """Add edges so that the expression leads from one node to the other."""
        kind = type(expr)
        if kind is Lex:
            self.edge(source, LEXEME, expr.lexeme, target)  # type: ignore[attr-defined]
        elif kind is Call:
            self.edge(source, CALL, expr.rule, target)  # type: ignore[attr-defined]
        elif kind is Seq:
            self.sequence(expr.parts, source, target)  # type: ignore[attr-defined]
        elif kind is Alt:
            for option in expr.options:  # type: ignore[attr-defined]
                self.build(option, source, target)
        elif kind is Act:
            assert isinstance(expr, Act)
            self.edges.append((source, EPSILON, None, target, expr.action, expr.a, expr.b, expr.c))
        elif kind is Tokens:
            self.edge(source, TOKENS, expr.ids, target)  # type: ignore[attr-defined]
        elif kind is Fresh:
            assert isinstance(expr, Fresh)
            flags = (expr.slot, int(expr.any_order), int(expr.again))
            self.edges.append((source, FRESH, expr.lexeme, target, 0, *flags))
        elif kind is Repeat:
            assert isinstance(expr, Repeat)
            self.repetition(expr, source, target)
        else:
            raise TypeError(f"not an expression: {expr!r}")

    def sequence(self, parts: tuple[Expr, ...], source: int, target: int) -> None:
        joined = _join_lexemes(parts)
        if not joined:
            self.edge(source, EPSILON, None, target)
            return
        last = len(joined) - 1
        for place, part in enumerate(joined):
            if place == last:
                middle = target
            else:
                middle = self.n_nodes
                self.n_nodes += 1
            # Nearly all parts are one of these two; `build` would say the same.
            if type(part) is Lex:
                self.edges.append((source, LEXEME, part.lexeme, middle, 0, 0, 0, 0))
            elif type(part) is Call:
                self.edges.append((source, CALL, part.rule, middle, 0, 0, 0, 0))
            else:
                self.build(part, source, middle)
            source = middle

    def repetition(self, expr: Repeat, source: int, target: int) -> None:
        low, high = expr.low, expr.high
        if high == 0:
            self.edge(source, EPSILON, None, target)
        elif high == 1:
            self.build(expr.body, source, target)
            if low == 0:
                self.edge(source, EPSILON, None, target)
        elif high is None and low <= 1:
            loop, after = self.node(), self.node()
            self.edge(source, EPSILON, None, loop)
            self.build(expr.body, loop, after)
            self.edge(after, EPSILON, None, loop)
            self.edge(after, EPSILON, None, target)
            if low == 0:
                self.edge(source, EPSILON, None, target)
        else:
            self.edge(source, CALL, Rule("repeat#", expr), target)

    def counted(self, expr: Repeat) -> None:
        """The body of a hidden rule that counts in its register."""
        low, high = expr.low, expr.high
        loop, again = self.node(), self.node()
        self.edge(0, EPSILON, None, loop)
        limit = -1 if high is None else high
        # Without an upper bound the count stops mattering at the lower one, so all later states meet.
        cap = low if high is None else high
        self.edges.append((loop, EPSILON, None, again, Action.COUNT, 0, limit, cap))
        self.build(expr.body, again, loop)
        self.edges.append((loop, EPSILON, None, END, Action.AT_LEAST, 0, low, 0))


def _join_lexemes(parts: tuple[Expr, ...]) -> list[Expr]:
    """Parts with runs of narrow lexemes joined to what follows them."""
    joined: list[Expr] = []
    run: list[Lexeme] = []  # narrow ones
    for part in parts:
        if type(part) is Lex:
            op = part.lexeme.op
            if op is Op.LITERAL or op is Op.EPSILON:
                run.append(part.lexeme)
            elif run:
                joined.append(Lex(concat(*run, part.lexeme)))
                run = []
            else:
                joined.append(part)
        elif type(part) is not Seq or part.parts:
            if run:
                joined.append(Lex(concat(*run)))
                run = []
            joined.append(part)
    if run:
        joined.append(Lex(concat(*run)))
    return joined
