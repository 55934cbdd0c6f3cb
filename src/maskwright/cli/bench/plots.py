"""Distribution curves of a run, drawn by matplotlib (an optional package, imported here only)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .report import EngineResults, Results

__all__ = ["draw"]

# Colour-blind safe (Okabe and Ito), one for each engine in the order of the run.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def draw(results: Results, folder: Path) -> list[Path]:
    """Write one picture for each measure; the paths written."""
    limit = results.head["time_limit_s"]
    figures: dict[str, tuple[str, Callable[[EngineResults], NDArray[np.float64]]]] = {
        "between-cold.png": ("Time between masks, first request", lambda e: e.tokens_us("both")),
        "between-warm.png": ("Time between masks, second request", lambda e: e.tokens_us("both", "warm")),
        "first-mask.png": ("Time to first mask", lambda e: e.first_mask_us(limit)),
    }
    return [_figure(results, folder / name, title, measure) for name, (title, measure) in figures.items()]


def _figure(results: Results, path: Path, title: str, measure: Callable[[EngineResults], Any]) -> Path:
    import matplotlib  # type: ignore[import-not-found,unused-ignore]

    matplotlib.use("Agg")
    from matplotlib import pyplot  # type: ignore[import-not-found,unused-ignore]

    figure, axes = pyplot.subplots(figsize=(8, 4.5))
    for number, (name, engine) in enumerate(results.engines.items()):
        values = np.sort(measure(engine))
        if not values.size:
            continue
        # The share of slower steps on a log scale: the tail, which decides latency, gets the room.
        share = 1 - np.arange(values.size) / values.size
        axes.loglog(values, share, label=name, color=_COLOURS[number % len(_COLOURS)], linewidth=1.6)
    axes.set_xlabel("microseconds")
    axes.set_ylabel("share that takes at least so long")
    head = results.head
    axes.set_title(f"{title}\n{head['sample']} MaskBench schemas, {head['vocabulary']} vocabulary")
    axes.grid(which="major", linewidth=0.4, alpha=0.6)
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=140)
    pyplot.close(figure)
    return path
