"""Turning the regular parts of a grammar into single lexemes.

What it does: finds the largest sub-expressions without tokens, registers and true recursion, and
replaces each by one `Lex`; rules that are regular as a whole disappear into their callers. The
language stays the same. Why: the automaton costs one item per lexeme and position, so
``digit ::= [0-9]`` called by ``number ::= digit+`` should not be a call per character.

What it does not: fuse lazy rules (that would expand them) or rules that use a register.

The idea: components of the call graph, callees first. A rule that calls only itself, and only at
the end (or only at the start) of its options, is regular as well: by Arden's lemma (Arden 1961)
the least solution of ``A = x A | y`` is ``x* y``. That is how grammars without ``*`` spell
white space.

A wide lexeme whose end is certain (a quoted string) ends a sequence: what follows becomes a lexeme
of its own. Nothing is ambiguous at that point, and the state "inside a string" stays the same
one at each place of the grammar, so that what the kernel knows about it is computed once.

Sizes are capped: shared sub-expressions cost nothing in the kernel, but a lexeme repeats as a
tree, and ``a ::= b b``, ``b ::= c c``, ... would double at each step.

Rejected: fusing by building a DFA and reading a regular expression off it: exact too, but its
size explodes on counted repetition, which lexemes hold as two numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from .. import lexeme as lexemes
from ..lexeme import Lexeme, Op
from ..rules import NOTHING, Alt, Call, Expr, Lex, Repeat, Rule, Seq
from .shapes import Shapes
from .walk import alt, body_of, calls_of, components, fold, repeat, seq

__all__ = ["fuse"]

MAX_SIZE: Final = 2000
MAX_DEPTH: Final = 80
#: A rule that is this many lexemes in a row, or fewer, is copied into its callers.
MAX_ROW: Final = 8
#: Literals count as one node whatever their length, so their length has a cap of its own (bytes).
MAX_LITERAL: Final = 1 << 16


class _Regular(NamedTuple):
    """A lexeme, with facts about the expression that it replaces.

    A leaf as given has size and depth 1. ``n_wide`` is the most wide parts on one way through it.
    """

    lexeme: Lexeme
    size: int = 1
    depth: int = 1
    n_wide: int = 0


class _Row(NamedTuple):
    """Lexemes one after another that are better kept apart."""

    lexemes: tuple[_Regular, ...]


#: What an expression becomes: one lexeme, several in a row, or an expression that has lexemes in it.
_Fused = _Regular | _Row | Expr


def fuse(root: Rule, *, max_size: int = MAX_SIZE) -> Rule:
    """The same language with regular parts as single lexemes.

    Args:
        root: The start of the grammar; its rules are not changed.
        max_size: Most expression nodes that one lexeme may stand for.

    Returns:
        A new root over new rules (lazy rules are kept as they are).
    """
    return _Fuser(max_size).run(root)


class _Fuser:
    def __init__(self, max_size: int) -> None:
        self.max_size = max_size
        self.regular: dict[Rule, _Regular | _Row] = {}
        self.shapes = Shapes()
        self.copies: dict[Rule, Rule] = {}

    def run(self, root: Rule) -> Rule:
        for component in components(root):
            members = [rule for rule in component if body_of(rule) is not None]
            for rule in members:
                self.copies[rule] = Rule(rule.name)
            for rule in members:
                self.fuse_rule(rule)
        return self.copies.get(root, root)

    def fuse_rule(self, rule: Rule) -> None:
        body = body_of(rule)
        assert body is not None
        if rule in calls_of(body):
            loop = _without_tail_call(body, rule) or _without_head_call(body, rule)
            if loop is not None:
                looped = self.fold(loop)
                if not calls_of(_expr(looped)):
                    self.define(rule, looped)
                    return
        self.define(rule, self.fold(body))

    def define(self, rule: Rule, fused: _Fused) -> None:
        if isinstance(fused, _Regular) or (isinstance(fused, _Row) and len(fused.lexemes) <= MAX_ROW):
            self.regular[rule] = fused
        self.copies[rule].define(_expr(fused))

    def fold(self, expr: Expr) -> _Fused:
        return fold(expr, self.combine)

    def combine(self, expr: Expr, parts: list[_Fused]) -> _Fused:
        if isinstance(expr, Lex):
            return _Regular(expr.lexeme, n_wide=int(self.shapes.of(expr.lexeme).wide))
        if isinstance(expr, Call):
            found = self.regular.get(expr.rule)
            return found or Call(self.copies.get(expr.rule, expr.rule))
        if isinstance(expr, Seq):
            return self.sequence(parts)
        if isinstance(expr, Alt):
            return self.choice(parts)
        if isinstance(expr, Repeat):
            return self.repetition(parts[0], expr)
        return expr

    def sequence(self, parts: list[_Fused]) -> _Fused:
        runs: list[_Fused] = []
        for part in _opened(parts):
            joined = self.neighbours(runs[-1], part) if runs else None
            if joined is None:
                runs.append(part)
            else:
                runs[-1] = joined
        if not runs:
            return _Regular(lexemes.EPSILON, 0, 0)
        if len(runs) == 1:
            return runs[0]
        regular = tuple(run for run in runs if isinstance(run, _Regular))
        return _Row(regular) if len(regular) == len(runs) else seq(map(_expr, runs))

    def neighbours(self, first: _Fused, second: _Fused) -> _Regular | None:
        if not (isinstance(first, _Regular) and isinstance(second, _Regular)):
            return None
        if _literal_length(first) + _literal_length(second) > MAX_LITERAL:
            return None
        if first.n_wide == 1 and self.shapes.has_sure_wide_end(first.lexeme):
            return None
        return self.join([first, second], lambda pair: _concat(*pair))

    def choice(self, options: list[_Fused]) -> _Fused:
        regular = [option for option in options if isinstance(option, _Regular)]
        kept: list[_Fused] = [option for option in options if not isinstance(option, _Regular)]
        merged = self.join(regular, _union) if regular else None
        if merged is not None:
            kept.insert(0, merged)
        else:
            kept[:0] = self.chunks(regular)
        return kept[0] if len(kept) == 1 else alt(map(_expr, kept))

    def chunks(self, options: list[_Regular]) -> list[_Regular]:
        """Options whose union would be too large, united as far as the caps allow."""
        chunks: list[list[_Regular]] = [[]]
        size = 1
        for option in options:
            # An option too deep to be nested once more stays alone.
            if option.depth >= MAX_DEPTH:
                chunks.insert(0, [option])
                continue
            if chunks[-1] and size + option.size > self.max_size:
                chunks.append([])
                size = 1
            chunks[-1].append(option)
            size += option.size
        united: list[_Regular] = []
        for chunk in chunks:
            whole = self.join(chunk, _union) if len(chunk) > 1 else None
            united.extend(chunk if whole is None else [whole])
        return united

    def repetition(self, body: _Fused, expr: Repeat) -> _Fused:
        is_optional = (expr.low, expr.high) == (0, 1)
        if isinstance(body, _Regular) and (is_optional or not self.shapes.has_sure_wide_end(body.lexeme)):
            joined = self.join([body], lambda one: lexemes.repeat(one[0], expr.low, expr.high))
            if joined is not None:
                return joined
        return repeat(_expr(body), expr.low, expr.high)

    def join(self, parts: list[_Regular], make: Callable[[list[Lexeme]], Lexeme]) -> _Regular | None:
        """One lexeme made of several, or None when it would be too large or too deep."""
        result = make([part.lexeme for part in parts])
        if result.op in (Op.LITERAL, Op.LITERALS, Op.EPSILON, Op.EMPTY):
            return _Regular(result)
        size = 1 + sum(part.size for part in parts)
        depth = max(part.depth for part in parts)
        # Joining a sequence to its next part makes the sequence longer, not deeper.
        if not (result.op is Op.CONCAT and parts[0].lexeme.op is Op.CONCAT):
            depth += 1
        if size > self.max_size or depth > MAX_DEPTH:
            return None
        return _Regular(result, size, depth, self.count_wide(result, parts))

    def count_wide(self, result: Lexeme, parts: list[_Regular]) -> int:
        if result.op is Op.CONCAT:
            return sum(part.n_wide for part in parts)
        most = max(part.n_wide for part in parts)
        return max(most, int(self.shapes.of(result).wide)) if result.op is Op.REPEAT else most


def _opened(parts: Iterable[_Fused]) -> Iterator[_Fused]:
    for part in parts:
        if isinstance(part, _Row):
            yield from part.lexemes
        else:
            yield part


def _expr(fused: _Fused) -> Expr:
    if isinstance(fused, _Row):
        return seq(map(_expr, fused.lexemes))
    if not isinstance(fused, _Regular):
        return fused
    return NOTHING if fused.lexeme.op is Op.EPSILON else Lex(fused.lexeme)


def _literal_length(part: _Regular) -> int:
    """Length of the literal at an end of a lexeme that a neighbour could be joined to, in bytes."""
    parts = part.lexeme.args if part.lexeme.op is Op.CONCAT else (part.lexeme,)
    return max(len(each.args[0]) if each.op is Op.LITERAL else 0 for each in (parts[0], parts[-1]))


def _concat(first: Lexeme, second: Lexeme) -> Lexeme:
    """The two one after another, with literals that meet joined into one."""
    left = list(first.args) if first.op is Op.CONCAT else [first]
    right = list(second.args) if second.op is Op.CONCAT else [second]
    if left[-1].op is Op.LITERAL and right[0].op is Op.LITERAL:
        joined = lexemes.literal(left.pop().args[0] + right.pop(0).args[0])
        return lexemes.concat(*left, joined, *right)
    return lexemes.concat(first, second)


def _union(options: Iterable[Lexeme]) -> Lexeme:
    """Any of the options, with all finite ones as one set of literals."""
    texts: set[bytes] = set()
    others: list[Lexeme] = []
    for option in options:
        if option.op is Op.LITERAL:
            texts.add(option.args[0])
        elif option.op is Op.LITERALS:
            texts.update(option.args)
        elif option.op is Op.EPSILON:
            texts.add(b"")
        elif option.op is Op.UNION:
            others.extend(option.args)
        else:
            others.append(option)
    if not others:
        return lexemes.literals(texts)
    has_empty = b"" in texts
    united = lexemes.union(lexemes.literals(texts - {b""}), *others)
    return lexemes.optional(united) if has_empty else united


def _without_tail_call(body: Expr, rule: Rule) -> Expr | None:
    """``x* y`` for a body ``x rule | y``; None unless every self call stands last."""
    return _arden(body, rule, last=True)


def _without_head_call(body: Expr, rule: Rule) -> Expr | None:
    """``y x*`` for a body ``rule x | y``; None unless every self call stands first."""
    return _arden(body, rule, last=False)


def _arden(body: Expr, rule: Rule, *, last: bool) -> Expr | None:
    split = _split(body, rule, last)
    if split is None:
        return None
    looping, ending = split
    loop = repeat(alt(looping), 0, None)
    return seq([loop, alt(ending)] if last else [alt(ending), loop])


def _split(body: Expr, rule: Rule, last: bool) -> tuple[list[Expr], list[Expr]] | None:
    """The options of a body that end (or start) with a self call, without it, and the others.

    Looks through choices and ``?`` at the call's side of a sequence only, with an explicit stack
    of what stands before (after) the current node.
    """
    looping: list[Expr] = []
    ending: list[Expr] = []
    todo: list[tuple[Expr, list[Expr]]] = [(body, [])]
    while todo:
        node, around = todo.pop()

        def wrap(expr: Expr, around: list[Expr] = around) -> Expr:
            return seq([*around, expr] if last else [expr, *around])

        if isinstance(node, Call) and node.rule is rule:
            looping.append(seq(around))
        elif rule not in calls_of(node):
            ending.append(wrap(node))
        elif isinstance(node, Alt):
            todo.extend((option, around) for option in reversed(node.options))
        elif isinstance(node, Repeat) and (node.low, node.high) == (0, 1):
            ending.append(seq(around))
            todo.append((node.body, around))
        elif isinstance(node, Seq):
            edge = node.parts[-1] if last else node.parts[0]
            rest = node.parts[:-1] if last else node.parts[1:]
            if any(rule in calls_of(part) for part in rest):
                return None
            todo.append((edge, [*around, *rest] if last else [*rest, *around]))
        else:
            return None
    return looping, ending
