"""Puts the sub-commands together and turns the library's errors into exit codes.

The modules of the sub-commands import what is heavy inside their functions, so `--help` stays quick.
The benchmarks are many modules with partners of their own; they are loaded only when called.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from .. import __version__
from ..errors import MaskwrightError
from .check import check
from .compare import compare
from .exits import failure_of
from .generate import generate
from .trace import trace

__all__ = ["app", "main"]


class _App(click.Group):
    """A group whose commands may raise the library's own errors."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except MaskwrightError as error:
            raise failure_of(error) from error


@click.group(cls=_App, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def app() -> None:
    """Exact constrained decoding: what a language model writes fits the schema or grammar.

    Exit codes: 0 fine; 1 the answer is no (text not accepted, something not enforced); 2 wrong usage;
    3 a schema, grammar or regular expression cannot be compiled; 4 a model or tokenizer cannot be used;
    5 --max-tokens was reached before the answer was complete.
    """


@app.command(
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def bench(context: click.Context, arguments: tuple[str, ...]) -> None:
    """Measure compile, mask and accept times beside other engines."""
    from .bench import main as run_benchmarks

    context.exit(run_benchmarks(list(arguments)))


app.add_command(check)
app.add_command(compare)
app.add_command(generate)
app.add_command(trace)


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the console script. Ends the process with an exit code.

    Args:
        arguments: The command line without the program's name; by default that of the process.
    """
    app.main(args=None if arguments is None else list(arguments), prog_name="maskwright")
