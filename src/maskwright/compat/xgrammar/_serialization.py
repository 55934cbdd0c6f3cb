"""The envelope of serialized objects: JSON with the kind of object and a version.

A serialized grammar holds the sources that it was made from, not automata: making it again takes less time
than reading an automaton, and the text stays readable and independent of the machine.
"""

from __future__ import annotations

import json
from typing import Any

from .config import get_serialization_version
from .exception import DeserializeFormatError, DeserializeVersionError, InvalidJSONError

__all__ = ["dump", "parse"]


def dump(kind: str, body: dict[str, Any]) -> str:
    """An object's JSON text."""
    return json.dumps({"type": kind, **body, "__VERSION__": get_serialization_version()})


def parse(kind: str, text: str) -> dict[str, Any]:
    """The body that `dump` was given.

    Raises:
        InvalidJSONError: The text is not JSON.
        DeserializeVersionError: It has no version, or another one.
        DeserializeFormatError: It is another kind of object.
    """
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidJSONError(f"a serialized {kind} is JSON text: {error}") from None
    version = body.get("__VERSION__") if isinstance(body, dict) else None
    if version != get_serialization_version():
        raise DeserializeVersionError(
            f"a serialized {kind} of version {version!r} cannot be read",
            hint=f"serialize it again: this library reads {get_serialization_version()!r}",
        )
    if body.get("type") != kind:
        raise DeserializeFormatError(f"this is a serialized {body.get('type')!r}, not a {kind}")
    return dict(body)
