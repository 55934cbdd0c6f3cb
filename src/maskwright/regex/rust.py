r"""Rust's regex syntax, with what Python's `re` adds, to pattern trees.

Does: Unicode classes by default, scoped and inline flags (``(?i)``, ``(?ix-s:..)``), ``(?P<n>..)``,
nested classes with ``&&``, ``--`` and ``~~``, POSIX names, look-around; with ``operators`` also ``&``
(both sides on the same span) and ``~`` (any text but the next item). Does not: back-references,
atomic groups, possessive quantifiers, conditionals: refused by name with the offset.

Used for grammar text in the Lark style. Without the ``m`` flag ``$`` is the very end, as in Rust.
"""

from __future__ import annotations

import re
from typing import Final

from .charset import ALL, NONE, Ranges, intersect, invert, subtract, unite
from .classes import (
    DIGIT,
    POSIX,
    WORD,
    fold_case,
    property_set,
    unicode_digit,
    unicode_space,
    unicode_word,
)
from .parser import GroupKind, PatternParser
from .tree import ANY, Chars, Look, Node, sequence

__all__ = ["parse_rust"]

_FLAGS: Final = frozenset("imsxuU")
_LINE_FEED: Final[Ranges] = ((10, 10),)
_DOT: Final = Chars(invert(_LINE_FEED))
_ESCAPED: Final = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
_BRACES: Final = re.compile(r"\{\s*([0-9]*)\s*(,?)\s*([0-9]*)\s*\}")
_INLINE: Final = re.compile(r"([a-zA-Z]*)(-[a-zA-Z]*)?([:)])")
_NAME: Final = re.compile(r"P?<([^>]*)>")
_POSIX: Final = re.compile(r"\[:(\^?)([a-z]+):\]")
_HEX: Final = re.compile(r"\{([0-9a-fA-F]+)\}")
_WIDTHS: Final = {"x": 2, "u": 4, "U": 8}
_WORD_EDGE: Final = re.compile(r"\{(start|end|start-half|end-half)\}")
_BLANK: Final = re.compile(r"(?:\s|#[^\n]*)+")
_OPERATIONS: Final = {"&&": intersect, "--": subtract}
_LOOKS: Final[dict[str, GroupKind]] = {"<=": "behind", "<!": "not behind", "=": "ahead", "!": "not ahead"}
_IRREGULAR: Final = {"P=": "a back-reference", ">": "an atomic group", "(": "a conditional group"}
_HINT_ESCAPE: Final = "write a backslash before it to mean the character"


def parse_rust(pattern: str, flags: frozenset[str] = frozenset(), *, operators: bool = False) -> Node:
    """The tree of a pattern; with ``operators``, ``&`` and ``~`` combine whole expressions.

    Raises:
        RegexError: Malformed, or not regular.
        LimitExceeded: See `PatternParser.parse`.
    """
    parser = RustParser(pattern, flags | {"u"})
    parser.extended_operators = operators
    return parser.parse()


class RustParser(PatternParser):
    """Reads one pattern."""

    def atom(self, char: str) -> Node:
        start = self.pos
        if char == "\\":
            return self._escape()
        if char == "[":
            return Chars(self._class())
        self.pos += 1
        if char == ".":
            return ANY if "s" in self.flags else _DOT
        if char == "^":
            return self.line_start(_LINE_FEED)
        if char == "$":
            return self.line_end(_LINE_FEED)
        if char in "*+?" or (char == "{" and _BRACES.match(self.pattern, start)):
            self.fail("nothing to repeat here", start, hint=_HINT_ESCAPE)
        return self.char(ord(char))

    def skip_blank(self) -> bool:
        if "x" not in self.flags:
            return False
        match = _BLANK.match(self.pattern, self.pos)
        if match is None:
            return False
        self.pos = match.end()
        return True

    def braces(self) -> tuple[int, int | None] | None:
        match = _BRACES.match(self.pattern, self.pos)
        if match is None or not (match[1] or match[3]):
            return None
        self.pos = match.end()
        # Eleven digits exceed the largest count already.
        low = int(match[1][:11] or 0)
        if not match[2]:
            return low, low
        return low, int(match[3][:11]) if match[3] else None

    def possessive(self) -> None:
        self.refuse("a possessive quantifier is not regular", self.pos, hint="leave out the second sign")

    def check_quantifiable(self, node: Node, start: int, at: int) -> None:
        """Anything may be repeated; a repeated test is the test."""

    def open_special(self) -> GroupKind | None:
        start = self.pos - 2
        if self.eat(":"):
            return "group"
        if self.eat("#"):
            end = self.pattern.find(")", self.pos)
            if end < 0:
                self.fail("this comment is never closed", start)
            self.pos = end + 1
            return None
        for text, kind in _LOOKS.items():
            if self.eat(text):
                return kind
        name = _NAME.match(self.pattern, self.pos)
        if name:
            if not re.fullmatch(r"[^\W\d][\w.\[\]]*", name[1]):
                self.fail(f"`{name[1]}` is not a group name", self.pos)
            self.pos = name.end()
            return "group"
        for text, what in _IRREGULAR.items():
            if self.pattern.startswith(text, self.pos):
                self.refuse(f"{what} is not regular", start)
        flags = _INLINE.match(self.pattern, self.pos)
        if flags is None:
            self.fail("unknown kind of group", start, hint="write `\\(` for the character")
        return self._set_flags(flags)

    def _set_flags(self, match: re.Match[str]) -> GroupKind | None:
        on, off = match[1], (match[2] or "")[1:]
        for letter in on + off:
            if letter not in _FLAGS:
                self.fail(f"unknown flag `{letter}`", hint="flags are i, m, s, u, x and U")
        if not on and not off:
            self.fail("a group without flags", hint="write (?:...)")
        self.pos = match.end()
        self.flags = (self.flags | set(on)) - set(off)
        return "group" if match[3] == ":" else None

    # Escapes.

    def _escape(self) -> Node:
        start = self.pos
        self.pos += 1
        char = self._next("a lone backslash at the end")
        if char == "A":
            return Look(ANY, behind=True, negative=True)
        if char in "zZ":
            return Look(ANY, behind=False, negative=True)
        if char in "bB":
            return self._boundary(char)
        if char in "123456789":
            self.refuse(
                "a back-reference is not regular", start, hint="list the alternatives it can stand for"
            )
        if char in "kg":
            self.refuse("a back-reference is not regular", start)
        found = self._class_escape(char, start)
        return self.char(found) if isinstance(found, int) else self.chars(found)

    def _boundary(self, char: str) -> Node:
        edge = _WORD_EDGE.match(self.pattern, self.pos) if char == "b" else None
        word = Chars(self._shorthand("w"))
        if edge is None:
            return self.word_boundary(word.ranges, negative=char == "B")
        self.pos = edge.end()
        at_start = edge[1].startswith("start")
        tests: list[Node] = [Look(word, behind=at_start, negative=True)]
        if "half" not in edge[1]:
            tests.append(Look(word, behind=not at_start, negative=False))
        return sequence(tests)

    def _shorthand(self, letter: str) -> Ranges:
        if "u" not in self.flags:
            return {"d": DIGIT, "s": POSIX["space"], "w": WORD}[letter]
        if letter == "w":
            return unicode_word()
        return unicode_digit() if letter == "d" else unicode_space()

    def _class_escape(self, char: str, start: int) -> int | Ranges:
        if char in "dDsSwW":
            found = self._shorthand(char.lower())
            return found if char.islower() else invert(found)
        if char in "pP":
            return self._property(char == "P", start)
        if char in _ESCAPED:
            return _ESCAPED[char]
        if char in _WIDTHS:
            return self._code_point(char, start)
        if char == "0":
            return 0
        if char.isalnum():
            self.fail(f"`\\{char}` is not an escape", start, hint=f"write `{char}`")
        return ord(char)

    def _code_point(self, char: str, start: int) -> int:
        match = _HEX.match(self.pattern, self.pos)
        digits = match[1] if match else self.pattern[self.pos : self.pos + _WIDTHS[char]]
        if not match and (len(digits) < _WIDTHS[char] or not re.fullmatch("[0-9a-fA-F]+", digits)):
            self.fail(f"`\\{char}` needs {_WIDTHS[char]} hex digits, or some in braces", start)
        self.pos = match.end() if match else self.pos + len(digits)
        code = int(digits.lstrip("0")[:9] or "0", 16)
        if code > 0x10FFFF:
            self.fail("there is no such code point", start)
        return code

    def _property(self, negative: bool, start: int) -> Ranges:
        if self.eat("{"):
            end = self.pattern.find("}", self.pos)
            if end < 0:
                self.fail("`\\p{` is never closed", start)
            text = self.pattern[self.pos : end]
            self.pos = end + 1
        else:
            text = self._next("`\\p` needs a property")
        if text.startswith("^"):
            negative, text = not negative, text[1:]
        unequal = "!=" in text
        kind, equals, value = text.replace("!=", "=").replace(":", "=").partition("=")
        found = property_set(kind, value) if equals else property_set("", text)
        if found is None:
            self.fail(f"there is no Unicode property `{text}`", start, hint="for a script: Script=Greek")
        if "i" in self.flags:
            found = fold_case(found)
        return invert(found) if negative != unequal else found

    # Classes: a loop over one class, with a stack for nested ones.

    def _class(self) -> Ranges:
        start = self.pos
        stack = [self._open_class()]
        while True:
            frame = stack[-1]
            if self.pos >= len(self.pattern):
                self.fail("this class is never closed", start, hint="add `]`")
            if self.skip_blank():
                continue
            if self.pattern[self.pos] == "]" and not frame.fresh:
                self.pos += 1
                stack.pop()
                found = self._close_class(frame)
                if not stack:
                    return found
                stack[-1].parts.append(found)
                continue
            frame.fresh = False
            operator = self.pattern[self.pos : self.pos + 2]
            if operator in ("&&", "--", "~~"):
                self.pos += 2
                self._operate(frame)
                frame.operator = operator
                continue
            posix = _POSIX.match(self.pattern, self.pos)
            if posix and posix[2] in POSIX:
                self.pos = posix.end()
                frame.parts.append(invert(POSIX[posix[2]]) if posix[1] else POSIX[posix[2]])
            elif self.pattern[self.pos] == "[":
                stack.append(self._open_class())
            else:
                self._class_range(frame)

    def _open_class(self) -> _ClassFrame:
        self.pos += 1
        return _ClassFrame(self.eat("^"))

    def _operate(self, frame: _ClassFrame) -> None:
        """Fold what was read since the last operator into the left-hand side."""
        right = unite(*frame.parts) if frame.parts else NONE
        if "i" in self.flags:
            right = fold_case(right)
        if frame.operator == "":
            frame.left = right
        elif frame.operator == "~~":
            frame.left = unite(subtract(frame.left, right), subtract(right, frame.left))
        else:
            frame.left = _OPERATIONS[frame.operator](frame.left, right)
        frame.parts = []

    def _close_class(self, frame: _ClassFrame) -> Ranges:
        self._operate(frame)
        return invert(frame.left) if frame.negated else frame.left

    def _class_range(self, frame: _ClassFrame) -> None:
        start = self.pos
        low = self._class_atom()
        after = self.pattern[self.pos : self.pos + 2]
        if not isinstance(low, int) or after[:1] != "-" or after in ("--", "-]", "-"):
            frame.parts.append(_span(low, low) if isinstance(low, int) else low)
            return
        self.pos += 1
        high = self._class_atom()
        if not isinstance(high, int):
            self.fail("a class cannot be the end of a range", start, hint="write `\\-` for the character")
        if high < low:
            self.fail("the ends of this range are out of order", start)
        frame.parts.append(_span(low, high))

    def _class_atom(self) -> int | Ranges:
        start = self.pos
        char = self._next("this class is never closed")
        if char != "\\":
            return ord(char)
        char = self._next("a lone backslash at the end")
        # In a class, Python reads \b as a backspace and Rust has no such escape.
        return 8 if char == "b" else self._class_escape(char, start)

    def _next(self, problem: str) -> str:
        if self.pos >= len(self.pattern):
            self.fail(problem, len(self.pattern))
        self.pos += 1
        return self.pattern[self.pos - 1]


class _ClassFrame:
    """A class while it is read."""

    __slots__ = ("fresh", "left", "negated", "operator", "parts")

    def __init__(self, negated: bool) -> None:
        self.negated = negated
        self.parts: list[Ranges] = []
        self.left: Ranges = NONE
        self.operator = ""
        #: A `]` right after the opening is a character.
        self.fresh = True


def _span(low: int, high: int) -> Ranges:
    return intersect(((low, high),), ALL)
