"""`maskwright bench instructions`: instructions of the hot paths, against the committed counts.

Instructions hardly depend on how busy a machine is, so a small loss shows that no clock would. They
are counted by `perf stat` where the processor's counters may be read, else by `valgrind --tool=callgrind`.
`hotpaths.py` runs once for each stage, one stage further each time; a stage's count is the difference to
the run before it. String hashes are fixed (`PYTHONHASHSEED=0`) and collections are off. Callgrind also says
in which library the instructions were, which shows where the time goes.

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
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .callgrind import cost_by_object, room
from .datasets import DataError
from .hotpaths import STAGES
from .tables import markdown

__all__ = ["add_arguments", "compare", "counter", "run"]

_LIMIT_S = 600
# -P: a file in the working directory must not stand in for a module.
_PROGRAM = (sys.executable, "-P", "-m", f"{__package__}.hotpaths")


@dataclass(frozen=True)
class _Count:
    """Instructions, and where they were (empty where the counter does not say)."""

    total: float
    rooms: Mapping[str, int]


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
    found = _count_stages(tool)
    counts = {name: one.total for name, one in found.items()}
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
            *(["", "Where they are, in percent:", "", _rooms_table(found)] if tool == "callgrind" else []),
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


def _count_stages(tool: str) -> dict[str, _Count]:
    """Instructions for one operation of each stage."""
    # Once without a counter: afterwards all modules are compiled, which would be the first run's alone.
    _execute([*_PROGRAM, "0"])
    before, _ = _count(tool, 0)
    counts = {}
    for number, name in enumerate(STAGES, 1):
        now, operations = _count(tool, number)
        counts[name] = _Count(
            (now.total - before.total) / operations[name],
            {key: value - before.rooms.get(key, 0) for key, value in now.rooms.items()},
        )
        before = now
    return counts


def _count(tool: str, n_stages: int) -> tuple[_Count, dict[str, int]]:
    """Instructions of a whole run, and the operations in its stages."""
    program = [*_PROGRAM, str(n_stages)]
    if tool == "perf":
        done = _execute(["perf", "stat", "-x", ",", "-e", "instructions:u", *program])
        match = re.search(r"^(\d+),", done.stderr, re.MULTILINE)
        if match is None:
            raise DataError(f"perf counted nothing: {done.stderr[-500:]}")
        count = _Count(int(match.group(1)), {})
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "callgrind.out")
            done = _execute(["valgrind", "--tool=callgrind", f"--callgrind-out-file={path}", *program])
            with path.open() as lines:
                costs = cost_by_object(lines)
        rooms: Counter[str] = Counter()
        for name, cost in costs.items():
            rooms[room(name)] += cost
        count = _Count(sum(costs.values()), rooms)
    operations: dict[str, int] = json.loads(done.stdout.splitlines()[-1])["operations"]
    return count, operations


def _execute(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=_LIMIT_S, check=False
    )
    if done.returncode:
        raise DataError(f"{command[0]} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done


def _rooms_table(found: Mapping[str, _Count]) -> str:
    """Rooms with at least a hundredth of some stage, those with most first."""
    shares = {
        name: {key: 100 * cost / sum(one.rooms.values()) for key, cost in one.rooms.items()}
        for name, one in found.items()
    }
    largest = {
        key: max(share.get(key, 0) for share in shares.values()) for one in shares.values() for key in one
    }
    keys = sorted((key for key, value in largest.items() if value >= 1), key=lambda key: -largest[key])
    rows = [[key, *(f"{share.get(key, 0):.0f}" for share in shares.values())] for key in keys]
    return markdown(["", *shares], rows)
