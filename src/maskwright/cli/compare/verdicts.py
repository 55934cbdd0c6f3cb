"""What an answer is worth: whether it is valid, and how many of the facts it has right."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from ...pointers import unescape
from ..exits import MODEL, Failure

__all__ = [
    "can_be_mentioned",
    "find_json",
    "is_same",
    "is_valid",
    "n_mentioned",
    "n_right",
    "strict_json",
    "validator",
]

_MISSING: Final = object()


def strict_json(text: str) -> Any:
    """The value that a text is, white space around it aside. Raises ValueError if it is none."""
    return json.loads(text)


def find_json(text: str) -> Any:
    """The first object or array in a text with other things around it. Raises ValueError if there is none.

    What a program would do that has no mask: cut the JSON out of the chatter and the code fence.
    """
    decoder = json.JSONDecoder()
    for place, character in enumerate(text):
        if character in "{[":
            try:
                return decoder.raw_decode(text, place)[0]
            except ValueError:
                continue
    return strict_json(text)


def validator(schema: Any) -> Any:
    """A validator of another house, so that the mask is not judged by its own kin.

    Raises:
        Failure: The package is missing.
    """
    try:
        import jsonschema_rs
    except ImportError as error:
        raise Failure("comparing needs a validator: pip install jsonschema-rs", MODEL) from error
    return jsonschema_rs.validator_for(json.dumps(schema, default=float), validate_formats=True)


def is_valid(check: Any, value: Any) -> bool:
    return bool(check.is_valid(value))


def n_right(value: Any, facts: dict[str, Any]) -> int:
    """How many facts a value has right. Texts are compared without regard to case and white space around."""
    return sum(is_same(_look_up(value, pointer), fact) for pointer, fact in facts.items())


def can_be_mentioned(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts that a text can hold in so many words: texts and numbers, and no yes or no."""
    return {key: fact for key, fact in facts.items() if not isinstance(fact, (bool, type(None)))}


def n_mentioned(text: str, facts: dict[str, Any]) -> int:
    """How many facts stand somewhere in a text, whatever its form, without regard to case."""
    return sum(
        re.search(rf"(?<!\w){re.escape(str(fact))}(?!\w)", text, re.IGNORECASE) is not None
        for fact in can_be_mentioned(facts).values()
    )


def _look_up(value: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        key = unescape(part)
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return _MISSING
    return value


def is_same(one: Any, other: Any) -> bool:
    """Whether a value is the fact: of texts, case and white space around do not count."""
    if isinstance(one, str) and isinstance(other, str):
        return one.strip().casefold() == other.strip().casefold()
    # True is not 1 here, and 24.5 is 24.50.
    return isinstance(one, bool) == isinstance(other, bool) and one == other
