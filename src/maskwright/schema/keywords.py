"""What each keyword asserts when its schema must hold: atoms, further obligations, or a choice.

One function per keyword, registered in `_ASSERTS`; a keyword that belongs to a group
(``additionalProperties`` to ``properties``) is read with the first of the group that is present.
The failing side is in `maskwright.schema.duals`. Malformed keyword values raise here, with the pointer.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from .branches import (
    Arrays,
    Branch,
    Choice,
    Expander,
    Holds,
    Lacks,
    Objects,
    Requires,
    Scope,
    Task,
    Types,
    values_of,
)
from .disjoint import are_disjoint
from .formats import FORMATS, format_note, format_number_range
from .groups import ALL, Contains, ItemGroup, Names, PropertyGroup, Unevaluated
from .preflight import pattern_problem
from .report import Status
from .values import (
    ANY,
    ARRAY,
    BOOLEAN,
    INTEGER,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    decimal_of,
    is_integer,
    is_number,
    json_key,
)

if TYPE_CHECKING:
    from .nodes import Node

__all__ = [
    "ASSERTING",
    "assert_node",
    "count",
    "item_group",
    "names",
    "number",
    "property_group",
    "schema_list",
    "schema_map",
    "type_mask",
]

_TYPE_BITS: Final = {
    "null": NULL,
    "boolean": BOOLEAN,
    "string": STRING,
    "integer": INTEGER,
    "number": NUMBER,
    "array": ARRAY,
    "object": OBJECT,
    "any": ANY,
}


class At:
    """Where a keyword is being asserted."""

    __slots__ = ("agenda", "branch", "expander", "node", "scopes")

    def __init__(
        self,
        expander: Expander,
        branch: Branch,
        node: Node,
        scopes: tuple[Scope, ...],
        agenda: list[Task],
    ) -> None:
        self.expander = expander
        self.branch = branch
        self.node = node
        self.scopes = scopes
        self.agenda = agenda

    def hold(self, node: Node, positive: bool = True) -> Holds:
        """The obligation that a subschema at the same place holds (or fails)."""
        return Holds(node, positive, self.scopes if positive else ())

    def choose(self, alternatives: list[list[Task]]) -> None:
        """One of the alternatives must hold."""
        if len(alternatives) == 1:
            self.agenda.extend(alternatives[0])
        elif alternatives:
            self.branch.choices = (*self.branch.choices, Choice(alternatives))
        else:
            self.branch.types = 0


def assert_node(
    expander: Expander,
    branch: Branch,
    node: Node,
    scopes: tuple[Scope, ...],
    agenda: list[Task],
    without: str | None = None,
) -> None:
    """Add to the branch and the agenda what it means that the node holds."""
    schema = node.schema
    dialect = node.resource.dialect
    at = At(expander, branch, node, scopes, agenda)
    if dialect.ref_overrides and "$ref" in schema:
        _ref(at, schema["$ref"])
        return
    keywords = dialect.keywords
    if "unevaluatedProperties" in schema or "unevaluatedItems" in schema:
        _open_scopes(at, without)
    for keyword, value in schema.items():
        handler = _ASSERTS.get(keyword)
        if handler is not None and keyword in keywords and keyword != without:
            handler(at, value)


# -- checked readings of keyword values ------------------------------------------------------------


def count(node: Node, keyword: str) -> int:
    """A non-negative integer."""
    value = node.schema[keyword]
    if not is_number(value) or not is_integer(value) or value < 0:
        raise node.error(f"{keyword} must be a non-negative integer, not {value!r}", keyword)
    return int(value)


def number(node: Node, keyword: str) -> Any:
    """A number, as a `Decimal` or an int."""
    value = node.schema[keyword]
    if not is_number(value):
        raise node.error(f"{keyword} must be a number, not {value!r}", keyword)
    return value if isinstance(value, int) else decimal_of(value)


def names(node: Node, keyword: str, value: Any) -> list[str]:
    """A list of strings."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise node.error(f"{keyword} must be a list of strings, not {value!r}", keyword)
    return value


def schema_list(node: Node, keyword: str) -> list[Node]:
    """A non-empty list of schemas."""
    value = node.schema[keyword]
    if not isinstance(value, list) or not value:
        raise node.error(f"{keyword} must be a non-empty list of schemas", keyword)
    return [node.child(keyword, index) for index in range(len(value))]


def schema_map(node: Node, keyword: str) -> dict[str, Node]:
    """An object whose values are schemas."""
    value = node.schema.get(keyword)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise node.error(f"{keyword} must be an object of schemas, not {type(value).__name__}", keyword)
    return {name: node.child(keyword, name) for name in value}


def type_mask(node: Node, value: Any) -> int:
    """The mask of a ``type`` value."""
    listed = value if isinstance(value, list) else [value]
    mask = 0
    for name in listed:
        bit = _TYPE_BITS.get(name) if isinstance(name, str) else None
        if bit is None:
            raise node.error(
                f"unknown type {name!r}",
                "type",
                hint=f"one of {', '.join(sorted(set(_TYPE_BITS) - {'any'}))}",
            )
        mask |= bit
    return mask


def property_group(node: Node) -> PropertyGroup:
    """The group of keywords about properties."""
    schema = node.schema
    known = node.resource.dialect.keywords
    rest = None
    if "additionalProperties" in schema and "additionalProperties" in known:
        rest = node.child("additionalProperties")
    return PropertyGroup(
        node,
        schema_map(node, "properties") if "properties" in known else {},
        list(schema_map(node, "patternProperties").items()) if "patternProperties" in known else [],
        rest,
    )


def item_group(node: Node) -> ItemGroup:
    """The group of keywords about items, in the old or the new spelling."""
    schema = node.schema
    known = node.resource.dialect.keywords
    items = schema.get("items") if "items" in known else None
    prefix: list[Node] = []
    rest = None
    if "prefixItems" in schema and "prefixItems" in known:
        prefix = schema_list(node, "prefixItems") if schema["prefixItems"] else []
        if items is not None:
            rest = node.child("items")
    elif isinstance(items, list):
        prefix = [node.child("items", index) for index in range(len(items))]
        if "additionalItems" in schema:
            rest = node.child("additionalItems")
    elif items is not None:
        rest = node.child("items")
    return ItemGroup(node, prefix, rest)


# -- scopes of unevaluated* --------------------------------------------------------------------------


def _open_scopes(at: At, without: str | None) -> None:
    """Give the node's own unevaluated* keywords a scope, and tell outer scopes that all is seen."""
    outer = at.scopes
    schema, node = at.node.schema, at.node
    known = node.resource.dialect.keywords
    scope = next((s for s in outer if s.node is node and s.exact), None) if without else None
    if scope is None:
        scope = Scope(node, exact=False)
        at.scopes = (*outer, scope)
    for keyword, kind in (("unevaluatedProperties", Objects), ("unevaluatedItems", Arrays)):
        if keyword in schema and keyword in known and keyword != without:
            atom = Unevaluated(scope, node.child(keyword), True)
            at.agenda.append(kind(atom))
            at.branch.record(outer, (ALL, kind))


# -- references and combinators ----------------------------------------------------------------------


def _ref(at: At, value: Any) -> None:
    if not isinstance(value, str):
        raise at.node.error("$ref must be a string", "$ref")
    at.agenda.append(at.hold(at.node.documents.resolve(at.node, value)))


def _dynamic_ref(at: At, value: Any) -> None:
    if not isinstance(value, str):
        raise at.node.error("$dynamicRef must be a string", "$dynamicRef")
    at.agenda.append(at.hold(at.node.documents.resolve_dynamic(at.node, value)))


def _recursive_ref(at: At, value: Any) -> None:
    at.agenda.append(at.hold(at.node.documents.resolve_recursive(at.node)))


def _all_of(at: At, value: Any) -> None:
    at.agenda.extend(at.hold(node) for node in schema_list(at.node, "allOf"))


def _any_of(at: At, value: Any) -> None:
    nodes = schema_list(at.node, "anyOf")
    if not at.scopes:
        at.choose([[at.hold(node)] for node in nodes])
        return
    # What is evaluated depends on which of them hold: one branch per set of holding ones.
    exact = any(scope.exact for scope in at.scopes)
    if len(nodes) > 12:
        raise at.node.error(
            "anyOf with more than 12 members beside unevaluated* splits into too many cases", "anyOf"
        )
    alternatives: list[list[Task]] = []
    for signs in itertools.product((True, False), repeat=len(nodes)):
        if any(signs):
            pairs = zip(nodes, signs, strict=True)
            alternatives.append([at.hold(node, sign) for node, sign in pairs if sign or exact])
    at.choose(alternatives)


def _one_of(at: At, value: Any) -> None:
    nodes = schema_list(at.node, "oneOf")
    types, required = at.branch.types, at.branch.required  # what holds for the value anyway
    alternatives: list[list[Task]] = []
    for chosen in range(len(nodes)):
        tasks: list[Task] = [at.hold(nodes[chosen])]
        for other, node in enumerate(nodes):
            if other != chosen and not are_disjoint(nodes[chosen], node, types=types, required=required):
                tasks.append(at.hold(node, positive=False))
        alternatives.append(tasks)
    at.choose(alternatives)


def _not(at: At, value: Any) -> None:
    at.agenda.append(at.hold(at.node.child("not"), positive=False))


def _if(at: At, value: Any) -> None:
    node, schema = at.node, at.node.schema
    has_then, has_else = "then" in schema, "else" in schema
    if not (has_then or has_else or at.scopes):
        return
    condition = node.child("if")
    then: list[Task] = [at.hold(condition)]
    otherwise: list[Task] = [at.hold(condition, positive=False)]
    if has_then:
        then.append(at.hold(node.child("then")))
    if has_else:
        otherwise.append(at.hold(node.child("else")))
    at.choose([then, otherwise])


def _dependent_schemas(at: At, value: Any) -> None:
    for name, node in schema_map(at.node, "dependentSchemas").items():
        at.choose([[Lacks(name)], [Types(OBJECT), Requires(name), at.hold(node)]])


def _dependent_required(at: At, value: Any) -> None:
    if not isinstance(value, dict):
        raise at.node.error("dependentRequired must be an object", "dependentRequired")
    for name, needed in value.items():
        wanted = names(at.node, "dependentRequired", needed)
        if wanted:
            tasks: list[Task] = [Types(OBJECT), Requires(name), *map(Requires, wanted)]
            at.choose([[Lacks(name)], tasks])


def _dependencies(at: At, value: Any) -> None:
    if not isinstance(value, dict):
        raise at.node.error("dependencies must be an object", "dependencies")
    for name, needed in value.items():
        tasks: list[Task] = [Types(OBJECT), Requires(name)]
        if isinstance(needed, (list, str)):
            listed = [needed] if isinstance(needed, str) else names(at.node, "dependencies", needed)
            if not listed:
                continue
            tasks.extend(map(Requires, listed))
        else:
            tasks.append(at.hold(at.node.child("dependencies", name)))
        at.choose([[Lacks(name)], tasks])


# -- any type ----------------------------------------------------------------------------------------


def _type(at: At, value: Any) -> None:
    mask = type_mask(at.node, value)
    at.branch.types &= mask
    if mask & NUMBER == INTEGER and not at.node.resource.dialect.float_integers:
        at.branch.numbers = (*at.branch.numbers, ("plain", 0, at.node))


def _enum(at: At, value: Any) -> None:
    if not isinstance(value, list):
        raise at.node.error("enum must be a list", "enum")
    if at.node.tasks is None:  # thousands of members are keyed once
        at.node.tasks = values_of(value)
    at.branch.restrict_values(at.node.tasks if "const" not in at.node.schema else values_of(value))


def _const(at: At, value: Any) -> None:
    at.branch.restrict_values({json_key(value): value})


# -- strings and numbers -----------------------------------------------------------------------------


def _min_length(at: At, value: Any) -> None:
    at.branch.strings = (*at.branch.strings, ("min", count(at.node, "minLength"), at.node))


def _max_length(at: At, value: Any) -> None:
    at.branch.strings = (*at.branch.strings, ("max", count(at.node, "maxLength"), at.node))


def _pattern(at: At, value: Any) -> None:
    if not isinstance(value, str):
        raise at.node.error("pattern must be a string", "pattern")
    if widened_pattern(at.expander, at.node, value):
        return
    at.branch.strings = (*at.branch.strings, ("pattern", value, True, at.node))


def widened_pattern(expander: Expander, node: Node, pattern: str) -> bool:
    """Whether a pattern that cannot be used is let through, because the options are lenient."""
    problem = pattern_problem(pattern) if expander.options.lenient else None
    if problem is not None:
        expander.report.note(node.pointer, "pattern", Status.WIDENED, problem.message)
    return problem is not None


def _format(at: At, value: Any) -> None:
    if not isinstance(value, str):
        raise at.node.error("format must be a string", "format")
    limits = asserted_format(at.expander, at.node, value)
    if limits is None:
        return
    if limits:
        low, high = limits
        at.branch.numbers = (*at.branch.numbers, ("min", low, at.node), ("max", high, at.node))
    else:
        at.branch.strings = (*at.branch.strings, ("format", value, True, at.node))


def asserted_format(expander: Expander, node: Node, name: str) -> tuple[int, int] | tuple[()] | None:
    """What a format asserts: a range of numbers, or something about strings (``()``), or nothing (None).

    The report is told why nothing is asserted, or how the language differs from the specification.
    """
    note = expander.report.note
    if not expander.options.format_assertion:
        note(node.pointer, "format", Status.ANNOTATION, "format_assertion is off")
        return None
    if FORMATS.get(name) != "assert":
        why = "is OpenAPI's: JSON Schema does not define it" if name in FORMATS else "is no known format"
        note(node.pointer, "format", Status.ANNOTATION, f"{name!r} {why}")
        return None
    difference = format_note(name)
    if difference is not None:
        note(node.pointer, "format", Status.ENFORCED, difference)
    return format_number_range(name) or ()


def _minimum(at: At, value: Any) -> None:
    kind = "xmin" if at.node.schema.get("exclusiveMinimum") is True else "min"
    at.branch.numbers = (*at.branch.numbers, (kind, number(at.node, "minimum"), at.node))


def _maximum(at: At, value: Any) -> None:
    kind = "xmax" if at.node.schema.get("exclusiveMaximum") is True else "max"
    at.branch.numbers = (*at.branch.numbers, (kind, number(at.node, "maximum"), at.node))


def _exclusive_minimum(at: At, value: Any) -> None:
    if not isinstance(value, bool):  # draft 4: says how "minimum" is meant
        at.branch.numbers = (*at.branch.numbers, ("xmin", number(at.node, "exclusiveMinimum"), at.node))


def _exclusive_maximum(at: At, value: Any) -> None:
    if not isinstance(value, bool):
        at.branch.numbers = (*at.branch.numbers, ("xmax", number(at.node, "exclusiveMaximum"), at.node))


def divisor(node: Node) -> Any:
    """The value of ``multipleOf``."""
    value = number(node, "multipleOf")
    if value <= 0:
        raise node.error("multipleOf must be greater than 0", "multipleOf")
    return value


def _multiple_of(at: At, value: Any) -> None:
    at.branch.numbers = (*at.branch.numbers, ("multiple", divisor(at.node), at.node))


# -- arrays ------------------------------------------------------------------------------------------


def _items(at: At, value: Any) -> None:
    group = item_group(at.node)
    at.branch.arrays = (*at.branch.arrays, group)
    at.branch.record(at.scopes, group)


def _items_alone(at: At, value: Any) -> None:
    if "prefixItems" not in at.node.schema or "prefixItems" not in at.node.resource.dialect.keywords:
        _items(at, value)


def contains_bounds(node: Node) -> tuple[int, int | None]:
    """The bounds on how many items meet ``contains``."""
    known = node.resource.dialect.keywords
    low, high = 1, None
    if "minContains" in node.schema and "minContains" in known:
        low = count(node, "minContains")
    if "maxContains" in node.schema and "maxContains" in known:
        high = count(node, "maxContains")
    return low, high


def _contains(at: At, value: Any) -> None:
    low, high = contains_bounds(at.node)
    evaluates = at.node.resource.dialect.contains_evaluates
    atom = Contains((at.node.child("contains"), True), 0, low, high, evaluates)
    if low or high is not None:
        at.branch.arrays = (*at.branch.arrays, atom)
    if evaluates:
        at.branch.record(at.scopes, atom)


def _min_items(at: At, value: Any) -> None:
    at.branch.arrays = (*at.branch.arrays, ("min", count(at.node, "minItems"), at.node))


def _max_items(at: At, value: Any) -> None:
    at.branch.arrays = (*at.branch.arrays, ("max", count(at.node, "maxItems"), at.node))


def _unique_items(at: At, value: Any) -> None:
    if not isinstance(value, bool):
        raise at.node.error("uniqueItems must be true or false", "uniqueItems")
    if value:
        at.branch.arrays = (*at.branch.arrays, ("unique", True, at.node))


# -- objects -----------------------------------------------------------------------------------------


def _properties(at: At, value: Any) -> None:
    group = property_group(at.node)
    at.branch.objects = (*at.branch.objects, group)
    at.branch.record(at.scopes, group)


def _pattern_properties(at: At, value: Any) -> None:
    if "properties" not in at.node.schema:
        _properties(at, value)


def _additional_properties(at: At, value: Any) -> None:
    if "properties" not in at.node.schema and "patternProperties" not in at.node.schema:
        _properties(at, value)


def _required(at: At, value: Any) -> None:
    if isinstance(value, bool):
        # Draft 3 wrote it inside the property; no later draft gives it a meaning there.
        at.expander.report.note(at.node.pointer, "required", Status.ANNOTATION, "draft 3 form")
        return
    for name in names(at.node, "required", value):
        at.branch.require(name)


def _property_names(at: At, value: Any) -> None:
    at.branch.objects = (*at.branch.objects, Names((at.node.child("propertyNames"), True)))


def _min_properties(at: At, value: Any) -> None:
    at.branch.objects = (*at.branch.objects, ("min", count(at.node, "minProperties"), at.node))


def _max_properties(at: At, value: Any) -> None:
    at.branch.objects = (*at.branch.objects, ("max", count(at.node, "maxProperties"), at.node))


_ASSERTS: Final[dict[str, Callable[[At, Any], None]]] = {
    "$ref": _ref,
    "$dynamicRef": _dynamic_ref,
    "$recursiveRef": _recursive_ref,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "if": _if,
    "dependentSchemas": _dependent_schemas,
    "dependentRequired": _dependent_required,
    "dependencies": _dependencies,
    "type": _type,
    "enum": _enum,
    "const": _const,
    "minLength": _min_length,
    "maxLength": _max_length,
    "pattern": _pattern,
    "format": _format,
    "minimum": _minimum,
    "maximum": _maximum,
    "exclusiveMinimum": _exclusive_minimum,
    "exclusiveMaximum": _exclusive_maximum,
    "multipleOf": _multiple_of,
    "prefixItems": _items,
    "items": _items_alone,
    "contains": _contains,
    "minItems": _min_items,
    "maxItems": _max_items,
    "uniqueItems": _unique_items,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "required": _required,
    "propertyNames": _property_names,
    "minProperties": _min_properties,
    "maxProperties": _max_properties,
}
#: All keywords that say something by themselves.
ASSERTING: Final = frozenset(_ASSERTS) | {"unevaluatedItems", "unevaluatedProperties"}
