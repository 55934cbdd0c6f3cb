"""`maskwright bench conformance`: verdicts on the official JSON Schema suite and on MaskBench.

Each schema is compiled over the 256 single bytes, and each instance's `json.dumps` text is judged by
whether it is a whole match. Engines that can be told get any order of properties, the standard's
meaning of closed objects, and `format` as the file means it. Cores are used in parallel; a schema that
overstays the time limit, or takes the process down, costs only itself.

A real vocabulary would add nothing to a verdict on a text: a token is its bytes.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from . import datasets, engines, vocabularies
from .engines import Refused, SchemaOptions
from .verdicts import CaseOutcome, render
from .workers import Failure, run_jobs

__all__ = ["add_arguments", "run"]


@dataclass(frozen=True)
class _Job:
    """One schema for one engine: what a worker needs to judge it."""

    engine: str
    outcome: CaseOutcome
    schema: Any
    texts: tuple[bytes, ...]
    any_order: bool
    format_assertion: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the sub-command."""
    parser.add_argument("--data", type=Path, required=True, help="folder with the two data files")
    parser.add_argument("--engines", default="maskwright", help="name or name:variant, comma-separated")
    parser.add_argument("--only", choices=("suite", "maskbench"), help="one of the two data sets")
    parser.add_argument("--drafts", default=",".join(datasets.DIALECTS), help="drafts of the suite")
    parser.add_argument("--sample", type=int, default=0, help="number of MaskBench schemas, 0 for all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: cores)")
    parser.add_argument("--time-limit", type=float, default=10.0, help="seconds for one schema")
    parser.add_argument("--out", type=Path, default=Path("docs/conformance.md"), help="document to write")
    parser.add_argument("--raw", type=Path, help="write every outcome here, as JSON lines")


def run(args: argparse.Namespace) -> str:
    """Run the sub-command; the document."""
    specs = engines.parse_names(args.engines)
    remotes: dict[str, Any] = {}
    jobs: list[_Job] = []
    if args.only != "maskbench":
        cases, remotes = datasets.read_suite(args.data)
        wanted = set(args.drafts.split(","))
        jobs += _suite_jobs([case for case in cases if case.draft in wanted], specs)
    if args.only != "suite":
        records = datasets.read_maskbench(args.data)
        jobs += _maskbench_jobs(datasets.draw_sample(records, args.sample, args.seed), specs)
    outcomes = _judge(jobs, partial(make_handler, specs, remotes), args)
    if args.raw is not None:
        args.raw.write_text("".join(json.dumps(o.as_dict(), ensure_ascii=False) + "\n" for o in outcomes))
    text = render(outcomes, specs, engine_versions(specs), args.spelled)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(text)
    return text


def engine_versions(specs: Sequence[str]) -> dict[str, str]:
    """The installed version of each engine."""
    return {spec: engines.create(spec).version for spec in specs}


def _suite_jobs(cases: Sequence[datasets.Case], specs: Sequence[str]) -> Iterator[_Job]:
    for case in cases:
        texts = tuple(json.dumps(value).encode() for _, value, _ in case.tests)
        for spec in specs:
            outcome = CaseOutcome(
                engine=spec,
                draft=case.draft,
                file=case.file,
                case=case.description,
                tests=tuple(description for description, _, _ in case.tests),
                valid=tuple(valid for _, _, valid in case.tests),
            )
            yield _Job(spec, outcome, case.schema, texts, True, case.format_assertion)


def _maskbench_jobs(records: Sequence[datasets.SchemaRecord], specs: Sequence[str]) -> Iterator[_Job]:
    for record in records:
        # As MaskBench's runner writes them: characters beyond ASCII as they are.
        texts = tuple(json.dumps(value, ensure_ascii=False).encode() for value, _ in record.tests)
        for spec in specs:
            outcome = CaseOutcome(
                engine=spec,
                draft="maskbench",
                file=record.group,
                case=record.name,
                tests=tuple(f"instance {number}" for number in range(len(texts))),
                valid=tuple(valid for _, valid in record.tests),
            )
            yield _Job(spec, outcome, record.schema, texts, True, True)


def _judge(jobs: Sequence[_Job], make: Callable[[], Any], args: argparse.Namespace) -> list[CaseOutcome]:
    began = time.monotonic()
    outcomes = []
    for done, (job, answer) in enumerate(
        run_jobs(jobs, make, n_workers=args.jobs, limit_s=args.time_limit), 1
    ):
        outcome = job.outcome
        if isinstance(answer, Failure):
            outcome.failure = answer.kind
            outcome.message = answer.message.strip().rpartition("\n")[2]
        else:
            outcome.refused, outcome.unsatisfiable, outcome.accepted = answer
        outcomes.append(outcome)
        if done % 1000 == 0 or done == len(jobs):
            print(f"{done}/{len(jobs)} in {time.monotonic() - began:.0f} s", file=sys.stderr)
    return outcomes


def make_handler(specs: Sequence[str], remotes: dict[str, Any]) -> Callable[[_Job], Any]:
    """In the worker: prepare the engines over single bytes, return what judges a job."""
    vocabulary = vocabularies.byte_vocabulary()
    prepared = {spec: engines.create(spec) for spec in specs}
    for engine in prepared.values():
        engine.set_up(vocabulary)
    return partial(_answer, prepared, vocabulary.stop_id, remotes)


def _answer(
    prepared: dict[str, engines.Engine], stop_id: int, remotes: dict[str, Any], job: _Job
) -> tuple[str | None, bool, tuple[bool, ...]]:
    engine = prepared[job.engine]
    options = SchemaOptions(
        any_order=job.any_order,
        format_assertion=job.format_assertion,
        remotes=_needed(job.schema, remotes),
        dialect=datasets.DIALECTS.get(job.outcome.draft, datasets.DIALECTS["draft2020-12"]),
    )
    try:
        compiled = engine.compile(job.schema, options)
        accepted = tuple(engine.matches(compiled, text, stop_id) for text in job.texts)
    except Refused as error:
        return str(error), error.unsatisfiable, ()
    return None, False, accepted


def _needed(schema: Any, remotes: Mapping[str, Any]) -> Mapping[str, Any]:
    """The suite's documents if the schema names its address; else none, as most callers have none."""
    return remotes if datasets.REMOTES_BASE in json.dumps(schema) else {}
