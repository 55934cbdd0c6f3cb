"""Rules to EBNF text that `rules_from_ebnf` reads back as the same language.

What it does: prints every rule that the root needs, the root as ``root``; lazy rules are expanded
first (at most `MAX_RULES`). Lexemes are printed over characters. Where a lexeme uses what EBNF
lacks (intersection, complement, an explicit automaton), its automaton over characters is printed
as right-linear rules, one per state, which is exact.

What it does not: print registers (counts and seen sets) or lexemes over bytes that are not
UTF-8: those raise `GrammarError`. The text is normalised, not the text that was read.

Rejected: an own notation for intersection and complement. It would print shorter, but no other
engine could read it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from ..errors import GrammarError, LimitExceeded
from ..lexeme import Lexeme, Op
from ..regex import charset
from ..rules import Act, Alt, Call, Expr, Lex, Repeat, Rule, Seq, Tokens
from .characters import CharacterRow, NotCharacters, character_automaton
from .walk import calls_of, fold

__all__ = ["class_text", "print_rules"]

MAX_RULES: Final = 10_000

#: A class that no character is in.
_NEVER: Final = r"[^\u0000-\U0010FFFF]"
_CONTROLS: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


class _Text(NamedTuple):
    """Printed text, how tightly it binds, and the members if it is a character class."""

    text: str
    level: int
    ranges: charset.Ranges | None = None

    def at(self, level: int) -> str:
        """The text, in parentheses if it binds more loosely than ``level``."""
        return self.text if self.level >= level else f"({self.text})"


_CHOICE, _SEQUENCE, _REPEATED, _ATOM = range(4)


def print_rules(root: Rule) -> str:
    """The grammar of a root rule as EBNF text.

    Raises:
        GrammarError: The grammar uses registers, or bytes that are not UTF-8.
        LimitExceeded: Too many rules, or a lexeme with too large an automaton.
    """
    return _Printer(root).run()


def class_text(ranges: charset.Ranges) -> str:
    """A set of characters as EBNF writes it.

    >>> class_text(((48, 57), (95, 95)))
    '[0-9_]'
    """
    return _class(ranges).text


class _Printer:
    def __init__(self, root: Rule) -> None:
        self.root = root
        self.names: dict[Rule, str] = {root: "root"}
        self.taken = {"root"}
        self.order = [root]
        self.extra_lines: list[str] = []
        # The lexeme is kept with its text, so that its id stays its own.
        self.known: dict[int, tuple[Lexeme, _Text | None]] = {}

    def run(self) -> str:
        lines: list[str] = []
        for rule in self.order:
            body = rule.expand()
            for callee in calls_of(body):
                self.name(callee)
            lines.append(f"{self.names[rule]} ::= {fold(body, self.expression).text}")
            lines.extend(self.extra_lines)
            self.extra_lines.clear()
        return "\n".join(lines) + "\n"

    def name(self, rule: Rule) -> str:
        known = self.names.get(rule)
        if known is None:
            if len(self.order) >= MAX_RULES:
                raise LimitExceeded(
                    "the grammar has too many rules to be printed", resource="printed rules", limit=MAX_RULES
                )
            known = self.names[rule] = self.fresh_name(rule.name)
            self.order.append(rule)
        return known

    def fresh_name(self, wanted: str) -> str:
        base = re.sub(r"[^A-Za-z0-9_.-]+", "_", wanted).strip("_.-") or "rule"
        if base[0].isdigit():
            base = "_" + base
        name, count = base, 1
        while name in self.taken:
            count += 1
            name = f"{base}_{count}"
        self.taken.add(name)
        return name

    def expression(self, expr: Expr, parts: list[_Text]) -> _Text:
        if isinstance(expr, Lex):
            text = self.lexeme(expr.lexeme)
            if text is None:
                raise GrammarError(
                    "the grammar matches bytes that are not whole UTF-8 characters; EBNF cannot say that"
                )
            return text
        if isinstance(expr, Call):
            return _Text(self.name(expr.rule), _ATOM)
        if isinstance(expr, Seq):
            return _sequence(parts)
        if isinstance(expr, Alt):
            return _choice(parts)
        if isinstance(expr, Repeat):
            return _repeated(parts[0], expr.low, expr.high)
        if isinstance(expr, Tokens):
            ids = ", ".join(map(str, expr.ids))
            return _Text(f"Token({ids})" if ids else _NEVER, _ATOM)
        assert isinstance(expr, Act)
        raise GrammarError(
            "the grammar counts or remembers while it matches (array sizes, properties in any order); "
            "EBNF cannot say that"
        )

    def lexeme(self, lexeme: Lexeme) -> _Text | None:
        """The text of a lexeme, or None when it does not consist of whole characters."""
        found = self.known.get(id(lexeme))
        if found is None:
            text = self.structure(lexeme)
            if text is None:
                text = self.automaton(lexeme)
            found = self.known[id(lexeme)] = (lexeme, text)
        return found[1]

    def structure(self, lexeme: Lexeme) -> _Text | None:
        """The text by the shape of the expression, or None when some part of it has none."""
        op, args = lexeme.op, lexeme.args
        if op is Op.EMPTY:
            return _Text(_NEVER, _ATOM)
        if op is Op.EPSILON:
            return _Text('""', _ATOM)
        if op is Op.BYTES:
            members = [byte for byte in range(256) if args[0] >> byte & 1]
            return None if members[-1] > 0x7F else _class(charset.make((byte, byte) for byte in members))
        if op is Op.LITERAL:
            return _literal(args[0])
        if op is Op.LITERALS:
            return _all(_choice, [_literal(text) for text in args])
        if op is Op.CONCAT:
            return _all(_sequence, [self.lexeme(part) for part in args])
        if op is Op.UNION:
            return _all(_choice, [self.lexeme(part) for part in args])
        if op is Op.REPEAT:
            body = self.lexeme(args[0])
            return body and _repeated(body, args[1], None if args[2] < 0 else args[2])
        return None

    def automaton(self, lexeme: Lexeme) -> _Text | None:
        try:
            rows, accepting = character_automaton(lexeme)
        except NotCharacters:
            return None
        if accepting == {1} and len(rows) == 2 and not rows[1] and all(edge[2] == 1 for edge in rows[0]):
            return _class(charset.make((low, high) for low, high, _ in rows[0]))
        if not accepting:
            return _Text(_NEVER, _ATOM)
        names = [self.fresh_name("state") for _ in rows]
        for state, row in enumerate(rows):
            self.extra_lines.append(f"{names[state]} ::= {_state_text(row, names, state in accepting)}")
        return _Text(names[0], _ATOM)


def _all(make: Callable[[list[_Text]], _Text], parts: list[_Text | None]) -> _Text | None:
    present = [part for part in parts if part is not None]
    return make(present) if len(present) == len(parts) else None


def _sequence(parts: list[_Text]) -> _Text:
    if len(parts) == 1:
        return parts[0]
    return _Text(" ".join(part.at(_SEQUENCE) for part in parts), _SEQUENCE) if parts else _Text('""', _ATOM)


def _choice(options: list[_Text]) -> _Text:
    classes = [option.ranges for option in options if option.ranges is not None]
    if len(classes) > 1:
        options = [_class(charset.unite(*classes)), *(each for each in options if each.ranges is None)]
    if len(options) == 1:
        return options[0]
    if not options:
        return _Text(_NEVER, _ATOM)
    return _Text(" | ".join(part.text for part in options), _CHOICE)


def _repeated(body: _Text, low: int, high: int | None) -> _Text:
    operators = {(0, 1): "?", (0, None): "*", (1, None): "+"}
    upper = "" if high is None else str(high)
    operator = operators.get((low, high)) or (f"{{{low}}}" if low == high else f"{{{low},{upper}}}")
    return _Text(body.at(_ATOM) + operator, _REPEATED)


def _state_text(row: CharacterRow, names: list[str], accepts: bool) -> str:
    by_target: dict[int, list[tuple[int, int]]] = {}
    for low, high, target in row:
        by_target.setdefault(target, []).append((low, high))
    options = [f"{_class(charset.make(ranges)).text} {names[target]}" for target, ranges in by_target.items()]
    return " | ".join(options + ['""'] * accepts)


def _literal(text: bytes) -> _Text | None:
    try:
        chars = text.decode("utf-8")
    except UnicodeDecodeError:
        return None
    inside = "".join(_character(char, '"\\') for char in chars)
    return _Text(f'"{inside}"', _ATOM)


def _class(ranges: charset.Ranges) -> _Text:
    """A character class; the complement is printed where the set runs to the end of Unicode."""
    negated = bool(ranges) and ranges[-1][1] == 0x10FFFF
    shown = charset.invert(ranges) if negated else ranges
    pieces = []
    for low, high in shown:
        first, last = (_character(chr(code), "\\]^-[") for code in (low, high))
        pieces.append(first if low == high else first + last if low + 1 == high else f"{first}-{last}")
    return _Text(f"[{'^' * negated}{''.join(pieces)}]", _ATOM, ranges)


def _character(char: str, special: str) -> str:
    if char in special:
        return "\\" + char
    if char in _CONTROLS:
        return _CONTROLS[char]
    if char.isprintable() and (char == " " or not char.isspace()):
        return char
    # Fixed width, because \x takes as many digits as there are.
    return f"\\u{ord(char):04X}" if ord(char) < 0x10000 else f"\\U{ord(char):08X}"
