"""The options that say what an answer must look like, shared by `generate` and `trace`.

Exactly one of them is given. Reading files and importing models happens here, so that the commands deal
with one `Constraint` whatever it came from.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from .. import CompiledGrammar, GrammarCompiler

__all__ = ["Constraint", "constraint_options", "load_pydantic", "read_constraint", "schema_options"]

_Command = TypeVar("_Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Constraint:
    """What an answer must look like.

    Attributes:
        kind: ``"schema"``, ``"regex"``, ``"ebnf"`` or ``"choices"``.
        source: The schema as parsed JSON, the text of the pattern or grammar, or the list of choices.
    """

    kind: str
    source: Any

    def compile(self, compiler: GrammarCompiler) -> CompiledGrammar:
        """The constraint against the compiler's vocabulary. Raises the typed errors of the library."""
        from .. import Grammar

        if self.kind == "schema":
            return compiler.compile_json_schema(self.source)
        if self.kind == "regex":
            return compiler.compile_regex(self.source)
        grammar = Grammar.from_ebnf(self.source) if self.kind == "ebnf" else Grammar.from_choices(self.source)
        return compiler.compile_grammar(grammar)

    def in_words(self, **options: Any) -> str:
        """What to tell a model, which never sees the constraint itself. Empty for a grammar.

        Args:
            options: For schemas, as for `maskwright.prompt.ask`.
        """
        from ..prompt import ask

        if self.kind == "schema":
            return ask(self.source, **options)
        if self.kind == "choices":
            return "Answer with exactly one of: " + ", ".join(self.source)
        if self.kind == "regex":
            return f"Answer only with text that matches the regular expression {self.source}"
        return ""


_SCHEMA_OPTIONS = (
    click.option("--schema", type=click.File(encoding="utf-8"), help="JSON Schema file; - for stdin."),
    click.option("--pydantic", metavar="MODULE:MODEL", help="Pydantic model, dataclass or TypedDict."),
)
_OTHER_OPTIONS = (
    click.option("--regex", metavar="PATTERN", help="Regular expression for the whole answer."),
    click.option("--ebnf", type=click.File(encoding="utf-8"), help="EBNF grammar file; - for stdin."),
    click.option("--choices", metavar="A,B,...", help="The possible answers, separated by commas."),
)


def schema_options(command: _Command) -> _Command:
    """Adds ``--schema`` and ``--pydantic`` to a command."""
    for option in reversed(_SCHEMA_OPTIONS):
        command = option(command)
    return command


def constraint_options(command: _Command) -> _Command:
    """Adds ``--schema``, ``--pydantic``, ``--regex``, ``--ebnf`` and ``--choices`` to a command."""
    for option in reversed(_OTHER_OPTIONS):
        command = option(command)
    return schema_options(command)


def read_constraint(
    *, schema: IO[str] | None = None, pydantic: str | None = None, **others: Any
) -> Constraint:
    """The one constraint that the options name.

    Args:
        schema: The value of ``--schema``.
        pydantic: The value of ``--pydantic``.
        others: The values of the other options, by name, as far as the command has them.

    Raises:
        click.UsageError: None or several are given, or a model cannot be imported.
        SchemaError: The schema file is not JSON, or the model has no schema.
    """
    options = {"schema": schema, "pydantic": pydantic, **others}
    given = [name for name, value in options.items() if value is not None]
    if len(given) != 1:
        names = ", ".join(f"--{name}" for name in options)
        raise click.UsageError(f"give exactly one of {names}; got {len(given)}")
    if schema is not None:
        from ..schema.load import load_schema

        return Constraint("schema", load_schema(schema.read()))
    if pydantic is not None:
        return Constraint("schema", load_pydantic(pydantic))
    (kind,) = given
    value = others[kind]
    if kind == "ebnf":
        return Constraint(kind, value.read())
    if kind == "choices":
        return Constraint(kind, [choice for choice in value.split(",") if choice])
    return Constraint(kind, value)


def load_pydantic(path: str) -> Any:
    """The JSON Schema of a model named as ``package.module:Model``; modules in the current folder count.

    Raises:
        click.UsageError: There is no such module or model.
        SchemaError: The model has no JSON Schema, or pydantic is not installed.
    """
    module_name, _, attribute = path.partition(":")
    if not module_name or not attribute:
        raise click.UsageError(f"--pydantic wants module:Model, not {path!r}")
    if "" not in sys.path:
        sys.path.insert(0, "")  # as `python -m` has it; a console script starts without
    from ..schema.load import load_schema

    try:
        model = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError) as error:
        raise click.UsageError(f"--pydantic {path}: {error}") from error
    return load_schema(model)
