"""`maskwright bench mask`: MaskBench's method over several engines, interleaved schema by schema.

Each (schema, engine) pair is one job with a time limit, run in one worker process that holds all
engines; the order of the engines rotates, so that noise of the machine hits all alike. For each pair
two requests are made: *cold* (the first for this schema) and *warm* (a second one). Raw results are
JSON lines; the report is made from them alone, so a run can be reported again or merged.

Running each engine in a run of its own was rejected: on a shared machine two runs differ by more
than the engines do.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from . import datasets, engines, report, vocabularies
from .engines import SchemaOptions
from .machine import describe, resident_mb
from .walk import CLOCKS, Instance, harness_overhead_ns, run_pass, use_clock
from .workers import Failure, run_jobs

__all__ = ["add_arguments", "run"]

_Job = tuple[str, str, Any, tuple[tuple[Any, bool], ...]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the sub-command."""
    parser.add_argument("--data", type=Path, required=True, help="MaskBench file, or the folder that has it")
    parser.add_argument("--vocabulary", default="llama3", choices=vocabularies.NAMES)
    parser.add_argument(
        "--engines", default="maskwright,llguidance", help="name or name:variant, comma-separated"
    )
    parser.add_argument("--sample", type=int, default=600, help="number of schemas, 0 for all (default 600)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clock", choices=tuple(CLOCKS), default="wall", help="what is measured")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for one schema and engine")
    parser.add_argument("--out", type=Path, default=Path("results/mask"), help="folder of the results")
    parser.add_argument("--report-only", action="store_true", help="report the raw results already in --out")
    parser.add_argument("--plots", action="store_true", help="draw distribution curves (needs matplotlib)")


def run(args: argparse.Namespace) -> str:
    """Run the sub-command; the report."""
    raw = args.out / "raw.jsonl"
    if not args.report_only:
        args.out.mkdir(parents=True, exist_ok=True)
        _measure(args, raw)
    results = report.read(raw)
    text = report.render(results)
    (args.out / "report.md").write_text(text)
    if args.plots:
        from . import plots

        for path in plots.draw(results, args.out):
            print(f"wrote {path}", file=sys.stderr)
    return text


def _measure(args: argparse.Namespace, raw: Path) -> None:
    specs = engines.parse_names(args.engines)
    use_clock(args.clock)
    sample = datasets.draw_sample(datasets.read_maskbench(args.data), args.sample, args.seed)
    head = {
        "kind": "run",
        "machine": describe(),
        "vocabulary": args.vocabulary,
        "engines": specs,
        "sample": len(sample),
        "seed": args.seed,
        "time_limit_s": args.time_limit,
        "clock": args.clock,
        "overhead": harness_overhead_ns(),
    }
    make = partial(make_handler, args.vocabulary, specs, args.clock)
    began = time.monotonic()
    with raw.open("w") as out:
        out.write(json.dumps(head) + "\n")
        n_jobs = len(sample) * len(specs)
        outcomes = run_jobs(_jobs(sample, specs), make, limit_s=args.time_limit)
        for done, (job, outcome) in enumerate(outcomes, 1):
            out.write(json.dumps(_line(job, outcome), separators=(",", ":")) + "\n")
            if done % 50 == 0 or done == n_jobs:
                print(f"{done}/{n_jobs} in {time.monotonic() - began:.0f} s", file=sys.stderr)


def _jobs(sample: Sequence[datasets.SchemaRecord], specs: Sequence[str]) -> Iterator[_Job]:
    for number, record in enumerate(sample):
        for place in range(len(specs)):
            yield specs[(number + place) % len(specs)], record.name, record.schema, record.tests


def _line(job: _Job, outcome: Any) -> dict[str, Any]:
    line = {"kind": "schema", "engine": job[0], "schema": job[1]}
    if isinstance(outcome, Failure):
        return {**line, "failure": outcome.kind, "seconds": outcome.seconds, "message": outcome.message}
    return {**line, **outcome}


def make_handler(vocabulary_name: str, specs: Sequence[str], clock: str) -> Callable[[_Job], dict[str, Any]]:
    """In the worker: load the vocabulary, prepare all engines, return what answers a job."""
    import gc

    use_clock(clock)
    vocabulary = vocabularies.load(vocabulary_name)
    prepared = {spec: engines.create(spec) for spec in specs}
    setup = {}
    for spec, engine in prepared.items():
        memory, began = resident_mb(), time.perf_counter()
        engine.set_up(vocabulary)
        setup[spec] = {
            "version": engine.version,
            "setup_s": time.perf_counter() - began,
            "setup_mb": resident_mb() - memory,
        }
    # What is alive now stays alive: keep it out of every later collection.
    gc.collect()
    gc.freeze()
    return partial(_answer, vocabulary, prepared, setup)


def _answer(
    vocabulary: vocabularies.BenchVocabulary,
    prepared: dict[str, engines.Engine],
    setup: dict[str, dict[str, Any]],
    job: _Job,
) -> dict[str, Any]:
    spec, _, schema, tests = job
    # The spelling is MaskBench's: separators ", " and ": ", characters beyond ASCII as they are.
    instances = [
        Instance(vocabulary.encode(json.dumps(value, ensure_ascii=False)), valid) for value, valid in tests
    ]
    engine, options = prepared[spec], SchemaOptions()
    memory = resident_mb()
    cold, compiled = run_pass(engine, schema, instances, options, vocabulary.stop_id)
    answer = {"setup": setup[spec], "cold": cold.as_dict(), "memory_mb": resident_mb() - memory}
    if cold.refused is None:
        warm, _ = run_pass(engine, schema, instances, options, vocabulary.stop_id, earlier=compiled)
        answer["warm"] = warm.as_dict()
    return answer
