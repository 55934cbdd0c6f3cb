"""Walking rules: expression folds, reachable rules, strongly connected components.

What it does: the traversals that every pass over rules needs, and constructors that keep
expressions small (`seq`, `alt`, `repeat`). It changes no rule.

The idea: everything is iterative, since both expressions and call chains may be deeper than the
interpreter's stack. Components are found with Tarjan's algorithm (Tarjan 1972), whose output
order is callees before callers, which is the order that bottom-up passes want.

Lazy rules are leaves here: nothing in this module expands one.

Rejected: visitor classes. Three small functions over seven node kinds are shorter and typed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from ..rules import NOTHING, Alt, Call, Expr, Never, Repeat, Rule, Seq, Tokens

__all__ = [
    "alt",
    "body_of",
    "calls_of",
    "children",
    "components",
    "fold",
    "named_tokens",
    "reachable_rules",
    "repeat",
    "seq",
]

T = TypeVar("T")


def body_of(rule: Rule) -> Expr | None:
    """The body of a rule, or None while it is lazy (or not defined)."""
    body = rule._body
    return body if isinstance(body, Expr) else None


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct sub-expressions."""
    if isinstance(expr, Seq):
        return expr.parts
    if isinstance(expr, Alt):
        return expr.options
    if isinstance(expr, Repeat):
        return (expr.body,)
    return ()


def fold(expr: Expr, make: Callable[[Expr, list[T]], T]) -> T:
    """Combine an expression bottom-up: ``make(node, results of its children)``."""
    todo: list[tuple[Expr, int]] = [(expr, -1)]
    results: list[T] = []
    while todo:
        node, n_children = todo.pop()
        if n_children < 0:
            below = children(node)
            todo.append((node, len(below)))
            todo.extend((child, -1) for child in reversed(below))
            continue
        start = len(results) - n_children
        below_results = results[start:]
        del results[start:]
        results.append(make(node, below_results))
    return results[0]


def calls_of(expr: Expr) -> list[Rule]:
    """The rules that an expression calls, in order of appearance, each once."""
    found: dict[Rule, None] = {}
    todo = [expr]
    while todo:
        node = todo.pop()
        if isinstance(node, Call):
            found[node.rule] = None
        todo.extend(reversed(children(node)))
    return list(found)


def reachable_rules(root: Rule) -> list[Rule]:
    """The root and every rule that it needs, without looking into lazy rules."""
    seen: dict[Rule, None] = {root: None}
    todo = [root]
    while todo:
        body = body_of(todo.pop())
        if body is None:
            continue
        for rule in calls_of(body):
            if rule not in seen:
                seen[rule] = None
                todo.append(rule)
    return list(seen)


def named_tokens(root: Rule) -> frozenset[int]:
    """The token ids that the root and the rules that it needs name. Lazy rules name none."""
    found: set[int] = set()
    for rule in reachable_rules(root):
        todo = [body_of(rule) or NOTHING]
        while todo:
            node = todo.pop()
            if isinstance(node, Tokens):
                found.update(node.ids)
            todo.extend(children(node))
    return frozenset(found)


def components(root: Rule) -> list[list[Rule]]:
    """Strongly connected components of the call graph, callees before callers."""
    order: dict[Rule, int] = {}
    low: dict[Rule, int] = {}
    open_rules: list[Rule] = []
    slot_when_open: dict[Rule, int] = {}
    found: list[list[Rule]] = []
    todo: list[tuple[Rule, list[Rule]]] = []

    def enter(rule: Rule) -> None:
        order[rule] = low[rule] = len(order)
        slot_when_open[rule] = len(open_rules)
        open_rules.append(rule)
        body = body_of(rule)
        # Reversed, so that pop() takes the callees in order of appearance.
        todo.append((rule, calls_of(body)[::-1] if body is not None else []))

    enter(root)
    while todo:
        rule, callees = todo[-1]
        if callees:
            callee = callees.pop()
            if callee not in order:
                enter(callee)
            elif callee in slot_when_open:
                low[rule] = min(low[rule], order[callee])
            continue
        todo.pop()
        if todo:
            caller = todo[-1][0]
            low[caller] = min(low[caller], low[rule])
        if low[rule] == order[rule]:
            at = slot_when_open[rule]
            found.append(open_rules[at:])
            del open_rules[at:]
            for member in found[-1]:
                del slot_when_open[member]
    return found


def seq(parts: Iterable[Expr]) -> Expr:
    """The parts one after another; nested sequences are opened."""
    flat: list[Expr] = []
    for part in parts:
        if part is Never:
            return Never
        if isinstance(part, Seq):
            flat.extend(part.parts)
        else:
            flat.append(part)
    if not flat:
        return NOTHING
    return flat[0] if len(flat) == 1 else Seq(tuple(flat))


def alt(options: Iterable[Expr]) -> Expr:
    """Any of the options; nested choices are opened."""
    flat: list[Expr] = []
    for option in options:
        if isinstance(option, Alt):
            flat.extend(option.options)
        else:
            flat.append(option)
    if not flat:
        return Never
    return flat[0] if len(flat) == 1 else Alt(tuple(flat))


def repeat(body: Expr, low: int, high: int | None) -> Expr:
    """``low`` to ``high`` times the body, without the trivial cases."""
    if high == 0 or body is NOTHING:
        return NOTHING
    if body is Never:
        return NOTHING if low == 0 else Never
    if low == 1 and high == 1:
        return body
    return Repeat(body, low, high)
