"""Percentiles, ratios and tables, for the terminal and for the documents alike (Markdown)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["QUANTILES", "markdown", "number", "summary"]

#: Name and quantile of each column; `mean` stands apart because it is no quantile.
QUANTILES = (
    ("p25", 0.25),
    ("p50", 0.5),
    ("p75", 0.75),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p99.9", 0.999),
    ("max", 1.0),
)


def summary(values: Sequence[float] | NDArray[np.float64]) -> dict[str, float]:
    """Mean and quantiles; empty when there are no values."""
    array = np.asarray(values, dtype=np.float64)
    if not array.size:
        return {}
    levels = np.quantile(array, [level for _, level in QUANTILES], method="inverted_cdf")
    return {"mean": float(array.mean())} | {
        name: float(value) for (name, _), value in zip(QUANTILES, levels, strict=True)
    }


def number(value: float | None) -> str:
    """Three significant digits, with thousands separated; a dash for nothing."""
    if value is None:
        return "-"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) >= 100:
        return f"{value:.0f}"
    if abs(value) >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if value else "0"


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table that a terminal shows well too; the first column left, the others right."""
    from tabulate import tabulate

    body = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    align = ["left"] + ["right"] * (len(header) - 1) if body else None
    return str(tabulate(body, header, tablefmt="github", disable_numparse=True, colalign=align))
