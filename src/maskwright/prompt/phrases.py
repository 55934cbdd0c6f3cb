"""Values, bounds and remarks of a schema in a few words, the same in every style."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["Detail", "bounds", "count", "remark", "spell", "string_limits", "unit"]

_UNITS: Final = ("unit", "units", "x-unit", "x-units")  # no keyword of JSON Schema, and often written


@dataclass(frozen=True, slots=True)
class Detail:
    """How much to say.

    Attributes:
        n_choices: Members of an enum to list; beyond, their number.
        n_remark: Characters of a description; 0 for none.
        depth: Levels of nested values to describe.
    """

    n_choices: int = 40  # beyond, a list of choices crowds out the rest of a small model's prompt
    n_remark: int = 1000
    depth: int = 12


def spell(value: Any) -> str:
    """A value as JSON."""
    # `default`: schemas that were read exactly hold their fractions as decimals.
    return json.dumps(value, ensure_ascii=False, default=float)


def remark(schema: dict[str, Any], detail: Detail) -> str:
    """The description on one line, without its full stop, and an example where one is given."""
    text = schema.get("description", "")
    line = " ".join(text.split()).rstrip(".") if isinstance(text, str) else ""
    examples = schema.get("examples")
    if isinstance(examples, list) and examples:
        line = f"{line} (such as {spell(examples[0])})".strip()
    if len(line) <= detail.n_remark:
        return line
    return line[: detail.n_remark - 1].rstrip() + "…" if detail.n_remark else ""


def unit(schema: dict[str, Any]) -> str:
    """The unit that a number is in, if the schema names one."""
    found = next((schema[key] for key in _UNITS if isinstance(schema.get(key), str)), "")
    return " ".join(found.split())


def bounds(schema: dict[str, Any]) -> str:
    """The limits of a number."""
    words = {
        "minimum": "at least",
        "exclusiveMinimum": "above",
        "maximum": "at most",
        "exclusiveMaximum": "below",
        "multipleOf": "a multiple of",
    }
    return ", ".join(f"{word} {schema[key]}" for key, word in words.items() if key in schema)


def count(low: int, high: int | None) -> str:
    """How many."""
    if high is None:
        return f"at least {low}" if low else ""
    if low == high:
        return str(low)
    return f"{low} to {high}" if low else f"at most {high}"


def string_limits(schema: dict[str, Any]) -> tuple[str, str, str]:
    """Of a string: its length, its format, its pattern; each empty where the schema says nothing."""
    length = count(schema.get("minLength", 0), schema.get("maxLength"))
    return length, str(schema.get("format", "")), str(schema.get("pattern", ""))
