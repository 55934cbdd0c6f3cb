"""Dialects: which keywords each draft of JSON Schema asserts, and how it spells identity.

A document without ``$schema`` is read as draft 2020-12 that also takes the older forms where they
have no meaning of their own in 2020-12 (``items`` as a list, ``dependencies``, boolean ``exclusiveMinimum``,
``$recursiveRef``): callers rarely control the schemas they are given. A document that names its draft
gets exactly that draft.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

__all__ = ["DEFAULT", "SILENT", "Dialect", "dialect_of_uri", "with_vocabularies"]

#: Keywords that say nothing about a value in any draft.
SILENT: Final = frozenset(
    [
        "title",
        "description",
        "$comment",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$schema",
        "$defs",
        "definitions",
    ]
)

_D4: Final = frozenset(
    [
        "type",
        "enum",
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "pattern",
        "items",
        "additionalItems",
        "minItems",
        "maxItems",
        "uniqueItems",
        "properties",
        "patternProperties",
        "additionalProperties",
        "required",
        "minProperties",
        "maxProperties",
        "dependencies",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "format",
        "$ref",
    ]
)
_D6: Final = _D4 | {"const", "contains", "propertyNames"}
_D7: Final = _D6 | {"if", "then", "else"}
_D2019: Final = _D7 | {
    "minContains",
    "maxContains",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedItems",
    "unevaluatedProperties",
    "$recursiveRef",
}
_D2020: Final = (_D2019 - {"additionalItems", "$recursiveRef"}) | {"prefixItems", "$dynamicRef"}

#: What each vocabulary of 2019-09 and 2020-12 asserts (the last segment of its URI).
_VOCABULARIES: Final = {
    "applicator": frozenset(
        [
            "allOf",
            "anyOf",
            "oneOf",
            "not",
            "if",
            "then",
            "else",
            "items",
            "prefixItems",
            "additionalItems",
            "contains",
            "properties",
            "patternProperties",
            "additionalProperties",
            "propertyNames",
            "dependentSchemas",
            "dependencies",
        ]
    ),
    "unevaluated": frozenset({"unevaluatedItems", "unevaluatedProperties"}),
    "validation": frozenset(
        [
            "type",
            "enum",
            "const",
            "multipleOf",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "minLength",
            "maxLength",
            "pattern",
            "minItems",
            "maxItems",
            "uniqueItems",
            "minContains",
            "maxContains",
            "minProperties",
            "maxProperties",
            "required",
            "dependentRequired",
        ]
    ),
    "format-annotation": frozenset({"format"}),
    "format-assertion": frozenset({"format"}),
    "format": frozenset({"format"}),
}
_CORE: Final = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})


@dataclass(frozen=True, slots=True)
class Dialect:
    """One reading of schemas.

    Attributes:
        name: For messages.
        uri: The meta-schema, without a trailing ``#``.
        keywords: The keywords that assert or apply something.
        id_keyword: ``$id`` or ``id``.
        ref_overrides: Whether ``$ref`` hides its siblings (drafts 4 to 7).
        contains_evaluates: Whether ``contains`` marks items as evaluated (2020-12).
        float_integers: Whether ``1.0`` is an integer (draft 6 and later).
    """

    name: str
    uri: str
    keywords: frozenset[str] = field(repr=False)
    id_keyword: str = "$id"
    ref_overrides: bool = False
    contains_evaluates: bool = False
    float_integers: bool = True

    def asserts(self, keyword: str, schema: dict[str, Any]) -> bool:
        """Whether the keyword means anything in this schema object."""
        if self.ref_overrides and "$ref" in schema:
            return keyword == "$ref"
        return keyword in self.keywords


_BASE: Final = "json-schema.org"
_DRAFTS: Final = {
    f"{_BASE}/draft-04/schema": Dialect(
        "draft 4", f"http://{_BASE}/draft-04/schema", _D4, "id", ref_overrides=True, float_integers=False
    ),
    f"{_BASE}/draft-06/schema": Dialect(
        "draft 6", f"http://{_BASE}/draft-06/schema", _D6, ref_overrides=True
    ),
    f"{_BASE}/draft-07/schema": Dialect(
        "draft 7", f"http://{_BASE}/draft-07/schema", _D7, ref_overrides=True
    ),
    f"{_BASE}/draft/2019-09/schema": Dialect(
        "draft 2019-09", f"https://{_BASE}/draft/2019-09/schema", _D2019
    ),
    f"{_BASE}/draft/2020-12/schema": Dialect(
        "draft 2020-12", f"https://{_BASE}/draft/2020-12/schema", _D2020, contains_evaluates=True
    ),
}

DEFAULT: Final = Dialect(
    "draft 2020-12 with older forms",
    f"https://{_BASE}/draft/2020-12/schema",
    _D2020 | _D2019,
    contains_evaluates=True,
)


def dialect_of_uri(uri: str) -> Dialect | None:
    """The dialect that a ``$schema`` value names, or None when it is not one of the five."""
    bare = uri.rstrip("#").removeprefix("https://").removeprefix("http://")
    return _DRAFTS.get(bare)


def with_vocabularies(base: Dialect, uri: str, vocabularies: dict[str, bool]) -> Dialect:
    """The base dialect cut down to the vocabularies that a custom meta-schema lists."""
    keywords = set(_CORE)
    for name in vocabularies:
        keywords |= _VOCABULARIES.get(name.rsplit("/", 1)[-1], frozenset())
    return Dialect(
        f"the dialect of {uri}",
        uri,
        base.keywords & keywords,
        base.id_keyword,
        base.ref_overrides,
        base.contains_evaluates,
        base.float_integers,
    )
