"""The comparison as tables, in Markdown that a terminal shows well too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..bench.tables import markdown, number
from .runs import Answer, Comparison, Trusted
from .verdicts import can_be_mentioned

__all__ = ["PLACES", "as_json", "place_table", "task_table", "trust_table"]

#: The kinds of places in an answer, in the order in which they are shown.
PLACES = ("outside", "string", "number", "boolean", "null")

LEVELS = ("sure", "likely", "doubtful")


def task_table(comparisons: Sequence[Comparison]) -> str:
    """One column pair for each task and one for all: with the mask, without."""
    groups = _groups(comparisons)
    header = [""]
    for name, group in groups:
        header += [f"{name} ({len(group)}), mask", "free"]
    rows = [
        _pairs("valid as it stands", groups, lambda answers, _: _share(answer.valid for answer in answers)),
        _pairs("valid JSON inside", groups, lambda answers, _: _share(each.found_valid for each in answers)),
        _pairs("facts right", groups, _facts),
        _pairs("facts in the text, in any form", groups, _mentioned),
        _pairs("ended by itself", groups, lambda answers, _: _share(answer.finished for answer in answers)),
        _pairs("tokens, mean", groups, lambda answers, _: number(_mean(each.n_tokens for each in answers))),
        _pairs("seconds, mean", groups, lambda answers, _: number(_mean(each.seconds for each in answers))),
        _single("mask took, mean of tokens", groups, lambda group: f"{100 * _mean(_all(group)):.1f} %"),
        _single(
            "tokens with over half taken", groups, lambda group: _share(share > 0.5 for share in _all(group))
        ),
        _single(
            "divergence, nats an answer",
            groups,
            lambda group: number(_mean(sum(each.divergence) for each in group)),
        ),
        _single("same answer", groups, lambda group: _share(each.parted is None for each in group)),
        _single("parted at token, median", groups, _parted),
        _single(
            "values pushed",
            groups,
            lambda group: _ratio(sum(e.n_pushed for e in group), sum(e.n_leaves for e in group)),
        ),
    ]
    return markdown(header, rows)


def place_table(comparisons: Sequence[Comparison]) -> str:
    """What the mask took, by what the token belongs to."""
    rows = []
    for place in PLACES:
        shares = np.array(_all(comparisons, place))
        if shares.size:
            over = np.mean(shares > 0.5)
            rows.append(
                [
                    place,
                    str(shares.size),
                    f"{100 * shares.mean():.1f} %",
                    f"{100 * np.median(shares):.1f} %",
                    f"{100 * over:.1f} %",
                ]
            )
    return markdown(["token of", "tokens", "taken, mean", "median", "over half taken"], rows)


def trust_table(comparisons: Sequence[Comparison]) -> str:
    """Whether the reports can be believed: of the values of each level, how many are right."""
    groups = _groups(comparisons)
    rows = []
    for name in (*LEVELS, "pushed", "all"):
        row = [name]
        for _, group in groups:
            values = [value for each in group for value in each.trusted if _is_in(value, name)]
            row.append(f"{_share(value.right for value in values)} of {len(values)}" if values else "-")
        rows.append([*row, f"{100 * _mean(value.confidence for value in values):.0f} %" if values else "-"])
    return markdown(["right of the values", *(name for name, _ in groups), "their mean confidence"], rows)


def _is_in(value: Trusted, name: str) -> bool:
    return name in (value.level, "all") or (name == "pushed" and value.pushed)


def as_json(comparisons: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Everything, for programs: one entry for each question."""
    from dataclasses import asdict

    entries = []
    for each in comparisons:
        entry = asdict(each)
        del entry["question"]["schema"]
        entries.append(entry)
    return entries


_Groups = Sequence[tuple[str, Sequence[Comparison]]]


def _groups(comparisons: Sequence[Comparison]) -> _Groups:
    """The comparisons of each task, and all of them."""
    tasks = list(dict.fromkeys(each.question.task for each in comparisons))
    groups = [(task, [each for each in comparisons if each.question.task == task]) for task in tasks]
    return [*groups, ("all", list(comparisons))] if len(tasks) > 1 else groups


def _pairs(
    name: str, groups: _Groups, measure: Callable[[Sequence[Answer], Sequence[Comparison]], str]
) -> list[str]:
    row = [name]
    for _, group in groups:
        row.append(measure([each.masked for each in group], group))
        row.append(measure([each.free for each in group], group))
    return row


def _single(name: str, groups: _Groups, measure: Callable[[Sequence[Comparison]], str]) -> list[str]:
    """A row about the mask, which the free answers have nothing to say about."""
    row = [name]
    for _, group in groups:
        row += [measure(group), ""]
    return row


def _facts(answers: Sequence[Answer], group: Sequence[Comparison]) -> str:
    return _ratio(sum(answer.n_right for answer in answers), sum(len(each.question.facts) for each in group))


def _mentioned(answers: Sequence[Answer], group: Sequence[Comparison]) -> str:
    n_facts = sum(len(can_be_mentioned(each.question.facts)) for each in group)
    return _ratio(sum(answer.n_mentioned for answer in answers), n_facts)


def _parted(group: Sequence[Comparison]) -> str:
    places = [each.parted for each in group if each.parted is not None]
    return number(float(np.median(places))) if places else "-"


def _all(group: Sequence[Comparison], place: str | None = None) -> list[float]:
    return [
        share
        for each in group
        for share, kind in zip(each.removed, each.places, strict=True)
        if place is None or kind == place
    ]


def _share(flags: Any) -> str:
    found = list(flags)
    return _ratio(sum(found), len(found))


def _ratio(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def _mean(values: Any) -> float:
    found = list(values)
    return float(np.mean(found)) if found else 0.0
