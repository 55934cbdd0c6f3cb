"""Repetitions of the same case over several engines, each with a schema that is new to the process.

A repetition changes something harmless in the schema, so that neither a cache of compiled grammars nor
shared tables make it a repeat. All engines live in one worker and take turns repetition by
repetition, in rotating order, each trial under a time limit. Medians over the repetitions are reported.
What similar schemas share is made by the first of them, so several processes are started, and the
first schemas' figures can be told apart.

Repeating one and the same schema was rejected: from the second time on it measures a cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from . import engines, vocabularies
from .engines import SchemaOptions
from .tables import number
from .walk import CLOCKS, Instance, PassResult, run_pass, use_clock
from .workers import Failure, run_jobs

__all__ = ["Maker", "Outcome", "Trial", "measure", "median", "ratio_header", "refusals", "with_ratios"]

#: Repetition to a schema and the pieces of its instances; a piece is tokenised on its own.
Maker = Callable[[int], tuple[Any, Sequence[Sequence[str]]]]


@dataclass(frozen=True)
class Trial:
    """One engine on one repetition of a case."""

    engine: str
    case: str
    repetition: int


@dataclass
class Outcome:
    """All repetitions of one case on one engine.

    Attributes:
        passes: Cold requests, one for each repetition that was measured.
        firsts: Those of them that were the first of the case in their process.
        refused: Why there are no figures: the engine's own message, or what went wrong; else None.
    """

    passes: list[PassResult] = field(default_factory=list)
    firsts: list[PassResult] = field(default_factory=list)
    refused: str | None = None


def measure(
    cases: Mapping[str, Maker],
    specs: Sequence[str],
    *,
    vocabulary: str,
    repetitions: int,
    rounds: int,
    clock: str,
    limit_s: float,
) -> dict[tuple[str, str], Outcome]:
    """Every case on every engine; the outcomes by (case, engine).

    Args:
        cases: Makers by name; module-level functions, for they are sent to the worker.
        specs: The engines.
        vocabulary: Name of the vocabulary.
        repetitions: Number of schemas per case and process.
        rounds: Number of processes.
        clock: One of `CLOCKS`.
        limit_s: Seconds that one trial may take.
    """
    assert clock in CLOCKS
    make = partial(make_handler, cases, specs, vocabulary, clock)
    outcomes = {(case, spec): Outcome() for case in cases for spec in specs}
    for turn in range(rounds):
        for trial, answer in run_jobs(_trials(cases, specs, repetitions, turn), make, limit_s=limit_s):
            outcome = outcomes[trial.case, trial.engine]
            if isinstance(answer, Failure):
                outcome.refused = f"{answer.kind} after {answer.seconds:.0f} s {answer.message}".strip()
            elif answer.refused is not None:
                outcome.refused = answer.refused
            elif not all(walk.accepted for walk in answer.walks):
                outcome.refused = "a valid instance is not accepted"
            else:
                outcome.passes.append(answer)
                if trial.repetition == 0:
                    outcome.firsts.append(answer)
    return outcomes


def _trials(cases: Mapping[str, Maker], specs: Sequence[str], repetitions: int, turn: int) -> Iterator[Trial]:
    for repetition in range(repetitions):
        for case in cases:
            order = [*specs[turn % len(specs) :], *specs[: turn % len(specs)]]
            yield from (Trial(spec, case, repetition) for spec in order)
            turn += 1


def make_handler(
    cases: Mapping[str, Maker], specs: Sequence[str], vocabulary_name: str, clock: str
) -> Callable[[Trial], PassResult]:
    """In the worker: prepare all engines."""
    use_clock(clock)
    vocabulary = vocabularies.load(vocabulary_name)
    prepared = {spec: engines.create(spec) for spec in specs}
    for engine in prepared.values():
        engine.set_up(vocabulary)
        # The first real schema of a process pays for what is lazily made once.
        texts = [Instance(vocabulary.encode('{"a": "text", "b": 12}'), True)]
        run_pass(engine, _FIRST_SCHEMA, texts, SchemaOptions(), vocabulary.stop_id)
    return partial(_answer, vocabulary, prepared, cases)


_FIRST_SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}


def _answer(
    vocabulary: vocabularies.BenchVocabulary,
    prepared: Mapping[str, engines.Engine],
    cases: Mapping[str, Maker],
    trial: Trial,
) -> PassResult:
    schema, texts = cases[trial.case](trial.repetition)
    instances = [Instance([i for piece in text for i in vocabulary.encode(piece)], True) for text in texts]
    result, _ = run_pass(prepared[trial.engine], schema, instances, SchemaOptions(), vocabulary.stop_id)
    return result


def ratio_header(specs: Sequence[str]) -> list[str]:
    """Columns for `with_ratios`: microseconds of each engine, then each peer's divided by the first's."""
    return [*specs, *(f"{spec} / {specs[0]}" for spec in specs[1:])]


def with_ratios(values: Sequence[float | None]) -> list[str]:
    """A row: the values, and the values but the first divided by it."""
    base = values[0]
    ratios = [value / base if value is not None and base else None for value in values[1:]]
    return [*map(number, values), *map(_ratio, ratios)]


def _ratio(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.4f}"


def median(outcome: Outcome, figure: Callable[[PassResult], float], *, first: bool = False) -> float | None:
    """The median of a figure over the repetitions, or the first ones alone; None when there are none."""
    passes = outcome.firsts if first else outcome.passes
    if outcome.refused is not None or not passes:
        return None
    return float(np.median([figure(one) for one in passes]))


def refusals(outcomes: Mapping[tuple[str, str], Outcome]) -> list[str]:
    """A line for each engine that did not do a case."""
    return [
        f"{spec}, {case}: {outcome.refused.strip().splitlines()[-1][:200]}"
        for (case, spec), outcome in outcomes.items()
        if outcome.refused is not None
    ]
