r"""ECMA-262 patterns, as JSON Schema uses them, to pattern trees.

Does: all of the standard's pattern syntax but back-references, which are refused with their offset.
A pattern is read in Unicode mode; when that fails and the older syntax of the standard's Annex B
gives it a meaning (``\-``, ``\_``, a lone ``]`` or ``{``, octal escapes, ``\Z`` for "Z"), it is read
so, since schemas in use are full of such patterns. Characters are code points in both readings.

Deviations, all towards what the author must have meant: ``\p{..}`` is a property in both readings
and its name is matched loosely; ``(?P<name>..)`` is a named group and a leading ``(?i)`` sets flags
(errors in the standard, so no valid pattern changes its meaning).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from ..errors import RegexError
from .charset import ALL, Ranges, invert, unite
from .classes import DIGIT, LINE_TERMINATOR, SPACE, WORD, fold_case, property_set
from .parser import GroupKind, NotRegularError, PatternParser
from .tree import ANY, EPSILON, Chars, Node

__all__ = ["check_ecma", "parse_ecma"]

_DOT: Final = Chars(invert(LINE_TERMINATOR))
_FLAGS: Final = frozenset("ims")
_SYNTAX: Final = frozenset("^$\\.*+?()[]{}|/")
_CONTROL: Final = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_BRACES: Final = re.compile(r"\{([0-9]+)(?:(,)([0-9]*))?\}")
_INLINE_FLAGS: Final = re.compile(r"([a-z]*)(?:-([a-z]+))?([:)])")
_GROUP_NAME: Final = re.compile(r"P?<([^>]*)>")
_HINT_ESCAPE: Final = "write a backslash before it to mean the character"
_LOOKS: Final[dict[str, GroupKind]] = {
    "=": "ahead",
    "!": "not ahead",
    "<=": "behind",
    "<!": "not behind",
}


@lru_cache(maxsize=128)
def _literal(char: str) -> Chars:
    return Chars(((ord(char), ord(char)),))


@lru_cache(maxsize=256)  # schemas are looked over before they are compiled: two readings, one parse
def parse_ecma(pattern: str, flags: frozenset[str] = frozenset()) -> Node:
    """The tree of a pattern.

    Raises:
        RegexError: Malformed in both readings, or not regular.
        LimitExceeded: See `PatternParser.parse`.
    """
    try:
        return EcmaParser(pattern, flags, unicode_mode=True).parse()
    except NotRegularError:
        raise
    except RegexError as strict:
        try:
            return EcmaParser(pattern, flags, unicode_mode=False).parse()
        except NotRegularError:
            raise
        except RegexError:
            raise strict from None


def check_ecma(pattern: str, *, unicode_mode: bool = True) -> None:
    """Check the syntax only, in one reading, as ``"format": "regex"`` needs; back-references pass.

    Raises:
        RegexError: The pattern is malformed.

    >>> check_ecma("[a-z]+$")
    """
    EcmaParser(pattern, frozenset(), unicode_mode=unicode_mode, check_only=True).parse()


class EcmaParser(PatternParser):
    """Reads one pattern in one of the two readings."""

    def __init__(
        self, pattern: str, flags: frozenset[str], *, unicode_mode: bool, check_only: bool = False
    ) -> None:
        super().__init__(pattern, flags)
        self._strict = unicode_mode
        self._check_only = check_only
        self._n_groups = -1
        self._has_names = False

    def atom(self, char: str) -> Node:
        if char == "\\":
            return self._escape()
        if char == "[":
            return self._class()
        start = self.pos
        self.pos += 1
        if char == ".":
            return ANY if "s" in self.flags else _DOT
        if char == "^":
            return self.line_start(LINE_TERMINATOR)
        if char == "$":
            return self.line_end(LINE_TERMINATOR)
        if char in "*+?":
            self.fail("nothing to repeat here", start, hint=_HINT_ESCAPE)
        if char in "{}]":
            if self._strict:
                self.fail(f"a lone `{char}`", start, hint=_HINT_ESCAPE)
            if char == "{" and _BRACES.match(self.pattern, start):
                self.fail("nothing to repeat here", start, hint=_HINT_ESCAPE)
        return self.char(ord(char)) if self.flags else _literal_or_nothing(char)

    def braces(self) -> tuple[int, int | None] | None:
        match = _BRACES.match(self.pattern, self.pos)
        if match is None:
            if self._strict:
                self.fail("an incomplete quantifier", hint="write `\\{` for the character")
            return None
        self.pos += 1
        low = self.count() or 0
        high: int | None = low
        if self.eat(","):
            high = self.count()
        self.pos += 1
        return low, high

    def check_quantifiable(self, node: Node, start: int, at: int) -> None:
        if self.pattern[start] == "(":
            # Annex B lets a look-ahead be repeated; nothing else that is zero-width.
            is_test = self.pattern.startswith(("(?=", "(?!", "(?<=", "(?<!"), start)
            if is_test and (self._strict or self.pattern.startswith("(?<", start)):
                self.fail("a look-around cannot be repeated", at, hint="put it into a group")
        elif self.pattern[start] in "^$" or self.pattern.startswith(("\\b", "\\B"), start):
            self.fail("an assertion cannot be repeated", at, hint="put it into a group")

    def open_special(self) -> GroupKind | None:
        if self.eat(":"):
            return "group"
        for text in ("=", "!", "<=", "<!"):
            if self.eat(text):
                return _LOOKS[text]
        start = self.pos
        name = _GROUP_NAME.match(self.pattern, start)
        if name and (name.group().startswith("<") or not self._check_only):
            if not _is_name(name[1]):
                self.fail(f"`{name[1]}` is not a group name", start)
            self.pos = name.end()
            return "group"
        flags = _INLINE_FLAGS.match(self.pattern, start)
        if flags:
            return self._inline_flags(flags)
        self.fail("unknown kind of group", start - 2, hint="write `\\(` for the character")

    def _inline_flags(self, match: re.Match[str]) -> GroupKind | None:
        on, off, end = match[1], match[2] or "", match[3]
        for letter in on + off:
            if letter not in _FLAGS or (on + off).count(letter) > 1:
                self.fail(f"the flag `{letter}` is not i, m or s, or is given twice")
        at_start = match.start() == 2
        if end == ")" and not (not self._check_only and at_start and on):
            self.fail(
                "flags for the rest of a pattern are not part of ECMA-262",
                match.start() - 2,
                hint=f"write (?{on}: ... ) around the part",
            )
        self.pos = match.end()
        if end == ")":
            self.flags = (self.flags | set(on)) - set(off)
            return None
        # `_open` saved the outer flags already; they come back when the group closes.
        self.flags = (self.flags | set(on)) - set(off)
        return "group"

    # Escapes.

    def _escape(self) -> Node:
        start = self.pos
        self.pos += 1
        char = self._next("a lone backslash at the end")
        if char in "bB":
            return self.word_boundary(self._word(), negative=char == "B")
        if char in "123456789":
            return self._digits(start)
        if char == "k" and (self._strict or self._names()):
            if not re.match(r"<[^>]+>", self.pattern[self.pos :]):
                self.fail("`\\k` needs a group name", start)
            self.pos = self.pattern.index(">", self.pos) + 1
            return self._back_reference(start)
        found = self._class_escape(char, start)
        if not isinstance(found, int):
            return self.chars(found)
        return self.char(found)

    def _digits(self, start: int) -> Node:
        digits = re.compile("[0-9]+").match(self.pattern, start + 1)
        assert digits is not None
        # Longer numbers are more than any group count.
        number = int(digits.group()[:9])
        if number <= self._groups_total():
            self.pos = digits.end()
            return self._back_reference(start)
        if self._strict:
            self.fail(f"there is no group {number}", start)
        self.pos = start + 1
        return self.char(self._octal())

    def _back_reference(self, start: int) -> Node:
        if self._check_only:
            return EPSILON
        self.refuse("a back-reference is not regular", start, hint="list the alternatives it can stand for")

    def _octal(self) -> int:
        """A legacy octal escape, else the digit itself."""
        match = re.compile("[0-3][0-7]{0,2}|[4-7][0-7]?").match(self.pattern, self.pos)
        if match is None:
            self.pos += 1
            return ord(self.pattern[self.pos - 1])
        self.pos = match.end()
        return int(match.group(), 8)

    def _class_escape(self, char: str, start: int) -> int | Ranges:
        """What a backslash and ``char`` mean both outside and inside a class."""
        if char in "dDwWsS":
            found = {"d": DIGIT, "w": self._word(), "s": SPACE}[char.lower()]
            return found if char.islower() else invert(found)
        if char in "pP" and self.pattern.startswith("{", self.pos):
            return self._property(char == "P", start)
        if char in _CONTROL:
            return _CONTROL[char]
        if char in "xu":
            return self._code_point(char, start)
        if char == "c":
            return self._control_letter(start)
        if char in "01234567":
            if char == "0" and not re.match("[0-9]", self.pattern[self.pos : self.pos + 1]):
                return 0
            if self._strict:
                self.fail("an octal escape", start, hint="write \\xHH")
            self.pos -= 1
            return self._octal()
        if self._strict and char not in _SYNTAX:
            self.fail(f"`\\{char}` is not an escape", start, hint=f"write `{char}`")
        return ord(char)

    def _code_point(self, char: str, start: int) -> int:
        mark = self.pos
        if char == "u" and self.eat("{"):
            end = self.pattern.find("}", self.pos)
            digits = self.pattern[self.pos : end] if end >= 0 else ""
            value = digits.lstrip("0")
            if digits and set(digits) <= _HEX and len(value) <= 6 and int(value or "0", 16) <= 0x10FFFF:
                self.pos = end + 1
                return int(value or "0", 16)
            if value and set(digits) <= _HEX:
                self.refuse("there is no such code point", start)
            if self._strict:
                self.fail("`\\u{` needs a code point in hex digits and `}`", start)
            self.pos = mark
        width = 2 if char == "x" else 4
        code = self._hex(width)
        if code is None:
            if self._strict:
                self.fail(f"`\\{char}` needs {width} hex digits", start)
            return ord(char)
        if 0xD800 <= code <= 0xDBFF and self.pattern.startswith("\\u", self.pos):
            mark = self.pos
            self.pos += 2
            low = self._hex(4)
            if low is not None and 0xDC00 <= low <= 0xDFFF:
                return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
            self.pos = mark
        return code

    def _hex(self, width: int) -> int | None:
        digits = self.pattern[self.pos : self.pos + width]
        if len(digits) < width or not set(digits) <= _HEX:
            return None
        self.pos += width
        return int(digits, 16)

    def _control_letter(self, start: int) -> int:
        letter = self.pattern[self.pos : self.pos + 1]
        if letter.isascii() and letter.isalpha():
            self.pos += 1
            return ord(letter) & 31
        if self._strict:
            self.fail("`\\c` needs a letter", start)
        # Annex B: the backslash stands for itself and the c is read again.
        self.pos -= 1
        return ord("\\")

    def _property(self, negative: bool, start: int) -> Ranges:
        end = self.pattern.find("}", self.pos)
        if end < 0:
            self.fail("`\\p{` is never closed", start)
        text = self.pattern[self.pos + 1 : end]
        self.pos = end + 1
        kind, equals, value = text.partition("=")
        found = property_set(kind, value) if equals else property_set("", text)
        if found is None or (equals and not kind):
            self.refuse(
                f"there is no Unicode property `{text}`",
                start,
                hint="use a general category, Script=..., Script_Extensions=... or a binary property",
            )
        if "i" in self.flags and negative:
            return invert(fold_case(found))
        return invert(found) if negative else found

    # Classes.

    def _class(self) -> Node:
        start = self.pos
        self.pos += 1
        negated = self.eat("^")
        parts: list[Ranges] = []
        while not self.eat("]"):
            if self.pos >= len(self.pattern):
                self.fail("this class is never closed", start, hint="add `]`")
            self._class_part(parts)
        found = unite(*parts) if parts else ()
        if "i" in self.flags:
            found = fold_case(found)
        return Chars(invert(found) if negated else found)

    def _class_part(self, parts: list[Ranges]) -> None:
        start = self.pos
        low = self._class_atom()
        pattern = self.pattern
        if not (pattern.startswith("-", self.pos) and pattern[self.pos + 1 : self.pos + 2] not in ("]", "")):
            parts.append(_as_set(low))
            return
        self.pos += 1
        high = self._class_atom()
        if isinstance(low, int) and isinstance(high, int):
            if high < low:
                self.fail("the ends of this range are out of order", start)
            parts.append(_span(low, high))
            return
        if self._strict:
            self.fail("a class cannot be the end of a range", start, hint="write `\\-` for the character")
        parts += [_as_set(low), _span(ord("-"), ord("-")), _as_set(high)]

    def _class_atom(self) -> int | Ranges:
        start = self.pos
        char = self._next("this class is never closed")
        if char != "\\":
            return ord(char)
        char = self._next("a lone backslash at the end")
        if char == "b":
            return 8
        if char == "-":
            return ord("-")
        if char == "c" and not self._strict and re.match("[0-9_]", self.pattern[self.pos : self.pos + 1]):
            self.pos += 1
            return ord(self.pattern[self.pos - 1]) & 31
        return self._class_escape(char, start)

    # Facts about the whole pattern.

    def _word(self) -> Ranges:
        return fold_case(WORD) if "i" in self.flags else WORD

    def _next(self, problem: str) -> str:
        if self.pos >= len(self.pattern):
            self.fail(problem, len(self.pattern))
        self.pos += 1
        return self.pattern[self.pos - 1]

    def _groups_total(self) -> int:
        """Number of capturing groups, also those further on."""
        if self._n_groups < 0:
            bare = re.sub(r"\\.|\[(?:\\.|[^\]\\])*\]", "", self.pattern, flags=re.DOTALL)
            names = len(re.findall(r"\(\?P?<(?![=!])", bare))
            self._n_groups = len(re.findall(r"\((?!\?)", bare)) + names
            self._has_names = names > 0
        return self._n_groups

    def _names(self) -> bool:
        self._groups_total()
        return self._has_names


def _literal_or_nothing(char: str) -> Chars:
    return Chars(()) if "\ud800" <= char <= "\udfff" else _literal(char)


def _span(low: int, high: int) -> Ranges:
    if high < 0xD800:
        return ((low, high),)
    return tuple((max(low, first), min(high, last)) for first, last in ALL if low <= last and high >= first)


def _as_set(found: int | Ranges) -> Ranges:
    return _span(found, found) if isinstance(found, int) else found


def _is_name(text: str) -> bool:
    plain = re.sub(r"\\u(?:\{[0-9a-fA-F]+\}|[0-9a-fA-F]{4})", "a", text).replace("$", "_")
    plain = plain.replace("\u200c", "_").replace("\u200d", "_")
    return plain.isidentifier()
