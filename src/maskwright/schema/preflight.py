"""Preflight: one pass over a schema before anything is expanded.

Rules expand while tokens are generated, which is too late to learn of a typing error. So every schema
object that generation may come to is looked at once here: shapes of keyword values, syntax of patterns,
targets of local references. The pass makes no nodes and is a table look-up per keyword, because it is the
only part of compiling that grows with the size of the document. A plain schema is only glanced at; the
pass that knows where it is runs when the glance meets anything unusual. The glance follows references, so
that definitions which nothing refers to cost nothing.

What can only be judged together with other keywords is not decided here; schemas with keywords that can
split into too many cases, or cannot always be enforced, are remembered as `risky`, and expanded right away
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
from .values import is_integer, is_number

__all__ = ["Findings", "pattern_problem", "preflight"]

Path = tuple[Any, ...]  # (outer path, part, part, ...): nested, so that going down copies nothing

#: Schema objects in one document; also where a value that contains itself stops.
_MAX_SCHEMAS: Final = 2_000_000

_AS_TYPE, _AS_MAP, _AS_SCHEMA, _AS_NAMES, _AS_COUNT, _AS_REF = range(6)
_AS_LIST, _AS_PATTERN, _AS_VALUES, _AS_TEXT, _AS_DEFINITIONS, _AS_NUMBER = range(6, 12)
_AS_PATTERNS, _AS_ID, _AS_ODD = range(12, 15)

_TYPES: Final = frozenset(["null", "boolean", "string", "integer", "number", "array", "object", "any"])
#: Types that share no value with another, but for the two kinds of numbers.
_APART: Final = _TYPES - {"any"}
_NUMBERS: Final = frozenset(["integer", "number"])


class Findings:
    """What the pass has seen.

    Attributes:
        risky: Places of schemas that may turn out not to be enforceable.
        local_refs: What each local reference leads to, and the place of the schema that has it. Known only
            where nothing but the root has an id.
        has_ids: Whether a part of the document has an id.
        is_dynamic: Whether there is a dynamic or recursive anchor.
        is_lenient: Whether patterns that cannot be used are let through (to be widened).
    """

    __slots__ = ("has_ids", "is_dynamic", "is_lenient", "local_refs", "refs", "risky")

    def __init__(self, is_lenient: bool = False) -> None:
        self.is_lenient = is_lenient
        self.risky: list[Path] = []
        self.is_dynamic = False
        self.has_ids = False
        self.refs: list[tuple[str, Path]] = []  # as they are spelled
        self.local_refs: list[tuple[Any, Path]] = []


def preflight(root: Any, *, lenient: bool = False) -> Findings:
    """Look at every schema object of a document that its root may lead to.

    Raises:
        SchemaError: A keyword has a value of the wrong shape, a pattern is malformed, or a local reference
            leads to nothing.
    """
    if not isinstance(root, dict):
        return Findings(lenient)
    found = _glance(root)
    return found if found is not None else _look(root, lenient)


def _look(root: dict[str, Any], lenient: bool) -> Findings:
    """The whole pass, which knows where it is."""
    found = Findings(lenient)
    stack: list[tuple[Any, Path]] = [(root, ())]
    n_schemas = 0
    while stack:
        schema, path = stack.pop()
        n_schemas += 1
        if n_schemas > _MAX_SCHEMAS:
            raise LimitExceeded("the schema is too large", resource="schemas", limit=_MAX_SCHEMAS)
        if isinstance(schema, dict):
            for keyword, value in schema.items():
                look = _LOOKS.get(keyword)
                if look is not None:
                    look(found, stack, path, keyword, value)
            if "pattern" in schema and "format" in schema:
                found.risky.append(path)  # together they may be too large an automaton
        elif not isinstance(schema, bool):
            raise _error(path, None, f"a schema is an object, true or false, not {type(schema).__name__}")
    if not found.has_ids:
        found.local_refs = [(_check_pointer(root, ref, path), path) for ref, path in found.refs]
    return found


def _glance(root: dict[str, Any]) -> Findings | None:
    """The pass over a plain schema, without places: None as soon as anything asks for a closer look.

    Definitions are looked at where a reference leads to them; what nothing refers to costs nothing.
    """
    found = Findings()
    stack: list[Any] = [root]
    refs: set[str] = set()
    kinds, types = _KINDS, _TYPES
    for _ in range(_MAX_SCHEMAS):
        if not stack:
            return found
        schema = stack.pop()
        if schema.__class__ is not dict:
            if schema.__class__ is bool:
                continue
            return None
        for keyword, value in schema.items():
            kind = kinds.get(keyword)
            if kind is None:
                continue
            of = value.__class__
            if kind == _AS_TYPE:
                if value in types if of is str else _is_plain(kind, of, value, stack):
                    continue
            elif kind == _AS_MAP:
                if of is dict:
                    stack.extend(value.values())
                    continue
            elif kind == _AS_SCHEMA:
                stack.append(value)
                continue
            elif kind == _AS_REF:
                if of is str and (value in refs or _follows(root, value, refs, stack)):
                    continue
            elif kind == _AS_TEXT:
                if of is str and "pattern" not in schema:
                    continue
            elif kind == _AS_ID:
                if schema is root or of is not str:
                    continue
            elif _is_plain(kind, of, value, stack):
                continue
            return None
    return None


def _is_plain(kind: int, of: type, value: Any, stack: list[Any]) -> bool:
    """Whether the value of a rarer keyword asks for no closer look."""
    if kind == _AS_COUNT:
        return of is int and value >= 0
    if kind == _AS_NUMBER:
        return of is int or of is float
    if kind == _AS_DEFINITIONS:
        return of is dict
    if kind == _AS_PATTERNS:
        if of is not dict:
            return False
        stack.extend(value.values())
        return all(pattern_problem(pattern) is None for pattern in value)
    if kind == _AS_PATTERN:
        return of is str and pattern_problem(value) is None
    if of is not list:
        return False
    if kind == _AS_LIST:
        stack.extend(value)
        return bool(value)
    if kind == _AS_TYPE:
        return all(name.__class__ is str and name in _TYPES for name in value)
    return kind == _AS_VALUES or (kind == _AS_NAMES and all(name.__class__ is str for name in value))


def _follows(root: dict[str, Any], ref: str, refs: set[str], stack: list[Any]) -> bool:
    """Look at the target of a plain local reference, once."""
    if not ref.startswith("#/"):
        return False
    refs.add(ref)
    try:
        stack.append(_check_pointer(root, ref, ()))
    except SchemaError:
        return False
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


Look = Callable[[Findings, list[tuple[Any, Path]], Path, str, Any], None]


def _map(found: Findings, stack: list[tuple[Any, Path]], path: Path, keyword: str, value: Any) -> None:
    if not isinstance(value, dict):
        raise _error(path, keyword, f"{keyword} must be an object, not {type(value).__name__}")
    for name, inner in value.items():
        stack.append((inner, (path, keyword, name)))


def _patterns(found: Findings, stack: list[tuple[Any, Path]], path: Path, keyword: str, value: Any) -> None:
    _map(found, stack, path, keyword, value)
    for pattern in value:
        _check_pattern(found, pattern, path, keyword)


def _dependencies(
    found: Findings, stack: list[tuple[Any, Path]], path: Path, keyword: str, value: Any
) -> None:
    if not isinstance(value, dict):
        raise _error(path, keyword, f"{keyword} must be an object, not {type(value).__name__}")
    found.risky.append(path)
    for name, inner in value.items():
        if isinstance(inner, (dict, bool)):
            stack.append((inner, (path, keyword, name)))
        elif not (isinstance(inner, str) or _is_names(inner)):
            raise _error(path, keyword, f"{keyword} of {name!r} must be a schema or a list of names")


def _list(found: Findings, stack: list[tuple[Any, Path]], path: Path, keyword: str, value: Any) -> None:
    if not isinstance(value, list) or (not value and keyword != "prefixItems"):
        raise _error(path, keyword, f"{keyword} must be a non-empty list of schemas")
    if keyword == "oneOf" and not _are_apart(value):
        found.risky.append(path)
    for index, inner in enumerate(value):
        stack.append((inner, (path, keyword, index)))


def _are_apart(options: list[Any]) -> bool:
    """Whether each option has one type of its own, so that "one of them" is "any of them"."""
    types = [option.get("type") for option in options if isinstance(option, dict)]
    if len(types) != len(options) or not all(isinstance(name, str) for name in types):
        return False
    names = set(types)
    return len(names) == len(types) and names <= _APART and not names >= _NUMBERS


def _one(found: Findings, stack: list[tuple[Any, Path]], path: Path, keyword: str, value: Any) -> None:
    stack.append((value, (path, keyword)))


def _risky_one(found: Findings, stack: list[tuple[Any, Path]], path: Path, keyword: str, value: Any) -> None:
    found.risky.append(path)
    stack.append((value, (path, keyword)))


def _items(found: Findings, stack: list[tuple[Any, Path]], path: Path, keyword: str, value: Any) -> None:
    if isinstance(value, list):
        for index, inner in enumerate(value):
            stack.append((inner, (path, keyword, index)))
    else:
        stack.append((value, (path, keyword)))


def _type(found: Findings, stack: list[tuple[Any, Path]], path: Path, keyword: str, value: Any) -> None:
    if isinstance(value, str) and value in _TYPES:
        return
    listed = value if isinstance(value, list) else [value]
    for name in listed:
        if not isinstance(name, str) or name not in _TYPES:
            names = ", ".join(sorted(_TYPES - {"any"}))
            raise _error(path, keyword, f"unknown type {name!r}", f"one of {names}")


def _count(found: Findings, stack: list[tuple[Any, Path]], path: Path, keyword: str, value: Any) -> None:
    if keyword == "minProperties" and value != 0 and value != 1:
        found.risky.append(path)
    if value.__class__ is int and value >= 0:
        return
    if not is_number(value) or not is_integer(value) or value < 0:
        raise _error(path, keyword, f"{keyword} must be a non-negative integer, not {value!r}")


def _number(found: Findings, stack: list[tuple[Any, Path]], path: Path, keyword: str, value: Any) -> None:
    if keyword == "multipleOf":
        found.risky.append(path)
    if value.__class__ is int or is_number(value) or (isinstance(value, bool) and keyword[0] == "e"):
        return
    raise _error(path, keyword, f"{keyword} must be a number, not {value!r}")


def _pattern(found: Findings, stack: list[tuple[Any, Path]], path: Path, keyword: str, value: Any) -> None:
    if not isinstance(value, str):
        raise _error(path, keyword, f"pattern must be a string, not {type(value).__name__}")
    _check_pattern(found, value, path, keyword)


def _string(found: Findings, stack: list[tuple[Any, Path]], path: Path, keyword: str, value: Any) -> None:
    if not isinstance(value, str):
        raise _error(path, keyword, f"{keyword} must be a string, not {type(value).__name__}")


def _ref(found: Findings, stack: list[tuple[Any, Path]], path: Path, keyword: str, value: Any) -> None:
    _string(found, stack, path, keyword, value)
    if value.startswith("#/") or value == "#":
        found.refs.append((value, path))
    else:
        found.risky.append(path)


def _required(found: Findings, stack: list[tuple[Any, Path]], path: Path, keyword: str, value: Any) -> None:
    if not isinstance(value, bool) and not _is_names(value):
        raise _error(path, keyword, f"required must be a list of strings, not {value!r}")


def _enum(found: Findings, stack: list[tuple[Any, Path]], path: Path, keyword: str, value: Any) -> None:
    if not isinstance(value, list):
        raise _error(path, keyword, f"enum must be a list, not {type(value).__name__}")


def _unique(found: Findings, stack: list[tuple[Any, Path]], path: Path, keyword: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise _error(path, keyword, "uniqueItems must be true or false")
    if value:
        found.risky.append(path)


def _id(found: Findings, stack: list[tuple[Any, Path]], path: Path, keyword: str, value: Any) -> None:
    if path and isinstance(value, str):
        found.has_ids = True


def _anchor(found: Findings, stack: list[tuple[Any, Path]], path: Path, keyword: str, value: Any) -> None:
    found.is_dynamic = True


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _check_pattern(found: Findings, pattern: str, path: Path, keyword: str) -> None:
    error = pattern_problem(pattern)
    if error is not None and not found.is_lenient:
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


_LOOKS: Final[dict[str, Look]] = {
    **dict.fromkeys(["properties", "$defs", "definitions", "dependentSchemas"], _map),
    "patternProperties": _patterns,
    **dict.fromkeys(["dependencies", "dependentRequired"], _dependencies),
    **dict.fromkeys(["allOf", "anyOf", "oneOf", "prefixItems"], _list),
    **dict.fromkeys(
        ["additionalProperties", "additionalItems", "then", "else", "contains", "propertyNames"], _one
    ),
    **dict.fromkeys(["not", "if", "unevaluatedItems", "unevaluatedProperties"], _risky_one),
    "items": _items,
    "type": _type,
    **dict.fromkeys(
        [
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
            "minProperties",
            "maxProperties",
            "minContains",
            "maxContains",
        ],
        _count,
    ),
    **dict.fromkeys(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"], _number),
    "pattern": _pattern,
    "format": _string,
    **dict.fromkeys(["$ref", "$dynamicRef"], _ref),
    "required": _required,
    "enum": _enum,
    "uniqueItems": _unique,
    **dict.fromkeys(["$id", "id"], _id),
    **dict.fromkeys(["$dynamicAnchor", "$recursiveAnchor"], _anchor),
}

#: How `_glance` reads a keyword; all that is risky or unusual is `_AS_ODD`.
_KINDS: Final[dict[str, int]] = {
    **dict.fromkeys(_LOOKS, _AS_ODD),
    "type": _AS_TYPE,
    "properties": _AS_MAP,
    **dict.fromkeys(["$defs", "definitions"], _AS_DEFINITIONS),
    **dict.fromkeys(["items", "additionalProperties", "additionalItems"], _AS_SCHEMA),
    "patternProperties": _AS_PATTERNS,
    "required": _AS_NAMES,
    **dict.fromkeys(["minLength", "maxLength", "minItems", "maxItems"], _AS_COUNT),
    **dict.fromkeys(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"], _AS_NUMBER),
    "$ref": _AS_REF,
    **dict.fromkeys(["anyOf", "allOf"], _AS_LIST),
    "pattern": _AS_PATTERN,
    "format": _AS_TEXT,
    "enum": _AS_VALUES,
    **dict.fromkeys(["$id", "id"], _AS_ID),
}
