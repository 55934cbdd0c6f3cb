r"""Patterns with look-around to lexemes, by continuations: intersections and complements only.

Does: every pattern whose look-behinds test one character (``^``, ``\b``, ``(?<!-)``) and whose
look-around stands outside unbounded repetition. Does not: the rest, which `look_automaton` does; it
raises `NeedsAutomaton` for those.

The idea: compile a node together with what may follow it, up to the end of the subject. A look-ahead
``(?=X)`` before the rest R is then R intersected with X followed by anything, a negative one R minus
that, and ``$`` keeps of R the empty text only. What stands before a place is known by its *context*:
the start of the subject, or the class of the last character, of which look-behinds tell only a few
apart. The rest is therefore a table of lexemes, one per context; where all entries are the same
object nothing is split, so that patterns whose anchors stand at their ends stay plain sequences.

Counted repetition stays counted, which is the reason for this way: an automaton for
``^(?!-)[a-z-]{1,63}(?<!-)$`` would spell every count.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, Final, TypeAlias

from ..lexeme import (
    EMPTY,
    EPSILON,
    Lexeme,
    Op,
    any_byte,
    complement,
    either,
    intersection,
    plus,
)
from .charset import ALL, Ranges, intersect, invert, subtract, unite
from .encoding import Encoding, joined
from .lower import lower
from .simplify import at_edge
from .tree import ANY, Chars, Concat, Look, Node, Repeat, Union, repetition, sequence
from .tree import EPSILON as EPSILON_NODE
from .walk import every_node, run

__all__ = ["NeedsAutomaton", "compile_look"]

#: Repetitions of something with look-around are written out up to this count.
_MAX_UNROLL: Final = 16
#: Contexts told apart; each multiplies the work.
_MAX_CONTEXTS: Final = 9
#: Lexemes made for one pattern.
_MAX_LEXEMES: Final = 20_000

#: All byte strings. Behind a look-ahead this stands for "any text", because what it is intersected
#: with is text anyway, and because the kernel drops it from intersections as soon as it is alone.
_ANYTHING: Final = complement(EMPTY)

#: What may follow, by context.
_Rests: TypeAlias = tuple[Lexeme, ...]
_Step: TypeAlias = Generator[Any, Lexeme, Lexeme]
#: The same, where tables of rests are computed on the way too.
_TableStep: TypeAlias = Generator[Any, Any, Lexeme]


class NeedsAutomaton(Exception):
    """The pattern is outside what this module does."""


def compile_look(root: Node, encoding: Encoding) -> Lexeme:
    """The lexeme of a tree that is matched as a whole.

    Raises:
        NeedsAutomaton: The tree repeats a look-around without bound, or looks behind further than
            one character.
    """
    compiler = _Compiler(root, encoding)
    found: Lexeme = run(compiler.compile(root, 0, (EPSILON,) * compiler.n_contexts))
    return found


class _Compiler:
    def __init__(self, root: Node, encoding: Encoding) -> None:
        self._encoding = encoding
        self._kinds = _contexts(root)
        self.n_contexts = len(self._kinds) + 1
        self._memo: dict[tuple[Any, ...], Lexeme] = {}
        self._endings_ahead: dict[tuple[str, Ranges, bool], Node] = {}
        self._endings: dict[tuple[Node, Ranges], Node] = {}
        self._interned: dict[tuple[Any, ...], Lexeme] = {}
        self._nullable: dict[Lexeme, bool] = {EPSILON: True, EMPTY: False, _ANYTHING: True}

    # Interned building: equal continuations have to be one object, or contexts multiply.

    def _make(self, op: Op, parts: Sequence[Lexeme]) -> Lexeme:
        key = (op, *parts)
        found = self._interned.get(key)
        if found is not None:
            return found
        if len(self._interned) > _MAX_LEXEMES:
            raise NeedsAutomaton
        flags = [self._nullable[part] for part in parts]
        if op is Op.CONCAT:
            found, nullable = joined(parts), all(flags)
        elif op is Op.UNION:
            found, nullable = either(parts), any(flags)
        elif op is Op.INTERSECTION:
            found, nullable = intersection(*parts), all(flags)
        else:
            found, nullable = complement(parts[0]), not flags[0]
        self._interned[key] = found
        self._nullable[found] = nullable
        return found

    def _either(self, parts: Sequence[Lexeme]) -> Lexeme:
        kept = [part for part in dict.fromkeys(parts) if part is not EMPTY]
        if _ANYTHING in kept:
            return _ANYTHING
        if len(kept) < 2:
            return kept[0] if kept else EMPTY
        return self._make(Op.UNION, kept)

    def _both(self, left: Lexeme, right: Lexeme) -> Lexeme:
        if left is right or right is _ANYTHING:
            return left
        if left is _ANYTHING:
            return right
        if left is EMPTY or right is EMPTY:
            return EMPTY
        if left is EPSILON:
            return EPSILON if self._nullable[right] else EMPTY
        return self._make(Op.INTERSECTION, (left, right))

    def _without(self, left: Lexeme, right: Lexeme) -> Lexeme:
        if right is EMPTY:
            return left
        if right is _ANYTHING or left is right or left is EMPTY:
            return EMPTY
        return self._both(left, self._make(Op.COMPLEMENT, (right,)))

    def _then(self, node: Node, rest: Lexeme) -> Lexeme:
        """A plain node and its rest."""
        if rest is EMPTY or node is EPSILON_NODE:
            return rest
        lexeme = self._interned.get((node,))
        if lexeme is None:
            lexeme = self._interned[(node,)] = lower(node, self._encoding)
            self._nullable[lexeme] = node.nullable
        if lexeme is EMPTY:
            return EMPTY
        return lexeme if rest is EPSILON else self._make(Op.CONCAT, (lexeme, rest))

    # The algorithm. Steps are generators that `walk.run` drives, so depth costs no stack.

    def compile(self, node: Node, context: int, rests: _Rests) -> _Step:
        """What may stand from a place of a context on, if the node is next and then its rest."""
        key = (node, context, rests)
        found = self._memo.get(key)
        if found is None:
            found = self._memo[key] = yield self._dispatch(node, context, rests)
        return found

    def _dispatch(self, node: Node, context: int, rests: _Rests) -> _Step:
        if not node.has_look:
            return self._plain(node, context, rests)
        if isinstance(node, Concat):
            return (yield self._sequence(node, context, rests))
        if isinstance(node, Union):
            options: list[Lexeme] = []
            for part in node.parts:
                options.append((yield self.compile(part, context, rests)))
            return self._either(options)
        if isinstance(node, Repeat):
            return (yield self._repeat(node, context, rests))
        if isinstance(node, Look):
            return (yield self._look(node, context, rests))
        raise NeedsAutomaton

    def _plain(self, node: Node, context: int, rests: _Rests) -> Lexeme:
        after = rests[1:]
        if all(rest is after[0] for rest in after) and (not node.nullable or rests[context] is after[0]):
            return self._then(node, after[0])
        options = [rests[context]] if node.nullable else []
        groups: dict[Lexeme, list[Ranges]] = {}
        for kind, rest in zip(self._kinds, after, strict=True):
            groups.setdefault(rest, []).append(kind)
        for rest, kinds in groups.items():
            if rest is not EMPTY:
                options.append(self._then(self._ending(node, unite(*kinds)), rest))
        return self._either(options)

    def _ending(self, node: Node, kind: Ranges) -> Node:
        """The memoised `_ending_in`: equal nodes have to be one object."""
        key = (node, kind)
        found = self._endings.get(key)
        if found is None:
            found = self._endings[key] = at_edge(node, kind, last=True)
        return found

    def _sequence(self, node: Concat, context: int, rests: _Rests) -> _TableStep:
        for part in reversed(node.parts[1:]):
            rests = yield self._at_all(part, rests)
        found: Lexeme = yield self.compile(node.parts[0], context, rests)
        return found

    def _at_all(self, node: Node, rests: _Rests) -> Generator[Any, Lexeme, _Rests]:
        out: list[Lexeme] = []
        for context in range(self.n_contexts):
            out.append((yield self.compile(node, context, rests)))
        return tuple(out)

    def _repeat(self, node: Repeat, context: int, rests: _Rests) -> _TableStep:
        if all(rest is EPSILON for rest in rests):
            tempered: Lexeme | None = yield self._tempered(node)
            if tempered is not None:
                return tempered
        if node.high is None or node.high > _MAX_UNROLL:
            raise NeedsAutomaton
        further: _Rests = rests
        for done in reversed(range(node.high)):
            again: _Rests = yield self._at_all(node.body, further)
            further = again
            if done >= node.low:
                further = tuple(self._either(pair) for pair in zip(again, rests, strict=True))
        return further[context]

    def _tempered(self, node: Repeat) -> Generator[Any, Any, Lexeme | None]:
        """``(?:(?!X)S)*`` up to the end of the subject: no place but the end may start an X."""
        body = node.body
        if not (isinstance(body, Concat) and isinstance(body.parts[-1], Chars)):
            return None
        found = self._then(repetition(body.parts[-1], node.low, node.high), EPSILON)
        for test in body.parts[:-1]:
            if not isinstance(test, Look) or test.behind:
                return None
            seen: list[Lexeme] = []
            for context in range(self.n_contexts):
                seen.append((yield self.compile(test.body, context, (_ANYTHING,) * self.n_contexts)))
            if any(one is not seen[0] for one in seen):
                return None
            found = self._both(found, self._nowhere(seen[0], negative=test.negative))
        return found

    def _nowhere(self, suffixes: Lexeme, *, negative: bool) -> Lexeme:
        """Texts none of whose suffixes but the empty one fail the test."""
        encoding = self._encoding
        some = plus(any_byte) if negative else plus(encoding.any_char)
        self._nullable.update({some: False, encoding.any_text: True})
        failing = suffixes if negative else self._make(Op.COMPLEMENT, (suffixes,))
        if self._nullable[failing] or not negative:
            failing = self._both(some, failing)
        if failing is EMPTY:
            return _ANYTHING
        return self._make(Op.COMPLEMENT, (self._make(Op.CONCAT, (encoding.any_text, failing)),))

    def _any_text_after(self, first: Chars, *, negative: bool) -> Lexeme:
        """Any text that starts, or does not start, with a character of a kind."""
        allowed = Chars(invert(first.ranges)) if negative else first
        some = sequence([allowed, repetition(ANY, 0, None)])
        key = ("any text after", allowed.ranges, negative)
        if key not in self._endings_ahead:
            self._endings_ahead[key] = repetition(some, 0, 1) if negative else some
        return self._then(self._endings_ahead[key], EPSILON)

    def _look(self, node: Look, context: int, rests: _Rests) -> _Step:
        rest = rests[context]
        if node.behind:
            if not isinstance(node.body, Chars):
                raise NeedsAutomaton
            seen = context > 0 and bool(intersect(self._kinds[context - 1], node.body.ranges))
            return rest if seen != node.negative else EMPTY
        if rest is EMPTY:
            return EMPTY
        if node.negative and isinstance(node.body, Chars) and node.body.ranges == ALL:
            return EPSILON if self._nullable[rest] else EMPTY
        if rest is self._encoding.any_text and isinstance(node.body, Chars):
            return self._any_text_after(node.body, negative=node.negative)
        ahead = yield self.compile(node.body, context, (_ANYTHING,) * self.n_contexts)
        return self._without(rest, ahead) if node.negative else self._both(rest, ahead)


def _contexts(root: Node) -> list[Ranges]:
    """The classes of last characters that the look-behinds of a tree tell apart."""
    kinds: list[Ranges] = [ALL]
    for node in every_node(root):
        if not (isinstance(node, Look) and node.behind):
            continue
        if not isinstance(node.body, Chars):
            raise NeedsAutomaton
        inside = node.body.ranges
        parts = [intersect(kind, inside) for kind in kinds] + [subtract(kind, inside) for kind in kinds]
        kinds = [part for part in parts if part]
        if len(kinds) >= _MAX_CONTEXTS:
            raise NeedsAutomaton
    return kinds
