"""`maskwright bench memory`: vocabularies, compiled grammars, and sequences of 100,000 tokens.

Three tables: what setting up a vocabulary costs; what a compiled grammar holds after compiling and after
its first walk, mean over many grammars kept alive together; what a sequence holds after 100,000
tokens of an unbounded array of small objects, and what a second one over the same grammar adds to that.
Each figure is the growth of a process's resident memory, and beside it what the engine says itself where
it does. Every (table, engine, vocabulary) has a process of its own, so that nothing is hidden by memory
that another left free.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from . import engines, vocabularies
from .engines import Engine, Refused, SchemaOptions, Stepper
from .machine import describe, held_mb
from .tables import markdown, number
from .variants import Request, endless, load_requests
from .vocabularies import BenchVocabulary, MissingVocabulary
from .workers import Failure, WorkerError, run_jobs

__all__ = ["add_arguments", "run"]

_SAMPLE = 400


@dataclass(frozen=True)
class _Job:
    table: str
    engine: str
    vocabulary: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the sub-command."""
    parser.add_argument("--data", type=Path, help="MaskBench file or folder; else the project's own schemas")
    parser.add_argument("--vocabulary", default="llama3", choices=vocabularies.NAMES)
    parser.add_argument("--vocabularies", default="llama3,qwen,deepseek,tekken,gpt-oss", help="to set up")
    parser.add_argument("--engines", default="maskwright,llguidance,xgrammar,glrmask")
    parser.add_argument("--grammars", type=int, default=100, help="grammars kept alive (default 100)")
    parser.add_argument("--tokens", type=int, default=100_000, help="tokens of a sequence (default 100,000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--time-limit", type=float, default=120.0, help="seconds for one figure")


def run(args: argparse.Namespace) -> str:
    """Run the sub-command; the tables."""
    specs = engines.parse_names(args.engines)
    requests = load_requests(args.data, _SAMPLE, args.seed)
    limits = (args.grammars, args.tokens)
    found: dict[_Job, Any] = {}
    for job in _jobs(specs, args.vocabulary, args.vocabularies.split(",")):
        make = partial(make_handler, job, requests, limits)
        try:
            found.update(run_jobs([job], make, limit_s=args.time_limit))
        except WorkerError as error:
            if MissingVocabulary.__name__ not in str(error):
                raise
            found[job] = None
    return _render(args, specs, found)


def _jobs(specs: Sequence[str], vocabulary: str, names: Sequence[str]) -> Iterator[_Job]:
    yield from (_Job("set-up", spec, name) for name in names for spec in specs)
    yield from (_Job(table, spec, vocabulary) for table in ("grammars", "matcher") for spec in specs)


def make_handler(
    job: _Job, requests: Sequence[Request], limits: tuple[int, int]
) -> Callable[[_Job], dict[str, Any]]:
    """In the worker: load the vocabulary; the engine is set up by the job itself."""
    vocabulary = vocabularies.load(job.vocabulary)
    engine = engines.create(job.engine)
    if job.table == "set-up":
        return partial(_set_up, vocabulary, engine)
    engine.set_up(vocabulary)
    if job.table == "grammars":
        return partial(_grammars, vocabulary, engine, requests, limits[0])
    return partial(_matcher, vocabulary, engine, limits[1])


def _set_up(vocabulary: BenchVocabulary, engine: Engine, job: _Job) -> dict[str, Any]:
    memory, began = held_mb(), time.perf_counter()
    engine.set_up(vocabulary)
    seconds = time.perf_counter() - began
    return {
        "tokens": vocabulary.size,
        "text_mb": sum(map(len, vocabulary.tokens)) / 2**20,
        "seconds": seconds,
        "mib": held_mb() - memory,
        "shared": engine.shared_bytes(),
    }


def _grammars(
    vocabulary: BenchVocabulary, engine: Engine, requests: Sequence[Request], count: int, job: _Job
) -> dict[str, Any]:
    chosen = list(itertools.islice(endless(requests), count))
    texts = [vocabulary.encode(request.text) for request in chosen]
    before, shared = held_mb(), engine.shared_bytes()
    kept = []
    for request, tokens in zip(chosen, texts, strict=True):
        try:
            kept.append((engine.compile(request.schema, SchemaOptions()), tokens))
        except Refused:
            continue
    if not kept:
        return {"count": 0}
    compiled_mb, compiled_own = held_mb() - before, _own(engine, kept)
    for compiled, tokens in kept:
        _walk(engine.start(compiled), tokens)
    walked_mb, now = held_mb() - before, engine.shared_bytes()
    return {
        "count": len(kept),
        "compiled_kib": 1024 * compiled_mb / len(kept),
        "walked_kib": 1024 * walked_mb / len(kept),
        "compiled_own": compiled_own,
        "walked_own": _own(engine, kept),
        "shared_own": (now - shared) / 1024 / len(kept) if now is not None and shared is not None else None,
    }


def _own(engine: Engine, kept: Sequence[tuple[Any, list[int]]]) -> float | None:
    """KiB per grammar in the engine's own words."""
    sizes = [engine.grammar_bytes(compiled) for compiled, _ in kept]
    return sum(size or 0 for size in sizes) / 1024 / len(sizes) if sizes[0] is not None else None


def _walk(stepper: Stepper, tokens: Sequence[int]) -> int:
    """Tokens that were legal, up to the first that was not."""
    for place, token_id in enumerate(tokens):
        stepper.fill()
        if not stepper.allows(token_id):
            return place
        stepper.accept(token_id)
    return len(tokens)


_ITEM = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "tag": {"type": "string"}, "on": {"type": "boolean"}},
    "required": ["id", "tag", "on"],
    "additionalProperties": False,
}


def _matcher(vocabulary: BenchVocabulary, engine: Engine, n_tokens: int, job: _Job) -> dict[str, Any]:
    words = ("red", "green", "dark blue", "light grey")
    pieces = [
        json.dumps({"id": i * 7919 % 9973, "tag": words[i % 4], "on": i % 3 == 0})
        for i in range(n_tokens // 8)
    ]
    tokens = vocabulary.encode("[" + ", ".join(pieces))[:n_tokens]
    compiled = engine.compile({"type": "array", "items": _ITEM}, SchemaOptions())
    # A short sequence first: what the grammar's first visit makes is no sequence's memory.
    _walk(engine.start(compiled), tokens[:1000])
    alive = []
    answer: dict[str, Any] = {"tokens": len(tokens)}
    for name in ("first", "second"):
        before = held_mb()
        stepper = engine.start(compiled)
        taken = _walk(stepper, tokens)
        alive.append(stepper)
        # Below zero: something else gave memory back meanwhile.
        answer[f"{name}_kib"] = max(0.0, 1024 * (held_mb() - before))
        if taken < len(tokens):
            return {"refused": f"stopped after {taken} tokens"}
    own = engine.grammar_bytes(compiled)
    return answer | {"own": own / 1024 if own is not None else None}


def _render(args: argparse.Namespace, specs: Sequence[str], found: Mapping[_Job, Any]) -> str:
    machine = ", ".join(f"{key} {value}" for key, value in describe().items())
    return "\n".join(
        [
            f"Growth of resident memory, one process for each figure; {machine}.",
            "",
            "Setting a vocabulary up, one trivial schema included:",
            "",
            _set_up_table(args.vocabularies.split(","), specs, found),
            "",
            f"A compiled grammar, mean over up to {args.grammars} kept alive, KiB; {args.vocabulary}.",
            "*Counted* is the engine's own word, *shared* what all grammars of the vocabulary gained by it:",
            "",
            _grammar_table(specs, found, args.vocabulary),
            "",
            f"A sequence of {args.tokens:,} tokens of an unbounded array of small objects, KiB:",
            "",
            _matcher_table(specs, found, args.vocabulary),
        ]
    )


def _set_up_table(names: Sequence[str], specs: Sequence[str], found: Mapping[_Job, Any]) -> str:
    rows = []
    for name in names:
        answers = [found[_Job("set-up", spec, name)] for spec in specs]
        good = [answer for answer in answers if isinstance(answer, dict)]
        if not good:
            rows.append([name, "not installed", *[""] * (2 + 2 * len(specs))])
            continue
        shared = next((answer["shared"] / 2**20 for answer in good if answer["shared"] is not None), None)
        cells = [cell for answer in answers for cell in (_cell(answer, "seconds"), _cell(answer, "mib"))]
        rows.append([name, f"{good[0]['tokens']:,}", number(good[0]["text_mb"]), *cells, number(shared)])
    header = [part for spec in specs for part in (f"{spec}, s", "MiB")]
    return markdown(
        ["vocabulary", "tokens", "their bytes, MiB", *header, "lexemes and summaries, counted, MiB"], rows
    )


_GRAMMAR_COLUMNS = {
    "compiled": "compiled_kib",
    "after one walk": "walked_kib",
    "compiled, counted": "compiled_own",
    "after one walk, counted": "walked_own",
    "shared, counted": "shared_own",
}


def _grammar_table(specs: Sequence[str], found: Mapping[_Job, Any], vocabulary: str) -> str:
    rows = []
    for spec in specs:
        answer = found[_Job("grammars", spec, vocabulary)]
        taken = str(answer["count"]) if isinstance(answer, dict) else _cell(answer, "count")
        rows.append([spec, taken, *(_cell(answer, key) for key in _GRAMMAR_COLUMNS.values())])
    return markdown(["engine", "grammars", *_GRAMMAR_COLUMNS], rows)


def _matcher_table(specs: Sequence[str], found: Mapping[_Job, Any], vocabulary: str) -> str:
    rows = []
    for spec in specs:
        answer = found[_Job("matcher", spec, vocabulary)]
        if isinstance(answer, dict) and "refused" in answer:
            rows.append([spec, answer["refused"], "", "", ""])
            continue
        per_token = None
        if isinstance(answer, dict):
            per_token = 1024 * answer["second_kib"] / answer["tokens"]
        keys = ("first_kib", "second_kib")
        rows.append([spec, *(_cell(answer, key) for key in keys), number(per_token), _cell(answer, "own")])
    header = ["engine", "first sequence", "second", "second, bytes per token", "the grammar, counted"]
    return markdown(header, rows)


def _cell(answer: Any, key: str) -> str:
    if isinstance(answer, Failure):
        return answer.kind
    return number(answer.get(key)) if answer is not None else "-"
