"""Says in words what a JSON Schema asks for, to be put into the prompt.

A mask never tells the model anything: the model sees its prompt and the tokens so far, not the grammar.
Without the field names, descriptions and choices in its prompt, a model is led through a form it cannot
read: the result fits the schema and means little. `describe` writes them down briefly.

It does not check the schema (the compiler does, and says where it is wrong) and leaves out what helps
a validator more than a writer. A named subschema is described where it is first used and named after
that, which also ends recursion. Sending the schema itself was rejected: it costs several times the
tokens, most of them syntax, and small models copy the syntax.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from referencing._core import Resolver  # the class is public only through Registry.resolver

__all__ = ["describe"]

_MAX_CHOICES: Final = 40  # beyond, a list of choices crowds out the rest of a small model's prompt
_MAX_DEPTH: Final = 12
_MAX_INLINE: Final = 3  # "array of array of array" says enough, and arrays may hold themselves


def describe(schema: dict[str, Any] | bool) -> str:
    """A short description of the values that a JSON Schema allows.

    Args:
        schema: The schema as parsed JSON. Local references are followed; others are named only.

    Returns:
        Lines of text without a final line break: one line for the value, then one line for each property.

    Example:
        >>> print(describe({
        ...     "type": "object",
        ...     "properties": {
        ...         "name": {"type": "string", "description": "Full name"},
        ...         "role": {"enum": ["admin", "user"]},
        ...         "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        ...     },
        ...     "required": ["name", "role"],
        ... }))
        object:
        - "name": string, required. Full name
        - "role": one of "admin", "user", required
        - "tags": array of string, at most 3 items
    """
    writer = _Writer(schema)
    writer.write(schema, prefix="", note="", depth=0)
    return "\n".join(writer.lines)


class _Writer:
    """Collects the lines, and the names of the subschemas that have been described."""

    def __init__(self, root: dict[str, Any] | bool) -> None:
        self.lines: list[str] = []
        self._described: set[str] = {"#"}
        self._root = root
        self._resolver: Resolver[Any] | None = None

    def write(self, schema: Any, *, prefix: str, note: str, depth: int) -> None:
        """One line for the value, then lines for what is inside it."""
        schema, name, seen = self._follow(schema)
        phrase = f"{name} (as above)" if seen else self._phrase(schema, name)
        description = _one_line(schema.get("description", ""))
        inner = [] if seen or depth >= _MAX_DEPTH else self._inner(schema)
        text = f"{prefix}{phrase}{note}" + (f". {description}" if description else "")
        self.lines.append(text + ":" if inner and not description else text)
        margin = "" if not prefix else "  " * depth
        for label, subschema, subnote in inner:
            self.write(subschema, prefix=f"{margin}- {label}", note=subnote, depth=depth + 1)

    def _inner(self, schema: dict[str, Any]) -> list[tuple[str, Any, str]]:
        """What deserves lines of its own inside a value: (label, subschema, note) each."""
        found: list[tuple[str, Any, str]] = []
        required = schema.get("required", ())
        for key, subschema in schema.get("properties", {}).items():
            if subschema is not False:
                note = ", required" if key in required else ""
                found.append((f"{_json(key)}: ", subschema, note))
        for position, subschema in enumerate(_prefix_items(schema), start=1):
            found.append((f"item {position}: ", subschema, ""))
        for label, subschema in (("each item: ", schema.get("items")), ("each value: ", _rest(schema))):
            if self._has_lines(subschema):
                found.append((label, subschema, ""))
        for subschema in _options(schema):
            if self._has_lines(subschema):
                found.append(("either ", subschema, ""))
        return found

    def _has_lines(self, schema: Any) -> bool:
        """Whether a subschema has properties or the like, so that naming its type would lose something."""
        if not isinstance(schema, dict) or not schema:
            return False
        body, _, seen = self._peek(schema)
        if seen:
            return False
        return bool(_one_line(body.get("description", "")) or self._inner_shallow(body))

    @staticmethod
    def _inner_shallow(schema: dict[str, Any]) -> bool:
        return any(key in schema for key in ("properties", "prefixItems", "items", "anyOf", "oneOf", "allOf"))

    def _phrase(self, schema: dict[str, Any], name: str = "", inline: int = 0) -> str:
        """What kind of value it is, in a few words."""
        if "const" in schema:
            return _json(schema["const"])
        if "enum" in schema:
            return _choices(schema["enum"])
        options = _options(schema)
        if options:
            return " or ".join(dict.fromkeys(self._short(option, inline) for option in options))
        kinds = schema.get("type", _guess_type(schema))
        names = [kinds] if isinstance(kinds, str) else list(kinds)
        text = " or ".join(self._kind(kind, schema, inline) for kind in names) or "any JSON value"
        return f"{text} ({name})" if name else text

    def _short(self, schema: Any, inline: int) -> str:
        """The phrase for a subschema in the middle of a line."""
        if inline >= _MAX_INLINE:
            return "value"
        body, name, seen = self._peek(schema)
        return f"{name} (as above)" if seen else self._phrase(body, name, inline + 1)

    def _kind(self, kind: str, schema: dict[str, Any], inline: int) -> str:
        if kind == "array":
            return self._array(schema, inline)
        if kind == "object" and isinstance(_rest(schema), dict) and not schema.get("properties"):
            return f"object with any keys and values of {self._short(_rest(schema), inline)}"
        if kind == "string":
            return _string(schema)
        return kind + _bounds(schema) if kind in ("integer", "number") else kind

    def _array(self, schema: dict[str, Any], inline: int) -> str:
        items = schema.get("items")
        text = f"array of {self._short(items, inline)}" if isinstance(items, dict) and items else "array"
        count = _range(schema.get("minItems", 0), schema.get("maxItems"))
        return f"{text}, {count} items" if count else text

    def _peek(self, schema: Any) -> tuple[dict[str, Any], str, bool]:
        """`_follow` without counting the subschema as described."""
        before = set(self._described)
        try:
            return self._follow(schema)
        finally:
            self._described = before

    def _follow(self, schema: Any) -> tuple[dict[str, Any], str, bool]:
        """The subschema behind references, its name, and whether it has been described before.

        Keywords beside a reference win over those behind it: a description at the place of use says more.
        """
        if not isinstance(schema, dict):
            return {}, "", False
        name = ""
        for _ in range(_MAX_DEPTH):
            reference = schema.get("$ref")
            if not isinstance(reference, str):
                break
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            name = reference.rsplit("/", 1)[-1].lstrip("#")
            if reference in self._described:
                return beside, name or "the whole", True
            self._described.add(reference)
            target = self._look_up(reference)
            schema = {**target, **beside}
        return self._merge_all_of(schema), name, False

    def _merge_all_of(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The parts of an allOf as one, as far as a description goes."""
        whole = {key: value for key, value in schema.items() if key != "allOf"}
        for part in schema.get("allOf", ()):
            body, _, _ = self._follow(part)
            properties = {**body.get("properties", {}), **whole.get("properties", {})}
            required = [*body.get("required", ()), *whole.get("required", ())]
            whole = {**body, **whole}
            if properties:
                whole["properties"], whole["required"] = properties, required
        return whole

    def _look_up(self, reference: str) -> dict[str, Any]:
        """What a reference stands for; nothing, if it is not inside the schema."""
        from referencing import Registry, Resource  # only when there are references
        from referencing.exceptions import Unresolvable
        from referencing.jsonschema import DRAFT202012

        if self._resolver is None:
            resource = Resource.from_contents(self._root, default_specification=DRAFT202012)
            uri = resource.id() or ""
            self._resolver = Registry().with_resource(uri, resource).resolver(uri)
        try:
            contents = self._resolver.lookup(reference).contents
        except Unresolvable:
            return {}
        return contents if isinstance(contents, dict) else {}


def _guess_type(schema: dict[str, Any]) -> str | list[str]:
    """The type that the keywords are about, for schemas that do not say."""
    if "properties" in schema or "additionalProperties" in schema:
        return "object"
    return "array" if "items" in schema or "prefixItems" in schema else []


def _options(schema: dict[str, Any]) -> list[Any]:
    options = schema.get("anyOf", schema.get("oneOf", ()))
    return list(options) if isinstance(options, (list, tuple)) else []


def _prefix_items(schema: dict[str, Any]) -> list[Any]:
    items = schema.get("prefixItems", schema.get("items"))
    return items if isinstance(items, list) else []


def _rest(schema: dict[str, Any]) -> Any:
    """The schema of properties that are not named, when it says something."""
    rest = schema.get("additionalProperties")
    return rest if isinstance(rest, dict) and rest else None


def _choices(values: list[Any]) -> str:
    texts = [_json(value) for value in values]
    more = len(texts) - _MAX_CHOICES
    return "one of " + ", ".join(texts[:_MAX_CHOICES]) + (f" and {more} more" if more > 0 else "")


def _string(schema: dict[str, Any]) -> str:
    length = _range(schema.get("minLength", 0), schema.get("maxLength"))
    text = f"string of {length} characters" if length else "string"
    if "format" in schema:
        text += f" ({schema['format']})"
    return f"{text} matching {schema['pattern']}" if "pattern" in schema else text


def _bounds(schema: dict[str, Any]) -> str:
    words = {
        "minimum": "at least",
        "exclusiveMinimum": "above",
        "maximum": "at most",
        "exclusiveMaximum": "below",
        "multipleOf": "a multiple of",
    }
    found = [f"{word} {schema[key]}" for key, word in words.items() if key in schema]
    return f" ({', '.join(found)})" if found else ""


def _range(low: int, high: int | None) -> str:
    if high is None:
        return f"at least {low}" if low else ""
    if low == high:
        return str(low)
    return f"{low} to {high}" if low else f"at most {high}"


def _one_line(text: Any) -> str:
    return " ".join(text.split()).rstrip(".") if isinstance(text, str) else ""


def _json(value: Any) -> str:
    # `default`: schemas that were read exactly hold their fractions as decimals.
    return json.dumps(value, ensure_ascii=False, default=float)
