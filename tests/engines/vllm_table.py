"""Prints what constraining costs in vLLM here, with the plug-in and with vLLM's own backend.

usage: python tests/engines/vllm_table.py     (vLLM, maskwright and a model: see `vllm_here.py`)

Mask time is what the engine's core spends on grammars: advancing them by what was sampled, and filling
the batch's masks. It includes vLLM's own bookkeeping, which is the same for both.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
from tabulate import tabulate

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.engines.vllm_here import reason_to_skip, run_offline

#: (mode of `vllm_runs.py`, how many of its requests, name in the table). vLLM's own backend refuses most of
#: the schemas; the last two rows are the two that both serve.
RUNS = (
    ("compact", 16, "maskwright"),
    ("speculative", 16, "maskwright, ngram drafts"),
    ("compact", 2, "maskwright, two schemas"),
    ("own", 2, "xgrammar, the same two"),
)


def fits(answer: dict[str, Any]) -> bool:
    """Whether a text is JSON that is valid against the schema of its request."""
    if answer["finish"] != "stop":
        return False
    validator = jsonschema_rs.validator_for(answer["constraint"]["json"], validate_formats=True)
    return bool(validator.is_valid(json.loads(answer["text"])))


def row(name: str, result: dict[str, Any]) -> list[Any]:
    answers = result["answers"]
    tokens = sum(answer["tokens"] for answer in answers)
    return [
        "vLLM",
        result["version"],
        name,
        len(answers),
        sum(map(fits, answers)),
        f"{1e6 * result['mask_seconds'] / tokens:.0f}",
        f"{100 * result['mask_seconds'] / result['seconds']:.2f} %",
    ]


def main() -> None:
    reason = reason_to_skip()
    if reason:
        sys.exit(reason)
    rows = [row(name, run_offline(mode, wanted)) for mode, wanted, name in RUNS]
    headers = ["engine", "version", "backend", "requests", "valid", "mask us/token", "share of time"]
    print(tabulate(rows, headers))


if __name__ == "__main__":
    main()
