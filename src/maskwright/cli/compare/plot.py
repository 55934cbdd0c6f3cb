"""The comparison as a picture, drawn by matplotlib (an optional package, imported here only)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from ..exits import MODEL, Failure
from .runs import Answer, Comparison
from .tables import PLACES
from .verdicts import can_be_mentioned

__all__ = ["draw"]

# Colour-blind safe (Okabe and Ito); lines also differ in their dashes.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
_DASHES = ("-", "--", "-.", ":", (0, (3, 1, 1, 1, 1, 1)))

#: For an answer and its facts, how much of how much.
_WORTHS: Final[dict[str, Callable[[Answer, dict[str, Any]], tuple[int, int]]]] = {
    "valid": lambda answer, facts: (int(answer.found_valid), 1),
    "facts right": lambda answer, facts: (answer.n_right, len(facts)),
    "facts in the text": lambda answer, facts: (answer.n_mentioned, len(can_be_mentioned(facts))),
}


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
    matplotlib.rcParams["svg.fonttype"] = "none"  # letters as letters
    from matplotlib import pyplot  # type: ignore[import-not-found,unused-ignore]

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.4))
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
    """Bars: shares of answers that are valid and of facts that are right or at least mentioned."""
    labels, masked, free = [], list[float](), list[float]()
    for measure, part_and_whole in _WORTHS.items():
        for task in dict.fromkeys(each.question.task for each in comparisons):
            group = [each for each in comparisons if each.question.task == task]
            labels.append(f"{task}: {measure}")
            masked.append(_share([part_and_whole(each.masked, each.question.facts) for each in group]))
            free.append(_share([part_and_whole(each.free, each.question.facts) for each in group]))
    places = np.arange(len(labels))
    for offset, shares, label, colour, hatch in (
        (-0.2, masked, "with the mask", _COLOURS[0], ""),
        (0.2, free, "without", _COLOURS[1], "///"),
    ):
        bars = axes.barh(
            places + offset, shares, 0.38, label=label, color=colour, hatch=hatch, edgecolor="white"
        )
        axes.bar_label(bars, [f"{100 * share:.0f} %" for share in shares], fontsize=7, padding=2)
    axes.set_yticks(places, labels, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.12)
    axes.set_title("What answers are worth (JSON cut out of free ones)", fontsize=9)
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)


def _share(parts: Sequence[tuple[int, int]]) -> float:
    return sum(part for part, _ in parts) / max(1, sum(whole for _, whole in parts))


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
                np.concatenate([[0.0], taken, [1.0]]),
                np.concatenate([[1.0], 1 - np.arange(taken.size) / taken.size, [0.0]]),
                where="pre",
                color=colour,
                linestyle=dash,
                label=f"{place} ({taken.size})",
            )
    axes.set_xlabel("share of the probability that the mask took")
    axes.set_ylabel("share of tokens that lost at least so much")
    axes.set_xlim(0, 1)
    axes.set_title("What the mask took, by what the token belongs to", fontsize=9)
    axes.grid(linewidth=0.4, alpha=0.6)
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
