"""`maskwright bench growth`: compile, mask and memory as one dimension of a schema grows.

Each family makes a schema of a given size and one instance that exercises it. For each size: compile
plus first mask, mask + accept (mean and p99 over the instance, first visit), and the growth of the
process's resident memory. Every (family, size, engine) runs in a fresh process, so that memory and
caches of one do not show in the next.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from . import engines, vocabularies
from .engines import SchemaOptions
from .machine import describe, held_mb
from .tables import markdown, number
from .walk import Instance, run_pass
from .workers import Failure, run_jobs

__all__ = ["FAMILIES", "add_arguments", "run"]

#: Instances are cut to so many members, so that a large schema is not measured by its text's length.
_SHOWN = 200


def _properties(size: int) -> tuple[Any, Any]:
    kinds = [{"type": "string"}, {"type": "integer"}, {"type": "boolean"}, {"enum": ["low", "mid", "high"]}]
    values = ["some text", 12, True, "mid"]
    names = [f"property_{i}" for i in range(size)]
    schema = {
        "type": "object",
        "properties": {name: kinds[i % 4] for i, name in enumerate(names)},
        "additionalProperties": False,
    }
    return schema, {name: values[i % 4] for i, name in enumerate(names[:_SHOWN])}


def _depth(size: int) -> tuple[Any, Any]:
    schema: Any = {"type": "integer"}
    value: Any = 7
    for _ in range(size):
        schema = {"type": "object", "properties": {"in": schema}, "required": ["in"]}
        value = {"in": value}
    return schema, value


def _enum(size: int) -> tuple[Any, Any]:
    members = [f"member number {i * 7919 % 1000003}" for i in range(size)]
    return {"type": "array", "items": {"enum": members}}, members[:: max(1, size // 20)][:20]


def _items(size: int) -> tuple[Any, Any]:
    schema = {"type": "array", "items": {"type": "integer"}, "minItems": size, "maxItems": size}
    return schema, [i % 10 for i in range(size)]


def _string(size: int) -> tuple[Any, Any]:
    words = "the quick brown fox jumps over the lazy dog "
    text = (words * (size // len(words) + 1))[:size]
    return {"type": "string", "minLength": size, "maxLength": size}, text


def _references(size: int) -> tuple[Any, Any]:
    definitions = {
        f"d{i}": {
            "type": "object",
            "properties": {"next": {"$ref": f"#/$defs/d{i + 1}"}, "label": {"type": "string"}},
        }
        for i in range(size)
    }
    definitions[f"d{size}"] = {"type": "null"}
    return {"$ref": "#/$defs/d0", "$defs": definitions}, {"next": {"next": {"label": "two"}, "label": "one"}}


@dataclass(frozen=True)
class Family:
    """A schema that grows: the maker of (schema, instance) and the sizes measured."""

    make: Callable[[int], tuple[Any, Any]]
    sizes: tuple[int, ...]


#: What can grow, by name.
FAMILIES = {
    "properties": Family(_properties, (1, 10, 100, 1000)),
    "depth": Family(_depth, (1, 10, 50, 100)),
    "enum": Family(_enum, (10, 100, 1000, 10_000, 100_000)),
    "items": Family(_items, (10, 100, 1000, 10_000, 100_000)),
    "string": Family(_string, (10, 100, 1000, 10_000, 100_000)),
    "references": Family(_references, (10, 46, 1000, 4600, 10_000)),  # 46 and 4600: 5 and 500 KB
}


@dataclass(frozen=True)
class _Job:
    engine: str
    family: str
    size: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the sub-command."""
    parser.add_argument("--vocabulary", default="llama3", choices=vocabularies.NAMES)
    parser.add_argument("--engines", default="maskwright", help="name or name:variant, comma-separated")
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--max-size", type=int, default=100_000, help="leave out larger sizes")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for one size")


def run(args: argparse.Namespace) -> str:
    """Run the sub-command; the table."""
    specs = engines.parse_names(args.engines)
    found: dict[_Job, Any] = {}
    for job in _jobs(args, specs):
        make = partial(make_handler, args.vocabulary, job.engine)
        found.update(run_jobs([job], make, limit_s=args.time_limit))
    machine = ", ".join(f"{key} {value}" for key, value in describe().items())
    return f"Growth with the schema, vocabulary {args.vocabulary}; {machine}.\n\n{_table(found)}"


def _jobs(args: argparse.Namespace, specs: Sequence[str]) -> Iterator[_Job]:
    for family in args.families.split(","):
        if family not in FAMILIES:
            raise engines.EngineMissing(f"unknown family {family!r}; one of {', '.join(FAMILIES)}")
        for size in FAMILIES[family].sizes:
            if size <= args.max_size:
                yield from (_Job(spec, family, size) for spec in specs)


def make_handler(vocabulary_name: str, spec: str) -> Callable[[_Job], dict[str, Any]]:
    """In the worker: prepare the one engine."""
    vocabulary = vocabularies.load(vocabulary_name)
    engine = engines.create(spec)
    engine.set_up(vocabulary)
    # The first schema of a process pays for what is lazily made once; that is not growth.
    warm_up = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
    texts = [Instance(vocabulary.encode('{"a": "text", "b": 12}'), True)]
    run_pass(engine, warm_up, texts, SchemaOptions(), vocabulary.stop_id)
    return partial(_answer, engine, vocabulary)


def _answer(engine: engines.Engine, vocabulary: vocabularies.BenchVocabulary, job: _Job) -> dict[str, Any]:
    schema, value = FAMILIES[job.family].make(job.size)
    instance = Instance(vocabulary.encode(json.dumps(value)), True)
    memory = held_mb()
    result, _ = run_pass(engine, schema, [instance], SchemaOptions(), vocabulary.stop_id)
    answer: dict[str, Any] = {
        "memory_mb": held_mb() - memory,
        "kilobytes": len(json.dumps(schema)) / 1000,
    }
    if result.refused is not None:
        return answer | {"refused": result.refused}
    walk = result.walks[0]
    steps = np.array([f + a for f, a in zip(walk.fill_ns, walk.accept_ns, strict=False)]) / 1000
    return answer | {
        "accepted": walk.accepted,
        "first_us": (result.compile_ns + result.start_ns + result.first_mask_ns) / 1000,
        "tokens": len(steps),
        "mean_us": float(steps.mean()),
        "p99_us": float(np.quantile(steps, 0.99)),
    }


def _table(found: dict[_Job, Any]) -> str:
    header = ["family", "size", "engine", "schema KB", "first mask us", "tokens", "mean us", "p99 us", "MiB"]
    return markdown(header, [_cells(job, answer) for job, answer in found.items()])


def _cells(job: _Job, answer: Any) -> list[str]:
    start = [job.family, f"{job.size:,}", job.engine]
    if isinstance(answer, Failure):
        return [*start, "", answer.kind, "", "", "", ""]
    if "refused" in answer:
        return [*start, number(answer["kilobytes"]), "refused", "", "", "", ""]
    if not answer["accepted"]:
        return [*start, number(answer["kilobytes"]), number(answer["first_us"]), "wrong", "", "", ""]
    figures = (answer[key] for key in ("mean_us", "p99_us", "memory_mb"))
    first = [number(answer["kilobytes"]), number(answer["first_us"]), f"{answer['tokens']:,}"]
    return [*start, *first, *(number(figure) for figure in figures)]
