"""`Grammar`: what outputs are legal, before any vocabulary is known.

What it does: holds the root of a set of rules and builds one from each kind of source. What it
does not: expand lazy rules (a schema costs what generation visits) or know tokens; compiling
against a vocabulary is `maskwright.compiler`'s work.

Rejected: parsing at first use. A bad grammar should fail where it is written, not in the first
request that meets it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .errors import GrammarError
from .lexeme import literals
from .rules import Alt, Call, Lex, Rule, Seq

if TYPE_CHECKING:
    from .schema.report import Report

__all__ = ["Grammar"]


class Grammar:
    """The set of legal outputs. Immutable; make one with the static constructors.

    Grammars join with ``+`` (one after another) and ``|`` (either).

    Attributes:
        root: The rule that whole outputs must match.
        report: For a grammar made from a JSON Schema, what is enforced; else None. A joined grammar
            has the report of its only part that has one (None when several have: ask the parts).
        guards_checked: Whether whoever made the rules promises that no `Act` in them can fail on every way
            on. Without the promise the automaton searches for a completion before it enters a state.

    >>> answer = Grammar.from_choices(["yes", "no"])
    >>> print(answer + Grammar.from_ebnf('root ::= "!"?'), end="")
    root ::= choices root_2
    choices ::= "no" | "yes"
    root_2 ::= "!"?
    """

    __slots__ = ("guards_checked", "report", "root")

    root: Rule
    report: Report | None
    guards_checked: bool

    def __init__(self, root: Rule, *, report: Report | None = None, guards_checked: bool = False) -> None:
        if not isinstance(root, Rule):
            raise TypeError(f"a grammar starts from a Rule, not {type(root).__name__}")
        object.__setattr__(self, "root", root)
        object.__setattr__(self, "report", report)
        object.__setattr__(self, "guards_checked", guards_checked)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Grammar cannot be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a Grammar cannot be changed")

    @staticmethod
    def from_ebnf(ebnf_string: str, *, root_rule_name: str = "root") -> Grammar:
        """Read EBNF text; the notation is described in ``docs/ebnf.md``.

        Args:
            ebnf_string: The grammar.
            root_rule_name: The rule that whole outputs must match.

        Raises:
            GrammarSyntaxError: The text is malformed or uses what is not supported (line, column).
            GrammarError: The root can never finish.

        >>> Grammar.from_ebnf('root ::= [0-9]+ ("." [0-9]+)?')
        <Grammar root>
        """
        from .syntax.ebnf import rules_from_ebnf

        return Grammar(rules_from_ebnf(_text(ebnf_string, "EBNF"), root_rule_name=root_rule_name))

    @staticmethod
    def from_gbnf(gbnf_string: str, *, root_rule_name: str = "root") -> Grammar:
        """Read GBNF, the grammar notation of llama.cpp.

        Args:
            gbnf_string: The grammar.
            root_rule_name: The rule that whole outputs must match.

        Raises:
            GrammarSyntaxError: The text is malformed or uses what is not supported (line, column).
            GrammarError: The root can never finish.

        >>> Grammar.from_gbnf('root ::= .* ("yes" | "no")')
        <Grammar root>
        """
        from .syntax.gbnf import rules_from_gbnf

        return Grammar(rules_from_gbnf(_text(gbnf_string, "GBNF"), root_rule_name))

    @staticmethod
    def from_regex(regex_string: str) -> Grammar:
        """Read an ECMA-262 regular expression that the whole output must match.

        Args:
            regex_string: The pattern, without delimiters; Unicode mode.

        Raises:
            RegexError: The pattern is malformed or not regular, with its offset.

        >>> Grammar.from_regex("[a-z]{3}-\\\\d+")
        <Grammar regex>
        """
        from .regex import compile_regex

        return Grammar(Rule("regex", Lex(compile_regex(_text(regex_string, "a regular expression")))))

    @staticmethod
    def from_choices(choices: Iterable[str]) -> Grammar:
        """Exactly one of some texts.

        Args:
            choices: The texts, at least one.

        Raises:
            GrammarError: There are no choices, or one holds half of a surrogate pair.

        >>> print(Grammar.from_choices(["yes", "no"]), end="")
        root ::= "no" | "yes"
        """
        if isinstance(choices, (str, bytes)):
            raise TypeError("choices are a list of strings, not one string")
        texts = [_text(choice, "a choice") for choice in choices]
        if not texts:
            raise GrammarError("there are no choices", hint="pass at least one text")
        try:
            return Grammar(Rule("choices", Lex(literals(text.encode("utf-8") for text in texts))))
        except UnicodeEncodeError as error:
            raise GrammarError(f"the choice {error.object!r} holds half of a surrogate pair") from None

    @staticmethod
    def from_json_schema(
        schema: Any,
        *,
        any_whitespace: bool = True,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        strict_mode: bool = True,
        max_whitespace_cnt: int | None = None,
        any_order: bool = False,
        format_assertion: bool = True,
        **options: Any,
    ) -> Grammar:
        """JSON text that is valid against a schema.

        Nothing is expanded here: the cost is that of what generation visits later.

        Args:
            schema: A dict or bool, JSON text, a pydantic model, a dataclass or a TypedDict.
            any_whitespace: Bounded runs of white space inside containers; otherwise exactly what
                ``json.dumps`` writes with ``indent`` and ``separators``.
            indent: Spaces per level, for ``any_whitespace=False``.
            separators: (item separator, key separator), for ``any_whitespace=False``.
            strict_mode: Close objects and tuples where the schema is silent.
            max_whitespace_cnt: Longest run of white space, in characters; None for the default.
            any_order: Object members in any order instead of the declared one.
            format_assertion: Enforce ``format``; otherwise it is an annotation.
            **options: The further fields of `maskwright.schema.SchemaOptions`.

        Raises:
            SchemaError: The schema is malformed, unsatisfiable, or holds what cannot be enforced, with
                the JSON pointer.
            TypeError: Unknown option.

        >>> Grammar.from_json_schema({"type": "integer"}).report is not None
        True
        """
        front_end = _schema_front_end()
        chosen = front_end.options_of(
            any_whitespace=any_whitespace,
            indent=indent,
            separators=separators,
            strict_mode=strict_mode,
            max_whitespace_cnt=max_whitespace_cnt,
            any_order=any_order,
            format_assertion=format_assertion,
            **options,
        )
        if not isinstance(schema, (dict, bool)):
            schema = front_end.load_schema(schema)
        root, report = front_end.rules_from_schema(schema, options=chosen)
        return Grammar(root, report=report, guards_checked=True)

    @staticmethod
    def builtin_json_grammar() -> Grammar:
        """Any JSON object or array, with bounded white space inside and none around it.

        >>> Grammar.builtin_json_grammar()
        <Grammar json>
        """
        front_end = _schema_front_end()
        return Grammar(front_end.builtin_json_rules(front_end.SchemaOptions()), guards_checked=True)

    @staticmethod
    def concat(*grammars: Grammar) -> Grammar:
        """Outputs of the grammars one after another; without any, the empty output.

        >>> print(Grammar.concat(Grammar.from_regex("a+"), Grammar.from_regex("b")), end="")
        root ::= regex regex_2
        regex ::= "a"+
        regex_2 ::= "b"
        """
        _check(grammars)
        if len(grammars) == 1:
            return grammars[0]
        calls = tuple(Call(grammar.root) for grammar in grammars)
        return Grammar(
            Rule("root", Seq(calls)),
            report=_report_of(grammars),
            guards_checked=all(grammar.guards_checked for grammar in grammars),
        )

    @staticmethod
    def union(*grammars: Grammar) -> Grammar:
        """Outputs of any of the grammars.

        Raises:
            GrammarError: No grammar is given: nothing could match.

        >>> print(Grammar.union(Grammar.from_regex("a+"), Grammar.from_regex("b")), end="")
        root ::= regex | regex_2
        regex ::= "a"+
        regex_2 ::= "b"
        """
        _check(grammars)
        if not grammars:
            raise GrammarError("a union of no grammars matches nothing", hint="pass at least one grammar")
        if len(grammars) == 1:
            return grammars[0]
        calls = tuple(Call(grammar.root) for grammar in grammars)
        return Grammar(
            Rule("root", Alt(calls)),
            report=_report_of(grammars),
            guards_checked=all(grammar.guards_checked for grammar in grammars),
        )

    def named_token_ids(self) -> frozenset[int]:
        """The ids that the grammar names, whatever the text of those tokens.

        >>> sorted(Grammar.from_ebnf('root ::= "a" | Token(3, 5)').named_token_ids())
        [3, 5]
        """
        if self.root.is_lazy:  # so is every schema's, and lazy rules name none
            return frozenset()
        from .syntax.walk import named_tokens

        return named_tokens(self.root)

    def __add__(self, other: object) -> Grammar:
        return Grammar.concat(self, other) if isinstance(other, Grammar) else NotImplemented

    def __or__(self, other: object) -> Grammar:
        return Grammar.union(self, other) if isinstance(other, Grammar) else NotImplemented

    def __str__(self) -> str:
        """EBNF text that `from_ebnf` reads back as the same language. Expands all lazy rules.

        Raises:
            GrammarError: EBNF cannot say it: the grammar counts or remembers while it matches.
            LimitExceeded: The grammar is too large to be printed.
        """
        from .syntax.printer import print_rules

        return print_rules(self.root)

    def __repr__(self) -> str:
        return f"<Grammar {self.root.name}>"


@lru_cache(maxsize=1)
def _schema_front_end() -> ModuleType:
    """The room for JSON Schema, imported with the first schema (``import maskwright`` stays light)."""
    from . import schema

    return schema


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{what} is a string, not {type(value).__name__}")
    return value


def _check(grammars: tuple[object, ...]) -> None:
    for grammar in grammars:
        if not isinstance(grammar, Grammar):
            raise TypeError(f"only grammars can be joined, not {type(grammar).__name__}")


def _report_of(grammars: tuple[Grammar, ...]) -> Report | None:
    reports = [grammar.report for grammar in grammars if grammar.report is not None]
    return reports[0] if len(reports) == 1 else None
