"""Tokens of EBNF or GBNF to rules.

What it does: one pass over the tokens with an explicit stack of open groups, then the checks
that need the whole text (undefined rules, missing root). What a dialect allows is data in
`scanner.Dialect`. It neither simplifies nor fuses: see `prune` and `fuse`.

The idea: a group that stands deeper than `GROUPS_PER_RULE` becomes a rule of its own, so an
expression is never deeper than a few dozen nodes, however deep the text nests, and later passes
(also those written in C) may recurse over it.

Rejected: recursive descent. It is shorter, and a request body of 60,000 opening parentheses
ends it with a RecursionError, or with a crash when the limit was raised.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from ..errors import RegexError
from ..lexeme import literal
from ..regex import UTF8, compile_regex
from ..rules import NOTHING, Call, Expr, Lex, Rule, Tokens
from .scanner import Source, Token, class_ranges, literal_text, scan
from .walk import alt, repeat, seq

__all__ = ["parse"]

MAX_NESTING: Final = 10_000
GROUPS_PER_RULE: Final = 16
#: Counts live in machine integers further down.
MAX_COUNT: Final = 2**31 - 1
#: GBNF lets operators follow one another; nobody means more than a few.
MAX_STACKED_OPERATORS: Final = 8

_OPERATORS: Final[dict[str, tuple[int, int | None]]] = {"?": (0, 1), "*": (0, None), "+": (1, None)}
_ANY_CHARACTER: Final = Lex(UTF8.any_char)
_RANGE: Final = re.compile(r"\{\s*([0-9]+)\s*(?:(,)\s*([0-9]+)?\s*)?\}")
#: Rule options that say nothing about the language.
_HARMLESS_OPTIONS: Final = frozenset({"capture", "temperature"})
_KNOWN_OPTIONS: Final = frozenset({"max_tokens", "max_chars", "lazy", "stop_capture"})
_REFUSED_MACROS: Final = {
    "ExcludeToken": "list the tokens that are allowed with Token(id, ...)",
    "Substring": "spell the choices out",
    "TagDispatch": None,
    "TokenTagDispatch": None,
}


@dataclass(slots=True)
class _Group:
    """An open parenthesis, or a rule body (the bottom of the stack)."""

    offset: int
    options: list[Expr] = field(default_factory=list)
    parts: list[Expr] = field(default_factory=list)
    #: How many operators the last part carries; -1 when there is nothing to repeat.
    n_operators: int = -1

    def add(self, part: Expr) -> None:
        self.parts.append(part)
        self.n_operators = 0

    def next_option(self) -> None:
        self.options.append(seq(self.parts))
        self.parts = []
        self.n_operators = -1

    def close(self) -> Expr:
        self.next_option()
        return alt(self.options)


class _Parser:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.tokens = list(scan(source))
        self.at = 0
        self.rules: dict[str, Rule] = {}
        self.head_offsets: dict[str, int] = {}
        self.use_offsets: dict[str, int] = {}
        self.rule_name = ""
        self.n_helper_rules = 0
        self.groups: list[_Group] = []
        self.classes: dict[str, Expr] = {}
        self.handlers: dict[str, Callable[[Token], None]] = {
            "head": self.open_rule,
            "name": self.name,
            "string": self.string,
            "klass": self.char_class,
            ".": self.any_character,
            "token": self.token_terminal,
            "range": self.range_operator,
            "(": self.open_group,
            ")": self.close_group,
            "|": self.next_option,
            "(=": self.look_ahead,
            **dict.fromkeys(_OPERATORS, self.operator),
        }

    def run(self) -> None:
        while (token := self.tokens[self.at]).kind != "end":
            if not self.groups and token.kind != "head":
                self.source.fail(token.offset, "a rule is expected here", "write: name ::= ...")
            if self.ends_rule(token):
                self.source.fail(
                    token.offset,
                    "a rule name is expected at the start of a line",
                    f"in {self.source.dialect.name} a rule ends with its line: put a longer body in "
                    "parentheses, or end the line with |",
                )
            handler = self.handlers.get(token.kind)
            if handler is None:
                self.source.fail(token.offset, f"`{token.text}` cannot stand here")
            self.at += 1
            handler(token)
        self.finish_rule()

    def ends_rule(self, token: Token) -> bool:
        """Whether a line break before this token ended the rule, although no new one starts."""
        if not (self.source.dialect.line_ends_rule and token.starts_line and len(self.groups) == 1):
            return False
        return token.kind not in ("head", "|") and self.tokens[self.at - 1].kind not in ("head", "|")

    # Rules and groups

    def open_rule(self, token: Token) -> None:
        self.finish_rule()
        name = token.text
        if name in self.head_offsets:
            line = self.source.text.count("\n", 0, self.head_offsets[name]) + 1
            hint = f"it was defined on line {line}; join the two with |"
            self.source.fail(token.offset, f"rule {name!r} is defined twice", hint)
        self.check_options(token)
        self.head_offsets[name] = token.offset
        self.rule_name = name
        self.rules.setdefault(name, Rule(name))
        self.groups.append(_Group(token.offset))

    def finish_rule(self) -> None:
        if not self.groups:
            return
        if len(self.groups) > 1:
            self.source.fail(self.groups[-1].offset, "this parenthesis is never closed")
        self.rules[self.rule_name].define(self.groups.pop().close())

    def check_options(self, token: Token) -> None:
        for option in re.findall(r'[^\s,\[\]="]+(?=\s*(?:[=,\]]))', re.sub(r"=[^,\]]*", "", token.options)):
            if option in _HARMLESS_OPTIONS:
                continue
            state = "not supported" if option in _KNOWN_OPTIONS else "unknown"
            message = f"rule option `{option}` is {state}"
            self.source.fail(token.offset, message, "write a bound as a repetition, such as [^\\n]{0,80}")

    def open_group(self, token: Token) -> None:
        if len(self.groups) > MAX_NESTING:
            self.source.fail(
                token.offset,
                f"groups are nested more than {MAX_NESTING} deep",
                "give inner groups a rule of their own, or use {0,n}",
            )
        self.groups.append(_Group(token.offset))

    def close_group(self, token: Token) -> None:
        if len(self.groups) == 1:
            self.source.fail(token.offset, "there is no open parenthesis to close")
        inner = self.groups.pop().close()
        is_compound = not isinstance(inner, (Lex, Call)) and inner is not NOTHING
        if is_compound and len(self.groups) % GROUPS_PER_RULE == 0:
            self.n_helper_rules += 1
            inner = Call(Rule(f"{self.rule_name}_{self.n_helper_rules}", inner))
        self.groups[-1].add(inner)

    def next_option(self, token: Token) -> None:
        self.groups[-1].next_option()

    def look_ahead(self, token: Token) -> None:
        self.source.fail(
            token.offset,
            "a lookahead assertion `(= ...)` is not supported",
            "other engines read it as a hint and do not enforce it; leave it out",
        )

    # Operands

    def name(self, token: Token) -> None:
        follows = self.tokens[self.at]
        is_macro = (
            self.source.dialect.macros
            and follows.kind == "("
            and follows.offset == token.offset + len(token.text)
            and (token.text in ("Regex", "Token") or token.text in _REFUSED_MACROS)
        )
        if is_macro:
            self.at += 1
            self.groups[-1].add(self.macro(token))
            return
        self.use_offsets.setdefault(token.text, token.offset)
        self.groups[-1].add(Call(self.rules.setdefault(token.text, Rule(token.text))))

    def string(self, token: Token) -> None:
        text = literal_text(self.source, token)
        try:
            encoded = text.encode("utf-8")
        except UnicodeEncodeError:
            self.source.fail(token.offset, "the literal holds half of a surrogate pair")
        self.groups[-1].add(Lex(literal(encoded)) if encoded else NOTHING)

    def char_class(self, token: Token) -> None:
        # One object for equal classes: whoever interns lexemes meets it once.
        known = self.classes.get(token.text)
        if known is None:
            known = self.classes[token.text] = Lex(UTF8.chars(class_ranges(self.source, token)))
        self.groups[-1].add(known)

    def any_character(self, token: Token) -> None:
        self.groups[-1].add(_ANY_CHARACTER)

    def token_terminal(self, token: Token) -> None:
        if token.text.startswith("!"):
            message = "a negated token terminal is not supported"
            self.source.fail(token.offset, message, "list the tokens that are allowed")
        if not token.text.startswith("<["):
            self.source.fail(
                token.offset,
                "a token named by its text is not supported: grammar text is read without a vocabulary",
                "name it by its id: <[1000]>",
            )
        self.groups[-1].add(Tokens((int(token.text[2:-2]),)))

    # Macros

    def macro(self, token: Token) -> Expr:
        if token.text in _REFUSED_MACROS:
            self.source.fail(
                token.offset, f"macro `{token.text}` is not supported", _REFUSED_MACROS[token.text]
            )
        arguments: list[Token] = []
        while (argument := self.tokens[self.at]).kind != ")":
            if argument.kind not in ("string", "int", "name", ",", "="):
                self.source.fail(argument.offset, f"macro `{token.text}` is not closed", "end it with )")
            arguments.append(argument)
            self.at += 1
        self.at += 1
        make = self.token_macro if token.text == "Token" else self.regex_macro
        return make(token, arguments)

    def token_macro(self, token: Token, arguments: list[Token]) -> Expr:
        kinds = ["," if at % 2 else "int" for at in range(len(arguments))]
        if not arguments or len(arguments) % 2 == 0 or [each.kind for each in arguments] != kinds:
            self.source.fail(token.offset, "Token takes token ids", "write Token(12) or Token(12, 13)")
        return Tokens(tuple(sorted({int(each.text) for each in arguments[::2]})))

    def regex_macro(self, token: Token, arguments: list[Token]) -> Expr:
        if not arguments or arguments[0].kind != "string":
            self.source.fail(token.offset, "Regex takes a pattern", 'write Regex("[a-z]+")')
        pattern = literal_text(self.source, arguments[0])
        try:
            return Lex(compile_regex(pattern, flags=self.regex_flags(arguments[1:])))
        except RegexError as error:
            place = f"in this pattern, at offset {error.offset}: {error.message}"
            self.source.fail(arguments[0].offset, place, error.hint)

    def regex_flags(self, options: list[Token]) -> str:
        flags = ""
        while options:
            kinds, texts = [each.kind for each in options[:4]], [each.text for each in options[:4]]
            if kinds == [",", "name", "=", "string"] and texts[1] == "flags":
                flags += literal_text(self.source, options[3])
            elif texts != [",", "json_string", "=", "false"]:
                hint = 'write flags="i", or leave it out'
                self.source.fail(options[0].offset, "this option of Regex is not supported", hint)
            if not set(flags) <= set("isu "):
                self.source.fail(options[3].offset, f"unknown flags {flags!r}", "there are i, s and u")
            del options[:4]
        # Patterns are always read in Unicode mode.
        return flags.replace("u", "").replace(" ", "")

    # Repetition

    def operator(self, token: Token) -> None:
        self.apply(token, *_OPERATORS[token.kind])

    def range_operator(self, token: Token) -> None:
        match = _RANGE.fullmatch(token.text)
        if match is None:
            hint = "write {2}, {2,5}, {2,} or {0,5}"
            self.source.fail(token.offset, f"{token.text} is not a repetition", hint)
        low_text, comma, high_text = match.groups()
        if max(len(low_text), len(high_text or "")) > 10:
            self.source.fail(token.offset, f"a repetition counts to at most {MAX_COUNT}")
        low = int(low_text)
        high = int(high_text) if high_text else None if comma else low
        if max(low, high or 0) > MAX_COUNT:
            self.source.fail(token.offset, f"a repetition counts to at most {MAX_COUNT}")
        if high is not None and high < low:
            message = f"a repetition cannot run from {low} to {high}"
            self.source.fail(token.offset, message, "swap the numbers")
        self.apply(token, low, high)

    def apply(self, token: Token, low: int, high: int | None) -> None:
        group = self.groups[-1]
        if group.n_operators < 0:
            self.source.fail(token.offset, f"there is nothing before `{token.text}` to repeat")
        allowed = MAX_STACKED_OPERATORS if self.source.dialect.stacked_operators else 1
        if group.n_operators >= allowed:
            hint = "put the inner repetition in parentheses"
            self.source.fail(token.offset, f"`{token.text}` follows another repetition", hint)
        group.parts[-1] = repeat(group.parts[-1], low, high)
        group.n_operators += 1

    def root(self, name: str) -> Rule:
        """The root, once every rule that is used is known to be defined."""
        undefined = [(at, used) for used, at in self.use_offsets.items() if used not in self.head_offsets]
        if undefined:
            offset, used = min(undefined)
            self.source.fail(offset, f"rule {used!r} is not defined", "define it, or quote it to mean text")
        if name not in self.head_offsets:
            first = next(iter(self.head_offsets), None)
            self.source.fail(
                0 if first is None else self.head_offsets[first],
                f"there is no rule {name!r} to start from",
                f"root_rule_name={first!r} starts from the first rule" if first else "write: root ::= ...",
            )
        return self.rules[name]


def parse(source: Source, root_rule_name: str) -> Rule:
    """The root rule of a grammar text, as written: neither pruned nor fused.

    Raises:
        GrammarSyntaxError: The text is malformed, or uses something that is not supported.
    """
    parser = _Parser(source)
    parser.run()
    return parser.root(root_rule_name)
