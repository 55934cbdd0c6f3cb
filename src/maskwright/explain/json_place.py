"""Where in a JSON document a text that is not complete stops.

One pass over the tokens of JSON, with a stack of the containers that are open. It trusts nothing: a text
that is no beginning of a JSON document has no place. What it does not check is how numbers and escapes are
spelled inside, because the grammar has done that.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ..pointers import pointer_of

__all__ = ["Due", "Place", "embedded_place", "json_place"]

_TOKEN: Final = re.compile(
    rb"""[ \t\n\r]*(?:
      (?P<string> "(?:[^"\\]|\\.)*" )
    | (?P<open> "(?:[^"\\]|\\.)*\\?\Z )
    | (?P<number> [-0-9][0-9.eE+-]* )
    | (?P<word> [a-z]+ )
    | (?P<mark> [\[\]{},:] )
    | (?P<end> \Z )
    )""",
    re.VERBOSE | re.DOTALL,
)
_WORDS: Final = (b"true", b"false", b"null")
#: Beginnings that `embedded_place` tries before it gives up.
_MAX_STARTS: Final = 1000


class Due(StrEnum):
    """What comes next in a JSON text."""

    VALUE = "value"  #: a value, or the rest of one that has begun
    KEY = "key"  #: a key, or the rest of one that has begun
    COLON = "colon"  #: the colon behind a key
    MORE = "more"  #: a comma or the end of the container
    NOTHING = "nothing"  #: the document is complete


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a JSON document.

    Attributes:
        path: Keys and indexes that lead to the value at this place; to the object where a key is due, and to
            the container where a comma or its end is due.
        due: What comes next.
    """

    path: tuple[str | int, ...]
    due: Due

    @property
    def pointer(self) -> str:
        """The path as a JSON pointer (RFC 6901)."""
        return pointer_of(self.path)


def json_place(text: bytes) -> Place | None:
    """The place behind a text, or None if no JSON document begins with it.

    >>> json_place(b'{"names": ["Ann", "B').pointer
    '/names/1'
    >>> json_place(b'{"names": ["Ann"], ')
    Place(path=(), due=<Due.KEY: 'key'>)
    >>> json_place(b"{,") is None
    True
    """
    path: list[str | int] = []  # of each open container the key or index that was met last
    due, may_close = Due.VALUE, False
    offset = 0
    while True:
        found = _TOKEN.match(text, offset)
        if found is None:
            return None
        kind, offset = found.lastgroup, found.end()
        token = found[kind or 0]
        if kind == "end":
            break
        if kind == "open":
            return _place(path, due) if due in (Due.VALUE, Due.KEY) else None
        if kind == "mark" and token in b"}]":
            ends_object = token == b"}"
            fits = due is Due.MORE or (may_close and due is (Due.KEY if ends_object else Due.VALUE))
            if not path or not fits or isinstance(path[-1], str) is not ends_object:
                return None
            path.pop()
            due = Due.MORE if path else Due.NOTHING
        elif due is Due.KEY and kind == "string":
            path[-1] = _key(token)
            due = Due.COLON
        elif due is Due.COLON and token == b":":
            due = Due.VALUE
        elif due is Due.MORE and token == b",":
            last = path[-1]
            due = Due.KEY if isinstance(last, str) else Due.VALUE
            if isinstance(last, int):
                path[-1] = last + 1
        elif due is Due.VALUE and kind == "mark" and token in b"{[":
            path.append("" if token == b"{" else 0)
            due = Due.KEY if token == b"{" else Due.VALUE
            may_close = True
            continue
        elif due is Due.VALUE and kind in ("string", "number", "word"):
            if offset == len(text) and (kind == "number" or _is_cut(token)):
                return _place(path, due)  # a number may always go on
            if kind == "word" and token not in _WORDS:
                return None
            due = Due.MORE if path else Due.NOTHING
        else:
            return None
        may_close = False
    return _place(path, due)


def embedded_place(text: bytes) -> Place | None:
    """The place in the first container of a text such that all that follows is its beginning.

    For outputs in which other text surrounds JSON.

    >>> embedded_place(b'<call>{"n": [1]}</call><call>{"n": [2, 3').pointer
    '/n/1'
    """
    starts = [found.start() for found in re.finditer(rb"[\[{]", text)]
    for start in starts[:_MAX_STARTS]:
        place = json_place(text[start:])
        if place is not None and place.due is not Due.NOTHING:
            return place
    return None


def _place(path: list[str | int], due: Due) -> Place:
    inside = due is Due.VALUE or due is Due.COLON
    return Place(tuple(path if inside else path[:-1]), due)


def _is_cut(word: bytes) -> bool:
    return any(each.startswith(word) and each != word for each in _WORDS)


def _key(token: bytes) -> str:
    text = token.decode(errors="replace")
    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        return text[1:-1]
