"""How figures and values are written, the same for a terminal and for a page."""

from __future__ import annotations

from .contents import Leaf, Push, RunnerUp

__all__ = ["LEGEND", "kind", "other", "percent", "pushed", "shorten"]

LEGEND = (
    "confidence: probability under the mask (of free text per token); sure from 90 %, doubtful below 50 %",
    "mask took: the largest share of the model's probability that the mask removed at a token of the value",
    "pushed: what the model wanted most was not legal, and at least half of its probability was removed",
)


def percent(share: float) -> str:
    """A share in percent, never rounded to none or all of it."""
    if share in (0.0, 1.0):
        return f"{100 * share:.0f} %"
    if share < 0.001:
        return "<0.1 %"
    if share > 0.999:
        return ">99.9 %"
    return f"{100 * share:.1f} %" if share < 0.1 or share > 0.99 else f"{100 * share:.0f} %"


def shorten(text: str, n_characters: int) -> str:
    """A text on one line, cut in the middle where it is longer."""
    line = text.replace("\n", "⏎").replace("\t", "⇥")
    if len(line) <= n_characters:
        return line
    n_head = (n_characters - 1) * 2 // 3
    return f"{line[:n_head]}…{line[n_head + 1 - n_characters :]}"


def other(runner_up: RunnerUp) -> str:
    """The runner-up as far as it is known."""
    return runner_up.text if runner_up.complete else f"{runner_up.text}…"


def pushed(push: Push) -> str:
    """What the mask turned the model away from."""
    return (
        f"wanted {shorten(repr(push.wanted), 30)} ({percent(push.wanted_probability)}); "
        f"the mask took {percent(push.removed)}"
    )


def kind(leaf: Leaf) -> str:
    """The kind of a value, and that it is one of few."""
    return f"{leaf.kind}, one of {len(leaf.members)}" if len(leaf.members) > 1 else leaf.kind
