"""A schema from whatever the caller has: a value, JSON text, or a Python type.

JSON text keeps the spelling of its numbers (`Number` is a `Decimal` that remembers its text), so
that ``1.0``, ``1e400`` and long decimals are compared exactly and written back as they were.
Duplicate keys in the text are refused: what they mean differs between JSON readers.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from ..errors import SchemaError

__all__ = ["Number", "load_schema"]


class Number(Decimal):
    """A number of a JSON text that is not a plain integer, with its spelling."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Number:
        number = super().__new__(cls, text)
        number.text = text
        return number


def load_schema(schema: Any) -> Any:
    """A schema as a Python value (a dict or a bool).

    Args:
        schema: A dict or bool (returned as it is), JSON text (str or bytes), a pydantic model,
            a dataclass or a TypedDict (through pydantic's `TypeAdapter`).

    Raises:
        SchemaError: The text is not JSON (with line and column), or the value is no schema.
    """
    if isinstance(schema, (dict, bool)):
        return schema
    if isinstance(schema, (str, bytes)):
        return _from_text(schema)
    if isinstance(schema, type) or hasattr(schema, "__pydantic_core_schema__"):
        return _from_type(schema)
    raise SchemaError(
        f"a schema is a dict, a bool, JSON text or a type, not {type(schema).__name__}",
        hint="pass a dict, a JSON string, a pydantic model, a dataclass or a TypedDict",
    )


def _from_text(text: str | bytes) -> Any:
    try:
        value = json.loads(
            text, parse_float=Number, parse_constant=_refuse_constant, object_pairs_hook=_unique_pairs
        )
    except json.JSONDecodeError as error:
        line = error.doc.split("\n")[error.lineno - 1][:200] if error.doc else ""
        raise SchemaError(
            f"the schema is not JSON: {error.msg} at line {error.lineno}, column {error.colno}: {line!r}",
            hint="JSON needs double quotes and has no trailing commas or comments",
        ) from None
    except UnicodeDecodeError as error:
        raise SchemaError(f"the schema is not UTF-8 text: {error}") from None
    except RecursionError:
        raise SchemaError("the schema is nested too deeply to be read") from None
    if not isinstance(value, (dict, bool)):
        raise SchemaError(f"a schema is a JSON object, true or false, not {type(value).__name__}")
    return value


def _refuse_constant(name: str) -> Any:
    raise SchemaError(f"the schema is not JSON: {name} is not a JSON number")


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise SchemaError(f"the schema has the key {key!r} twice in one object")
            seen.add(key)
    return result


def _from_type(schema: Any) -> Any:
    try:
        from pydantic import PydanticUserError, TypeAdapter
        from pydantic.errors import PydanticInvalidForJsonSchema
    except ImportError:
        raise SchemaError(
            f"a schema from the type {schema!r} needs pydantic", hint="pip install pydantic"
        ) from None
    try:
        return TypeAdapter(schema).json_schema()
    except (PydanticUserError, PydanticInvalidForJsonSchema, NameError) as error:
        raise SchemaError(f"pydantic makes no schema of {schema!r}: {error}") from None
