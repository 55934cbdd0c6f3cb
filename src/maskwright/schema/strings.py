"""Strings of a branch as one lexeme: patterns, formats, lengths, excluded values, and their negations.

A pattern constrains the decoded characters; the lexeme is about their JSON spelling. Every part is built
in the layout's encoding, where a character is a unit, so parts intersect character by character.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..errors import GrammarError, LimitExceeded
from ..lexeme import EMPTY, Lexeme, complement, difference, intersection, union
from ..regex import compile_regex
from ..regex.encoding import JSON_STRING, Encoding, json_string, string_of_length
from .formats import format_lexeme
from .witness import some_text_is_plain

if TYPE_CHECKING:
    from .branches import Branch
    from .nodes import Node

__all__ = ["pattern_lexeme", "plainly_has_text", "string_lexeme", "string_of_format", "text_of_length"]


@lru_cache(maxsize=1024)
def _compiled(pattern: str, encoding: Encoding) -> Lexeme:
    return compile_regex(pattern, flavour="ecma", search=True, encoding=encoding)


@lru_cache(maxsize=512)
def text_of_length(low: int, high: int | None, encoding: Encoding) -> Lexeme:
    """Texts with so many characters, without quotes."""
    return string_of_length(low, high, encoding)


@lru_cache(maxsize=64)
def string_of_format(name: str, encoding: Encoding) -> Lexeme:
    """The strings of a format that is known and about strings, quotes included."""
    lexeme = format_lexeme(name, encoding)
    assert lexeme is not None
    return json_string(lexeme)


def pattern_lexeme(pattern: str, encoding: Encoding, node: Node, keyword: str = "pattern") -> Lexeme:
    """The texts that a pattern finds something in, without quotes.

    Raises:
        SchemaError: The pattern is malformed or not regular.
    """
    try:
        return _compiled(pattern, encoding)
    except LimitExceeded:
        raise
    except GrammarError as error:
        raise node.error(f"the pattern {pattern[:100]!r} cannot be used: {error.message}", keyword) from error


def string_lexeme(branch: Branch, encoding: Encoding) -> Lexeme:
    """The strings of a branch, quotes included; `EMPTY` when that is plain to see."""
    excluded = [value for value in branch.excluded.values() if isinstance(value, str)]
    if not branch.strings and not excluded:
        return JSON_STRING
    body = _body(branch, excluded, encoding)
    return EMPTY if body is EMPTY else json_string(body)


def _body(branch: Branch, excluded: list[str], encoding: Encoding) -> Lexeme:
    """The same without quotes."""
    low, high = 0, None
    parts: list[Lexeme] = []
    for atom in branch.strings:
        kind = atom[0]
        if kind == "min":
            low = max(low, atom[1])
        elif kind == "max":
            high = atom[1] if high is None else min(high, atom[1])
        elif kind == "either":
            parts.append(union(*(_option(one, encoding) for one in atom[1])))
        else:
            part = _text_part(kind, atom, encoding)
            parts.append(part if atom[2] else complement(part))
    if high is not None and high < low:
        return EMPTY
    if low or high is not None or not parts or not any(atom[2] is True for atom in branch.strings):
        # A complement alone would also hold bytes that are no text at all.
        parts.append(text_of_length(low, high, encoding))
    body = intersection(*parts)
    if excluded:
        body = difference(body, encoding.texts(excluded))
    return body


def _option(branch: Branch, encoding: Encoding) -> Lexeme:
    """The strings of one of several branches, without quotes."""
    excluded = [value for value in branch.excluded.values() if isinstance(value, str)]
    body = _body(branch, excluded, encoding)
    if branch.values is None:
        return body
    texts = [value for value in branch.values.values() if isinstance(value, str)]
    return intersection(body, union(*map(encoding.text, texts)))


def plainly_has_text(branch: Branch) -> bool:
    """Whether some string meets the branch, as far as that is plain without an automaton."""
    low, high = 0, None
    found: dict[str, str] = {}
    for atom in branch.strings:
        kind = atom[0]
        if kind == "min":
            low = max(low, atom[1])
        elif kind == "max":
            high = atom[1] if high is None else min(high, atom[1])
        elif atom[2] and kind not in found:  # "either" has no sign
            found[kind] = atom[1]
        else:
            return False
    return not branch.excluded and some_text_is_plain(low, high, found.get("pattern"), found.get("format"))


def _text_part(kind: str, atom: Any, encoding: Encoding) -> Lexeme:
    if kind == "pattern":
        return pattern_lexeme(atom[1], encoding, atom[3])
    lexeme = format_lexeme(atom[1], encoding)
    if lexeme is None:
        raise atom[3].error(f"the format {atom[1]!r} cannot be enforced", "format")
    return lexeme
