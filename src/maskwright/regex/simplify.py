r"""Rewrites that dissolve one-character look-around into the plain nodes beside it.

Does: turns ``x\b`` into "x ending in a word character, and no word character next", and from there
into plain nodes where the neighbour always consumes something. Does not: change what is matched.
Most boundaries and edge tests (``(?<!-)$``) disappear here, before any lexeme is made.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final

from ..errors import LimitExceeded
from .charset import Ranges, intersect, invert
from .tree import (
    ANY,
    NEVER,
    And,
    Chars,
    Concat,
    Look,
    Node,
    Repeat,
    Union,
    alternatives,
    negation,
    repetition,
    sequence,
)
from .walk import run

__all__ = ["at_edge", "prefixes_tested", "simplified"]

#: Sequences that one sequence may be split into (three word boundaries).
_MAX_SPLIT: Final = 8
#: Parts copied for one sequence of optional parts; the copies grow with the square of their number.
_MAX_COPIES: Final = 100_000


def simplified(root: Node) -> Node:
    """An equal tree: plain neighbours grouped, one-character tests moved into them."""
    found: Node = run(_simplified(root, {}))
    return found


def _simplified(node: Node, memo: dict[Node, Node]) -> Generator[Any, Node, Node]:
    if not node.has_look:
        return node
    found = memo.get(node)
    if found is None:
        found = memo[node] = yield _rebuilt(node, memo)
    return found


def _rebuilt(node: Node, memo: dict[Node, Node]) -> Generator[Any, Node, Node]:
    if isinstance(node, Concat | Union):
        parts: list[Node] = []
        for part in node.parts:
            parts.append((yield _simplified(part, memo)))
        return _in_sequence(parts) if isinstance(node, Concat) else alternatives(parts)
    if isinstance(node, Repeat):
        return repetition((yield _simplified(node.body, memo)), node.low, node.high)
    if isinstance(node, Look):
        return Look((yield _simplified(node.body, memo)), behind=node.behind, negative=node.negative)
    return node


def prefixes_tested(tree: Node) -> Node:
    """An equal tree, in which look-behinds with only plain parts before them are intersections.

    The tree is matched from the start of the subject, so what stands before such a look-behind is all
    that it can see.
    """
    if not isinstance(tree, Concat):
        return tree
    before: list[Node] = []
    parts = list(tree.parts)
    any_text = repetition(ANY, 0, None)
    for place, part in enumerate(parts):
        if isinstance(part, Look) and part.behind and not part.body.has_look:
            seen = sequence([any_text, part.body])
            before = [And((sequence(before), negation(seen) if part.negative else seen))]
        elif part.has_look:
            return Concat((*before, *parts[place:])) if before else tree
        else:
            before.append(part)
    return sequence(before)


def _in_sequence(parts: list[Node]) -> Node:
    options: list[list[Node]] = [[]]
    for part in _flat(sequence(parts)):
        choices: tuple[Node, ...] = (part,)
        if isinstance(part, Union) and len(options) * len(part.parts) <= _MAX_SPLIT:
            choices = part.parts if all(map(_only_tests, part.parts)) else choices
        options = [[*before, *_flat(choice)] for before in options for choice in choices]
    done = [_absorbed(parts) for parts in options]
    if len(done) == 1:
        return done[0]
    return alternatives(done)


def _flat(node: Node) -> tuple[Node, ...]:
    return node.parts if isinstance(node, Concat) else (node,)


def _only_tests(node: Node) -> bool:
    return all(isinstance(part, Look) for part in _flat(node))


def _absorbed(parts: list[Node]) -> Node:
    out: list[Node] = []
    for part in _grouped(parts):
        before = out[-1] if out else None
        if isinstance(part, Look) and before is not None and _firm(before) and part.behind:
            kind = _kind(part)
            if kind is not None:
                out[-1] = at_edge(before, kind, last=True)
                if _is_never(out[-1]):
                    return NEVER
                continue
        if _firm(part):
            while out and isinstance(out[-1], Look) and not out[-1].behind:
                kind = _kind(out[-1])
                if kind is None:
                    break
                part = at_edge(part, kind, last=False)
                out.pop()
            if _is_never(part):
                return NEVER
        out.append(part)
    # Not `sequence`, which would take the groups apart again.
    return out[0] if len(out) == 1 else Concat(tuple(out))


def _grouped(parts: list[Node]) -> list[Node]:
    """Runs of plain parts as one node each, firm runs apart from the soft parts around them."""
    out: list[Node] = []
    run_of: list[Node] = []
    for part in parts:
        if part.has_look:
            if run_of:
                out.append(sequence(run_of))
                run_of = []
            out.append(part)
        else:
            run_of.append(part)
    if run_of:
        out.append(sequence(run_of))
    return out


def _firm(node: Node) -> bool:
    """Plain, and never empty: a test beside it is about its own edge."""
    return not node.has_look and not node.nullable


def _is_never(node: Node) -> bool:
    return isinstance(node, Chars) and not node.ranges


def _kind(test: Look) -> Ranges | None:
    """The characters that the test allows at the edge of a firm neighbour."""
    if not isinstance(test.body, Chars):
        return None
    return invert(test.body.ranges) if test.negative else test.body.ranges


def at_edge(node: Node, kind: Ranges, *, last: bool) -> Node:
    """What a plain node matches with a last (or first) character of a kind; never the empty text."""
    found: Node = run(_at_edge(node, kind, last))
    return found


def _at_edge(node: Node, kind: Ranges, last: bool) -> Generator[Any, Node, Node]:
    if isinstance(node, Chars):
        return Chars(intersect(node.ranges, kind))
    options: list[Node] = []
    if isinstance(node, Union):
        for part in node.parts:
            options.append((yield _at_edge(part, kind, last)))
        return alternatives(options)
    if isinstance(node, Concat):
        places = range(len(node.parts))
        for place in reversed(places) if last else places:
            edge = yield _at_edge(node.parts[place], kind, last)
            rest = node.parts[:place] if last else node.parts[place + 1 :]
            options.append(sequence([*rest, edge] if last else [edge, *rest]))
            if len(options) * len(node.parts) > _MAX_COPIES:
                raise LimitExceeded(
                    "too many optional parts stand beside a look-around",
                    resource="copied parts",
                    limit=_MAX_COPIES,
                )
            if not node.parts[place].nullable:
                break
        return alternatives(options)
    if isinstance(node, Repeat):
        edge = yield _at_edge(node.body, kind, last)
        high = None if node.high is None else node.high - 1
        rest_of = repetition(node.body, max(node.low - 1, 0), high)
        return sequence([rest_of, edge] if last else [edge, rest_of])
    any_text = repetition(ANY, 0, None)
    return And((node, sequence([any_text, Chars(kind)] if last else [Chars(kind), any_text])))
