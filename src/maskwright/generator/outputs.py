"""What a `Generator` may be asked for: a type, as a grammar, as words for the prompt, and as a parser.

Types go through pydantic: it knows their schemas and reads answers into them. The members of a
`Literal` or an `Enum` are generated as bare text, which models are better at than at quoted text, and
mapped back to the member.

A Python pattern is compiled as such (see `docs/regex.md` for the dialect) and the answer is tried
against the pattern itself once more, so that a difference between the dialects cannot go unseen.
"""

from __future__ import annotations

import enum
import json
import re
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..compiler import CompiledGrammar, GrammarCompiler
from ..errors import GrammarError, RegexError, SchemaError
from ..grammar import Grammar
from ..prompt import Style, ask

__all__ = ["Output", "read_output"]


@dataclass(frozen=True, slots=True)
class Output:
    """What an answer must be.

    Attributes:
        compile: The grammar against a compiler's vocabulary.
        parse: The object that a complete answer stands for. Raises ValueError if the type refuses it.
        words: What to tell the model. Empty if there is nothing to tell.
        request: The same grammar as a field of vLLM's `StructuredOutputsParams`. Called only for engines
            that want it: raises GrammarError for grammars that no text describes.
        partial: What can be read of an answer that is not complete.
        is_json: Whether answers are JSON.
    """

    compile: Callable[[GrammarCompiler], CompiledGrammar]
    parse: Callable[[str], Any]
    words: str
    request: Callable[[], dict[str, Any]]
    partial: Callable[[str], Any] = field(default=lambda text: None)
    is_json: bool = False


#: Tokens of a prompt that a schema may take, as estimated: a small model loses the question behind more.
_MAX_WORDS: Final = 1500


def read_output(output_type: Any, schema_options: Mapping[str, Any], style: Style = "list") -> Output:
    """The output that a type describes, and words for it in some style; see `Generator` for the kinds.

    Raises:
        TypeError: Of no known kind.
        GrammarError: It allows nothing, or cannot be enforced.
    """
    if isinstance(output_type, dict):
        return _json_output(output_type, json.loads, schema_options, style)
    if schema_options and _is_text(output_type):
        raise TypeError(f"options for JSON with an answer that is not JSON: {', '.join(schema_options)}")
    if isinstance(output_type, Grammar):
        return _grammar_output(output_type, str, "", {})
    if isinstance(output_type, re.Pattern):
        return _pattern_output(output_type)
    if typing.get_origin(output_type) is typing.Literal:
        return _choice_output({str(value): value for value in typing.get_args(output_type)}, output_type)
    if isinstance(output_type, type) and issubclass(output_type, enum.Enum):
        return _choice_output({str(member.value): member for member in output_type}, output_type)
    if isinstance(output_type, (str, bytes)) or output_type is None:
        raise TypeError(
            f"{output_type!r} is no output type; for a regular expression pass re.compile(...), for a schema "
            "json.loads(...), for a grammar Grammar.from_ebnf(...)"
        )
    return _pydantic_output(output_type, schema_options, style)


def _is_text(output_type: Any) -> bool:
    return (
        isinstance(output_type, (Grammar, re.Pattern))
        or typing.get_origin(output_type) is typing.Literal
        or (isinstance(output_type, type) and issubclass(output_type, enum.Enum))
    )


def _json_output(
    schema: dict[str, Any], parse: Callable[[str], Any], options: Mapping[str, Any], style: Style
) -> Output:
    return Output(
        compile=lambda compiler: compiler.compile_json_schema(schema, **options),
        parse=parse,
        words=ask(schema, style=style, max_tokens=_MAX_WORDS),
        request=lambda: {"json": schema},
        partial=_partial_json,
        is_json=True,
    )


def _pydantic_output(output_type: Any, options: Mapping[str, Any], style: Style) -> Output:
    try:
        from pydantic import PydanticUserError, TypeAdapter
        from pydantic.errors import PydanticInvalidForJsonSchema
    except ImportError:
        raise SchemaError(
            f"an answer of type {output_type!r} needs pydantic", hint="pip install pydantic, or pass a schema"
        ) from None
    try:
        adapter = TypeAdapter(output_type)
        schema = adapter.json_schema()
    except PydanticInvalidForJsonSchema as error:
        raise SchemaError(f"pydantic makes no schema of {output_type!r}: {error}") from None
    except (PydanticUserError, NameError) as error:
        raise TypeError(f"pydantic knows no type {output_type!r}: {error}") from None
    return _json_output(schema, adapter.validate_json, options, style)


def _choice_output(values: Mapping[str, Any], output_type: Any) -> Output:
    n_members = len(typing.get_args(output_type)) or len(list(output_type))
    if len(values) != n_members or "" in values:
        raise GrammarError(
            f"members of {output_type!r} have the same text, or none", hint="give each a text of its own"
        )
    words = "Answer with exactly one of: " + ", ".join(values)
    return _grammar_output(Grammar.from_choices(values), values.__getitem__, words, {"choice": list(values)})


def _pattern_output(pattern: re.Pattern[Any]) -> Output:
    from ..lexeme import Lexeme
    from ..regex import compile_regex
    from ..rules import Lex, Rule

    if not isinstance(pattern.pattern, str):
        raise TypeError("a pattern over bytes; pass one over text")
    if pattern.flags & (re.ASCII | re.LOCALE):
        raise RegexError("the flags ASCII and LOCALE are not supported", pattern=pattern.pattern, offset=0)
    letters = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}
    flags = "".join(letter for letter, flag in letters.items() if pattern.flags & flag)
    lexeme: Lexeme = compile_regex(pattern.pattern, flavour="rust", flags=flags)

    def parse(text: str) -> str:
        if pattern.fullmatch(text) is None:
            raise ValueError(f"{pattern.pattern!r} does not match {text!r}")
        return text

    words = f"Answer only with text that matches the regular expression {pattern.pattern}"
    request = {} if flags else {"regex": pattern.pattern}
    return _grammar_output(Grammar(Rule("regex", Lex(lexeme))), parse, words, request)


def _grammar_output(
    grammar: Grammar, parse: Callable[[str], Any], words: str, request: Mapping[str, Any]
) -> Output:
    return Output(
        compile=lambda compiler: compiler.compile_grammar(grammar),
        parse=parse,
        words=words,
        request=(lambda: dict(request)) if request else (lambda: {"grammar": str(grammar)}),
    )


def _partial_json(text: str) -> Any:
    """The values in the beginning of a JSON text, None if there are none yet."""
    try:
        from pydantic_core import from_json
    except ImportError:
        return None
    try:
        return from_json(text, allow_partial="trailing-strings")
    except ValueError:
        return None
