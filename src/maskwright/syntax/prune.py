"""Taking away what can never finish, so that a grammar has no dead ends.

What it does: finds the rules that derive at least one text, removes the options that need
another rule, and refuses a grammar whose root is such a rule. Rules that the root never reaches
disappear as well, simply because nothing calls them any more.

What it does not: look into lazy rules (they count as productive; their makers prune) or prove
that a lexeme is empty beyond the obvious (the lexeme table of the kernel does).

The idea: the classic least fixed point, kept linear by waking only the callers of a rule that
has just become productive.

Rejected: leaving it to the automaton. A dead option would be predicted at every visit, and its
first bytes would be offered.
"""

from __future__ import annotations

from typing import NoReturn

from ..errors import GrammarError
from ..lexeme import Op
from ..rules import Alt, Call, Expr, Lex, Never, Repeat, Rule, Seq, Tokens
from .walk import alt, body_of, calls_of, fold, reachable_rules, repeat, seq

__all__ = ["prune"]


def prune(root: Rule) -> Rule:
    """The same language without rules and options that can never finish.

    Returns:
        ``root`` itself if there is nothing to remove, else a copy of the rules; the given ones
        are left as they are.

    Raises:
        GrammarError: The root can never finish.
    """
    rules = reachable_rules(root)
    productive = _productive(rules)
    if root not in productive:
        _refuse(root, productive)
    if len(productive) == len(rules) and not any(_has_dead_part(rule) for rule in rules):
        return root
    copies = {rule: Rule(rule.name) for rule in rules if rule in productive and body_of(rule) is not None}

    def copy(expr: Expr, parts: list[Expr]) -> Expr:
        if isinstance(expr, Call):
            if expr.rule not in productive:
                return Never
            return Call(copies.get(expr.rule, expr.rule))
        if isinstance(expr, Seq):
            return Never if any(part is Never for part in parts) else seq(parts)
        if isinstance(expr, Alt):
            return alt(parts)
        if isinstance(expr, Repeat):
            return repeat(parts[0], expr.low, expr.high)
        return Never if _is_dead_leaf(expr) else expr

    for rule, twin in copies.items():
        body = body_of(rule)
        assert body is not None
        twin.define(fold(body, copy))
    return copies[root]


def _is_dead_leaf(expr: Expr) -> bool:
    if isinstance(expr, Tokens):
        return not expr.ids
    return isinstance(expr, Lex) and expr.lexeme.op is Op.EMPTY


def _has_dead_part(rule: Rule) -> bool:
    body = body_of(rule)
    if body is None:
        return False

    def dead(expr: Expr, parts: list[bool]) -> bool:
        return any(parts) or _is_dead_leaf(expr) or (isinstance(expr, Alt) and not expr.options)

    return fold(body, dead)


class _Needs:
    """For each expression node, how many of its children it still waits for."""

    def __init__(self) -> None:
        self.missing: list[int] = []
        self.parents: list[int] = []
        self.owners: dict[int, Rule] = {}
        self.waiting: dict[Rule, list[int]] = {}

    def add(self, expr: Expr, parts: list[int]) -> int:
        node = len(self.missing)
        for part in parts:
            self.parents[part] = node
        self.parents.append(-1)
        if isinstance(expr, Call):
            self.waiting.setdefault(expr.rule, []).append(node)
        if isinstance(expr, Seq):
            needed = len(parts)
        elif isinstance(expr, Repeat):
            needed = 1 if expr.low else 0
        else:
            needed = 1 if isinstance(expr, (Alt, Call)) or _is_dead_leaf(expr) else 0
        self.missing.append(needed)
        return node


def _productive(rules: list[Rule]) -> set[Rule]:
    productive = {rule for rule in rules if body_of(rule) is None}
    needs = _Needs()
    for rule in rules:
        body = body_of(rule)
        if body is not None:
            needs.owners[fold(body, needs.add)] = rule
    ready = [node for node, missing in enumerate(needs.missing) if not missing]
    for rule in productive:
        ready.extend(needs.waiting.get(rule, ()))
    while ready:
        node = ready.pop()
        woken = [needs.parents[node]] if needs.parents[node] >= 0 else []
        owner = needs.owners.get(node)
        if owner is not None and owner not in productive:
            productive.add(owner)
            woken += needs.waiting.get(owner, ())
        for other in woken:
            needs.missing[other] -= 1
            # Exactly zero: a choice is woken again by each further option.
            if needs.missing[other] == 0:
                ready.append(other)
    return productive


def _refuse(root: Rule, productive: set[Rule]) -> NoReturn:
    """Name the rule at the bottom of the trouble: one whose own callees give no way out."""
    culprit, seen = root, {root}
    while True:
        body = body_of(culprit)
        assert body is not None
        dead = [rule for rule in calls_of(body) if rule not in productive and rule not in seen]
        if not dead:
            break
        culprit = dead[0]
        seen.add(culprit)
    through = f" because rule {culprit.name!r} cannot" if culprit is not root else ""
    raise GrammarError(
        f"rule {root.name!r} can never finish{through}: every way through it needs itself again, "
        "or something that matches nothing",
        hint="add an option that ends, such as an empty one",
    )
