"""The command as a process: entry point, version, help, what an unexpected error looks like."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

import maskwright
from maskwright.cli.app import app
from maskwright.cli.exits import GRAMMAR, MODEL, failure_of
from maskwright.errors import GrammarError, LimitExceeded, SchemaError, VocabularyError

PROGRAM = [sys.executable, "-c", "from maskwright.cli import main; main()"]


def test_entry_point_ends_with_the_code_and_a_readable_error() -> None:
    command = [*PROGRAM, "check", "--schema", "-"]
    result = subprocess.run(command, input='{"type": "nothing"}', capture_output=True, text=True, timeout=60)
    assert result.returncode == GRAMMAR
    assert result.stdout == ""
    assert result.stderr.startswith("error: SchemaError: #")
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("name", [None, "bench", "check", "generate", "trace"])
def test_help(name: str | None) -> None:
    result = CliRunner().invoke(app, ["--help"] if name is None else [name, "--help"])
    assert result.exit_code == 0, result.output
    assert "usage" in result.output.lower()


def test_version() -> None:
    result = CliRunner().invoke(app, ["--version"], prog_name="maskwright")
    assert result.stdout == f"maskwright {maskwright.__version__}\n"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (GrammarError("g"), GRAMMAR),
        (SchemaError("s", pointer="#/a", hint="do b"), GRAMMAR),
        (LimitExceeded("l", resource="states", limit=1), GRAMMAR),
        (VocabularyError("v"), MODEL),
    ],
)
def test_typed_errors_keep_their_text(error: maskwright.errors.MaskwrightError, code: int) -> None:
    failure = failure_of(error)
    assert failure.exit_code == code
    assert str(error) in failure.message


def test_a_defect_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command()
    def broken() -> None:
        raise ZeroDivisionError

    monkeypatch.setitem(app.commands, "broken", broken)
    with pytest.raises(ZeroDivisionError):
        CliRunner().invoke(app, ["broken"], catch_exceptions=False)
