"""Pattern trees without look-around to lexemes.

Does: a bottom-up pass that spells characters through an `Encoding`; runs of fixed characters become
literals, fixed alternatives a literal set. Does not: look-around (`look`).

The pass is a loop (`walk.bottom_up`), since a tree may be nested deeper than Python's stack.
"""

from __future__ import annotations

from itertools import groupby

from ..lexeme import Lexeme, complement, either, intersection, repeat
from .charset import ALL
from .encoding import Encoding, joined
from .tree import And, Chars, Concat, Node, Not, Repeat, Union
from .walk import bottom_up

__all__ = ["fixed_text", "lower"]


def lower(root: Node, encoding: Encoding) -> Lexeme:
    """The lexeme of a tree without look-around, matched as a whole."""
    return bottom_up(root, lambda node, done: _combine(node, done, encoding))


def _combine(node: Node, done: dict[Node, Lexeme], encoding: Encoding) -> Lexeme:
    if isinstance(node, Chars):
        return encoding.chars(node.ranges)
    if isinstance(node, Concat):
        return _sequence(node, done, encoding)
    if isinstance(node, Union):
        return _alternatives(node, done, encoding)
    if isinstance(node, Repeat):
        if node.low == 0 and node.high is None and isinstance(node.body, Chars) and node.body.ranges == ALL:
            return encoding.any_text
        return repeat(done[node.body], node.low, node.high)
    if isinstance(node, And):
        return _conjunction(node, done, encoding)
    assert isinstance(node, Not), "look-around is not lowered here"
    return intersection(encoding.any_text, complement(done[node.body]))


def _sequence(node: Concat, done: dict[Node, Lexeme], encoding: Encoding) -> Lexeme:
    out: list[Lexeme] = []
    for fixed, run in groupby(node.parts, _fixed_char):
        if fixed is None:
            out.extend(done[part] for part in run)
        else:
            out.append(encoding.text(fixed * len(list(run))))
    return joined(out)


def _alternatives(node: Union, done: dict[Node, Lexeme], encoding: Encoding) -> Lexeme:
    texts = [fixed_text(part) for part in node.parts]
    known = [text for text in texts if text is not None]
    if len(known) < 2:
        return either([done[part] for part in node.parts])
    rest = [done[part] for part, text in zip(node.parts, texts, strict=True) if text is None]
    return either([encoding.texts(known), *rest])


def _conjunction(node: And, done: dict[Node, Lexeme], encoding: Encoding) -> Lexeme:
    # A negated part needs no "any text" of its own when another part keeps to text already.
    kept = [done[part] for part in node.parts if not isinstance(part, Not)] or [encoding.any_text]
    dropped = [complement(done[part.body]) for part in node.parts if isinstance(part, Not)]
    return intersection(*kept, *dropped)


def _fixed_char(node: Node) -> str | None:
    if isinstance(node, Chars) and len(node.ranges) == 1 and node.ranges[0][0] == node.ranges[0][1]:
        return chr(node.ranges[0][0])
    return None


def fixed_text(node: Node) -> str | None:
    """The only text that the node matches, if it is plainly a single one."""
    parts = node.parts if isinstance(node, Concat) else (node,)
    chars = [_fixed_char(part) for part in parts]
    return "".join(char for char in chars if char is not None) if None not in chars else None
