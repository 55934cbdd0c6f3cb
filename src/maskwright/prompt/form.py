"""A schema as a form: JSON with types in the place of values, in the spelling of TypeScript.

Shorter than a list where objects are nested. Whatever is not in the type is a comment behind it.
"""

from __future__ import annotations

from typing import Any, Final

from .phrases import Detail, bounds, count, remark, spell, string_limits, unit
from .view import SchemaView, kinds, options, prefix_items, rest

__all__ = ["write_form"]

_NAMES: Final = {"integer": "integer", "number": "number", "string": "string", "boolean": "true | false"}


def write_form(schema: dict[str, Any] | bool, detail: Detail) -> str:
    """The form, without a final line break."""
    type_, comment = _Writer(SchemaView(schema), detail).write(schema, 0)
    return f"{type_}  // {comment}" if comment else type_


class _Writer:
    def __init__(self, view: SchemaView, detail: Detail) -> None:
        self._view = view
        self._detail = detail

    def write(self, schema: Any, depth: int) -> tuple[str, str]:
        """The type, which may have several lines, and the comment on it."""
        schema, name, seen = self._view.follow(schema)
        notes = [remark(schema, self._detail)]
        if seen:
            return name.replace(" ", "_"), "; ".join([*filter(None, notes), "as above"])
        if "const" in schema:
            return spell(schema["const"]), notes[0]
        if "enum" in schema:
            return self._choices(schema["enum"]), notes[0]
        if options(schema):
            types = [self._alone(option, depth) for option in options(schema)]
        else:
            types = [self._kind(kind, schema, depth) for kind in kinds(schema)] or ["any"]
            notes += _limits(schema)
        return " | ".join(dict.fromkeys(types)), "; ".join(filter(None, notes))

    def _alone(self, schema: Any, depth: int) -> str:
        """A type in the middle of a line, its comment in front where it fits nowhere else."""
        type_, comment = self.write(schema, depth)
        return f"/* {comment} */ {type_}" if comment else type_

    def _choices(self, values: list[Any]) -> str:
        shown = [spell(value) for value in values[: self._detail.n_choices]]
        more = len(values) - self._detail.n_choices
        return " | ".join([*shown, f"…{more} more"] if more > 0 else shown)

    def _kind(self, kind: str, schema: dict[str, Any], depth: int) -> str:
        if kind == "array":
            return self._array(schema, depth)
        return self._object(schema, depth) if kind == "object" else _NAMES.get(kind, kind)

    def _array(self, schema: dict[str, Any], depth: int) -> str:
        if depth >= self._detail.depth:
            return "[…]"
        parts = [self._alone(item, depth + 1) for item in prefix_items(schema)]
        items = schema.get("items")
        if isinstance(items, dict) and items:
            parts += [self._alone(items, depth + 1), "..."]
        return f"[{', '.join(parts or ['any', '...'])}]"

    def _object(self, schema: dict[str, Any], depth: int) -> str:
        if depth >= self._detail.depth:
            return "{…}"
        margin = "  " * (depth + 1)
        required = schema.get("required", ())
        lines = []
        for key, subschema in schema.get("properties", {}).items():
            if subschema is not False:
                type_, comment = self.write(subschema, depth + 1)
                mark = "" if key in required else "?"
                lines.append(f"{margin}{spell(key)}{mark}: {type_}," + (f"  // {comment}" if comment else ""))
        if rest(schema) is not None:
            lines.append(f"{margin}[any key]: {self._alone(rest(schema), depth + 1)},")
        return "\n".join(["{", *lines, "  " * depth + "}"]) if lines else "{}"


def _limits(schema: dict[str, Any]) -> list[str]:
    """What a type does not say of a value."""
    length, form, pattern = string_limits(schema)
    many = count(schema.get("minItems", 0), schema.get("maxItems"))
    return [
        unit(schema) and f"in {unit(schema)}",
        bounds(schema),
        length and f"{length} characters",
        form,
        pattern and f"matching {pattern}",
        many and f"{many} items",
    ]
