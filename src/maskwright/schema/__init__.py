"""JSON Schema to lazy rules, exactly.

`load_schema` reads a schema from JSON text, a dict or a Python type; `rules_from_schema` makes the grammar.
The stages, one file each: documents and references (`nodes`, `dialect`), sets of obligations to branches
(`branches`, `keywords`, `duals`, `disjoint`, `propagate`), branches to shapes (`shapes`), shapes to
expressions (`objects`, `arrays`, `unique`, `strings`, `numeric`, `finite`), tied together and memoised by
`builder`. Plain objects take a short cut past branches (`plain`). Before anything is expanded the document
is looked over (`preflight`, `survey`), and what may be refused is worked out (`inspection`); that a value
exists is proved from the text where that is plain (`witness`).
"""

from __future__ import annotations

from typing import Any

from ..errors import SchemaError
from ..rules import Rule
from .builder import Builder
from .load import load_schema
from .options import SchemaOptions, options_of
from .report import Entry, Report, Status
from .spelling import builtin_json_rules

__all__ = [
    "Entry",
    "Report",
    "SchemaOptions",
    "Status",
    "builtin_json_rules",
    "load_schema",
    "options_of",
    "rules_from_schema",
]


def rules_from_schema(schema: Any, *, options: SchemaOptions | None = None) -> tuple[Rule, Report]:
    """The grammar of a schema's values.

    Args:
        schema: A schema as a Python value (a dict or a bool); see `load_schema` for other forms.
        options: How it is read and how values are spelled.

    Returns:
        The root rule, whose parts expand when they are first needed, and the report.

    Raises:
        SchemaError: The schema is malformed, unsatisfiable, or cannot be enforced.
        LimitExceeded: The schema is nested too deeply or splits into too many branches.
    """
    if not isinstance(schema, (dict, bool)):
        raise SchemaError(f"a schema is an object, true or false, not {type(schema).__name__}")
    builder = Builder(schema, options or SchemaOptions())
    return builder.root(), builder.report
