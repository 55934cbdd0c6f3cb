"""A schema as a list: one line for the value, then one line for each property."""

from __future__ import annotations

from typing import Any, Final

from .phrases import Detail, bounds, count, remark, spell, string_limits, unit
from .view import SchemaView, kinds, options, prefix_items, rest

__all__ = ["write_list"]

_MAX_INLINE: Final = 3  # "array of array of array" says enough, and arrays may hold themselves


def write_list(schema: dict[str, Any] | bool, detail: Detail) -> str:
    """The lines, without a final line break."""
    writer = _Writer(SchemaView(schema), detail)
    writer.write(schema, prefix="", note="", depth=0)
    return "\n".join(writer.lines)


class _Writer:
    """Collects the lines."""

    def __init__(self, view: SchemaView, detail: Detail) -> None:
        self.lines: list[str] = []
        self._view = view
        self._detail = detail

    def write(self, schema: Any, *, prefix: str, note: str, depth: int) -> None:
        """One line for the value, then lines for what is inside it."""
        schema, name, seen = self._view.follow(schema)
        phrase = f"{name} (as above)" if seen else self._phrase(schema, name)
        description = remark(schema, self._detail)
        inner = [] if seen or depth >= self._detail.depth else self._inner(schema)
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
                found.append((f"{spell(key)}: ", subschema, "" if key in required else ", optional"))
        for position, subschema in enumerate(prefix_items(schema), start=1):
            found.append((f"item {position}: ", subschema, ""))
        for label, subschema in (("each item: ", schema.get("items")), ("each value: ", rest(schema))):
            if self._has_lines(subschema):
                found.append((label, subschema, ""))
        for subschema in options(schema):
            if self._has_lines(subschema):
                found.append(("either ", subschema, ""))
        return found

    def _has_lines(self, schema: Any) -> bool:
        """Whether a subschema has properties or the like, so that naming its type would lose something."""
        if not isinstance(schema, dict) or not schema:
            return False
        body, _, seen = self._view.peek(schema)
        if seen:
            return False
        return bool(remark(body, self._detail) or self._inner_shallow(body))

    @staticmethod
    def _inner_shallow(schema: dict[str, Any]) -> bool:
        return any(key in schema for key in ("properties", "prefixItems", "items", "anyOf", "oneOf", "allOf"))

    def _phrase(self, schema: dict[str, Any], name: str = "", inline: int = 0) -> str:
        """What kind of value it is, in a few words."""
        if "const" in schema:
            return spell(schema["const"])
        if "enum" in schema:
            return self._choices(schema["enum"])
        branches = options(schema)
        if branches:
            return " or ".join(dict.fromkeys(self._short(option, inline) for option in branches))
        text = " or ".join(self._kind(kind, schema, inline) for kind in kinds(schema)) or "any JSON value"
        return f"{text} ({name})" if name else text

    def _choices(self, values: list[Any]) -> str:
        shown = ", ".join(spell(value) for value in values[: self._detail.n_choices])
        more = len(values) - self._detail.n_choices
        return "one of " + shown + (f" and {more} more" if more > 0 else "")

    def _short(self, schema: Any, inline: int) -> str:
        """The phrase for a subschema in the middle of a line."""
        if inline >= _MAX_INLINE:
            return "value"
        body, name, seen = self._view.peek(schema)
        return f"{name} (as above)" if seen else self._phrase(body, name, inline + 1)

    def _kind(self, kind: str, schema: dict[str, Any], inline: int) -> str:
        if kind == "array":
            return self._array(schema, inline)
        if kind == "object" and isinstance(rest(schema), dict) and not schema.get("properties"):
            return f"object with any keys and values of {self._short(rest(schema), inline)}"
        if kind == "string":
            return _string(schema)
        return _number(kind, schema) if kind in ("integer", "number") else kind

    def _array(self, schema: dict[str, Any], inline: int) -> str:
        items = schema.get("items")
        text = f"array of {self._short(items, inline)}" if isinstance(items, dict) and items else "array"
        many = count(schema.get("minItems", 0), schema.get("maxItems"))
        return f"{text}, {many} items" if many else text


def _string(schema: dict[str, Any]) -> str:
    length, form, pattern = string_limits(schema)
    text = f"string of {length} characters" if length else "string"
    if form:
        text += f" ({form})"
    return f"{text} matching {pattern}" if pattern else text


def _number(kind: str, schema: dict[str, Any]) -> str:
    measure, limits = unit(schema), bounds(schema)
    return kind + (f" in {measure}" if measure else "") + (f" ({limits})" if limits else "")
