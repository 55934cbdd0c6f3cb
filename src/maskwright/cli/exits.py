"""How the commands end: exit codes that a script can use, and errors that a person can read.

Codes 0 and 2 are click's own meaning (fine; the command line is wrong). A typed error of the library
becomes its text on standard error and one of the codes below; anything else is a defect and keeps its
traceback.
"""

from __future__ import annotations

from typing import IO, Any, Final

import click

from ..errors import BudgetError, GrammarError, MaskwrightError

__all__ = ["GRAMMAR", "INCOMPLETE", "MODEL", "NO", "Failure", "failure_of"]

NO: Final = 1  #: the answer is no: text not accepted (trace), something not enforced (check)
GRAMMAR: Final = 3  #: a schema, grammar or regular expression cannot be compiled
MODEL: Final = 4  #: a model or tokenizer is missing or cannot be used
INCOMPLETE: Final = (
    5  #: --max-tokens is too few; what was printed, if anything, is the beginning of an answer
)


class Failure(click.ClickException):
    """Ends the command with a message on standard error and a code of this module."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.exit_code = code  # type: ignore[misc]  # click declares it per class and reads it per instance

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"error: {self.format_message()}", file=file, err=file is None)


def failure_of(error: MaskwrightError) -> Failure:
    """What a typed error of the library is to a person at a terminal."""
    code = (
        INCOMPLETE
        if isinstance(error, BudgetError)
        else GRAMMAR
        if isinstance(error, GrammarError)
        else MODEL
    )
    return Failure(f"{type(error).__name__}: {error}", code)
