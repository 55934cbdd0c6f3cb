"""A report as a table for a terminal."""

from __future__ import annotations

from .contents import Leaf, Report
from .wording import LEGEND, other, percent, pushed, shorten

__all__ = ["render"]

_VALUE_WIDTH = 36
_HEADER = ("value", "", "confidence", "", "tokens", "forced", "mask took", "runner-up")


def render(report: Report) -> str:
    """The table, what was pushed where, and what the columns mean; without a final line break."""
    from tabulate import tabulate

    rows = [_row(leaf) for leaf in report.leaves]
    outside = report.outside
    took = percent(max(outside.removed, default=0.0))
    rows.append(("(around the values)", "", "", "", str(outside.n_tokens), str(outside.n_forced), took, ""))
    align = ("left", "left", "right", "left", "right", "right", "right", "left")
    table = tabulate(rows, _HEADER, tablefmt="simple", disable_numparse=True, colalign=align)
    notes = [
        f"{leaf.pointer or '(the answer)'}: {pushed(leaf.pushed)}" for leaf in report.leaves if leaf.pushed
    ]
    if outside.pushed:
        notes.append(f"around the values: {pushed(outside.pushed)}")
    parts = [table, *(["\n".join(["pushed", *(f"  {note}" for note in notes)])] if notes else [])]
    if not report.complete:
        parts.append("the answer is not complete")
    return "\n\n".join([*parts, "\n".join(LEGEND)])


def _row(leaf: Leaf) -> tuple[str, ...]:
    runner_up = leaf.runner_up
    return (
        leaf.pointer or "(the answer)",
        shorten(leaf.text, _VALUE_WIDTH) + ("" if leaf.complete else " (cut)"),
        percent(leaf.confidence),
        leaf.level + (", pushed" if leaf.pushed else ""),
        str(leaf.n_tokens),
        str(leaf.n_forced),
        percent(max(leaf.removed, default=0.0)),
        f"{shorten(other(runner_up), 24)} ({percent(runner_up.probability)})" if runner_up else "",
    )
