"""Requests that are new to a process: schemas with a valid text, and variants of them without number.

A variant renames one property, in the schema and in the text alike: no engine has seen it, and it costs
what the original costs.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import datasets
from .quick import load_items

__all__ = ["FOLDERS", "INSTANCES", "Request", "endless", "load_requests", "variant"]

#: Where the schemas and texts are that need no data set.
FOLDERS = (Path("examples/schemas"), Path("benchmarks/schemas"))
INSTANCES = Path("benchmarks/instances")


@dataclass(frozen=True)
class Request:
    """A schema and a valid text."""

    name: str
    schema: Any
    text: str


def load_requests(data: Path | None, sample: int, seed: int) -> list[Request]:
    """From MaskBench when there is a path, one text for each schema; else the project's own schemas.

    Raises:
        DataError: There are none.
    """
    if data is None:
        return [Request(*item) for item in load_items(FOLDERS, INSTANCES)]
    records = datasets.draw_sample(datasets.read_maskbench(data), sample, seed)
    found = []
    for record in records:
        values = [value for value, valid in record.tests if valid]
        if values:
            found.append(Request(record.name, record.schema, json.dumps(values[0], ensure_ascii=False)))
    if not found:
        raise datasets.DataError("no schema of the sample has a valid instance")
    return found


def variant(request: Request, number: int) -> Request | None:
    """The request with its first property renamed by a number; None when the schema names no property."""
    properties = _first_properties(request.schema)
    if properties is None:
        return None
    old, new = json.dumps(properties), json.dumps(f"{properties}_{number}")
    schema = json.loads(json.dumps(request.schema).replace(old, new))
    return Request(f"{request.name} {number}", schema, request.text.replace(old, new))


def _first_properties(schema: Any) -> str | None:
    """The first name under the first `properties` that is found, breadth first."""
    queue = [schema]
    for node in queue:
        if isinstance(node, dict):
            properties = node.get("properties")
            # A name that is a keyword's too would be renamed where it is none.
            if isinstance(properties, dict):
                for name in properties:
                    if name not in _KEYWORDS:
                        return str(name)
            queue += node.values()
        elif isinstance(node, list):
            queue += node
    return None


_KEYWORDS = frozenset(
    ("title", "type", "description", "properties", "items", "enum", "const", "format", "pattern", "required")
) | {
    "string",
    "integer",
    "number",
    "boolean",
    "object",
    "array",
    "null",
    "$ref",
    "$defs",
    "definitions",
    "id",
}


def endless(requests: Sequence[Request]) -> Iterator[Request]:
    """First the requests, then variants of them, each once."""
    yield from requests
    for number in itertools.count():
        made = [new for new in (variant(request, number) for request in requests) if new is not None]
        if not made:
            return
        yield from made
