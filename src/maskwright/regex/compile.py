"""From pattern text to a lexeme: parse, place in the subject, lower.

Does: picks the flavour's parser and the cheapest exact way to compile; remembers results. Does not:
parse or lower anything itself.

Ways, in this order: a plain bottom-up pass when there is no look-around (`lower`), continuations
(`look`), an explicit automaton (`look_automaton`). Each is exact or steps aside; none approximates.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from ..errors import LimitExceeded, RegexError
from ..lexeme import Lexeme, either
from .charset import ALL
from .ecma import parse_ecma
from .encoding import UTF8, Encoding
from .look import NeedsAutomaton, compile_look
from .look_automaton import compile_automaton
from .lower import lower
from .rust import parse_rust
from .simplify import prefixes_tested, simplified
from .tree import ANY, EPSILON, NEVER, Chars, Concat, Look, Node, Repeat, Union, repetition, sequence
from .walk import bottom_up

__all__ = ["compile_regex", "parse_regex", "plain_lengths"]

#: Compiled patterns remembered. They are small descriptions, and a schema may have hundreds.
_MEMO_SIZE: Final = 2_048
_ANY_TEXT: Final = repetition(ANY, 0, None)


def compile_regex(
    pattern: str,
    *,
    flavour: str = "ecma",
    search: bool = False,
    encoding: Encoding = UTF8,
    flags: str = "",
) -> Lexeme:
    """The language of a regular expression, as a lexeme over the bytes of an encoding.

    Args:
        pattern: The expression.
        flavour: ``"ecma"`` (ECMA-262, as in JSON Schema), ``"rust"`` (Rust's and Python's syntax,
            Unicode classes), or ``"rust-ext"`` (the same with ``&`` and ``~`` as operators).
        search: True: texts in which the expression matches somewhere, JSON Schema's reading.
            False: texts that it matches as a whole.
        encoding: How characters are spelled.
        flags: Letters out of ``imsx`` (``x`` not in ECMA).

    Raises:
        RegexError: The expression is malformed, or not regular (back-references); with its offset.
        LimitExceeded: The expression is too deep, or its look-around needs too many states.
        ValueError: Unknown flavour or flag.

    >>> from maskwright.regex import compile_regex
    >>> compile_regex("colou?r", search=False).op.name
    'CONCAT'
    """
    return _compile(pattern, flavour, search, encoding, "".join(sorted(set(flags))))


def parse_regex(pattern: str, *, flavour: str = "ecma", flags: str = "") -> Node:
    """The tree of an expression; arguments and errors as for `compile_regex`."""
    if flavour not in ("ecma", "rust", "rust-ext"):
        raise ValueError(f"unknown regex flavour {flavour!r}; known: ecma, rust, rust-ext")
    unknown = set(flags) - set("ims" if flavour == "ecma" else "imsx")
    if unknown:
        raise ValueError(f"unknown regex flags {''.join(sorted(unknown))!r} for {flavour}")
    if flavour == "ecma":
        return parse_ecma(pattern, frozenset(flags))
    return parse_rust(pattern, frozenset(flags), operators=flavour == "rust-ext")


@lru_cache(maxsize=_MEMO_SIZE)
def _compile(pattern: str, flavour: str, search: bool, encoding: Encoding, flags: str) -> Lexeme:
    tree = parse_regex(pattern, flavour=flavour, flags=flags)
    if not search:
        return _lower(tree, encoding, pattern)
    if tree.has_look and isinstance(tree, Union):
        # One by one: `^a|b$` is then a union of two plain sequences.
        options = [_anywhere(part) for part in tree.parts]
        if _ANY_TEXT in options:
            return encoding.any_text
        lexemes = [_lower(option, encoding, pattern) for option in options]
        return encoding.any_text if encoding.any_text in lexemes else either(lexemes)
    return _lower(_anywhere(tree), encoding, pattern)


def _lower(tree: Node, encoding: Encoding, pattern: str) -> Lexeme:
    if isinstance(tree, Concat):
        tree = _without_outer_anchors(tree)
    if not tree.has_look:
        return lower(tree, encoding)
    try:
        tree = simplified(tree)
        for version in (tree, prefixes_tested(tree)):
            try:
                return compile_look(version, encoding) if version.has_look else lower(version, encoding)
            except NeedsAutomaton:
                pass
        return compile_automaton(tree, encoding)
    except LimitExceeded as limit:
        raise LimitExceeded(
            f"pattern {_short(pattern)}: {limit.message}",
            resource=limit.resource,
            limit=limit.limit,
            hint="move the look-around out of the repetition, or lower the counts",
        ) from None
    except NotImplementedError as problem:
        raise RegexError(
            str(problem), pattern=pattern, offset=0, hint="keep look-around out of `&` and `~`"
        ) from None


@lru_cache(maxsize=_MEMO_SIZE)
def plain_lengths(pattern: str) -> tuple[int, bool] | None:
    """What is plain to see of the lengths of texts in which an ECMA pattern matches somewhere.

    Returns:
        The length of one such text in characters, and whether there are longer ones of any length; None
        when there may be no text at all, or look-around makes it hard to see.

    Raises:
        RegexError, LimitExceeded: As for `compile_regex`.

    >>> plain_lengths("^[a-z]{2,5}$"), plain_lengths("a+"), plain_lengths("a^")
    ((2, False), (1, True), None)
    """
    tree = parse_ecma(pattern)
    for option in tree.parts if isinstance(tree, Union) else (tree,):
        body = _without_outer_anchors(option) if isinstance(option, Concat) else option
        if body is not NEVER and not body.has_look:
            n_anchors = sum(isinstance(part, Look) for part in _parts(option))
            stretches = any(
                isinstance(part, Repeat) and part.high is None and isinstance(part.body, Chars)
                for part in _parts(body)
            )
            return bottom_up(body, _shortest), n_anchors < 2 or stretches
    return None


def _parts(node: Node) -> tuple[Node, ...]:
    return node.parts if isinstance(node, Concat) else (node,)


def _shortest(node: Node, done: dict[Node, int]) -> int:
    """Characters of the shortest match of a tree without look-around."""
    if isinstance(node, Chars):
        return 1
    if isinstance(node, Concat):
        return sum(done[part] for part in node.parts)
    if isinstance(node, Union):
        return min(done[part] for part in node.parts)
    assert isinstance(node, Repeat), "ECMA patterns have no `&` and `~`"
    return node.low * done[node.body]


def _without_outer_anchors(tree: Concat) -> Node:
    """The short way for the usual shape: ``^`` and ``$`` only at the ends, cutting off "any text"."""
    parts = list(tree.parts)
    anchored = [isinstance(part, Look) for part in parts].count(True)
    if anchored != sum(part.has_look for part in parts) or anchored > 2:
        return tree
    for end, behind in ((0, True), (-1, False)):
        inner = 1 if behind else -2
        if len(parts) > 1 and parts[end] is _ANY_TEXT and _is_anchor(parts[inner], behind):
            del parts[end]
        if parts and _is_anchor(parts[end], behind):
            del parts[end]
    rest = sequence(parts)
    return tree if rest.has_look else rest


def _is_anchor(node: Node, behind: bool) -> bool:
    return (
        isinstance(node, Look)
        and node.behind is behind
        and node.negative
        and isinstance(node.body, Chars)
        and node.body.ranges == ALL
    )


def _short(pattern: str) -> str:
    return repr(pattern if len(pattern) <= 80 else pattern[:77] + "...")


def _anywhere(tree: Node) -> Node:
    """The tree with any text on both sides.

    Any text next to a repetition swallows all iterations that are not required.
    """
    if tree.nullable and not tree.has_look:
        return _ANY_TEXT
    parts: list[Node] = list(tree.parts) if isinstance(tree, Concat) else [tree]
    for end in (0, -1):
        while parts:
            part = parts[end]
            if not isinstance(part, Repeat) or part.has_look or part.low == part.high:
                break
            needed = repetition(part.body, part.low, part.low)
            if needed is not EPSILON:
                parts[end] = needed
                break
            del parts[end]
    return sequence([_ANY_TEXT, *parts, _ANY_TEXT]) if parts else _ANY_TEXT
