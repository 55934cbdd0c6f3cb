"""`maskwright bench quick`: a minute's measurement on a handful of schemas, engines interleaved.

Three figures for each engine: *compile + first mask* of a schema never seen before; *first visit*, the
mask + accept of each token of an instance walked once through the fresh grammar; *later visits*, the
same walk repeated. Each round is a fresh process, because the first visit happens only once in one. It has
served other schemas before (`--served`), on every engine alike: what is measured is the first request for a
schema, not the first request that a process ever sees (`--served` without a folder measures that).
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from . import engines, vocabularies
from .datasets import DataError
from .engines import SchemaOptions
from .machine import describe
from .tables import markdown, number
from .walk import CLOCKS, Instance, harness_overhead_ns, run_pass, use_clock
from .workers import Failure, WorkerError, run_jobs

__all__ = ["add_arguments", "run"]

_Item = tuple[str, Any, str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the sub-command."""
    parser.add_argument(
        "--schemas",
        type=Path,
        nargs="+",
        default=[Path("examples/schemas")],
        help="folders with schemas; those that have an instance are used",
    )
    parser.add_argument(
        "--served",
        type=Path,
        nargs="*",
        default=[Path("benchmarks/schemas")],
        help="folders with schemas that each process has served before; none for a new process",
    )
    parser.add_argument("--instances", type=Path, default=Path("benchmarks/instances"), help="their texts")
    parser.add_argument("--vocabulary", default="llama3", choices=vocabularies.NAMES)
    parser.add_argument("--engines", default="maskwright,llguidance,xgrammar,glrmask")
    parser.add_argument("--rounds", type=int, default=3, help="fresh processes (default 3)")
    parser.add_argument("--visits", type=int, default=20, help="later visits in each round (default 20)")
    parser.add_argument("--clock", choices=tuple(CLOCKS), default="wall", help="what is measured")
    parser.add_argument("--time-limit", type=float, default=300.0, help="seconds for one round")
    parser.add_argument("--json", type=Path, help="write the raw times here, in nanoseconds")


def run(args: argparse.Namespace) -> str:
    """Run the sub-command; the tables."""
    items = load_items(args.schemas, args.instances)
    specs = engines.parse_names(args.engines)
    measured = {name for name, _, _ in items}
    served = load_items(args.served, args.instances) if args.served else []
    served = [item for item in served if item[0] not in measured]
    make = partial(make_handler, args.vocabulary, specs, items, args.visits, args.clock, served)
    rounds: list[dict[str, Any]] = []
    for number_of_round in range(args.rounds):
        for _, outcome in run_jobs([number_of_round], make, limit_s=args.time_limit):
            if isinstance(outcome, Failure):
                raise WorkerError(f"round {number_of_round}: {outcome.kind}\n{outcome.message}")
            rounds.append(outcome)
    if args.json is not None:
        args.json.write_text(json.dumps({"machine": describe(), "rounds": rounds}) + "\n")
    return _render(args, items, specs, rounds)


def load_items(folders: Sequence[Path], instances: Path) -> list[_Item]:
    """(name, schema, instance text) for each schema that has an instance of the same name.

    Raises:
        DataError: There is none.
    """
    items: dict[str, _Item] = {}
    for folder in folders:
        for path in sorted(folder.glob("*.json")):
            name = path.name.removesuffix(".json").removesuffix(".schema")
            text = instances / f"{name}.json"
            if name not in items and text.is_file():
                items[name] = name, json.loads(path.read_text()), text.read_text().rstrip("\n")
    if not items:
        raise DataError(f"no schema in {', '.join(map(str, folders))} has an instance in {instances}")
    return list(items.values())


def make_handler(
    vocabulary_name: str,
    specs: Sequence[str],
    items: Sequence[_Item],
    n_visits: int,
    clock: str,
    served: Sequence[_Item] = (),
) -> Callable[[int], dict[str, Any]]:
    """In the worker: what runs one round."""
    use_clock(clock)
    vocabulary = vocabularies.load(vocabulary_name)
    prepared = [(spec, engines.create(spec)) for spec in specs]
    for _, engine in prepared:
        engine.set_up(vocabulary)
        for _, schema, text in served:
            instance = Instance(vocabulary.encode(text), True)
            run_pass(engine, schema, [instance], SchemaOptions(), vocabulary.stop_id)
    return partial(_round, vocabulary, prepared, items, n_visits)


def _round(
    vocabulary: vocabularies.BenchVocabulary,
    prepared: Sequence[tuple[str, engines.Engine]],
    items: Sequence[_Item],
    n_visits: int,
    round_number: int,
) -> dict[str, Any]:
    results: dict[str, Any] = {spec: {} for spec, _ in prepared}
    for place, (name, schema, text) in enumerate(items):
        instance = Instance(vocabulary.encode(text), True)
        turn = (round_number + place) % len(prepared)
        for spec, engine in [*prepared[turn:], *prepared[:turn]]:
            try:
                results[spec][name] = _measure(engine, schema, instance, vocabulary.stop_id, n_visits)
            except Exception as error:  # an engine's own fault must not hide the others' figures
                results[spec][name] = {"refused": f"{type(error).__name__}: {error}"}
    return results | {"overhead": harness_overhead_ns()}


def _measure(
    engine: engines.Engine, schema: Any, instance: Instance, stop_id: int, n_visits: int
) -> dict[str, Any]:
    options = SchemaOptions()
    first, compiled = run_pass(engine, schema, [instance], options, stop_id)
    if first.refused is not None:
        return {"refused": first.refused}
    walk = first.walks[0]
    if not walk.accepted:
        return {"refused": f"the instance is not accepted after {len(walk.accept_ns)} tokens"}
    later_fill: list[int] = []
    later_accept: list[int] = []
    again, _ = run_pass(engine, schema, [instance] * n_visits, options, stop_id, earlier=compiled)
    for visit in again.walks:
        later_fill += visit.fill_ns
        later_accept += visit.accept_ns
    return {
        "first_mask_ns": first.compile_ns + first.start_ns + first.first_mask_ns,
        "fill_ns": walk.fill_ns,
        "accept_ns": walk.accept_ns,
        "later_fill_ns": later_fill,
        "later_accept_ns": later_accept,
    }


def _taken(rounds: Sequence[dict[str, Any]], specs: Sequence[str]) -> list[str]:
    """Names of the schemas that all the engines took."""
    names = rounds[0][specs[0]]
    return [name for name in names if not any("refused" in r[spec][name] for r in rounds for spec in specs)]


def _figures(rounds: Sequence[dict[str, Any]], spec: str, names: Sequence[str]) -> dict[str, float]:
    """Statistics of one engine over the named schemas."""
    pooled: dict[str, list[int]] = defaultdict(list)
    for entry in (outcome[spec][name] for outcome in rounds for name in names):
        later = zip(entry["later_fill_ns"], entry["later_accept_ns"], strict=True)
        pooled["first_mask"].append(entry["first_mask_ns"])
        pooled["visit"] += [f + a for f, a in zip(entry["fill_ns"], entry["accept_ns"], strict=True)]
        pooled["mask"] += entry["fill_ns"]
        pooled["later_mask"] += entry["later_fill_ns"]
        pooled["later"] += [f + a for f, a in later]
    return _statistics(pooled)


def _statistics(pooled: dict[str, list[int]]) -> dict[str, float]:
    us = {name: np.array(values) / 1000 for name, values in pooled.items()}
    if not us:
        return {}
    return {
        "compile + first mask, mean": float(us["first_mask"].mean()),
        "compile + first mask, p50": float(np.median(us["first_mask"])),
        "first visit, mean": float(us["visit"].mean()),
        "first visit, p50": float(np.median(us["visit"])),
        "first visit, p99": float(np.quantile(us["visit"], 0.99)),
        "first visit, mask alone, mean": float(us["mask"].mean()),
        "later visits, p50": float(np.median(us["later"])),
        "later visits, p99": float(np.quantile(us["later"], 0.99)),
        "later visits, mask alone, p50": float(np.median(us["later_mask"])),
    }


def _render(
    args: argparse.Namespace, items: Sequence[_Item], specs: Sequence[str], rounds: Sequence[dict[str, Any]]
) -> str:
    machine = ", ".join(f"{key} {value}" for key, value in describe().items())
    costs = [r["overhead"] for r in rounds]
    overhead = float(np.median([cost["fill_p50_ns"] + cost["accept_p50_ns"] for cost in costs]))
    figures = {spec: _figures(rounds, spec, _taken(rounds, [spec])) for spec in specs}
    ratios = {spec: _ratios(rounds, spec, specs[0]) for spec in specs}
    return "\n".join(
        [
            f"{len(items)} schemas ({', '.join(name for name, _, _ in items)}),",
            f"vocabulary {args.vocabulary}, {len(rounds)} rounds, {args.clock} time; {machine}.",
            f"Each process had served {len(args.served)} folder(s) of other schemas before."
            if args.served
            else "Each process was new.",
            f"Mask + accept of one token unless it says otherwise; {overhead:.0f} ns of each is the harness.",
            "",
            markdown(["microseconds", *specs], _rows(figures)),
            "",
            markdown([f"times {specs[0]}, same tokens", *specs], _rows(ratios)),
            "",
            markdown([f"{specs[0]} by schema", *_SCHEMA_MEASURES], _by_schema(rounds, specs[0])),
            *_refusals(rounds, specs),
        ]
    )


_SCHEMA_MEASURES = ("compile + first mask, p50", "first visit, mean", "first visit, p99", "later visits, p50")


def _by_schema(rounds: Sequence[dict[str, Any]], spec: str) -> list[list[str]]:
    """Where the first engine's time goes."""
    rows = []
    for name in _taken(rounds, [spec]):
        figures = _figures(rounds, spec, [name])
        rows.append([name, *(number(figures[measure]) for measure in _SCHEMA_MEASURES)])
    return rows


def _ratios(rounds: Sequence[dict[str, Any]], spec: str, base: str) -> dict[str, float]:
    """The engine's figures divided by the base's, over the schemas that both took."""
    names = _taken(rounds, [spec, base])
    mine, theirs = _figures(rounds, spec, names), _figures(rounds, base, names)
    return {measure: value / theirs[measure] for measure, value in mine.items()}


def _rows(figures: dict[str, dict[str, float]]) -> list[list[str]]:
    measures = max(figures.values(), key=len)
    return [[name, *(number(values.get(name)) for values in figures.values())] for name in measures]


def _refusals(rounds: Sequence[dict[str, Any]], specs: Sequence[str]) -> list[str]:
    lines = []
    for spec in specs:
        for name, entry in rounds[0][spec].items():
            if "refused" in entry:
                reason = entry["refused"].splitlines()[0]
                lines.append(f"\n{spec} refused {name}, which is left out of its columns: {reason}")
    return lines
