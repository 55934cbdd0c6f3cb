"""From raw results (JSON lines of `bench mask`) to tables. Knows nothing about engines or clocks.

Verdicts are given for each schema as MaskBench gives them: *refused* (does not compile), *wrong*
(an instance that is valid was refused, or one that is invalid was accepted), *timeout*, *crashed*, else
*passing*. A timeout enters the time to first mask as the limit; a refusal has none.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .tables import QUANTILES, markdown, number, summary

__all__ = ["EngineResults", "Results", "read", "render"]

#: Numbers of walks, by schema.
_Walks = Mapping[str, set[int]]
#: Order of the verdict columns.
VERDICTS = ("passing", "refused", "valid refused", "invalid accepted", "timeout", "crash", "error")


@dataclass
class EngineResults:
    """All lines of one engine, by schema."""

    lines: dict[str, dict[str, Any]] = field(default_factory=dict)

    def verdicts(self) -> Counter[str]:
        """How many schemas got each verdict."""
        return Counter(verdict(line) for line in self.lines.values())

    def tokens_us(self, part: str, which: str = "cold", keep: _Walks | None = None) -> NDArray[np.float64]:
        """Microseconds for each token; `part` is `mask`, `accept` or `both`; of walks in `keep` only."""
        collected: list[int] = []
        for name, line in self.lines.items():
            for index, walk in enumerate(line.get(which, {}).get("walks", ())):
                if keep is not None and index not in keep.get(name, ()):
                    continue
                if part == "mask":
                    collected += walk["fill_ns"]
                elif part == "accept":
                    collected += walk["accept_ns"]
                else:  # a token that was refused has a mask and no accept: it is no step
                    collected += [f + a for f, a in zip(walk["fill_ns"], walk["accept_ns"], strict=False)]
        return np.array(collected, dtype=np.float64) / 1000

    def first_mask_us(self, limit_s: float, which: str = "cold") -> NDArray[np.float64]:
        """Microseconds of compile + new sequence + first mask for each schema that compiled or timed out."""
        values = []
        for line in self.lines.values():
            if line.get("failure") == "timeout" and which == "cold":
                values.append(limit_s * 1e6)
            elif which in line and line[which]["refused"] is None:
                times = line[which]
                values.append((times["compile_ns"] + times["start_ns"] + times["first_mask_ns"]) / 1000)
        return np.array(values, dtype=np.float64)


@dataclass
class Results:
    """One run: its head line and the engines' lines."""

    head: dict[str, Any]
    engines: dict[str, EngineResults]


def verdict(line: Mapping[str, Any]) -> str:
    """The verdict of one (schema, engine) line; the last wrong instance decides, as in MaskBench."""
    if "failure" in line:
        return str(line["failure"])
    if line["cold"]["refused"] is not None:
        return "refused"
    answer = "passing"
    for walk in line["cold"]["walks"]:
        if walk["valid"] is not None and walk["accepted"] != walk["valid"]:
            answer = "valid refused" if walk["valid"] else "invalid accepted"
    return answer


def read(path: Path) -> Results:
    """Raw results of a run."""
    head: dict[str, Any] = {}
    found: dict[str, EngineResults] = defaultdict(EngineResults)
    with path.open() as lines:
        for text in lines:
            line = json.loads(text)
            if line["kind"] == "run":
                head = line
            else:
                found[line["engine"]].lines[line["schema"]] = line
    names = [name for name in head["engines"] if name in found]
    return Results(head, {name: found[name] for name in names})


def render(results: Results) -> str:
    """The whole report as Markdown."""
    limit = results.head["time_limit_s"]
    shared = _shared_walks(results.engines.values())
    parts = [_preface(results)]
    parts += ["### Verdicts (schemas)", _verdict_table(results)]
    parts += [
        "### Time between masks, cold (mask + accept, microseconds)",
        _times(results, lambda e: e.tokens_us("both")),
        "### Time between masks, cold, tokens that all engines accepted",
        _times(results, lambda e: e.tokens_us("both", keep=shared)),
        "### Mask alone, cold",
        _times(results, lambda e: e.tokens_us("mask")),
        "### Accept alone, cold",
        _times(results, lambda e: e.tokens_us("accept")),
        "### Time between masks, warm (second request for the schema)",
        _times(results, lambda e: e.tokens_us("both", "warm")),
        "### Time to first mask, cold (compile + new sequence + first mask)",
        _times(results, lambda e: e.first_mask_us(limit)),
        "### Time to first mask, warm",
        _times(results, lambda e: e.first_mask_us(limit, "warm")),
        "### Vocabulary set-up",
        _setup_table(results),
        f"### Slowest of {next(iter(results.engines))}: schemas by total of mask + accept, cold",
        _slowest(next(iter(results.engines.values()))),
    ]
    return "\n\n".join(parts) + "\n"


def _preface(results: Results) -> str:
    head = results.head
    machine = ", ".join(f"{key} {value}" for key, value in head["machine"].items())
    cost = head["overhead"]
    return (
        f"Masks on {head['sample']} schemas of MaskBench, seed {head['seed']}, {head['vocabulary']}\n\n"
        f"{machine}. Engines interleaved schema by schema in one process, one thread; "
        f"{'processor' if head['clock'] == 'cpu' else 'wall'} time. Compare ratios\n"
        f"within this run, not the absolute figures. The harness's own share is included:\n"
        f"{cost['fill_p50_ns']:.0f} ns of each mask and {cost['accept_p50_ns']:.0f} ns of each accept "
        f"(p50; mean {cost['fill_mean_ns']:.0f} and {cost['accept_mean_ns']:.0f}).\n"
        f"Time limit {head['time_limit_s']:g} s."
    )


def _verdict_table(results: Results) -> str:
    rows = []
    for name, engine in results.engines.items():
        counts = engine.verdicts()
        walks = [walk for line in engine.lines.values() for walk in line.get("cold", {}).get("walks", ())]
        conflicts = sum(walk["conflict"] for walk in walks)
        tokens = sum(len(walk["accept_ns"]) for walk in walks)
        rows.append([name, *(str(counts[kind]) for kind in VERDICTS), str(conflicts), f"{tokens:,}"])
    return markdown(["engine", *VERDICTS, "mask/accept conflicts", "tokens"], rows)


def _times(results: Results, measure: Any) -> str:
    summaries = {name: summary(measure(engine)) for name, engine in results.engines.items()}
    columns = ["mean", *(name for name, _ in QUANTILES)]
    rows = [[name, *(number(values.get(c)) for c in columns)] for name, values in summaries.items()]
    base_name = next(iter(summaries))
    base = summaries[base_name]
    for name, values in summaries.items():
        if name != base_name and base and values:
            cells = (number(values[c] / base[c]) if base[c] else "-" for c in columns)
            rows.append([f"{name} / {base_name}", *cells])
    return markdown(["", *columns], rows)


def _shared_walks(found: Iterable[EngineResults]) -> dict[str, set[int]]:
    """Walks that every engine accepted, so that the same tokens are compared."""
    shared: dict[str, set[int]] | None = None
    for engine in found:
        mine = {
            name: {i for i, walk in enumerate(line.get("cold", {}).get("walks", ())) if walk["accepted"]}
            for name, line in engine.lines.items()
        }
        if shared is None:
            shared = mine
        else:
            shared = {name: walks & mine.get(name, set()) for name, walks in shared.items()}
    return shared or {}


def _setup_table(results: Results) -> str:
    rows: list[Sequence[str]] = []
    for name, engine in results.engines.items():
        setup = next((line["setup"] for line in engine.lines.values() if "setup" in line), None)
        growth = summary([line["memory_mb"] for line in engine.lines.values() if "memory_mb" in line])
        if setup is not None:
            rows.append(
                [
                    name,
                    setup["version"],
                    number(setup["setup_s"]),
                    number(setup["setup_mb"]),
                    number(growth.get("p99")),
                    number(growth.get("max")),
                ]
            )
    header = ["engine", "version", "seconds", "MiB", "MiB for a schema, p99", "max"]
    return markdown(header, rows)


def _slowest(engine: EngineResults, n: int = 10) -> str:
    """The schemas that cost most, with their worst token: where to look first."""
    rows = []
    for name, line in engine.lines.items():
        steps = [
            ((fill + accept) / 1000, number_of_walk, position)
            for number_of_walk, walk in enumerate(line.get("cold", {}).get("walks", ()))
            for position, (fill, accept) in enumerate(zip(walk["fill_ns"], walk["accept_ns"], strict=False))
        ]
        if steps:
            rows.append((sum(us for us, _, _ in steps), name, len(steps), max(steps)))
    rows.sort(reverse=True)
    cells = [
        [name, number(total), str(n_tokens), number(worst), f"instance {walk}, token {position}"]
        for total, name, n_tokens, (worst, walk, position) in rows[:n]
    ]
    return markdown(["schema", "total us", "tokens", "worst us", "where"], cells)
