"""Reads a file of prompts: JSON lines, each a question, the schema of its answer and facts to check.

    {"prompt": "...", "task": "extraction", "schema": "schemas/contact.json", "facts": {"/age": 34}}

Only ``prompt`` is needed where the command line names a schema. ``schema`` is a path beside the file, or a
schema itself. ``facts`` are values that a right answer has, by JSON pointer. ``task`` groups prompts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ...errors import SchemaError
from ...schema.load import load_schema
from ..exits import GRAMMAR, Failure

__all__ = ["Question", "read_questions"]

_KEYS: Final = {"prompt": str, "task": str, "schema": (str, dict, bool), "facts": dict}


@dataclass(frozen=True, slots=True)
class Question:
    """One line of the file.

    Attributes:
        line: Its number, from 1.
        prompt: What the model is asked.
        task: The group it belongs to.
        schema: Of the answer, as parsed JSON.
        facts: What a right answer holds, by JSON pointer.
    """

    line: int
    prompt: str
    task: str
    schema: Any
    facts: dict[str, Any]


def read_questions(path: Path, default_schema: Any = None) -> list[Question]:
    """The questions of a file.

    Args:
        path: JSON lines; empty lines are skipped.
        default_schema: For lines without one, as parsed JSON.

    Raises:
        Failure: The file cannot be read, or a line is not what it should be.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"{path}: {error}", GRAMMAR) from error
    questions = list(_read(path, lines, default_schema))
    if not questions:
        raise Failure(f"{path} has no prompts", GRAMMAR)
    return questions


def _read(path: Path, lines: list[str], default_schema: Any) -> Iterator[Question]:
    files: dict[str, Any] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            _check(entry)
            schema = entry.get("schema", default_schema)
            if isinstance(schema, str):
                if schema not in files:
                    files[schema] = load_schema((path.parent / schema).read_text(encoding="utf-8"))
                schema = files[schema]
            if schema is None:
                raise ValueError('there is no "schema", and none on the command line')
        except (ValueError, OSError, SchemaError) as error:
            raise Failure(f"{path}, line {number}: {error}", GRAMMAR) from error
        yield Question(number, entry["prompt"], entry.get("task", "all"), schema, entry.get("facts", {}))


def _check(entry: Any) -> None:
    """Refuse what is misspelled: a fact that is not read would count as no fact."""
    if not isinstance(entry, dict) or "prompt" not in entry:
        raise ValueError('a line is an object with at least "prompt"')
    for key, value in entry.items():
        if key not in _KEYS:
            raise ValueError(f"there is no key {key!r}; there are {', '.join(_KEYS)}")
        if not isinstance(value, _KEYS[key]):  # type: ignore[arg-type]
            raise ValueError(f"{key!r} is a {type(value).__name__}")
    for pointer in entry.get("facts", {}):
        if pointer and not pointer.startswith("/"):
            raise ValueError(f"{pointer!r} is no JSON pointer")
