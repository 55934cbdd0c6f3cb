"""JSON values: equality as JSON Schema means it, types, and spelling.

`json_key` maps a value to something hashable that is equal exactly for equal JSON values: ``1`` and
``1.0`` are one number, ``true`` is not ``1``, objects have no order. Numbers are compared as exact
decimals, never as binary floats.
"""

from __future__ import annotations

import math
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any, Final

from ..errors import SchemaError
from .load import Number

__all__ = [
    "ANY",
    "ARRAY",
    "BOOLEAN",
    "FRACTION",
    "INTEGER",
    "NULL",
    "NUMBER",
    "OBJECT",
    "STRING",
    "decimal_of",
    "is_integer",
    "is_number",
    "json_key",
    "number_text",
    "string_text",
    "type_bit",
]

# The types as bits. Integers and other numbers are disjoint, so that conjunction is ``&``.
NULL: Final = 1
BOOLEAN: Final = 2
STRING: Final = 4
INTEGER: Final = 8
FRACTION: Final = 16
ARRAY: Final = 32
OBJECT: Final = 64
NUMBER: Final = INTEGER | FRACTION
ANY: Final = 127


def is_number(value: Any) -> bool:
    """Whether a Python value is a JSON number (a bool is not)."""
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def decimal_of(value: Any) -> Decimal:
    """The exact decimal a number is spelled as (a float: its shortest spelling)."""
    return value if isinstance(value, Decimal) else Decimal(repr(value))


def is_integer(value: Any) -> bool:
    """Whether a number has no fractional part."""
    if isinstance(value, int):
        return True
    exponent = _stripped(value)[1]
    return exponent >= 0


def _stripped(value: Any) -> tuple[str, int]:
    """Signed digits without trailing zeros, and the exponent: one spelling per number."""
    try:
        sign, digits, exponent = decimal_of(value).as_tuple()
    except (ArithmeticError, ValueError):
        raise SchemaError(f"{value!r} is not a JSON value") from None
    if not isinstance(exponent, int):
        raise SchemaError(f"{value!r} is not a JSON number")
    text = "".join(map(str, digits)).lstrip("0")
    if not text:
        return "0", 0
    short = text.rstrip("0")
    return ("-" if sign else "") + short, exponent + len(text) - len(short)


def json_key(value: Any) -> Any:
    """A hashable stand-in, equal for equal JSON values only."""
    kind = type(value)
    if kind is str or value is None:
        return value
    if kind is bool:
        return (value,)
    if kind is list or kind is tuple:
        return ("[", *map(json_key, value))
    if kind is dict:
        return frozenset((name, json_key(item)) for name, item in value.items())
    return ("#", *_stripped(value))


def type_bit(value: Any) -> int:
    """The type bit of a value."""
    if isinstance(value, str):
        return STRING
    if value is None:
        return NULL
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, dict):
        return OBJECT
    if isinstance(value, (list, tuple)):
        return ARRAY
    return INTEGER if is_integer(value) else FRACTION


def string_text(value: str) -> bytes:
    """A string as JSON text, quotes included: raw UTF-8, shortest escapes."""
    return encode_basestring(value).encode("utf-8", "surrogatepass")


def number_text(value: Any) -> bytes:
    """A number as the schema spells it."""
    if isinstance(value, Number):
        return value.text.encode()
    if isinstance(value, Decimal):
        return str(value).encode()
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not a JSON number")
    return repr(value).encode()
