"""What a vLLM request asks for, as a grammar: the one place that knows vLLM's kinds of constraints.

A request is checked in the front end, where an error is an answer with status 400, and compiled in the
engine. Both start from the same pair that vLLM makes of a request: the kind (the name of a
`StructuredOutputOptions`) and the text.
"""

from __future__ import annotations

import contextvars
import json
from typing import TYPE_CHECKING, Any

from ... import Grammar
from ...errors import GrammarError

if TYPE_CHECKING:
    from ... import CompiledGrammar, GrammarCompiler

__all__ = ["STRUCTURAL_TAG", "budget", "check_options", "check_spec", "compile_spec"]

#: The kind that is left to vLLM's own backend.
STRUCTURAL_TAG = "STRUCTURAL_TAG"

#: While a request's grammar is compiled: tokens of its output, stop token included. None: any number.
budget: contextvars.ContextVar[int | None] = contextvars.ContextVar("maskwright_vllm_budget", default=None)

_ANY_OBJECT = '{"type": "object"}'


def check_spec(kind: str, spec: str, *, compact: bool) -> None:
    """Read a constraint without any vocabulary.

    Args:
        kind: Name of a `StructuredOutputOptions`, not `STRUCTURAL_TAG`.
        spec: Its text, as vLLM hands it to backends.
        compact: Whether the server was told to disable white space in JSON.

    Raises:
        GrammarError: It cannot be served; the message says what and where.
    """
    if kind in ("JSON", "JSON_OBJECT"):
        Grammar.from_json_schema(_schema(kind, spec), **_whitespace(compact))
    elif kind == "REGEX":
        Grammar.from_regex(spec)
    elif kind == "CHOICE":
        Grammar.from_choices(json.loads(spec))
    elif kind == "GRAMMAR":
        Grammar.from_ebnf(_ebnf(spec))
    else:
        raise GrammarError(f"vLLM's constraint of kind {kind} is not known to maskwright")


def compile_spec(compiler: GrammarCompiler, kind: str, spec: str, *, compact: bool) -> CompiledGrammar:
    """The same, compiled; equal requests share one object, and with it all that earlier ones visited."""
    if kind in ("JSON", "JSON_OBJECT"):
        return compiler.compile_json_schema(_schema(kind, spec), **_whitespace(compact))
    if kind == "REGEX":
        return compiler.compile_regex(spec)
    if kind == "CHOICE":
        # As text, because the compiler remembers what it made from text.
        return compiler.compile_grammar(str(Grammar.from_choices(json.loads(spec))))
    if kind == "GRAMMAR":
        return compiler.compile_grammar(_ebnf(spec))
    raise GrammarError(f"vLLM's constraint of kind {kind} is not known to maskwright")


def check_options(kind: str, params: Any, *, compact: bool) -> None:
    """Refuse options of one request that backends never see: vLLM passes on the constraint alone.

    Raises:
        GrammarError: The request asks for a spelling of white space that would not be obeyed.
    """
    if kind not in ("JSON", "JSON_OBJECT"):
        return
    if params.whitespace_pattern is not None:
        raise GrammarError(
            "whitespace_pattern is not supported",
            hint="leave it out; for JSON without white space start the server with "
            """--structured-outputs-config '{"backend": "xgrammar", "disable_any_whitespace": true}'""",
        )
    if params.disable_any_whitespace and not compact:
        raise GrammarError(
            "disable_any_whitespace cannot be chosen per request",
            hint="set it for the server, in --structured-outputs-config",
        )


def _schema(kind: str, spec: str) -> str:
    return spec if kind == "JSON" else _ANY_OBJECT


def _whitespace(compact: bool) -> dict[str, Any]:
    return {"any_whitespace": False, "separators": (",", ":")} if compact else {}


def _ebnf(spec: str) -> str:
    """The text, unless it is one of vLLM's other notation, by vLLM's own test."""
    from vllm.v1.structured_output.utils import grammar_is_likely_lark

    if grammar_is_likely_lark(spec):
        raise GrammarError(
            "this grammar is written in Lark, which maskwright does not read",
            hint="write it in EBNF: root ::= ...",
        )
    return spec
