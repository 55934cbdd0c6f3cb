"""`maskwright bench tools`: many tool calls in one grammar, engines interleaved.

The grammar is `anyOf` over the tools: an object with the tool's `name` as a constant and its `arguments`
under the tool's own schema. All engines get the same schema. Per repetition the tools are new to the
process in every name and bound; calls of twenty of them are walked, then walked again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from . import engines, vocabularies
from .machine import describe
from .repeated import Outcome, measure, median, ratio_header, refusals, with_ratios
from .tables import markdown
from .toolset import make_tool, tool_calls, tool_schema
from .walk import CLOCKS, PassResult

__all__ = ["add_arguments", "make_case", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the sub-command."""
    parser.add_argument("--vocabulary", default="llama3", choices=vocabularies.NAMES)
    parser.add_argument("--engines", default="maskwright,llguidance,xgrammar")
    parser.add_argument("--tools", type=int, default=128, help="number of tools (default 128)")
    parser.add_argument("--calls", type=int, default=20, help="number of calls walked (default 20)")
    parser.add_argument("--repetitions", type=int, default=7, help="sets of tools for a process (default 7)")
    parser.add_argument("--rounds", type=int, default=1, help="fresh processes (default 1)")
    parser.add_argument("--clock", choices=tuple(CLOCKS), default="wall", help="what is measured")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for one set and engine")


def make_case(n_tools: int, n_calls: int, repetition: int) -> tuple[Any, list[list[str]]]:
    """The schema, and the texts of the calls, twice: a first and a second visit."""
    tools = [make_tool(number, repetition) for number in range(n_tools)]
    texts = [[json.dumps(call)] for call in tool_calls(tools, n_calls)]
    return tool_schema(tools), texts * 2


def run(args: argparse.Namespace) -> str:
    """Run the sub-command; the table."""
    specs = engines.parse_names(args.engines)
    outcomes = measure(
        {"calls": partial(make_case, args.tools, args.calls)},
        specs,
        vocabulary=args.vocabulary,
        repetitions=args.repetitions,
        rounds=args.rounds,
        clock=args.clock,
        limit_s=args.time_limit,
    )
    return _render(args, specs, outcomes)


def _first_mask(one: PassResult) -> float:
    return (one.compile_ns + one.start_ns + one.first_mask_ns) / 1000


def _steps(one: PassResult, visit: int) -> list[int]:
    """Mask + accept of each token; the first mask, which is counted elsewhere, left out of the first walk."""
    half = len(one.walks) // 2
    walks = one.walks[half:] if visit else one.walks[:half]
    steps = [f + a for walk in walks for f, a in zip(walk.fill_ns, walk.accept_ns, strict=False)]
    return steps if visit else steps[1:]


def _mean(visit: int, one: PassResult) -> float:
    return float(np.mean(_steps(one, visit))) / 1000


def _quantile(visit: int, level: float, one: PassResult) -> float:
    return float(np.quantile(_steps(one, visit), level)) / 1000


_MEASURES: dict[str, Callable[[PassResult], float]] = {
    "compile + first mask": _first_mask,
    "first visit, mean": partial(_mean, 0),
    "first visit, p50": partial(_quantile, 0, 0.5),
    "first visit, p99": partial(_quantile, 0, 0.99),
    "second visit, mean": partial(_mean, 1),
    "second visit, p50": partial(_quantile, 1, 0.5),
    "second visit, p99": partial(_quantile, 1, 0.99),
}


def _render(
    args: argparse.Namespace, specs: Sequence[str], outcomes: Mapping[tuple[str, str], Outcome]
) -> str:
    machine = ", ".join(f"{key} {value}" for key, value in describe().items())
    kilobytes = len(json.dumps(make_case(args.tools, args.calls, 0)[0])) / 1000
    rows = [
        [name, *with_ratios([median(outcomes["calls", spec], figure) for spec in specs])]
        for name, figure in _MEASURES.items()
    ]
    return "\n".join(
        [
            f"{args.tools} tools in one `anyOf` ({kilobytes:.0f} KB), {args.calls} calls walked twice,",
            f"mask + accept of each token. Medians over {args.repetitions * args.rounds} sets of tools,",
            f"vocabulary {args.vocabulary}, {args.clock} time; {machine}.",
            "",
            markdown(["microseconds", *ratio_header(specs)], rows),
            *(f"\nNo figure for {line}" for line in refusals(outcomes)),
        ]
    )
