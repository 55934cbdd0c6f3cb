"""`maskwright bench instructions`: instructions of the hot paths, against the committed counts.

Instructions hardly depend on how busy a machine is, so a small loss shows that no clock would. They
are counted by `perf stat` where the processor's counters may be read, else by `valgrind --tool=callgrind`.
`hotpaths.py` runs once for each stage, one stage further each time; a stage's count is the difference to
the run before it. String hashes are fixed (`PYTHONHASHSEED=0`) and collections are off.

The counts are of the machine's instruction set, the interpreter, the counter and the build, so the baseline
(`benchmarks/instructions.json`) has an entry for each such combination; a run is compared with its own alone.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from .datasets import DataError
from .hotpaths import STAGES
from .tables import markdown

__all__ = ["add_arguments", "compare", "counter", "run"]

_LIMIT_S = 600


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the sub-command."""
    parser.add_argument("--baseline", type=Path, default=Path("benchmarks/instructions.json"))
    parser.add_argument("--counter", choices=("auto", "perf", "callgrind"), default="auto")
    parser.add_argument(
        "--tolerance", type=float, default=5.0, help="percent more than the baseline (default 5)"
    )
    parser.add_argument("--update", action="store_true", help="write the counts into the baseline")


def run(args: argparse.Namespace) -> str:
    """Run the sub-command; the table. Sets `args.exit_code` to 1 when a count exceeds its tolerance."""
    tool = counter() if args.counter == "auto" else args.counter
    counts = _count_stages(tool)
    key = f"{tool}, {platform.machine()}, Python {sys.version_info.major}.{sys.version_info.minor}"
    known = json.loads(args.baseline.read_text()) if args.baseline.exists() else {}
    before: dict[str, float] = known.get(key, {})
    rows, worse = compare(counts, before, args.tolerance)
    args.exit_code = 0
    if args.update:
        known[key] = {name: round(value) for name, value in counts.items()}
        args.baseline.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
    elif worse:
        args.exit_code = 1
        print(f"more than {args.tolerance:g} % above the baseline: {', '.join(worse)}", file=sys.stderr)
    notes = [] if before else [f"The baseline has no counts for this combination ({key})."]
    return "\n".join(
        [
            f"Instructions, counted by {key}; a vocabulary made from a few texts (`hotpaths.py`).",
            *notes,
            "",
            markdown(["instructions", "now", "baseline", "difference"], rows),
        ]
    )


def compare(
    counts: Mapping[str, float], before: Mapping[str, float], tolerance: float
) -> tuple[list[list[str]], list[str]]:
    """Rows of the table, and the names of the counts that exceed the baseline by more than the tolerance.

    Args:
        counts: Instructions for one operation of each stage.
        before: The same of the baseline; stages may be missing.
        tolerance: In percent.
    """
    rows, worse = [], []
    for name, value in counts.items():
        if name not in before:
            rows.append([name, f"{value:,.0f}", "-", "-"])
            continue
        difference = 100 * (value / before[name] - 1)
        rows.append([name, f"{value:,.0f}", f"{before[name]:,.0f}", f"{difference:+.1f} %"])
        if difference > tolerance:
            worse.append(name)
    return rows, worse


def counter() -> str:
    """`perf` where it counts instructions here, else `callgrind`.

    Raises:
        DataError: Neither works.
    """
    if shutil.which("perf"):
        probe = subprocess.run(
            ["perf", "stat", "-x", ",", "-e", "instructions:u", "true"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if re.match(r"\d+,", probe.stderr):
            return "perf"
    if shutil.which("valgrind"):
        return "callgrind"
    raise DataError(
        "instructions cannot be counted: perf is not permitted here and valgrind is not installed"
    )


def _count_stages(tool: str) -> dict[str, float]:
    """Instructions for one operation of each stage."""
    before, _ = _count(tool, 0)
    counts = {}
    for number, name in enumerate(STAGES, 1):
        total, operations = _count(tool, number)
        counts[name] = (total - before) / operations[name]
        before = total
    return counts


def _count(tool: str, n_stages: int) -> tuple[int, dict[str, int]]:
    """Instructions of a whole run, and the operations in its stages."""
    # -P: a file in the working directory must not stand in for a module.
    program = [sys.executable, "-P", "-m", f"{__package__}.hotpaths", str(n_stages)]
    if tool == "perf":
        command = ["perf", "stat", "-x", ",", "-e", "instructions:u", *program]
        pattern = r"^(\d+),"
    else:
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *program]
        pattern = r"Collected\s*:\s*(\d+)"
    environment = {**os.environ, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=_LIMIT_S, check=False
    )
    found = re.search(pattern, done.stderr, re.MULTILINE)
    if done.returncode or found is None:
        raise DataError(f"{' '.join(command[:4])} ended with {done.returncode}: {done.stderr[-2000:]}")
    operations: dict[str, int] = json.loads(done.stdout.splitlines()[-1])["operations"]
    return int(found.group(1)), operations
