"""String formats as lexemes, and the ranges of number formats.

`format_lexeme` gives the language of a format in an encoding, `FORMATS` says which names there are, and
`format_note` says in a sentence where a language is not exactly that of the specification (it never differs
silently). Unknown names are None: what to do with them is the schema's business. See ``docs/formats.md``.

Formats are patterns with the section of their RFC beside them (`dates`, `addresses`, `resources`), put
together by boolean operations where a pattern alone would be unreadable (`idn`, `patterns`). Compiled on
first use, once for each encoding. Rejected: running a validator on finished strings; a mask needs a language.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Final, Literal

from ...lexeme import Lexeme
from ...regex import Encoding

__all__ = ["FORMATS", "format_lexeme", "format_note", "format_number_range"]

#: Where each string format is: module and function. Imported on first use.
_STRINGS: Final[dict[str, str]] = {
    "date": "dates.date",
    "date-time": "dates.date_time",
    "duration": "dates.duration",
    "time": "dates.time",
    "email": "addresses.email",
    "hostname": "addresses.hostname",
    "idn-email": "addresses.idn_email",
    "idn-hostname": "addresses.idn_hostname",
    "ipv4": "addresses.ipv4",
    "ipv6": "addresses.ipv6",
    "byte": "resources.base64",
    "iri": "resources.iri",
    "iri-reference": "resources.iri_reference",
    "json-pointer": "resources.json_pointer",
    "relative-json-pointer": "resources.relative_json_pointer",
    "uri": "resources.uri",
    "uri-reference": "resources.uri_reference",
    "uri-template": "resources.uri_template",
    "uuid": "resources.uuid",
    "regex": "patterns.regex",
}

# OpenAPI 3.0, section "Data types".
_RANGES: Final[dict[str, tuple[int, int]]] = {
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
}

# OpenAPI's own formats. JSON Schema does not define them, so a validator ignores them and schemas use them
# loosely ("byte" for any bytes, "int32" on strings): they assert nothing, though two have a range.
_ANNOTATIONS: Final = ("binary", "byte", "double", "float", "int32", "int64", "password")

#: Every known name: "assert" if a schema that names it is held to `format_lexeme`, or "annotation".
FORMATS: Final[dict[str, Literal["assert", "annotation"]]] = {
    **dict.fromkeys(_STRINGS, "assert"),
    **dict.fromkeys(_ANNOTATIONS, "annotation"),
}

_A_LABELS: Final = "labels that begin with xn-- are not decoded from Punycode and checked"
_NOTES: Final[dict[str, str]] = {
    "hostname": _A_LABELS,
    "email": _A_LABELS,
    "idn-hostname": f"{_A_LABELS}; a label may have 59 characters before encoding, instead of 63 after",
    "idn-email": f"{_A_LABELS}; lengths are limited in characters, not in bytes",
    "regex": "narrower than the standard: groups four deep, one named group, no back-references",
    "relative-json-pointer": "without the index changes (+1, -1) of the later draft",
}


def format_lexeme(name: str, encoding: Encoding) -> Lexeme | None:
    """The language of a string format.

    Args:
        name: The value of ``format``.
        encoding: How characters are spelled.

    Returns:
        The lexeme, without quotes; None if the format is unknown, an annotation or about numbers.

    Example:
        >>> from maskwright.regex import UTF8
        >>> format_lexeme("date", UTF8) is format_lexeme("date", UTF8)
        True
        >>> format_lexeme("color", UTF8) is None
        True
    """
    return _compiled(name, encoding) if name in _STRINGS else None


def format_note(name: str) -> str | None:
    """Where the language of `format_lexeme` differs from the specification; None if it does not."""
    return _NOTES.get(name)


def format_number_range(name: str) -> tuple[int, int] | None:
    """Smallest and largest integer of a number format; None for all other names.

    Example:
        >>> format_number_range("int32")
        (-2147483648, 2147483647)
    """
    return _RANGES.get(name)


@lru_cache(maxsize=256)
def _compiled(name: str, encoding: Encoding) -> Lexeme:
    module, function = _STRINGS[name].split(".")
    make: Callable[[Encoding], Lexeme] = getattr(import_module(f"{__name__}.{module}"), function)
    return make(encoding)
