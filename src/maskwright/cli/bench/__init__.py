"""`maskwright bench`: the project's measurements, beside its peers and in one run.

Each sub-command is one module with `add_arguments` and `run`; modules are imported when their
sub-command is used, so that `--help` needs neither numpy-heavy code nor any engine.
"""

from __future__ import annotations

import argparse
import importlib
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

__all__ = ["main"]

_COMMANDS = {
    "quick": "compile and mask times on the example schemas",
    "mask": "MaskBench: time to first mask and between masks",
    "batch": "rows of masks filled per second, mixed schemas",
    "growth": "compile, mask and memory as a schema grows",
    "strings": "constrained strings: first mask and masks inside",
    "tools": "128 tool calls in one grammar",
    "memory": "memory of grammars, matchers and vocabularies",
    "instructions": "instruction counts of the hot paths, against the committed ones",
    "budgets": "random walks that have to end in time, and what a token budget costs",
    "capacity": "sequences that one core serves at 10 ms a step",
    "conformance": "official JSON Schema suite and MaskBench verdicts",
    "fuzz": "random schemas and texts, judged beside jsonschema-rs",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run `maskwright bench ...`.

    Args:
        argv: Arguments after `bench`; the process's own when None.

    Returns:
        The exit code: 0; 1 when something needed is missing or a comparison failed; 2 for wrong usage.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(prog="maskwright bench", description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    chosen = next((word for word in arguments if word in _COMMANDS), None)
    for name, summary in _COMMANDS.items():
        sub = commands.add_parser(name, help=summary, description=summary)
        if name == chosen:
            importlib.import_module(f".{name}", __package__).add_arguments(sub)
            if name != "conformance":  # which writes a whole document
                sub.add_argument("--write", type=Path, help="replace the command's section of this document")
    try:
        args = parser.parse_args(arguments)
    except SystemExit as stop:  # argparse ends the process; a caller of `main` wants a code
        return int(stop.code or 0)
    args.spelled = _spelled(arguments)
    return _run(args)


def _run(args: argparse.Namespace) -> int:
    from .datasets import DataError
    from .documents import replace_section
    from .engines import EngineMissing
    from .vocabularies import MissingVocabulary
    from .workers import WorkerError

    module = importlib.import_module(f".{args.command}", __package__)
    try:
        text = module.run(args)
        print(text)
        if getattr(args, "write", None) is not None:
            replace_section(args.write, args.command, args.spelled, text)
        return int(getattr(args, "exit_code", 0))
    except (DataError, EngineMissing, MissingVocabulary, WorkerError) as error:
        print(f"maskwright bench: {error}", file=sys.stderr)
        return 1


def _spelled(arguments: Sequence[str]) -> str:
    """The command line as others would type it: without `--write`, and with PATH for the data."""
    line = shlex.join(["maskwright", "bench", *arguments])
    line = re.sub(r" --(write|out|raw|json)[ =]\S+", "", line)
    return re.sub(r"(--data[ =])\S+", r"\1PATH", line)
