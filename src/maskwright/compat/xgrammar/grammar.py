"""`Grammar` with XGrammar's signature, and a memory of what it was made from, to be serialized.

A source is a dict ``{"from": constructor, "args": [...], "options": {...}}``, whose arguments may be sources
themselves (of a union). It is kept as JSON text: a schema's dict may change after the call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

import maskwright
from maskwright import errors
from maskwright.schema import load_schema
from maskwright.syntax.scanner import EBNF, Source, scan

from . import _serialization
from .exception import (
    DeserializeFormatError,
    GrammarError,
    SchemaError,
    UnsupportedError,
    raises_runtime_errors,
)

__all__ = ["Grammar"]


class Grammar(maskwright.Grammar):
    """The set of legal outputs; see `maskwright.Grammar`. Made by the static constructors."""

    __slots__ = ("_source",)

    _source: str | None

    @staticmethod
    def _of(grammar: maskwright.Grammar, source: str | None = None) -> Grammar:
        """A grammar as this class."""
        if isinstance(grammar, Grammar) and source is None:
            return grammar
        twin = Grammar(grammar.root, report=grammar.report, guards_checked=grammar.guards_checked)
        object.__setattr__(twin, "_source", source)
        return twin

    def __init__(self, root: Any, **options: Any) -> None:
        super().__init__(root, **options)
        object.__setattr__(self, "_source", None)

    @staticmethod
    @raises_runtime_errors
    def from_ebnf(ebnf_string: str, *, root_rule_name: str = "root") -> Grammar:
        """Read EBNF text.

        Raises:
            GrammarSyntaxError: The text is malformed or uses what is not supported.
        """
        options = {"root_rule_name": root_rule_name}
        grammar = maskwright.Grammar.from_ebnf(ebnf_string, **options)
        return Grammar._of(grammar, _source("ebnf", [ebnf_string], options))

    @staticmethod
    @raises_runtime_errors
    def from_json_schema(  # type: ignore[override]  # what XGrammar does not have is not passed through
        schema: Any,
        *,
        any_whitespace: bool = True,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        strict_mode: bool = True,
        max_whitespace_cnt: int | None = None,
        print_converted_ebnf: bool = False,
        any_order: bool = False,
    ) -> Grammar:
        """JSON text that is valid against a schema; see `maskwright.Grammar.from_json_schema`.

        Raises:
            SchemaError: Malformed, unsatisfiable, or not to be enforced.
        """
        schema = plain_schema(schema)
        options = schema_options(
            any_whitespace, indent, separators, strict_mode, max_whitespace_cnt, any_order
        )
        grammar = Grammar._of(
            maskwright.Grammar.from_json_schema(schema, **options), _source("json_schema", [schema], options)
        )
        _print_if(print_converted_ebnf, grammar)
        return grammar

    @staticmethod
    @raises_runtime_errors
    def from_regex(regex_string: str, *, print_converted_ebnf: bool = False) -> Grammar:
        """Read an ECMA-262 regular expression that the whole output must match.

        Raises:
            RegexError: Malformed or not regular.
        """
        grammar = Grammar._of(
            maskwright.Grammar.from_regex(regex_string), _source("regex", [regex_string], {})
        )
        _print_if(print_converted_ebnf, grammar)
        return grammar

    @staticmethod
    def from_lark(
        lark_string: str, *, tokenizer_info: Any = None, named_grammars: dict[str, Any] | None = None
    ) -> Grammar:
        """Refused: maskwright does not read Lark.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError("Lark grammars are not supported", hint="write the grammar as EBNF")

    @staticmethod
    def from_structural_tag(*args: Any, **kwargs: Any) -> Grammar:
        """Refused: maskwright has no structural tags.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError(
            "structural tags are not supported", hint="concatenate and unite grammars for the same text"
        )

    @staticmethod
    def builtin_json_grammar() -> Grammar:
        """Any JSON object or array."""
        return Grammar._of(maskwright.Grammar.builtin_json_grammar(), _source("builtin_json", [], {}))

    @staticmethod
    @raises_runtime_errors
    def concat(*grammars: maskwright.Grammar) -> Grammar:
        """Outputs of the grammars one after another."""
        return Grammar._of(maskwright.Grammar.concat(*grammars), _joined("concat", grammars))

    @staticmethod
    @raises_runtime_errors
    def union(*grammars: maskwright.Grammar) -> Grammar:
        """Outputs of any of the grammars.

        Raises:
            GrammarError: No grammar is given.
        """
        return Grammar._of(maskwright.Grammar.union(*grammars), _joined("union", grammars))

    def __add__(self, other: object) -> Grammar:
        return Grammar.concat(self, other) if isinstance(other, maskwright.Grammar) else NotImplemented

    def __or__(self, other: object) -> Grammar:
        return Grammar.union(self, other) if isinstance(other, maskwright.Grammar) else NotImplemented

    @raises_runtime_errors
    def __str__(self) -> str:
        return super().__str__()

    def serialize_json(self) -> str:
        """JSON text from which `deserialize_json` makes an equal grammar.

        Raises:
            GrammarError: It was not made from text, nor from values that JSON has.
        """
        return _serialization.dump("Grammar", {"source": self._source_dict()})

    def _source_dict(self) -> dict[str, Any]:
        if self._source is None:
            raise GrammarError(
                "this grammar was not made from anything that can be written as JSON",
                hint="make it with one of Grammar's from_* constructors",
            )
        source: dict[str, Any] = json.loads(self._source)
        return source

    @staticmethod
    def deserialize_json(json_string: str) -> Grammar:
        """Read back what `serialize_json` wrote.

        Raises:
            InvalidJSONError: Not JSON.
            DeserializeVersionError: Of another version.
            DeserializeFormatError: Damaged.
        """
        return from_source(_serialization.parse("Grammar", json_string).get("source"))


_CONSTRUCTORS: Final[dict[str, Callable[..., Grammar]]] = {
    "builtin_json": Grammar.builtin_json_grammar,
    "concat": Grammar.concat,
    "ebnf": Grammar.from_ebnf,
    "json_schema": Grammar.from_json_schema,
    "regex": Grammar.from_regex,
    "union": Grammar.union,
}
_JOINS: Final = ("concat", "union")


def from_source(source: Any) -> Grammar:
    """The grammar that a source describes.

    Raises:
        DeserializeFormatError: It describes none.
    """
    try:
        name, args, options = source["from"], source["args"], source["options"]
        if name in _JOINS:
            args = [from_source(part) for part in args]
        return _CONSTRUCTORS[name](*args, **options)
    except (KeyError, TypeError, errors.GrammarError) as error:
        raise DeserializeFormatError(f"a damaged grammar: {error!r}") from None


def has_rule_option(grammar: maskwright.Grammar, option: str) -> bool:
    """Whether the EBNF that a grammar was made from gives a rule an option (``capture``, ``temperature``).

    They say nothing about the language, so the EBNF reader takes them and forgets them.
    """
    source = getattr(grammar, "_source", None)
    return source is not None and option in source and option in _rule_options(source)


@lru_cache(maxsize=64)
def _rule_options(source: str) -> frozenset[str]:
    found: set[str] = set()
    agenda = [json.loads(source)]
    while agenda:
        part = agenda.pop()
        if part["from"] in _JOINS:
            agenda += part["args"]
        elif part["from"] == "ebnf":
            for token in scan(Source(part["args"][0], EBNF)):
                # The name before each "=", "," or the end, outside of quoted values.
                bare = re.sub(r'"[^"\\]*(?:\\.[^"\\]*)*"', "", token.options)
                found.update(re.findall(r"(?:^\[|,)\s*([A-Za-z_]+)", bare))
    return frozenset(found)


def plain_schema(schema: Any) -> Any:
    """A schema as a dict, a bool or JSON text.

    Raises:
        SchemaError: It is none, nor a type that pydantic knows.
    """
    if isinstance(schema, (str, dict, bool)):
        return schema
    return load_schema(schema)


def schema_options(
    any_whitespace: bool,
    indent: int | None,
    separators: Sequence[str] | None,
    strict_mode: bool,
    max_whitespace_cnt: int | None,
    any_order: bool,
) -> dict[str, Any]:
    """XGrammar's options of a schema as keyword arguments.

    Raises:
        SchemaError: `max_whitespace_cnt` is below 1.
    """
    if max_whitespace_cnt is not None and max_whitespace_cnt < 1:
        raise SchemaError(
            f"max_whitespace_cnt is {max_whitespace_cnt}",
            hint="pass at least 1, or any_whitespace=False for none",
        )
    return {
        "any_whitespace": any_whitespace,
        "indent": indent,
        # A serialized grammar brings a list.
        "separators": tuple(separators) if separators is not None else None,
        "strict_mode": strict_mode,
        "max_whitespace_cnt": max_whitespace_cnt,
        "any_order": any_order,
    }


def _source(name: str, args: list[Any], options: dict[str, Any]) -> str | None:
    try:
        return json.dumps({"from": name, "args": args, "options": options})
    except (TypeError, ValueError):
        return None


def _joined(name: str, grammars: tuple[maskwright.Grammar, ...]) -> str | None:
    texts = [getattr(grammar, "_source", None) for grammar in grammars]
    known = [text for text in texts if text is not None]
    return _source(name, [json.loads(text) for text in known], {}) if len(known) == len(texts) else None


def _print_if(wanted: bool, grammar: Grammar) -> None:
    if not wanted:
        return
    try:
        print(grammar, end="")
    except errors.GrammarError as error:
        print(f"# EBNF cannot say it: {error}")
