"""Options of the JSON Schema front-end: one frozen object, checked once.

The names and defaults are those of `GrammarCompiler.compile_json_schema`; see `docs/json-schema.md`
for what each one does to the language.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

from ..errors import SchemaError

__all__ = ["DEFAULT_WHITESPACE", "MAX_BRANCHES", "SchemaOptions", "options_of"]

#: Longest run of whitespace in one gap: a newline and sixteen levels of two spaces fit nearly.
DEFAULT_WHITESPACE: Final = 32
#: Alternatives that one place of a schema may split into before it is refused.
MAX_BRANCHES: Final = 4096


@dataclass(frozen=True, slots=True)
class SchemaOptions:
    """How a schema is read and how its values are spelled.

    Attributes:
        any_whitespace: Bounded runs of whitespace inside containers; otherwise exactly what
            ``json.dumps`` writes with ``indent`` and ``separators``.
        indent: Spaces per level, for ``any_whitespace=False``.
        separators: (item separator, key separator), for ``any_whitespace=False``.
        strict_mode: Close objects and tuples where the schema is silent.
        max_whitespace_cnt: Longest run of whitespace in one gap, in characters.
        any_order: Object members in any order instead of the declared one.
        format_assertion: Enforce ``format``; otherwise it is an annotation.
        lenient: Widen what cannot be enforced (and report it) instead of raising.
        any_spelling: Keys, constrained strings, ``enum`` and ``const`` match every spelling (``\\u0041``,
            ``1.0`` for 1), not only the canonical one and the schema's own.
        integer_spelling: Which spellings of an integer are allowed: ``"plain"`` (``12``) or
            ``"json"`` (also ``12.0`` and ``1.2e1``).
        registry: A `referencing.Registry` with the documents that ``$ref`` may name, or None.
        max_branches: Alternatives that one place of the schema may split into.
    """

    any_whitespace: bool = True
    indent: int | None = None
    separators: tuple[str, str] | None = None
    strict_mode: bool = True
    max_whitespace_cnt: int | None = None
    any_order: bool = False
    format_assertion: bool = True
    lenient: bool = False
    any_spelling: bool = False
    integer_spelling: Literal["plain", "json"] = "plain"
    registry: Any = None
    max_branches: int = MAX_BRANCHES

    def __post_init__(self) -> None:
        if self.max_whitespace_cnt is not None and self.max_whitespace_cnt < 0:
            raise SchemaError("max_whitespace_cnt must not be negative")
        if self.indent is not None and self.indent < 0:
            raise SchemaError("indent must not be negative")
        if self.integer_spelling not in ("plain", "json"):
            raise SchemaError(f"integer_spelling must be 'plain' or 'json', not {self.integer_spelling!r}")
        if self.separators is not None and (
            len(self.separators) != 2 or not all(isinstance(part, str) for part in self.separators)
        ):
            raise SchemaError("separators must be two strings: between items, and after a key")


@lru_cache(maxsize=256, typed=True)
def _remembered(**options: Any) -> SchemaOptions:
    return SchemaOptions(**options)


def options_of(**options: Any) -> SchemaOptions:
    """`SchemaOptions`, one object for equal requests: callers ask for the same ones over and over.

    Raises:
        SchemaError: A value is out of range.
        TypeError: There is no such option.
    """
    try:
        return _remembered(**options)
    except TypeError:  # a list or a registry has no hash
        return SchemaOptions(**options)
