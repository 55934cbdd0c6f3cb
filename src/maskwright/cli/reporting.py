"""The options of `generate` that ask for a report, and where it goes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .exits import Failure

if TYPE_CHECKING:
    from ..report import Report

__all__ = ["ReportCommand", "check_report", "report_options", "write_report"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_KINDS = ("text", "json", "html")


class ReportCommand(click.Command):
    """A command whose ``--report`` takes a kind only after an equals sign.

    click would take the argument after a bare ``--report``, which is the prompt.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        spelled = ["--report=text" if argument == "--report" else argument for argument in args[:end]]
        return super().parse_args(ctx, spelled + args[end:])


def report_options(function: _Function) -> _Function:
    """Adds ``--report`` and ``--report-file`` to a `ReportCommand`."""
    file = click.option(
        "--report-file",
        metavar="FILE",
        help="Where it goes; - for standard output, instead of the answer.  [default: standard error]",
    )
    kind = click.option(
        "--report",
        type=click.Choice(_KINDS),
        metavar="[=text|json|html]",
        help="How far to trust each value: --report, --report=json or --report=html.",
    )
    return kind(file(function))


def check_report(kind: str | None, file: str | None) -> None:
    """Refuse what makes no sense before a model is loaded. Raises click.UsageError."""
    if file is not None and kind is None:
        raise click.UsageError("--report-file without --report; say --report, --report=json or --report=html")
    if kind in ("json", "html") and file is None:
        raise click.UsageError(f"--report={kind} needs --report-file FILE, or - for standard output")


def write_report(report: Report, kind: str, file: str | None, *, title: str, prompt: str) -> None:
    """Write a report where it is wanted.

    Args:
        report: The report.
        kind: ``"text"``, ``"json"`` or ``"html"``.
        file: A path, ``"-"`` for standard output, None for standard error.
        title: What answered.
        prompt: What was asked.

    Raises:
        Failure: The file cannot be written.
    """
    if kind == "json":
        text = json.dumps(
            {"model": title, "prompt": prompt, **report.as_json()}, ensure_ascii=False, indent=1
        )
    else:
        text = report.as_html(title=title, prompt=prompt) if kind == "html" else report.as_text()
    if file is None or file == "-":
        click.echo(text, err=file is None)
        return
    try:
        Path(file).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise Failure(f"the report cannot be written to {file}: {error.strerror}", 2) from error
