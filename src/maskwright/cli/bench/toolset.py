"""Tools as a language model is given them: functions with a schema for their arguments, and calls of them.

Generated, deterministic, and of mixed size: one to eight parameters of all common kinds, some optional,
some nested. The same numbers give the same tools on every machine.
"""

from __future__ import annotations

import random
from typing import Any

__all__ = ["Tool", "make_tool", "tool_calls", "tool_schema"]

_VERBS = ("get", "list", "create", "update", "delete", "send", "search", "book", "cancel", "move")
_NOUNS = ("invoice", "flight", "ticket", "customer", "message", "room", "order", "file", "event", "device")
_PARAMETERS = (
    "query", "limit", "owner", "status", "priority", "start_date", "end_date", "amount", "currency",
    "tags", "address", "email", "enabled", "items", "notes", "region", "count", "reference", "title", "level",
)  # fmt: skip

#: A function: its name, the schema of its arguments, and valid arguments.
Tool = tuple[str, dict[str, Any], dict[str, Any]]


def make_tool(number: int, series: int) -> Tool:
    """One tool. Equal numbers of different series differ in every name and in their bounds."""
    rng = random.Random(number)
    name = f"{rng.choice(_VERBS)}_{rng.choice(_NOUNS)}_{series}_{number}"
    properties: dict[str, Any] = {}
    arguments: dict[str, Any] = {}
    required = []
    for parameter in rng.sample(_PARAMETERS, rng.randint(1, 8)):
        key = f"{parameter}_{series}"
        schema, value = _parameter(rng, series)
        properties[key] = {**schema, "description": f"The {parameter} of the call"}
        if rng.random() < 0.7:
            required.append(key)
            arguments[key] = value
        elif rng.random() < 0.5:
            arguments[key] = value
    parameters = {"type": "object", "properties": properties, "additionalProperties": False}
    return name, parameters | ({"required": required} if required else {}), arguments


def _parameter(rng: random.Random, series: int) -> tuple[dict[str, Any], Any]:
    kind = rng.randrange(9)
    if kind == 0:
        return {"type": "string"}, "the quick brown fox"
    if kind == 1:
        return {"type": "string", "minLength": 1, "maxLength": rng.randint(20, 200) + series}, "a short text"
    if kind == 2:
        return {"type": "integer", "minimum": 0, "maximum": rng.randint(100, 10_000) + series}, 42
    if kind == 3:
        return {"type": "number"}, 12.5
    if kind == 4:
        return {"type": "boolean"}, True
    if kind == 5:
        values = [f"{word}_{series}" for word in rng.sample(_NOUNS, 4)]
        return {"type": "string", "enum": values}, values[2]
    if kind == 6:
        return {"type": "string", "format": "date"}, "2024-02-29"
    if kind == 7:
        return {"type": "array", "items": {"type": "string"}, "maxItems": rng.randint(3, 20)}, ["one", "two"]
    inner = {
        "street": {"type": "string"},
        "number": {"type": "integer"},
        f"note_{series}": {"type": "string"},
    }
    schema = {"type": "object", "properties": inner, "required": ["street"], "additionalProperties": False}
    return schema, {"street": "Long Lane", "number": 7}


def tool_schema(tools: list[Tool]) -> dict[str, Any]:
    """One call of any of the tools: an object with the tool's `name` and its `arguments`."""
    return {
        "anyOf": [
            {
                "type": "object",
                "properties": {"name": {"const": name}, "arguments": parameters},
                "required": ["name", "arguments"],
                "additionalProperties": False,
            }
            for name, parameters, _ in tools
        ]
    }


def tool_calls(tools: list[Tool], count: int) -> list[dict[str, Any]]:
    """Valid calls of tools spread evenly over the list."""
    stride = max(1, len(tools) // count)
    return [{"name": name, "arguments": arguments} for name, _, arguments in tools[::stride][:count]]
