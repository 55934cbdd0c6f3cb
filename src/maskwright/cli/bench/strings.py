"""`maskwright bench strings`: constrained strings, first mask and masks inside, engines interleaved.

Each case is one string with constraints and one valid text. Figures are medians over repetitions with
a schema new to the process: compile + first mask; the first mask inside the string (after the quote);
mask + accept over the twenty tokens that follow, their mean. A second table walks a text of
4,000 characters under a bound of that length and under none: mask + accept, and the memory by which the
process grew, each engine in a process of its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from . import engines, vocabularies
from .engines import SchemaOptions
from .machine import describe, held_mb
from .repeated import Outcome, measure, median, ratio_header, refusals, with_ratios
from .tables import markdown, number
from .walk import CLOCKS, Instance, PassResult, Walk, run_pass, use_clock
from .workers import Failure, run_jobs

__all__ = ["CASES", "LONG", "add_arguments", "run"]

#: Tokens after the first mask inside the string.
_FOLLOWING = 20
_WORDS = "the quick brown fox jumps over the lazy dog while many others look on and "
_Made = tuple[dict[str, Any], list[list[str]]]


def _string(text: str, **constraints: Any) -> _Made:
    # The quote is a piece of its own, so that one mask stands right after it.
    return {"type": "string", **constraints}, [['"', f'{text}"']]


def _identifier(repetition: int) -> _Made:
    return _string(
        "north-west_gate.27-Ab_cd-ef.gh_13-xyzzy.Q7w-plugh_99",
        pattern=f"^[A-Za-z0-9_.-]{{3,{64 + repetition}}}$",
    )


def _date_time(repetition: int) -> _Made:
    # A format has nothing to vary: the schema is new by its title only, its language is not.
    return _string("2024-02-29T23:59:59.123456+05:30", format="date-time", title=f"time {repetition}")


def _bounded_date_time(repetition: int) -> _Made:
    return _string("2024-02-29T23:59:59.123456+05:30", format="date-time", maxLength=60 + repetition)


def _long(repetition: int) -> _Made:
    return _string((_WORDS * 2)[:120], maxLength=4000 + repetition)


def _search(repetition: int) -> _Made:
    return _string(
        "ada.lovelace and some others at analytical@engine.example", pattern="@", maxLength=200 + repetition
    )


def _short(repetition: int) -> _Made:
    return _string("Ada K. 1815/12", minLength=3, maxLength=20 + repetition)


#: The cases by the constraint that a reader knows them by.
CASES: dict[str, Callable[[int], _Made]] = {
    "pattern ^[A-Za-z0-9_.-]{3,64}$": _identifier,
    "format date-time": _date_time,
    "format date-time, maxLength 60": _bounded_date_time,
    "maxLength 4000": _long,
    "pattern @, maxLength 200": _search,
    "minLength 3, maxLength 20": _short,
}
_LONG_MEASURES = {
    "first, p50": "first visit p50, microseconds",
    "first, p99": "first visit p99, microseconds",
    "second, p50": "second visit p50, microseconds",
    "mib": "memory, MiB",
}
#: The second table: constraints of a string whose text has 4,000 characters.
LONG: dict[str, dict[str, Any]] = {"unbounded": {}, "maxLength 4000": {"maxLength": 4000}}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the sub-command."""
    parser.add_argument("--vocabulary", default="llama3", choices=vocabularies.NAMES)
    parser.add_argument("--engines", default="maskwright,llguidance,glrmask")
    parser.add_argument(
        "--repetitions", type=int, default=5, help="schemas of a case and process (default 5)"
    )
    parser.add_argument("--rounds", type=int, default=3, help="fresh processes (default 3)")
    parser.add_argument("--clock", choices=tuple(CLOCKS), default="wall", help="what is measured")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for one schema and engine")


def run(args: argparse.Namespace) -> str:
    """Run the sub-command; the tables."""
    specs = engines.parse_names(args.engines)
    outcomes = measure(
        CASES,
        specs,
        vocabulary=args.vocabulary,
        repetitions=args.repetitions,
        rounds=args.rounds,
        clock=args.clock,
        limit_s=args.time_limit,
    )
    long_walks: dict[str, Any] = {}
    for spec in specs:
        make = partial(make_long_handler, args.vocabulary, args.clock)
        long_walks.update(run_jobs([spec], make, limit_s=args.time_limit))
    return _render(args, outcomes, long_walks)


#: Measures of one request, in microseconds.
_MEASURES: dict[str, Callable[[PassResult], float]] = {
    "compile + first mask": lambda one: (one.compile_ns + one.start_ns + one.first_mask_ns) / 1000,
    "first mask inside": lambda one: one.walks[0].fill_ns[1] / 1000,
    "next, mask + accept": lambda one: _following(one) / 1000,
}


def _following(one: PassResult) -> float:
    walk = one.walks[0]
    steps = zip(walk.fill_ns[2:], walk.accept_ns[2:], strict=False)
    return float(np.mean([fill + accept for fill, accept in list(steps)[:_FOLLOWING]]))


def make_long_handler(vocabulary_name: str, clock: str) -> Callable[[str], dict[str, Any]]:
    """In the worker: what walks the long text with one engine."""
    use_clock(clock)
    return partial(_long_answer, vocabularies.load(vocabulary_name))


def _long_answer(vocabulary: vocabularies.BenchVocabulary, spec: str) -> dict[str, Any]:
    engine = engines.create(spec)
    engine.set_up(vocabulary)
    text = (_WORDS * 60)[:4000]
    instance = Instance([*vocabulary.encode('"'), *vocabulary.encode(f'{text}"')], True)
    # Once over a short text, so that what is made once in a process is nobody's memory.
    short = Instance(vocabulary.encode('"the quick"'), True)
    run_pass(engine, {"type": "string", "title": "first"}, [short], SchemaOptions(), vocabulary.stop_id)
    answer: dict[str, Any] = {}
    kept = []
    for name, constraints in LONG.items():
        before = held_mb()
        schema = {"type": "string", **constraints}
        result, compiled = run_pass(engine, schema, [instance] * 2, SchemaOptions(), vocabulary.stop_id)
        kept.append(compiled)  # its memory is what is asked for
        if result.refused is None and all(walk.accepted for walk in result.walks):
            answer[name] = _long_figures(result.walks) | {"mib": held_mb() - before}
    return answer


def _long_figures(walks: Sequence[Walk]) -> dict[str, float]:
    figures = {}
    for visit, walk in zip(("first", "second"), walks, strict=True):
        steps = np.array([f + a for f, a in zip(walk.fill_ns, walk.accept_ns, strict=False)]) / 1000
        figures[f"{visit}, p50"] = float(np.median(steps))
        figures[f"{visit}, p99"] = float(np.quantile(steps, 0.99))
    return figures


def _render(
    args: argparse.Namespace, outcomes: Mapping[tuple[str, str], Outcome], long_walks: Mapping[str, Any]
) -> str:
    specs = list(long_walks)
    machine = ", ".join(f"{key} {value}" for key, value in describe().items())
    return "\n".join(
        [
            f"Medians over {args.repetitions} schemas of each case in each of {args.rounds} processes, new",
            "to it: the bound grows by one (`format date-time` alone differs in its title only).",
            f"Vocabulary {args.vocabulary}, {args.clock} time; {machine}.",
            f"*Next*: mean over the {_FOLLOWING} tokens after the first in the string. *First schema*: of",
            "the first schema of the case in its process, for which nothing was made by one like it.",
            "",
            markdown(["microseconds", "", *ratio_header(specs)], _case_rows(specs, outcomes)),
            *(f"\nNo figure for {line}" for line in refusals(outcomes)),
            "",
            "A string of 4,000 characters, walked by two sequences one after the other; mask + accept of one",
            "token. Memory is what the process grew by, compiled grammar and sequences included.",
            "",
            markdown(["", "", *ratio_header(specs)], _long_rows(long_walks)),
        ]
    )


def _case_rows(specs: Sequence[str], outcomes: Mapping[tuple[str, str], Outcome]) -> list[list[str]]:
    rows = []
    for case in CASES:
        found = [outcomes[case, spec] for spec in specs]
        for name, figure in _MEASURES.items():
            rows.append([case, name, *with_ratios([median(one, figure) for one in found])])
        # What later schemas of the case share with the first, an engine has made there.
        for name in ("first mask inside", "next, mask + accept"):
            values = [median(one, _MEASURES[name], first=True) for one in found]
            rows.append([case, f"{name}; first schema", *with_ratios(values)])
    return rows


def _long_rows(long_walks: Mapping[str, Any]) -> list[list[str]]:
    rows = []
    for key, name in _LONG_MEASURES.items():
        found = {case: [_long_figure(one, case, key) for one in long_walks.values()] for case in LONG}
        rows += [[case, name, *with_ratios(values)] for case, values in found.items()]
        if key.endswith("p50"):
            pairs = zip(found["maxLength 4000"], found["unbounded"], strict=True)
            shares = [number(bounded / free if bounded and free else None) for bounded, free in pairs]
            rows.append(["bounded / unbounded", name.partition(",")[0], *shares, *[""] * (len(shares) - 1)])
    return rows


def _long_figure(outcome: Any, case: str, key: str) -> float | None:
    if isinstance(outcome, Failure) or case not in outcome:
        return None
    return float(outcome[case][key])
