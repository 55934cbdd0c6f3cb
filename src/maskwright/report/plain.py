"""A report as plain values, for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from .contents import Report
from .steps import Step

__all__ = ["render"]

_N_ALTERNATIVES: Final = 5  # shown of each step


def render(report: Report) -> dict[str, Any]:
    """Values that `json.dumps` takes. The names are those of `Report`, `Leaf` and `Step`."""
    return {
        "text": report.text,
        "complete": report.complete,
        "leaves": [
            {**asdict(leaf), "level": leaf.level, "start": start, "end": end}
            for leaf, (start, end) in zip(report.leaves, report.spans, strict=True)
        ],
        "outside": asdict(report.outside),
        "tokens": [
            {"text": piece, "leaves": list(owners), **_step(step)}
            for piece, owners, step in zip(report.pieces, report.owners, report.steps, strict=True)
        ],
    }


def _step(step: Step) -> dict[str, Any]:
    alternatives = zip(step.legal_ids.tolist(), step.legal_probabilities.tolist(), strict=True)
    return {
        "token_id": step.token_id,
        "probability": step.probability,
        "removed": step.removed,
        "divergence": step.divergence,
        "n_legal": step.n_legal,
        "wanted_id": step.wanted_id,
        "wanted_probability": step.wanted_probability,
        "wanted_is_legal": step.wanted_is_legal,
        "alternatives": [list(pair) for pair in alternatives][:_N_ALTERNATIVES],
    }
