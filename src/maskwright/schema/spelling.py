"""Spelling: whitespace, separators and key texts of containers, as shared lexemes.

A `Layout` stands for one whitespace policy and is shared by all schemas of the process that use it,
together with the rules for "any JSON value", so that their automaton states are shared too.

Separators are one lexeme with the whitespace around them; lowering joins them with the keys and brackets
beside them, so that the network has one edge where JSON has five tokens. The text of an open key stays a
lexeme of its own: it is the same wide state as any string value, and its mask is computed once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, TypeAlias

from ..lexeme import EPSILON, Lexeme, Op, byte_set, concat, literal, literals, repeat, union
from ..regex.encoding import JSON_ANY_SPELLING, JSON_CANONICAL, JSON_STRING, Encoding, is_spellable, joined
from ..rules import Alt, Call, Expr, Lex, Repeat, Rule, Seq
from .numbers import number_lexeme
from .options import DEFAULT_WHITESPACE, SchemaOptions
from .values import decimal_of, is_integer, number_text, string_text

__all__ = ["MAX_KEYS", "Layout", "Marks", "any_number", "builtin_json_rules", "layout_of"]

#: Known keys remembered per layout.
MAX_KEYS: Final = 65_536
#: Whole numbers below this are also written without a point where the schema has one.
_MAX_WHOLE: Final = 10**18
#: Texts that are written as alternatives when each has many spellings.
_MAX_UNION: Final = 200
_WORDS: Final = Lex(literals([b"true", b"false", b"null"]))
_STRING: Final = Lex(JSON_STRING)
_QUOTE: Final = literal(b'"')


@lru_cache(maxsize=1)
def any_number() -> Lexeme:
    """Every JSON number."""
    return number_lexeme()


#: Opening, separator, closing; and the closing bracket of an empty container that is not indented.
Marks: TypeAlias = tuple[Lex, Lex, Lex, Lex]


class Layout:
    """One whitespace policy.

    Attributes:
        encoding: How the characters of keys and constrained strings are spelled.
        is_indented: Whether the depth of a value changes its spelling.
        colon: What stands between a key and its value.
        keys: Known keys that were asked for, by name; see `key`.
        canonical: Any value in one spelling, and what is left out of it, for `canonical`.
    """

    def __init__(self, options: SchemaOptions) -> None:
        self.encoding: Encoding = JSON_ANY_SPELLING if options.any_spelling else JSON_CANONICAL
        self.is_indented = not options.any_whitespace and options.indent is not None
        self._indent = options.indent or 0
        self._memo: dict[tuple[bytes, int], Lex] = {}
        self._marks: dict[tuple[bytes, int], Marks] = {}
        self._any: dict[int, tuple[Expr, Expr, Expr]] = {}
        self.keys: dict[str, tuple[Lex, ...]] = {}
        self.canonical: dict[tuple[int, int], tuple[Lexeme, frozenset[str]]] = {}
        if options.any_whitespace:
            bound = options.max_whitespace_cnt
            space = repeat(byte_set(b" \t\n\r"), 0, DEFAULT_WHITESPACE if bound is None else bound)
            self._space: Lexeme | None = space
            colon_text = concat(space, literal(b":"), space)
            self._comma = b","
        else:
            comma, colon = options.separators or ("," if self.is_indented else ", ", ": ")
            self._space = None
            colon_text = literal(colon.encode())
            self._comma = comma.encode()
        self.colon = Lex(colon_text)

    def below(self, depth: int) -> int:
        """The depth of a member of a container at ``depth``."""
        return depth + 1 if self.is_indented else 0

    def opening(self, bracket: bytes, depth: int) -> Lex:
        """An opening bracket and what precedes the first member."""
        return self._made(bracket, depth, bracket, b"")

    def separator(self, depth: int) -> Lex:
        """What stands between two members."""
        return self._made(b",", depth, self._comma, b"")

    def closing(self, bracket: bytes, depth: int) -> Lex:
        """What follows the last member, and the closing bracket."""
        return self._made(bracket, depth, b"", bracket)

    def fixed_text(self, kind: bytes, depth: int) -> bytes:
        """A bracket, comma or colon with one white space, as `json.dumps` where there is a choice."""
        if self._space is not None:
            wide = kind in b",:" and self._space.op is not Op.EPSILON
            return kind + b" " if wide else kind
        if kind == b":":
            made = self.colon
        elif kind == b",":
            made = self.separator(depth)
        else:
            made = self.opening(kind, depth) if kind in b"[{" else self.closing(kind, depth)
        return _only_text(made.lexeme)

    def marks(self, brackets: bytes, depth: int) -> Marks:
        """What stands around and between the members of a container of a depth."""
        found = self._marks.get((brackets, depth))
        if found is None:
            opening, closing = brackets[:1], brackets[1:]
            empty = Lex(literal(closing))
            found = (self.opening(opening, depth), self.separator(depth), self.closing(closing, depth), empty)
            self._marks[brackets, depth] = found
        return found

    def container(self, brackets: bytes, depth: int, full: Expr | None, empty: bool) -> Expr:
        """A container: ``full`` is everything after the opening, or None if no member can come."""
        opening, closing = brackets[:1], brackets[1:]
        if not self.is_indented:
            first = self.opening(opening, depth)
            options = [Lex(literal(closing))] if empty else []
            rest = [*options, full] if full is not None else options
            return Seq((first, rest[0] if len(rest) == 1 else Alt(tuple(rest))))
        parts: list[Expr] = [Lex(literal(brackets))] if empty else []
        if full is not None:
            parts.append(Seq((self.opening(opening, depth), full)))
        return parts[0] if len(parts) == 1 else Alt(tuple(parts))

    def key(self, name: str) -> tuple[Lex, ...]:
        """A known key with its quotes, and the colon. Shared, so that the kernel knows it again.

        They are joined here where lowering would join them: where a key has one spelling.
        """
        found = self.keys.get(name)
        if found is None:
            text = self.string_literals([name])
            if self.encoding.single:
                found = (Lex(joined([text, self.colon.lexeme])),)
            else:
                found = (Lex(text), self.colon)
            if len(self.keys) >= MAX_KEYS:
                self.keys.clear()
            self.keys[name] = found
        return found

    def texts(self, texts: list[str]) -> Lexeme:
        """A finite set of texts, without quotes."""
        if self.encoding.single or len(texts) > _MAX_UNION:
            return self.encoding.texts(texts)
        # One automaton over all spellings of all texts is slow to make and rarely worth it.
        return union(*map(self.encoding.text, texts))

    def string_literals(self, texts: list[str]) -> Lexeme:
        """A finite set of strings, quotes included."""
        if self.encoding.single:
            return literals(string_text(text) for text in texts if is_spellable(text))
        return concat(_QUOTE, self.texts(texts), _QUOTE)

    def scalar(self, value: Any, *, digits_only: bool = False) -> Lexeme:
        """One null, boolean, number or string; a whole number perhaps without a point or an exponent."""
        if isinstance(value, str):
            return self.string_literals([value])
        if value is None or isinstance(value, bool):
            return literal(b"null" if value is None else b"true" if value else b"false")
        if self.encoding.single and not digits_only:
            return literals(_number_texts(value))
        exact = value if isinstance(value, int) else decimal_of(value)
        if digits_only:
            return number_lexeme(minimum=exact, maximum=exact, integer=True, integer_spelling="plain")
        return union(number_lexeme(minimum=exact, maximum=exact), literal(number_text(value)))

    def any_value(self, depth: int = 0) -> Expr:
        """Any JSON value."""
        return self._any_rules(depth)[0]

    def any_array(self, depth: int = 0) -> Expr:
        """Any JSON array."""
        return self._any_rules(depth)[1]

    def any_object(self, depth: int = 0) -> Expr:
        """Any JSON object."""
        return self._any_rules(depth)[2]

    def _any_rules(self, depth: int) -> tuple[Expr, Expr, Expr]:
        found = self._any.get(depth)
        if found is None:
            inner = self.below(depth)
            items = Call(Rule("any array", lambda: self._any_array(depth, inner)))
            members = Call(Rule("any object", lambda: self._any_object(depth, inner)))
            value = Call(Rule("any value", Alt((_STRING, Lex(any_number()), _WORDS, members, items))))
            found = self._any[depth] = (value, items, members)
        return found

    def _any_array(self, depth: int, inner: int) -> Expr:
        value = self.any_value(inner)
        more = Repeat(Seq((self.separator(depth), value)), 0, None)
        return self.container(b"[]", depth, Seq((value, more, self.closing(b"]", depth))), True)

    def _any_object(self, depth: int, inner: int) -> Expr:
        member = Seq((_STRING, self.colon, self.any_value(inner)))
        more = Repeat(Seq((self.separator(depth), member)), 0, None)
        return self.container(b"{}", depth, Seq((member, more, self.closing(b"}", depth))), True)

    def _made(self, kind: bytes, depth: int, before: bytes, after: bytes) -> Lex:
        key = (kind, depth if self.is_indented else 0)
        found = self._memo.get(key)
        if found is None:
            space = self._gap(depth, outer=bool(after))
            lead = self._space if kind == b"," and self._space is not None else EPSILON
            found = self._memo[key] = Lex(concat(lead, literal(before), space, literal(after)))
        return found

    def _gap(self, depth: int, *, outer: bool) -> Lexeme:
        if self._space is not None:
            return self._space
        if not self.is_indented:
            return EPSILON
        level = depth if outer else depth + 1
        return literal(b"\n" + b" " * (self._indent * level))


def _only_text(lexeme: Lexeme) -> bytes:
    """The text of a lexeme that holds just one."""
    if lexeme.op is Op.CONCAT:
        return b"".join(map(_only_text, lexeme.args))
    return bytes(lexeme.args[0]) if lexeme.op is Op.LITERAL else b""


def _number_texts(value: Any) -> list[bytes]:
    """A number as the schema spells it, and a whole one also without a point."""
    texts = [number_text(value)]
    if not isinstance(value, int) and is_integer(value) and abs(value) < _MAX_WHOLE:
        texts.append(b"%d" % int(value))
    return texts


@lru_cache(maxsize=64)
def _layout(key: tuple[bool, int | None, int | None, tuple[str, str] | None, bool]) -> Layout:
    any_whitespace, most, indent, separators, any_spelling = key
    return Layout(
        SchemaOptions(
            any_whitespace=any_whitespace,
            max_whitespace_cnt=most,
            indent=indent,
            separators=separators,
            any_spelling=any_spelling,
        )
    )


def layout_of(options: SchemaOptions) -> Layout:
    """The shared layout of these options."""
    return _layout(
        (
            options.any_whitespace,
            options.max_whitespace_cnt,
            options.indent,
            None if options.separators is None else (options.separators[0], options.separators[1]),
            options.any_spelling,
        )
    )


def builtin_json_rules(options: SchemaOptions | None = None) -> Rule:
    """Any JSON text whose root is an object or an array."""
    layout = layout_of(options or SchemaOptions())
    rule = Rule("json", Alt((layout.any_object(), layout.any_array())))
    rule.origin = "json"
    return rule
