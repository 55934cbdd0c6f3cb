"""`maskwright bench capacity`: how many sequences one core serves at 10 ms a step, by simulation.

A server with N sequences of mixed schemas: in every step all mask rows are filled by one batch call and
one token of each sequence is accepted by another. A sequence that has ended is replaced by a new request,
which is compiled within the step; a share of the new requests bring a schema that the process has never
seen. What is timed is the whole of that, on one thread; choosing the tokens (they come from valid texts)
is not. N grows until the 99th percentile of the step times exceeds the limit, then the last
interval is halved a few times.

Multiplying the mean time of a mask was rejected: the steps in which new schemas come decide.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import maskwright

from . import vocabularies
from .datasets import DataError
from .machine import describe
from .tables import markdown, number
from .variants import Request, endless, load_requests
from .walk import CLOCKS, quiet
from .workers import Failure, run_jobs

__all__ = ["Simulation", "add_arguments", "largest", "run"]

#: Records drawn from MaskBench; those that are not warm are what new schemas are taken from.
_SAMPLE = 3000
#: Requests longer than this would make the simulation about a few schemas.
_LONGEST = 2000
_MIN_TOKENS = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the sub-command."""
    parser.add_argument("--data", type=Path, help="MaskBench file or folder; else the project's own schemas")
    parser.add_argument("--vocabulary", default="llama3", choices=vocabularies.NAMES)
    parser.add_argument("--limit-ms", type=float, default=10.0, help="p99 of a step (default 10)")
    parser.add_argument("--cold", default="0,0.01,0.1", help="shares of new requests with a new schema")
    parser.add_argument("--warm-schemas", type=int, default=100, help="schemas that are known (default 100)")
    parser.add_argument("--steps", type=int, default=250, help="steps of each size (default 250)")
    parser.add_argument("--first", type=int, default=64, help="the first N; doubled from there")
    parser.add_argument("--most", type=int, default=16_384, help="the largest N")
    parser.add_argument("--clock", choices=tuple(CLOCKS), default="wall", help="what is measured")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--time-limit", type=float, default=300.0, help="seconds for one share")


@dataclass(frozen=True)
class _Setting:
    vocabulary: str
    requests: tuple[Request, ...]
    n_warm: int
    steps: int
    limit_ms: float
    first: int
    most: int
    seed: int
    clock: str


#: Number of sequences to the statistics of their steps.
Curve = dict[int, dict[str, float]]


def run(args: argparse.Namespace) -> str:
    """Run the sub-command; the tables."""
    shares = [float(part) for part in args.cold.split(",")]
    requests = tuple(load_requests(args.data, _SAMPLE, args.seed))
    setting = _Setting(
        vocabulary=args.vocabulary,
        requests=requests,
        n_warm=args.warm_schemas,
        steps=args.steps,
        limit_ms=args.limit_ms,
        first=args.first,
        most=args.most,
        seed=args.seed,
        clock=args.clock,
    )
    curves: dict[float, Any] = {}
    for share in shares:  # a process for each: what one share made known must not serve the next
        curves.update(run_jobs([share], partial(make_handler, setting), limit_s=args.time_limit))
    return _render(args, curves)


def make_handler(setting: _Setting) -> Callable[[float], tuple[Curve, float]]:
    """In the worker: the simulation's vocabulary and warm schemas; a share of new schemas to its curve."""
    vocabulary = vocabularies.load(setting.vocabulary)
    simulation = Simulation(vocabulary, setting.requests, setting.n_warm, setting.seed)
    return partial(_search, setting, simulation)


def _search(setting: _Setting, simulation: Simulation, share: float) -> tuple[Curve, float]:
    def measure(n: int) -> dict[str, float]:
        return _statistics(simulation.run(n, setting.steps, share, CLOCKS[setting.clock]))

    return largest(measure, setting.limit_ms, setting.first, setting.most), simulation.mean_tokens


def largest(
    measure: Callable[[int], dict[str, float]], limit_ms: float, first: int, most: int, halvings: int = 2
) -> Curve:
    """Measure sizes, doubled from `first` until `p99` exceeds the limit, then between the last two.

    Args:
        measure: Number of sequences to statistics with `p99` in milliseconds.
        limit_ms: The limit.
        first: The first size.
        most: Larger sizes are not tried.
        halvings: Sizes tried between the last good and the first bad one.
    """
    curve: Curve = {}
    good, size = 0, first
    while size <= most:
        curve[size] = measure(size)
        if curve[size]["p99"] > limit_ms:
            break
        good, size = size, 2 * size
    if size > most or good == 0:
        return curve
    bad = size
    for _ in range(halvings):
        middle = (good + bad) // 2
        curve[middle] = measure(middle)
        if curve[middle]["p99"] > limit_ms:
            bad = middle
        else:
            good = middle
    return dict(sorted(curve.items()))


def _statistics(times: Sequence[float]) -> dict[str, float]:
    ms = np.array(times)
    return {
        "mean": float(ms.mean()),
        "p50": float(np.median(ms)),
        "p99": float(np.quantile(ms, 0.99)),
        "max": float(ms.max()),
    }


@dataclass
class _Sequence:
    matcher: maskwright.GrammarMatcher
    tokens: list[int]
    place: int = 0


class Simulation:
    """A vocabulary, schemas that are known to the process, and an endless supply of new ones."""

    def __init__(
        self, vocabulary: vocabularies.BenchVocabulary, requests: Sequence[Request], n_warm: int, seed: int
    ) -> None:
        self._vocabulary = vocabulary
        self._rng = random.Random(seed)
        info = maskwright.TokenizerInfo(
            vocabulary.tokens, vocab_size=vocabulary.size, stop_token_ids=[vocabulary.stop_id]
        )
        self._compiler = maskwright.GrammarCompiler(info)
        self._filler = maskwright.BatchGrammarMatcher(max_threads=1)
        self._new = self._encoded(endless(requests))
        self._warm: list[tuple[Any, list[int]]] = []
        for schema, tokens in self._new:
            if self._walk(schema, tokens):
                self._warm.append((schema, tokens))
            if len(self._warm) == n_warm:
                break
        if not self._warm:
            raise DataError("there is no schema whose text is accepted")
        #: Tokens of a request, on average.
        self.mean_tokens = float(np.mean([len(tokens) for _, tokens in self._warm]))

    def _encoded(self, requests: Iterator[Request]) -> Iterator[tuple[Any, list[int]]]:
        for request in requests:
            tokens = self._vocabulary.encode(request.text)
            if _MIN_TOKENS <= len(tokens) <= _LONGEST:
                yield request.schema, [*tokens, self._vocabulary.stop_id]

    def _walk(self, schema: Any, tokens: Sequence[int]) -> bool:
        bitmask = maskwright.allocate_token_bitmask(1, self._vocabulary.size)
        try:
            matcher = maskwright.GrammarMatcher(self._compiler.compile_json_schema(schema))
            for token in tokens:
                matcher.fill_next_token_bitmask(bitmask, 0)
                if not matcher.accept_token(token):
                    return False
        except maskwright.GrammarError:
            return False
        return True

    def run(
        self, n_sequences: int, n_steps: int, cold_share: float, clock: Callable[[], int] = CLOCKS["wall"]
    ) -> list[float]:
        """Milliseconds of each step with so many sequences.

        Args:
            n_sequences: Rows of the batch.
            n_steps: Number of steps.
            cold_share: Share of the new requests whose schema is new to the process.
            clock: Gives nanoseconds.
        """
        bitmask = maskwright.allocate_token_bitmask(n_sequences, self._vocabulary.size)
        bitmask[:] = 0
        running = [self._in_the_middle() for _ in range(n_sequences)]
        # What comes is drawn, and tokenised, outside the clock.
        times = []
        with quiet():
            for _ in range(n_steps):
                ended = [i for i, one in enumerate(running) if one.place == len(one.tokens)]
                arriving = [self._draw(cold_share) for _ in ended]
                before = clock()
                for row, (schema, tokens) in zip(ended, arriving, strict=True):
                    running[row] = self._start(schema, tokens)
                matchers = [one.matcher for one in running]
                self._filler.batch_fill_next_token_bitmask(matchers, bitmask)
                elapsed = clock() - before
                tokens = [one.tokens[one.place] for one in running]
                before = clock()
                accepted = self._filler.batch_accept_token(matchers, tokens)
                times.append((elapsed + clock() - before) / 1e6)
                for one, good in zip(running, accepted, strict=True):
                    # A text that its new schema does not take ends there, as a finished one does.
                    one.place = one.place + 1 if good else len(one.tokens)
        return times

    def _draw(self, cold_share: float) -> tuple[Any, list[int]]:
        if self._rng.random() < cold_share:
            return next(self._new, None) or self._rng.choice(self._warm)
        return self._rng.choice(self._warm)

    def _start(self, schema: Any, tokens: list[int]) -> _Sequence:
        try:
            compiled = self._compiler.compile_json_schema(schema)
        except (
            maskwright.GrammarError
        ):  # refused: the server answers with an error, and takes the next request
            schema, tokens = self._warm[0]
            compiled = self._compiler.compile_json_schema(schema)
        return _Sequence(maskwright.GrammarMatcher(compiled), tokens)

    def _in_the_middle(self) -> _Sequence:
        """A sequence of a known schema, somewhere in its text."""
        # Longer texts are met more often when one looks at a moment.
        weights = [len(tokens) for _, tokens in self._warm]
        schema, tokens = self._rng.choices(self._warm, weights)[0]
        one = self._start(schema, tokens)
        one.place = self._rng.randrange(len(tokens))
        for token in tokens[: one.place]:
            one.matcher.accept_token(token)
        return one


def _render(args: argparse.Namespace, curves: Mapping[float, Any]) -> str:
    machine = ", ".join(f"{key} {value}" for key, value in describe().items())
    source = "MaskBench" if args.data is not None else "the project's own schemas and variants of them"
    served = [_served(share, outcome, args.limit_ms) for share, outcome in curves.items()]
    header = ["new schemas", "sequences", "requests per second", "step p50, ms", "step p99, ms", "max, ms"]
    return "\n".join(
        [
            f"Requests from {source}, {args.warm_schemas} schemas known; {args.steps} steps for each size,",
            f"one thread, {args.clock} time, vocabulary {args.vocabulary}; {machine}.",
            f"Sequences served with p99 of a step within {args.limit_ms:g} ms, by the share of requests with",
            "a schema that is new to the process:",
            "",
            markdown(header, served),
            "",
            "Steps by number of sequences, p50 / p99 in milliseconds:",
            "",
            _curve_table(curves),
        ]
    )


def _share(share: float) -> str:
    return f"{100 * share:g} %"


def _served(share: float, outcome: Any, limit_ms: float) -> list[str]:
    if isinstance(outcome, Failure):
        return [_share(share), outcome.kind, "", "", "", ""]
    curve, mean_tokens = outcome
    good = [n for n, figures in curve.items() if figures["p99"] <= limit_ms]
    if not good:
        return [_share(share), f"fewer than {min(curve)}", "", "", "", ""]
    n = max(good)
    figures = curve[n]
    # Each sequence makes one token a step of `limit_ms`.
    rate = n / mean_tokens * 1000 / limit_ms
    steps = (figures[key] for key in ("p50", "p99", "max"))
    at_least = "" if n < max(curve) else "at least "
    return [_share(share), f"{at_least}{n:,}", number(rate), *map(number, steps)]


def _curve_table(curves: Mapping[float, Any]) -> str:
    good = {share: outcome[0] for share, outcome in curves.items() if not isinstance(outcome, Failure)}
    sizes = sorted({n for curve in good.values() for n in curve})
    rows = []
    for n in sizes:
        cells = [curve.get(n) for curve in good.values()]
        rows.append([f"{n:,}", *("-" if c is None else f"{c['p50']:.2f} / {c['p99']:.2f}" for c in cells)])
    return markdown(["sequences", *(f"{_share(share)} new" for share in good)], rows)
