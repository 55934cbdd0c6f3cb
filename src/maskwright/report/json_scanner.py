"""Reads JSON byte by byte and says which value each byte belongs to.

Text that a grammar let through is well formed, so nothing is validated beyond what is needed to notice a
token that is not JSON at all (what a model wanted before the mask may be). It can stop anywhere, also
inside a character, and be copied there: that is how the tokens that were *not* taken are read.
"""

from __future__ import annotations

import enum
import json
from typing import Final

__all__ = ["JsonScanner", "Kind"]

_SPACE: Final = frozenset(b" \t\n\r")
_NUMBER: Final = frozenset(b"+-.0123456789eE")
_WORDS: Final = {ord("t"): b"true", ord("f"): b"false", ord("n"): b"null"}


class Kind(enum.Enum):
    """What a byte is to the values of a text."""

    OUTSIDE = "outside"  #: punctuation, keys, white space
    INSIDE = "inside"  #: of a value, and not its last byte
    LAST = "last"  #: of a value that knows its end: a string, true, false, null
    AFTER = "after"  #: outside, and the first byte to tell that the number before it is over
    WRONG = "wrong"  #: no JSON here


class _Mode(enum.Enum):
    VALUE = "a value"
    FIRST_ITEM = "a value or the end of an array"
    FIRST_KEY = "a key or the end of an object"
    KEY = "a key"
    IN_KEY = "inside a key"
    COLON = "a colon"
    IN_STRING = "inside a string"
    IN_WORD = "inside true, false or null"
    IN_NUMBER = "inside a number"
    DONE = "a comma or an end"


class JsonScanner:
    """A place in a JSON text. ``path`` is where the value is that is being read or was read last."""

    __slots__ = ("_escaped", "_key", "_mode", "_word", "path")

    def __init__(self) -> None:
        self.path: tuple[str | int, ...] = ()
        self._mode = _Mode.VALUE
        self._escaped = False
        self._key = b""
        self._word = b""

    def copy(self) -> JsonScanner:
        twin = JsonScanner.__new__(JsonScanner)
        twin.path, twin._mode, twin._escaped = self.path, self._mode, self._escaped
        twin._key, twin._word = self._key, self._word
        return twin

    @property
    def in_number(self) -> bool:
        """Whether a number has begun that may end here, or go on."""
        return self._mode is _Mode.IN_NUMBER

    @property
    def just_opened(self) -> bool:
        """Whether an object or array has begun, the value at `path`, and nothing in it."""
        return self._mode in (_Mode.FIRST_ITEM, _Mode.FIRST_KEY)

    def feed(self, byte: int) -> Kind:
        """Read one byte."""
        if self._mode is _Mode.IN_STRING:
            return self._in_string(byte)
        if self._mode is _Mode.IN_KEY:
            return self._in_key(byte)
        if self._mode is _Mode.IN_NUMBER and byte in _NUMBER:
            return Kind.INSIDE
        if self._mode is _Mode.IN_WORD:
            return self._in_word(byte)
        if self._mode is _Mode.IN_NUMBER:
            self._mode = _Mode.DONE
            return Kind.AFTER if self._between(byte) is Kind.OUTSIDE else Kind.WRONG
        return self._between(byte)

    def _between(self, byte: int) -> Kind:
        """A byte that is not inside a scalar value or a key."""
        if byte in _SPACE:
            return Kind.OUTSIDE
        mode = self._mode
        if mode is _Mode.FIRST_ITEM:
            if byte == ord("]"):
                return self._close(byte)
            self.path = (*self.path, 0)
            return self._value(byte)
        if mode is _Mode.VALUE:
            return self._value(byte)
        if mode in (_Mode.KEY, _Mode.FIRST_KEY) and byte == ord('"'):
            self._mode, self._key = _Mode.IN_KEY, b""
            return Kind.OUTSIDE
        if mode is _Mode.COLON and byte == ord(":"):
            self._mode = _Mode.VALUE
            return Kind.OUTSIDE
        if mode is _Mode.FIRST_KEY:
            return self._close(byte)
        return self._after_value(byte) if mode is _Mode.DONE else Kind.WRONG

    def _value(self, byte: int) -> Kind:
        """The first byte of a value at `path`."""
        if byte == ord("{"):
            self._mode = _Mode.FIRST_KEY
        elif byte == ord("["):
            self._mode = _Mode.FIRST_ITEM
        elif byte == ord('"'):
            self._mode, self._escaped = _Mode.IN_STRING, False
            return Kind.INSIDE
        elif byte in _WORDS:
            self._mode, self._word = _Mode.IN_WORD, _WORDS[byte][1:]
            return Kind.INSIDE
        elif byte in _NUMBER:
            self._mode = _Mode.IN_NUMBER
            return Kind.INSIDE
        else:
            return Kind.WRONG
        return Kind.OUTSIDE

    def _after_value(self, byte: int) -> Kind:
        """A comma, or the end of the object or array that the value at `path` is in."""
        if not self.path:
            return Kind.WRONG
        *parents, last = self.path
        if byte == ord(","):
            if isinstance(last, int):
                self.path, self._mode = (*parents, last + 1), _Mode.VALUE
            else:
                self.path, self._mode = tuple(parents), _Mode.KEY
            return Kind.OUTSIDE
        if byte == (ord("]") if isinstance(last, int) else ord("}")):
            self.path = tuple(parents)
            return Kind.OUTSIDE
        return Kind.WRONG

    def _close(self, byte: int) -> Kind:
        """The end of an object or array with nothing in it."""
        wanted = ord("]") if self._mode is _Mode.FIRST_ITEM else ord("}")
        if byte != wanted:
            return Kind.WRONG
        self._mode = _Mode.DONE
        return Kind.OUTSIDE

    def _in_string(self, byte: int) -> Kind:
        if self._escaped:
            self._escaped = False
        elif byte == ord("\\"):
            self._escaped = True
        elif byte == ord('"'):
            self._mode = _Mode.DONE
            return Kind.LAST
        return Kind.INSIDE

    def _in_key(self, byte: int) -> Kind:
        if byte == ord('"') and not self._escaped:
            try:
                name = json.loads(f'"{self._key.decode(errors="replace")}"', strict=False)
            except ValueError:  # an escape that is none
                return Kind.WRONG
            self.path, self._mode = (*self.path, name), _Mode.COLON
            return Kind.OUTSIDE
        self._escaped = byte == ord("\\") and not self._escaped
        self._key += bytes((byte,))
        return Kind.OUTSIDE

    def _in_word(self, byte: int) -> Kind:
        if self._word[0] != byte:
            return Kind.WRONG
        self._word = self._word[1:]
        if self._word:
            return Kind.INSIDE
        self._mode = _Mode.DONE
        return Kind.LAST
