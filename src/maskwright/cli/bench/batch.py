"""`maskwright bench batch`: rows of masks filled per second, many sequences with mixed schemas.

Each row is one sequence of its own schema, already some way into its instance. A step fills all rows
(timed, by the engine's native batch call where it has one, else row by row) and then accepts the next
token of each (not timed). The grammars
have served one walk before: a server's steady state.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from . import datasets, engines, vocabularies
from .engines import Engine, Refused, SchemaOptions, Stepper
from .machine import describe
from .tables import markdown, number
from .walk import quiet
from .workers import Failure, run_jobs

__all__ = ["add_arguments", "run"]

#: Tokens by which neighbouring rows differ in their position.
_STAGGER = 7


@dataclass(frozen=True)
class _Row:
    """A schema and the tokens of one of its valid instances."""

    name: str
    schema: Any
    token_ids: tuple[int, ...]


@dataclass(frozen=True)
class _Job:
    engine: str
    n_rows: int
    threads: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the sub-command."""
    parser.add_argument("--data", type=Path, required=True, help="MaskBench file, or the folder that has it")
    parser.add_argument("--vocabulary", default="llama3", choices=vocabularies.NAMES)
    parser.add_argument("--engines", default="maskwright,llguidance,xgrammar,glrmask")
    parser.add_argument("--rows", default="1,8,64,256,512", help="batch sizes")
    parser.add_argument("--threads", default="1,2", help="numbers of threads")
    parser.add_argument("--steps", type=int, default=24, help="steps of each walk")
    parser.add_argument("--schemas", type=int, default=32, help="number of different schemas")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--time-limit", type=float, default=300.0, help="seconds for one engine and size")


def run(args: argparse.Namespace) -> str:
    """Run the sub-command; the tables."""
    specs = engines.parse_names(args.engines)
    sizes = [int(part) for part in args.rows.split(",")]
    threads = [int(part) for part in args.threads.split(",")]
    vocabulary = vocabularies.load(args.vocabulary)
    rows = choose_rows(
        datasets.draw_sample(datasets.read_maskbench(args.data), 0, args.seed), vocabulary.encode, args
    )
    jobs = [_Job(spec, n, t) for n in sizes for t in threads for spec in specs]
    make = partial(make_handler, args.vocabulary, specs, rows, args.steps)
    found = dict(run_jobs(jobs, make, limit_s=args.time_limit))
    return _render(args, found, specs, len(rows))


def choose_rows(
    records: Sequence[datasets.SchemaRecord], encode: Callable[[str], list[int]], args: argparse.Namespace
) -> list[_Row]:
    """The first schemas with a valid instance that is long enough for the walk.

    Raises:
        DataError: There are none.
    """
    rows: list[_Row] = []
    for record in records:
        texts = (json.dumps(value, ensure_ascii=False) for value, valid in record.tests if valid)
        tokens = next((ids for ids in map(encode, texts) if len(ids) >= args.steps), None)
        if tokens is not None:
            rows.append(_Row(record.name, record.schema, tuple(tokens)))
        if len(rows) == args.schemas:
            break
    if not rows:
        raise datasets.DataError(f"no valid instance has {args.steps} tokens")
    return rows


def make_handler(
    vocabulary_name: str, specs: Sequence[str], rows: Sequence[_Row], n_steps: int
) -> Callable[[_Job], dict[str, Any]]:
    """In the worker: prepare the engines; keep the rows that all of them take."""
    vocabulary = vocabularies.load(vocabulary_name)
    prepared = {spec: engines.create(spec) for spec in specs}
    for engine in prepared.values():
        engine.set_up(vocabulary)
    compiled = {spec: {row.name: _try(engine, row) for row in rows} for spec, engine in prepared.items()}
    kept = [row for row in rows if all(grammars[row.name] is not None for grammars in compiled.values())]
    if not kept:
        raise datasets.DataError("there is no schema that all the engines take")
    return partial(_answer, vocabulary, prepared, compiled, kept, n_steps)


def _try(engine: Engine, row: _Row) -> Any:
    """The compiled grammar, once the row's instance was walked through it; None if it was refused."""
    try:
        compiled = engine.compile(row.schema, SchemaOptions())
    except Refused:
        return None
    stepper = engine.start(compiled)
    for token_id in row.token_ids:
        stepper.fill()
        if not stepper.allows(token_id):
            return None
        stepper.accept(token_id)
    return compiled


def _answer(
    vocabulary: vocabularies.BenchVocabulary,
    prepared: dict[str, Engine],
    grammars: dict[str, dict[str, Any]],
    rows: Sequence[_Row],
    n_steps: int,
    job: _Job,
) -> dict[str, Any]:
    engine = prepared[job.engine]
    chosen = [rows[i % len(rows)] for i in range(job.n_rows)]
    compiled = grammars[job.engine]
    batch = engine.batch([compiled[row.name] for row in chosen], job.threads)
    native = batch is not None
    words = engine.new_words(vocabulary, job.n_rows)
    steppers, fill = batch or _loop(
        [engine.start(compiled[row.name], mask) for row, mask in zip(chosen, words, strict=True)]
    )
    with quiet():
        seconds = _walk_all(steppers, fill, chosen, n_steps)
    per_row = np.array(seconds) / job.n_rows
    return {
        "native": native,
        "schemas": len(rows),
        "rows_per_s": float(1 / per_row.mean()),
        "step_p50_us": float(np.median(seconds) * 1e6),
        "step_p99_us": float(np.quantile(seconds, 0.99) * 1e6),
    }


def _loop(steppers: list[Stepper]) -> engines.Batch:
    def fill() -> None:
        for stepper in steppers:
            stepper.fill()

    return steppers, fill


def _walk_all(
    steppers: Sequence[Stepper], fill: Callable[[], object], rows: Sequence[_Row], n_steps: int
) -> list[float]:
    positions = []
    for number_of_row, (stepper, row) in enumerate(zip(steppers, rows, strict=True)):
        start = (number_of_row * _STAGGER) % (len(row.token_ids) - n_steps + 1)
        for token_id in row.token_ids[:start]:
            stepper.accept(token_id)
        positions.append(start)
    seconds = []
    for step in range(n_steps):
        before = time.perf_counter()
        fill()
        seconds.append(time.perf_counter() - before)
        for stepper, row, start in zip(steppers, rows, positions, strict=True):
            token_id = row.token_ids[start + step]
            if not stepper.allows(token_id):
                raise RuntimeError(f"{row.name}: a batch mask forbids a token that the single mask allows")
            stepper.accept(token_id)
    return seconds


def _render(args: argparse.Namespace, found: dict[_Job, Any], specs: Sequence[str], n_rows_asked: int) -> str:
    machine = ", ".join(f"{key} {value}" for key, value in describe().items())
    rates: list[list[str]] = []
    ratios: list[list[str]] = []
    for n_rows, threads in dict.fromkeys((job.n_rows, job.threads) for job in found):
        values = [_rate(found[_Job(spec, n_rows, threads)]) for spec in specs]
        rates.append([str(n_rows), str(threads), *(number(value) for value in values)])
        base = values[0]
        shares = [base / value if base and value else None for value in values]
        ratios.append([str(n_rows), str(threads), *(number(share) for share in shares)])
    answers = {spec: next((v for j, v in found.items() if j.engine == spec), None) for spec in specs}
    loops = [s for s, answer in answers.items() if isinstance(answer, dict) and not answer["native"]]
    kept = next((v["schemas"] for v in found.values() if isinstance(v, dict)), 0)
    return "\n".join(
        [
            f"Rows filled per second; {kept} of {n_rows_asked} schemas are taken by all engines,",
            f"vocabulary {args.vocabulary}, {args.steps} steps; {machine}.",
            *([f"Row by row, without a batch call of its own: {', '.join(loops)}."] if loops else []),
            "",
            markdown(["rows", "threads", *specs], rates),
            "",
            f"How many times the rows of each that {specs[0]} fills:",
            "",
            markdown(["rows", "threads", *specs], ratios),
        ]
    )


def _rate(answer: Any) -> float | None:
    return None if isinstance(answer, Failure) else float(answer["rows_per_s"])
