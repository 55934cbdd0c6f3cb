"""Grammar text to tokens, for the two dialects that `parser` reads.

What it does: finds rule heads, names, literals, character classes, repetition ranges and
punctuation; decodes escapes; draws errors with line and column. It knows no grammar rules.

The idea: one regular expression per dialect does the cutting, so a 500 KB grammar scans at the
speed of `re`. A rule head (``name ::=`` at the start of a line) is one token: that is what lets
a body run over several lines without a terminator.

Rejected: a character-by-character scanner shared by both dialects; it was ten times slower and
the differences between the dialects disappeared in conditions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, NoReturn

from ..errors import GrammarSyntaxError
from ..regex import charset

__all__ = ["EBNF", "GBNF", "Dialect", "Source", "Token", "class_ranges", "literal_text", "scan"]

MAX_CODE_POINT: Final = 0x10FFFF

_CONTROL_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True)
class Dialect:
    """Where two dialects of the notation differ.

    Attributes:
        name: For messages.
        pattern: Cuts one token; the name of the group that matched is the token's kind.
        head: A rule head, tried at the start of a line.
        escapes: Escape letters that stand for one character.
        hex_digits: For ``\\x``, ``\\u``, ``\\U``: how many digits follow (None: one or more).
        stacked_operators: May one repetition operator follow another (``a*?``)?
        line_ends_rule: Does a newline outside parentheses end the rule?
        empty_negation: Is ``[^]`` any character?
        macros: Is ``Name(...)`` a macro?
    """

    name: str
    pattern: re.Pattern[str]
    head: re.Pattern[str]
    escapes: Mapping[str, str]
    hex_digits: Mapping[str, int | None]
    stacked_operators: bool
    line_ends_rule: bool
    empty_negation: bool
    macros: bool


EBNF: Final = Dialect(
    name="EBNF",
    pattern=re.compile(
        r"""(?P<space>[\ \t\r\n\f\v]+|\#[^\n]*)
        |(?P<name>[.\-]*[A-Za-z_][A-Za-z0-9_.\-]*)
        |(?P<string>"[^"\\\n]*(?:\\.[^"\\\n]*)*")
        |(?P<klass>\[[^\]\\\n]*(?:\\.[^\]\\\n]*)*\])
        |(?P<range>\{[^}\n]*\})
        |(?P<int>[0-9]+)
        |(?P<punct>\(=|[()|?*+,=])""",
        re.VERBOSE,
    ),
    head=re.compile(
        r"""(?P<name>[.\-]*[A-Za-z_][A-Za-z0-9_.\-]*)[ \t]*
        (?P<options>\[(?:[^\]"\n]|"[^"\\\n]*(?:\\.[^"\\\n]*)*")*\])?[ \t]*::=""",
        re.VERBOSE,
    ),
    escapes={
        **_CONTROL_ESCAPES,
        **{"b": "\b", "f": "\f", "a": "\a", "v": "\v", "0": "\0", "e": "\x1b"},
        **{char: char for char in "\"\\/'?[]-^"},
    },
    hex_digits={"x": None, "u": 4, "U": 8},
    stacked_operators=False,
    line_ends_rule=False,
    empty_negation=True,
    macros=True,
)

GBNF: Final = Dialect(
    name="GBNF",
    pattern=re.compile(
        r"""(?P<space>[\ \t\r\n]+|\#[^\r\n]*)
        |(?P<name>[A-Za-z0-9_\-]+)
        |(?P<string>"[^"\\]*(?:\\.[^"\\]*)*")
        |(?P<klass>\[[^\]\\]*(?:\\.[^\]\\]*)*\])
        |(?P<range>\{[^}]*\})
        |(?P<token>!?<\[[0-9]+\]>|!?<[^>\n]*>)
        |(?P<punct>[()|?*+.])""",
        re.VERBOSE | re.DOTALL,
    ),
    head=re.compile(r"(?P<name>[A-Za-z0-9_\-]+)[ \t]*::="),
    escapes={**_CONTROL_ESCAPES, **{char: char for char in '"\\[]-'}},
    hex_digits={"x": 2, "u": 4, "U": 8},
    stacked_operators=True,
    line_ends_rule=True,
    empty_negation=False,
    macros=False,
)


class Token(NamedTuple):
    """One piece of grammar text.

    ``kind`` is the group name of `Dialect.pattern`, or ``head`` (``text`` is then the rule's name
    and ``options`` its bracketed options) or ``end``; punctuation is its own kind.
    """

    kind: str
    text: str
    offset: int
    starts_line: bool
    options: str = ""


class Source:
    """Grammar text that knows where its lines are."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        self.text = text
        self.dialect = dialect

    def fail(self, offset: int, message: str, hint: str | None = None) -> NoReturn:
        """Raise a `GrammarSyntaxError` at an offset of the text."""
        line = self.text.count("\n", 0, offset) + 1
        column = offset - (self.text.rfind("\n", 0, offset) + 1) + 1
        raise GrammarSyntaxError(message, source=self.text, line=line, column=column, hint=hint)


#: First character of something that cannot be cut -> (message, hint).
_CANNOT_CUT: Final = {
    '"': ("a literal is not closed on its line", 'end it with "; write a newline as \\n'),
    "[": ("a character class is not closed on its line", "end it with ]; write a ] inside as \\]"),
    "{": ("a repetition range is not closed", "write {2}, {2,5} or {2,}"),
    "'": ("single quotes do not delimit literals", 'use double quotes: "text"'),
    ":": ("a rule definition may only start a line", "write each rule as `name ::= ...` on a new line"),
    "/": ("a /regular expression/ is not part of this dialect", 'write Regex("...") in EBNF'),
    ";": ("rules are not ended by a semicolon", "leave it out"),
    ".": ("`.` is not part of EBNF", "write [^] for any character, [^\\n] for any but a newline"),
    "<": ("token terminals are not part of EBNF", "write Token(id), or read the text as GBNF"),
    "!": ("`!` is not part of this dialect", None),
    "=": ("`=` cannot stand here", "a rule is defined with ::="),
}


def scan(source: Source) -> Iterator[Token]:
    """The tokens of a text, closed by one of kind ``end``.

    Raises:
        GrammarSyntaxError: A character starts no token.
    """
    text, dialect = source.text, source.dialect
    match_token, match_head = dialect.pattern.match, dialect.head.match
    offset, starts_line = 0, True
    while offset < len(text):
        if starts_line and (head := match_head(text, offset)):
            options = head.group("options") or "" if "options" in dialect.head.groupindex else ""
            yield Token("head", head.group("name"), offset, True, options)
            offset, starts_line = head.end(), False
            continue
        match = match_token(text, offset)
        if match is None:
            default = (f"{text[offset]!r} cannot start anything in {dialect.name}", None)
            source.fail(offset, *_CANNOT_CUT.get(text[offset], default))
        kind, piece = match.lastgroup or "", match.group()
        if kind == "space":
            starts_line = starts_line or "\n" in piece or "\r" in piece
        else:
            yield Token(piece if kind == "punct" else kind, piece, offset, starts_line)
            starts_line = False
        offset = match.end()
    yield Token("end", "", offset, True)


def _escape(source: Source, text: str, at: int, offset: int) -> tuple[int, int]:
    """The code point of the escape at ``text[at]`` (a backslash), and the position after it."""
    dialect = source.dialect
    letter = text[at + 1]
    if letter in dialect.hex_digits:
        wanted = dialect.hex_digits[letter]
        digits = re.compile(r"[0-9A-Fa-f]*").match(text, at + 2, at + 2 + (wanted or len(text)))
        found = digits.group() if digits else ""
        if not found or (wanted is not None and len(found) < wanted):
            source.fail(offset + at, f"\\{letter} needs {wanted or 'one or more'} hexadecimal digits")
        # Digits beyond nine can only be leading zeros or an error; int() of a megabyte is slow.
        significant = found.lstrip("0") or "0"
        code = int(significant, 16) if len(significant) < 9 else MAX_CODE_POINT + 1
        if code > MAX_CODE_POINT:
            source.fail(offset + at, "an escape stands for a number above U+10FFFF")
        return code, at + 2 + len(found)
    if letter not in dialect.escapes:
        source.fail(
            offset + at,
            f"unknown escape \\{letter} in {dialect.name}",
            "write a backslash as \\\\; classes such as \\d are not part of the notation: write [0-9]",
        )
    return ord(dialect.escapes[letter]), at + 2


def _characters(source: Source, text: str, offset: int, start: int) -> Iterator[tuple[int, int, bool]]:
    """(code point, position, was escaped) of each character between ``start`` and the last one."""
    at, end = start, len(text) - 1
    while at < end:
        if text[at] == "\\":
            code, after = _escape(source, text, at, offset)
            yield code, at, True
            at = after
        else:
            yield ord(text[at]), at, False
            at += 1


def literal_text(source: Source, token: Token) -> str:
    """The characters that a literal stands for. A surrogate pair is the character it encodes.

    Raises:
        GrammarSyntaxError: Unknown escape, or half of a surrogate pair.
    """
    body = token.text[1:-1]
    if "\\" not in body and body.isascii():
        return body
    chars: list[str] = []
    high: tuple[int, int] | None = None
    for code, at, _ in _characters(source, token.text, token.offset, 1):
        if high is not None:
            if not 0xDC00 <= code <= 0xDFFF:
                _lone_surrogate(source, token.offset + high[1])
            chars.append(chr(0x10000 + ((high[0] - 0xD800) << 10) + code - 0xDC00))
            high = None
        elif 0xD800 <= code <= 0xDBFF:
            high = (code, at)
        elif 0xDC00 <= code <= 0xDFFF:
            _lone_surrogate(source, token.offset + at)
        else:
            chars.append(chr(code))
    if high is not None:
        _lone_surrogate(source, token.offset + high[1])
    return "".join(chars)


def _lone_surrogate(source: Source, offset: int) -> NoReturn:
    source.fail(
        offset,
        "half of a surrogate pair is not a character and has no UTF-8 spelling",
        "write the character itself, or \\U and eight digits",
    )


def class_ranges(source: Source, token: Token) -> charset.Ranges:
    """The code points of a character class.

    Raises:
        GrammarSyntaxError: Empty class, range that runs backwards, unknown escape, surrogate.
    """
    negated = token.text.startswith("[^")
    chars = list(_characters(source, token.text, token.offset, 2 if negated else 1))
    if not chars and not (negated and source.dialect.empty_negation):
        hint = "write . for any character" if negated else "a class needs at least one character"
        source.fail(token.offset, "an empty character class matches nothing", hint)
    ranges: list[tuple[int, int]] = []
    at = 0
    while at < len(chars):
        low, start, _ = chars[at]
        high = low
        # A dash is a range sign only between two characters, and only when not escaped.
        if at + 2 < len(chars) and chars[at + 1][0] == ord("-") and not chars[at + 1][2]:
            high = chars[at + 2][0]
            at += 2
        if high < low:
            source.fail(token.offset + start, "a range of characters runs backwards", "swap its ends")
        for code in (low, high):
            if 0xD800 <= code <= 0xDFFF:
                _lone_surrogate(source, token.offset + start)
        ranges.append((low, high))
        at += 1
    return charset.invert(charset.make(ranges)) if negated else charset.make(ranges)
