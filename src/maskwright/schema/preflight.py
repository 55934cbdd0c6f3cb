"""Preflight: one pass over a schema before anything is expanded.

Rules expand while tokens are generated, which is too late to learn of a typing error. So every schema
object that generation may come to is looked at once here: shapes of keyword values, syntax of patterns,
targets of local references. The pass makes no nodes and does not know where it is (`survey`), because it is
the only part of compiling that grows with the size of the document; it follows references, so that
definitions which nothing refers to cost nothing. Where it meets anything unusual, all is looked at again with
its place.

What can only be judged together with other keywords is not decided here; schemas with keywords that can
split into too many cases, or cannot always be enforced, are remembered as risky, and worked out right away
(`inspection`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote

from ..errors import LimitExceeded, RegexError, SchemaError
from ..pointers import escape, unescape
from ..regex.ecma import parse_ecma
from .survey import Reading, Survey
from .values import is_integer, is_number

__all__ = ["Findings", "pattern_problem", "preflight"]

Path = tuple[Any, ...]  # (outer path, part, part, ...): nested, so that going down copies nothing

#: Schema objects in one document; also where a value that contains itself stops.
_MAX_SCHEMAS: Final = 2_000_000

_TYPES: Final = frozenset(["null", "boolean", "string", "integer", "number", "array", "object", "any"])
#: Types that share no value with another, but for the two kinds of numbers.
_APART: Final = _TYPES - {"any"}
_NUMBERS: Final = frozenset(["integer", "number"])


class Findings:
    """What the pass has seen.

    Attributes:
        is_risky: Whether there are schemas that may turn out not to be enforceable.
        risky: Their ids.
        leads: The ids of all schemas on the way to one of them; None where that is not known.
        is_dynamic: Whether there is a dynamic or recursive anchor.
    """

    __slots__ = ("is_dynamic", "is_risky", "leads", "risky")

    def __init__(self) -> None:
        self.is_risky = False
        self.is_dynamic = False
        self.risky: set[int] = set()
        self.leads: set[int] | None = None


def preflight(root: Any, *, lenient: bool = False) -> Findings:
    """Look at every schema object of a document that its root may lead to.

    Args:
        root: The root schema.
        lenient: Whether patterns that cannot be used are let through (to be widened).

    Raises:
        SchemaError: A keyword has a value of the wrong shape, a pattern is malformed, or a local reference
            leads to nothing.
    """
    if not isinstance(root, dict):
        return Findings()
    survey = Survey(root, _READINGS, _TYPES, _lets_through if lenient else _is_fine, plainly_apart)
    findings = Findings()
    if not survey.is_plain or survey.leads_elsewhere:
        look = _CloserLook(root, lenient)
        findings = look.findings
        if look.has_ids or not survey.is_plain:
            return findings
    if survey.risky:
        findings.is_risky = True
        findings.risky = survey.risky
        findings.leads = survey.leading()
    return findings


class _CloserLook:
    """The pass that knows where it is, over the whole document."""

    def __init__(self, root: dict[str, Any], lenient: bool) -> None:
        self.findings = Findings()
        self.is_lenient = lenient
        self.has_ids = False
        self.refs: list[tuple[str, Path]] = []
        self.stack: list[tuple[Any, Path]] = [(root, ())]
        n_schemas = 0
        while self.stack:
            schema, path = self.stack.pop()
            n_schemas += 1
            if n_schemas > _MAX_SCHEMAS:
                raise LimitExceeded("the schema is too large", resource="schemas", limit=_MAX_SCHEMAS)
            if isinstance(schema, dict):
                for keyword, value in schema.items():
                    look = _LOOKS.get(keyword)
                    if look is not None:
                        look(self, path, keyword, value)
                if "pattern" in schema and "format" in schema:
                    self.findings.is_risky = True
            elif not isinstance(schema, bool):
                raise _error(path, None, f"a schema is an object, true or false, not {type(schema).__name__}")
        if not self.has_ids:  # elsewhere they are counted from other places than the root
            for ref, path in self.refs:
                _check_pointer(root, ref, path)

    def visit(self, schema: Any, *path: Any) -> None:
        """Look at a subschema later."""
        self.stack.append((schema, path))


def _is_fine(pattern: str) -> bool:
    return pattern_problem(pattern) is None


def _lets_through(pattern: str) -> bool:
    return True


def _error(path: Path, keyword: str | None, message: str, hint: str | None = None) -> SchemaError:
    parts: list[str] = []
    while path:
        parts[:0] = [escape(part) for part in path[1:]]
        path = path[0]
    if keyword is not None:
        parts.append(keyword)
    return SchemaError(message, pointer="/".join(["#", *parts]), keyword=keyword, hint=hint)


def _check_pointer(root: Any, ref: str, path: Path) -> Any:
    """What a local reference leads to."""
    value = root
    for raw in unquote(ref[1:]).split("/")[1:]:
        part = unescape(raw)
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            raise _error(
                path, "$ref", f"the reference {ref!r} leads to nothing: there is no {part!r} on the way"
            )
    return value


Look = Callable[[_CloserLook, Path, str, Any], None]


def _map(here: _CloserLook, path: Path, keyword: str, value: Any) -> None:
    if not isinstance(value, dict):
        raise _error(path, keyword, f"{keyword} must be an object, not {type(value).__name__}")
    for name, inner in value.items():
        here.visit(inner, path, keyword, name)


def _patterns(here: _CloserLook, path: Path, keyword: str, value: Any) -> None:
    _map(here, path, keyword, value)
    for pattern in value:
        _check_pattern(here, path, keyword, pattern)


def _dependencies(here: _CloserLook, path: Path, keyword: str, value: Any) -> None:
    if not isinstance(value, dict):
        raise _error(path, keyword, f"{keyword} must be an object, not {type(value).__name__}")
    here.findings.is_risky = True
    for name, inner in value.items():
        if isinstance(inner, (dict, bool)):
            here.visit(inner, path, keyword, name)
        elif not (isinstance(inner, str) or _is_names(inner)):
            raise _error(path, keyword, f"{keyword} of {name!r} must be a schema or a list of names")


def _list(here: _CloserLook, path: Path, keyword: str, value: Any) -> None:
    if not isinstance(value, list) or (not value and keyword != "prefixItems"):
        raise _error(path, keyword, f"{keyword} must be a non-empty list of schemas")
    if keyword == "oneOf" and not plainly_apart(value):
        here.findings.is_risky = True
    for index, inner in enumerate(value):
        here.visit(inner, path, keyword, index)


def plainly_apart(options: list[Any]) -> bool:
    """Whether each option has one type of its own, so that "one of them" is "any of them"."""
    types = [option.get("type") for option in options if isinstance(option, dict)]
    if len(types) != len(options) or not all(isinstance(name, str) for name in types):
        return False
    names = set(types)
    return len(names) == len(types) and names <= _APART and not names >= _NUMBERS


def _one(here: _CloserLook, path: Path, keyword: str, value: Any) -> None:
    here.visit(value, path, keyword)


def _risky_one(here: _CloserLook, path: Path, keyword: str, value: Any) -> None:
    here.findings.is_risky = True
    here.visit(value, path, keyword)


def _items(here: _CloserLook, path: Path, keyword: str, value: Any) -> None:
    if isinstance(value, list):
        for index, inner in enumerate(value):
            here.visit(inner, path, keyword, index)
    else:
        here.visit(value, path, keyword)


def _type(here: _CloserLook, path: Path, keyword: str, value: Any) -> None:
    listed = value if isinstance(value, list) else [value]
    for name in listed:
        if not isinstance(name, str) or name not in _TYPES:
            names = ", ".join(sorted(_TYPES - {"any"}))
            raise _error(path, keyword, f"unknown type {name!r}", f"one of {names}")


def _count(here: _CloserLook, path: Path, keyword: str, value: Any) -> None:
    if keyword == "minProperties" and value != 0 and value != 1:
        here.findings.is_risky = True
    if not is_number(value) or not is_integer(value) or value < 0:
        raise _error(path, keyword, f"{keyword} must be a non-negative integer, not {value!r}")


def _number(here: _CloserLook, path: Path, keyword: str, value: Any) -> None:
    if keyword == "multipleOf":
        here.findings.is_risky = True
    if not (is_number(value) or (isinstance(value, bool) and keyword[0] == "e")):
        raise _error(path, keyword, f"{keyword} must be a number, not {value!r}")


def _pattern(here: _CloserLook, path: Path, keyword: str, value: Any) -> None:
    if not isinstance(value, str):
        raise _error(path, keyword, f"pattern must be a string, not {type(value).__name__}")
    _check_pattern(here, path, keyword, value)


def _string(here: _CloserLook, path: Path, keyword: str, value: Any) -> None:
    if not isinstance(value, str):
        raise _error(path, keyword, f"{keyword} must be a string, not {type(value).__name__}")


def _ref(here: _CloserLook, path: Path, keyword: str, value: Any) -> None:
    _string(here, path, keyword, value)
    if value.startswith("#/") or value == "#":
        here.refs.append((value, path))
    else:
        here.findings.is_risky = True


def _required(here: _CloserLook, path: Path, keyword: str, value: Any) -> None:
    if not isinstance(value, bool) and not _is_names(value):
        raise _error(path, keyword, f"required must be a list of strings, not {value!r}")


def _enum(here: _CloserLook, path: Path, keyword: str, value: Any) -> None:
    if not isinstance(value, list):
        raise _error(path, keyword, f"enum must be a list, not {type(value).__name__}")


def _unique(here: _CloserLook, path: Path, keyword: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise _error(path, keyword, "uniqueItems must be true or false")
    if value:
        here.findings.is_risky = True


def _id(here: _CloserLook, path: Path, keyword: str, value: Any) -> None:
    if path and isinstance(value, str):
        here.has_ids = True


def _anchor(here: _CloserLook, path: Path, keyword: str, value: Any) -> None:
    here.findings.is_dynamic = True


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _check_pattern(here: _CloserLook, path: Path, keyword: str, pattern: str) -> None:
    error = pattern_problem(pattern)
    if error is not None and not here.is_lenient:
        message = f"the pattern {pattern[:100]!r} is malformed at offset {error.offset}: {error.message}"
        raise _error(path, keyword, message, error.hint) from error


@lru_cache(maxsize=4096)
def pattern_problem(pattern: str) -> RegexError | None:
    """Why a pattern cannot be used, if it cannot."""
    try:
        parse_ecma(pattern, frozenset())
    except RegexError as error:
        return error
    return None


#: How each keyword is read by the survey, and by the closer look. All others say nothing.
_KEYWORDS: Final[dict[str, tuple[Reading, Look]]] = {
    **dict.fromkeys(["properties", "dependentSchemas"], (Reading.MAP, _map)),
    **dict.fromkeys(["$defs", "definitions"], (Reading.DEFINITIONS, _map)),
    "patternProperties": (Reading.PATTERN_MAP, _patterns),
    **dict.fromkeys(["dependencies", "dependentRequired"], (Reading.DEPENDENCIES, _dependencies)),
    **dict.fromkeys(["allOf", "anyOf"], (Reading.SCHEMAS, _list)),
    "prefixItems": (Reading.TUPLE, _list),
    "oneOf": (Reading.ONE_OF, _list),
    **dict.fromkeys(
        ["additionalProperties", "additionalItems", "then", "else", "contains", "propertyNames"],
        (Reading.SCHEMA, _one),
    ),
    **dict.fromkeys(
        ["not", "if", "unevaluatedItems", "unevaluatedProperties"], (Reading.RISKY_SCHEMA, _risky_one)
    ),
    "items": (Reading.ITEMS, _items),
    "type": (Reading.TYPE, _type),
    **dict.fromkeys(
        ["minLength", "maxLength", "minItems", "maxItems", "maxProperties", "minContains", "maxContains"],
        (Reading.COUNT, _count),
    ),
    "minProperties": (Reading.MANY_COUNT, _count),
    **dict.fromkeys(["minimum", "maximum"], (Reading.NUMBER, _number)),
    **dict.fromkeys(["exclusiveMinimum", "exclusiveMaximum"], (Reading.BOUND, _number)),
    "multipleOf": (Reading.RISKY_NUMBER, _number),
    "pattern": (Reading.PATTERN, _pattern),
    "format": (Reading.FORMAT, _string),
    "$ref": (Reading.REF, _ref),
    "$dynamicRef": (Reading.ODD, _ref),
    "required": (Reading.NAMES, _required),
    "enum": (Reading.VALUES, _enum),
    "uniqueItems": (Reading.RISKY_FLAG, _unique),
    **dict.fromkeys(["$id", "id"], (Reading.IDENTITY, _id)),
    **dict.fromkeys(["$dynamicAnchor", "$recursiveAnchor"], (Reading.ODD, _anchor)),
}
_READINGS: Final = {keyword: int(reading) for keyword, (reading, _) in _KEYWORDS.items()}
_LOOKS: Final = {keyword: look for keyword, (_, look) in _KEYWORDS.items()}
