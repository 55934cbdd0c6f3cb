"""How decoded characters are spelled in bytes: plain UTF-8, or inside a JSON string.

Does: turns code point sets, fixed texts and character-level automata into lexemes, for three
encodings. Does not: parse patterns, or know what JSON values are beyond strings.

- `UTF8`: plain text. Only well-formed UTF-8 (no surrogates, no overlong forms).
- `JSON_CANONICAL`: the inside of a JSON string, each character with the one spelling that
  ``json.dumps(text, ensure_ascii=False)`` writes.
- `JSON_ANY_SPELLING`: the inside of a JSON string, with every spelling JSON allows: raw, short
  escapes (``\\/`` too), ``\\uXXXX`` in either case, surrogate pairs. Whatever the spelling, one
  decoded character is one character.

Each encoding is prefix-free per character, so concatenating characters is unambiguous; look-around
and complement rely on that. Rejected: escaping in a later pass over a finished byte automaton,
since a quote inside a class or a complement can then no longer be told from the string's own quote.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from json.encoder import encode_basestring
from threading import Lock
from typing import Final

from ..lexeme import (
    EMPTY,
    EPSILON,
    Lexeme,
    Op,
    automaton,
    byte_set,
    concat,
    literal,
    literals,
    repeat,
    star,
    union,
)
from .bytetrie import ByteTrie, Form, Interval, Ref, literal_digits
from .charset import ALL, Ranges, intersect, invert, make, subtract

__all__ = [
    "JSON_ANY_SPELLING",
    "JSON_CANONICAL",
    "JSON_STRING",
    "JSON_STRING_CANONICAL",
    "UTF8",
    "Encoding",
    "is_spellable",
    "joined",
    "json_string",
    "string_of_length",
]

#: A class with at most this many byte edges is an expression; above, an explicit automaton.
_MAX_EXPRESSION_EDGES: Final = 40
#: Classes, and nodes of their tries, remembered per encoding. Real grammars use a few dozen.
_MEMO_LIMIT: Final = 4_096
_TRIE_LIMIT: Final = 50_000


class Encoding:
    """A spelling of characters in bytes. Use the instances of this module.

    Attributes:
        name: For messages.
        single: Whether each character has exactly one spelling.
        any_char: One decoded character.
        any_text: Any text.
    """

    def __init__(self, name: str, forms: Sequence[Form], *, single: bool) -> None:
        self.name = name
        self.single = single
        self._forms = tuple(forms)
        self._memo: dict[Ranges, Lexeme] = {}
        # Shared by all classes, so that what they have in common is built once and is one object.
        self._trie = ByteTrie(self._forms)
        self._lock = Lock()
        self._expressions: dict[Ref, Lexeme] = {~0: EPSILON}
        self.any_char: Lexeme = self.chars(ALL)
        self.any_text: Lexeme = star(self.any_char)

    def __repr__(self) -> str:
        return f"<Encoding {self.name}>"

    def chars(self, ranges: Iterable[tuple[int, int]]) -> Lexeme:
        """One character out of a set.

        Args:
            ranges: Inclusive code point ranges, in any order. Surrogates are left out.
        """
        key = ranges if isinstance(ranges, tuple) else tuple(ranges)
        found = self._memo.get(key)
        if found is None:
            with self._lock:
                if len(self._memo) >= _MEMO_LIMIT:
                    self._memo.clear()
                found = self._memo[key] = self._class(make(key))
        return found

    def text(self, text: str) -> Lexeme:
        """One exact text. A text with a lone surrogate has no spelling: the empty language."""
        if not is_spellable(text):
            return EMPTY
        if self.single:
            return literal(self._spell(text))
        return joined([self.chars(((ord(char), ord(char)),)) for char in text])

    def texts(self, texts: Iterable[str]) -> Lexeme:
        """A finite set of texts."""
        members = [text for text in texts if is_spellable(text)]
        if self.single:
            return literals(self._spell(text) for text in members)
        if len(members) < 2:
            return self.text(members[0]) if members else EMPTY
        return self.automaton(*_text_trie(members))

    def automaton(self, rows: Sequence[Sequence[Interval]], accepting: Iterable[int]) -> Lexeme:
        """A deterministic automaton over characters, spelled in bytes.

        Args:
            rows: For each state its transitions (low, high, target), code points inclusive, sorted
                and disjoint. State 0 is the start.
            accepting: States in which the language may end.
        """
        trie = ByteTrie(self._forms)
        roots = [trie.root(row) for row in rows]
        n_chars = len(rows)

        def state(ref: Ref) -> int:
            return ~ref if ref < 0 else n_chars + ref

        spelled = [() if root is None else trie.rows[root] for root in roots] + trie.rows
        table = [[(low, high, state(ref)) for low, high, ref in row] for row in spelled]
        return _reachable(table, frozenset(accepting))

    def automaton_of_kinds(
        self, cover: Sequence[Interval], table: Sequence[Sequence[int]], accepting: Iterable[int]
    ) -> Lexeme:
        """As `automaton`, for one of many states that tell the same kinds of characters apart.

        Args:
            cover: Characters as ranges (low, high, kind), sorted and disjoint. Kinds count from 0.
            table: For each state the target of each kind, -1 for a dead end. State 0 is the start, and all
                states can be reached from it.
            accepting: States in which the language may end.
        """
        trie = ByteTrie(self._forms)
        root = trie.root(cover)
        return EMPTY if root is None else automaton(trie.automaton(root, table), accepting)

    def _spell(self, text: str) -> bytes:
        raise NotImplementedError

    def _class(self, ranges: Ranges) -> Lexeme:
        if len(self._trie.rows) > _TRIE_LIMIT:
            self._trie = ByteTrie(self._forms)
            self._expressions = {~0: EPSILON}
        root = self._trie.root([(low, high, 0) for low, high in ranges])
        if root is None:
            return EMPTY
        nodes = self._trie.reachable(root)
        if sum(len(self._trie.rows[node]) for node in nodes) > _MAX_EXPRESSION_EDGES:
            return self.automaton([[(low, high, 1) for low, high in ranges], []], [1])
        return self._expression(root)

    def _expression(self, ref: Ref) -> Lexeme:
        """A small trie as nested unions; equal tails are one object. Depth: bytes per character."""
        made = self._expressions.get(ref)
        if made is None:
            masks: dict[Ref, int] = {}
            for low, high, child in self._trie.rows[ref]:
                masks[child] = masks.get(child, 0) | ((1 << (high + 1)) - (1 << low))
            options = [joined([_one_byte(mask), self._expression(child)]) for child, mask in masks.items()]
            made = self._expressions[ref] = union(*options)
        return made


class _Utf8(Encoding):
    def _spell(self, text: str) -> bytes:
        return text.encode()


class _Json(Encoding):
    def _spell(self, text: str) -> bytes:
        return encode_basestring(text)[1:-1].encode()


def is_spellable(text: str) -> bool:
    """Whether a text is free of lone surrogates, which have no UTF-8."""
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def _one_byte(mask: int) -> Lexeme:
    if mask & (mask - 1):
        return byte_set(mask)
    return literal(bytes([mask.bit_length() - 1]))


def joined(parts: Sequence[Lexeme]) -> Lexeme:
    """Concatenation in which neighbouring literals are one."""
    flat: list[Lexeme] = []
    for part in parts:
        for one in part.args if part.op is Op.CONCAT else (part,):
            if one.op is Op.LITERAL and flat and flat[-1].op is Op.LITERAL:
                flat[-1] = literal(flat[-1].args[0] + one.args[0])
            else:
                flat.append(one)
    return concat(*flat)


def _reachable(table: list[list[tuple[int, int, int]]], accepting: frozenset[int]) -> Lexeme:
    """Drop rows that only served as parts of merged ones, and renumber."""
    number = {0: 0}
    order = [0]
    for source in order:
        for _, _, target in table[source]:
            if target not in number:
                number[target] = len(order)
                order.append(target)
    rows = [[(low, high, number[target]) for low, high, target in table[source]] for source in order]
    return automaton(rows, [number[state] for state in accepting if state in number])


def _text_trie(texts: list[str]) -> tuple[list[list[Interval]], list[int]]:
    rows: list[dict[int, int]] = [{}]
    ends: set[int] = set()
    for text in texts:
        state = 0
        for char in text:
            following = rows[state].get(ord(char))
            if following is None:
                following = rows[state][ord(char)] = len(rows)
                rows.append({})
            state = following
        ends.add(state)
    return [[(char, char, to) for char, to in sorted(row.items())] for row in rows], sorted(ends)


_ASCII_DIGIT: Final = tuple(bytes([value]) for value in range(0x80))
_TAIL: Final = tuple(bytes([0x80 + value]) for value in range(64))
_LOWER_HEX: Final = tuple(bytes([value]) for value in b"0123456789abcdef")
_HEX: Final = tuple(bytes({low, ord(chr(low).upper())}) for low in b"0123456789abcdef")


def _lead(first: int, n_digits: int) -> tuple[bytes, ...]:
    return tuple(bytes([first + value]) for value in range(n_digits))


_NON_ASCII: Final = (
    Form(((0x80, 0x7FF),), (_lead(0xC0, 32), _TAIL)),
    Form(((0x800, 0xD7FF), (0xE000, 0xFFFF)), (_lead(0xE0, 16), _TAIL, _TAIL)),
    Form(((0x10000, 0x10FFFF),), (_lead(0xF0, 8), _TAIL, _TAIL, _TAIL)),
)
_SHORT_ESCAPES: Final = {'"': '"', "\\": "\\", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}


def _short(char: str, letter: str) -> Form:
    return Form(((ord(char), ord(char)),), literal_digits(b"\\" + letter.encode()), offset=ord(char))


_NAMED: Final = make((ord(char), ord(char)) for char in _SHORT_ESCAPES)
_CONTROLS: Final[Ranges] = ((0, 0x1F),)
_ASCII: Final[Ranges] = ((0, 0x7F),)
_RAW: Final = intersect(_ASCII, subtract(invert(_NAMED), _CONTROLS))
_JSON_RAW: Final = (Form(_RAW, (_ASCII_DIGIT,)), *_NON_ASCII)
_JSON_SHORT: Final = tuple(_short(char, letter) for char, letter in _SHORT_ESCAPES.items())

UTF8: Final[Encoding] = _Utf8("UTF-8", (Form(_ASCII, (_ASCII_DIGIT,)), *_NON_ASCII), single=True)

JSON_CANONICAL: Final[Encoding] = _Json(
    "canonical JSON",
    (
        *_JSON_RAW,
        *_JSON_SHORT,
        Form(subtract(_CONTROLS, _NAMED), (*literal_digits(b"\\u00"), (b"0", b"1"), _LOWER_HEX)),
    ),
    single=True,
)

JSON_ANY_SPELLING: Final[Encoding] = _Json(
    "JSON in any spelling",
    (
        *_JSON_RAW,
        *_JSON_SHORT,
        _short("/", "/"),
        Form(((0, 0xD7FF), (0xE000, 0xFFFF)), (*literal_digits(b"\\u"), _HEX, _HEX, _HEX, _HEX)),
        Form(
            ((0x10000, 0x10FFFF),),
            (
                *literal_digits(b"\\u"), (b"dD",), _HEX[8:12], _HEX, _HEX,
                *literal_digits(b"\\u"), (b"dD",), _HEX[12:16], _HEX, _HEX,
            ),
            offset=0x10000,
        ),
    ),
    single=False,
)  # fmt: skip

_QUOTE: Final = literal(b'"')


def json_string(body: Lexeme) -> Lexeme:
    """A JSON string with its quotes, from the language of its inside."""
    return concat(_QUOTE, body, _QUOTE)


#: Any JSON string, quotes included, with every escape that JSON allows.
JSON_STRING: Final = json_string(JSON_ANY_SPELLING.any_text)
#: Any JSON string, quotes included, each character in its canonical spelling.
JSON_STRING_CANONICAL: Final = json_string(JSON_CANONICAL.any_text)


def string_of_length(low: int, high: int | None, encoding: Encoding) -> Lexeme:
    """Texts of ``low`` to ``high`` decoded characters (None: no upper bound), however spelled."""
    return repeat(encoding.any_char, low, high)
