"""The comparison as a picture, drawn by matplotlib (an optional package, imported here only)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..exits import MODEL, Failure
from .runs import Comparison
from .tables import PLACES

__all__ = ["draw"]

# Colour-blind safe (Okabe and Ito); lines also differ in their dashes.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
_DASHES = ("-", "--", "-.", ":", (0, (3, 1, 1, 1, 1, 1)))


def draw(comparisons: Sequence[Comparison], path: Path, title: str) -> None:
    """Write the picture; the ending of the path says in which format.

    Left, what the answers are worth with the mask and without; right, how much the mask took, by what
    the token belongs to.

    Raises:
        Failure: matplotlib is missing, or the file cannot be written.
    """
    try:
        import matplotlib  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        raise Failure("--plot needs matplotlib: pip install matplotlib", MODEL) from error
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "maskwright"  # the same picture is the same file
    from matplotlib import pyplot  # type: ignore[import-not-found,unused-ignore]

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10.5, 4.2))
    _draw_worth(left, comparisons)
    _draw_taken(right, comparisons)
    figure.suptitle(title, fontsize=11)
    figure.tight_layout()
    try:
        figure.savefig(path, dpi=130, metadata={"Date": None} if path.suffix == ".svg" else None)
    except (OSError, ValueError) as error:
        raise Failure(f"the plot cannot be written to {path}: {error}", 2) from error
    finally:
        pyplot.close(figure)


def _draw_worth(axes: Any, comparisons: Sequence[Comparison]) -> None:
    """Bars: the share of answers that are valid and of facts that are right, for each task."""
    tasks = list(dict.fromkeys(each.question.task for each in comparisons))
    measures = ("valid", "facts right")
    labels, heights = [], {"mask": list[float](), "free": list[float]()}
    for measure in measures:
        for task in tasks:
            group = [each for each in comparisons if each.question.task == task]
            labels.append(f"{task}\n{measure}")
            for name, run in heights.items():
                answers = [each.masked if name == "mask" else each.free for each in group]
                n_facts = sum(len(each.question.facts) for each in group)
                part = sum(a.found_valid if measure == "valid" else a.n_right for a in answers)
                run.append(part / max(1, len(group) if measure == "valid" else n_facts))
    places = np.arange(len(labels))
    for offset, (name, run), colour, hatch in zip(
        (-0.2, 0.2), heights.items(), _COLOURS, ("", "///"), strict=False
    ):
        label = "with the mask" if name == "mask" else "without"
        bars = axes.bar(places + offset, run, 0.38, label=label, color=colour, hatch=hatch, edgecolor="white")
        axes.bar_label(bars, [f"{100 * share:.0f}" for share in run], fontsize=7, padding=1)
    axes.set_xticks(places, labels, fontsize=7)
    axes.set_ylim(0, 1.12)
    axes.set_ylabel("share")
    axes.set_title("What answers are worth (JSON cut out of free ones)", fontsize=9)
    axes.legend(frameon=False, fontsize=8, loc="lower left", ncols=2, bbox_to_anchor=(0, -0.32))
    axes.spines[["top", "right"]].set_visible(False)


def _draw_taken(axes: Any, comparisons: Sequence[Comparison]) -> None:
    """Curves: the share of tokens at which the mask took at least so much."""
    for place, colour, dash in zip(PLACES, _COLOURS, _DASHES, strict=True):
        taken = np.sort(
            [
                share
                for each in comparisons
                for share, kind in zip(each.removed, each.places, strict=True)
                if kind == place
            ]
        )
        if taken.size:
            axes.step(
                np.append(taken, 1.0),
                np.append(1 - np.arange(taken.size) / taken.size, 0.0),
                where="pre",
                color=colour,
                linestyle=dash,
                label=f"{place} ({taken.size})",
            )
    axes.set_xlabel("share of the probability that the mask took")
    axes.set_ylabel("share of tokens with at least so much")
    axes.set_xlim(0, 1)
    axes.set_title("What the mask took, by what the token belongs to", fontsize=9)
    axes.grid(linewidth=0.4, alpha=0.6)
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
