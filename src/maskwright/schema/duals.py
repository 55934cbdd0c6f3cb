"""What it means that a schema fails: at least one of its keywords does.

Each keyword has a dual: ``not minLength 3`` is "a string of at most 2 characters", ``not properties
{a: S}`` is "an object that has a, whose value fails S", ``not items S`` is "an array with an item that
fails S". Duals state the standard's meaning; ``strict_mode`` only narrows what is asserted.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from .branches import (
    Arrays,
    Choice,
    Excluded,
    Expander,
    Holds,
    Lacks,
    Numbers,
    Objects,
    Requires,
    Scope,
    Strings,
    Task,
    Types,
    values_of,
)
from .groups import Contains, HasMember, PropertyGroup, Unevaluated
from .keywords import (
    asserted_format,
    contains_bounds,
    count,
    divisor,
    item_group,
    names,
    number,
    property_group,
    schema_list,
    schema_map,
    type_mask,
    widened_pattern,
)
from .values import ANY, ARRAY, NUMBER, OBJECT, STRING

if TYPE_CHECKING:
    from .nodes import Node

__all__ = ["negate"]

Alternatives = list[list[Task]]


def negate(expander: Expander, node: Node) -> Alternatives:
    """The ways in which a node can fail; none means that it cannot.

    Raises:
        SchemaError: A keyword is malformed or its failing cannot be enforced.
    """
    schema = node.schema
    dialect = node.resource.dialect
    if dialect.ref_overrides and "$ref" in schema:
        return _not_ref(expander, node, schema["$ref"])
    alternatives: Alternatives = []
    for keyword, value in schema.items():
        dual = _DUALS.get(keyword)
        if dual is not None and keyword in dialect.keywords:
            alternatives.extend(dual(expander, node, value))
    return alternatives


# -- references and combinators ----------------------------------------------------------------------


def _not_ref(expander: Expander, node: Node, value: Any) -> Alternatives:
    if not isinstance(value, str):
        raise node.error("$ref must be a string", "$ref")
    return [[Holds(node.documents.resolve(node, value), False)]]


def _not_dynamic_ref(expander: Expander, node: Node, value: Any) -> Alternatives:
    if not isinstance(value, str):
        raise node.error("$dynamicRef must be a string", "$dynamicRef")
    return [[Holds(node.documents.resolve_dynamic(node, value), False)]]


def _not_recursive_ref(expander: Expander, node: Node, value: Any) -> Alternatives:
    return [[Holds(node.documents.resolve_recursive(node), False)]]


def _not_all_of(expander: Expander, node: Node, value: Any) -> Alternatives:
    return [[Holds(inner, False)] for inner in schema_list(node, "allOf")]


def _not_any_of(expander: Expander, node: Node, value: Any) -> Alternatives:
    return [[Holds(inner, False) for inner in schema_list(node, "anyOf")]]


def _not_one_of(expander: Expander, node: Node, value: Any) -> Alternatives:
    nodes = schema_list(node, "oneOf")
    pairs = itertools.combinations(nodes, 2)
    none: list[Task] = [Holds(inner, False) for inner in nodes]
    two: Alternatives = [[Holds(one, True), Holds(other, True)] for one, other in pairs]
    return [none, *two]


def _not_not(expander: Expander, node: Node, value: Any) -> Alternatives:
    return [[Holds(node.child("not"), True)]]


def _not_if(expander: Expander, node: Node, value: Any) -> Alternatives:
    condition = node.child("if")
    found: Alternatives = []
    if "then" in node.schema:
        found.append([Holds(condition, True), Holds(node.child("then"), False)])
    if "else" in node.schema:
        found.append([Holds(condition, False), Holds(node.child("else"), False)])
    return found


def _not_dependent_schemas(expander: Expander, node: Node, value: Any) -> Alternatives:
    pairs = schema_map(node, "dependentSchemas").items()
    return [[Types(OBJECT), Requires(name), Holds(inner, False)] for name, inner in pairs]


def _not_dependent_required(expander: Expander, node: Node, value: Any) -> Alternatives:
    if not isinstance(value, dict):
        raise node.error("dependentRequired must be an object", "dependentRequired")
    return [
        [Types(OBJECT), Requires(name), Lacks(other)]
        for name, needed in value.items()
        for other in names(node, "dependentRequired", needed)
    ]


def _not_dependencies(expander: Expander, node: Node, value: Any) -> Alternatives:
    if not isinstance(value, dict):
        raise node.error("dependencies must be an object", "dependencies")
    found: Alternatives = []
    for name, needed in value.items():
        if isinstance(needed, (list, str)):
            listed = [needed] if isinstance(needed, str) else names(node, "dependencies", needed)
            found.extend([Types(OBJECT), Requires(name), Lacks(other)] for other in listed)
        else:
            inner = node.child("dependencies", name)
            found.append([Types(OBJECT), Requires(name), Holds(inner, False)])
    return found


# -- any type ----------------------------------------------------------------------------------------


def _not_type(expander: Expander, node: Node, value: Any) -> Alternatives:
    rest = ANY & ~type_mask(node, value)
    return [[Types(rest)]] if rest else []


def _not_enum(expander: Expander, node: Node, value: Any) -> Alternatives:
    if not isinstance(value, list):
        raise node.error("enum must be a list", "enum")
    return [_differs(node, value)]


def _not_const(expander: Expander, node: Node, value: Any) -> Alternatives:
    return [_differs(node, [value])]


def _differs(node: Node, values: list[Any]) -> list[Task]:
    """The value is none of these: scalars are excluded at once, containers differ somewhere."""
    tasks: list[Task] = []
    scalars = [value for value in values if not isinstance(value, (list, dict))]
    if scalars:
        tasks.append(Excluded(values_of(scalars)))
    for value in values:
        if isinstance(value, list):
            tasks.append(Choice(_differs_from_array(node, value)))
        elif isinstance(value, dict):
            tasks.append(Choice(_differs_from_object(node, value)))
    return tasks


def _differs_from_array(node: Node, value: list[Any]) -> Alternatives:
    found: Alternatives = [[Types(ANY & ~ARRAY)], [Types(ARRAY), Arrays(("min", len(value) + 1, node))]]
    if value:
        found.append([Types(ARRAY), Arrays(("max", len(value) - 1, node))])
    for index, item in enumerate(value):
        found.append([Types(ARRAY), Arrays(("at", index, (_constant(node, item), False)))])
    return found


def _differs_from_object(node: Node, value: dict[str, Any]) -> Alternatives:
    found: Alternatives = [[Types(ANY & ~OBJECT)]]
    listed: dict[str, Node] = {}
    for name, item in value.items():
        same = listed[name] = _constant(node, item)
        found.append([Types(OBJECT), Lacks(name)])
        found.append([Types(OBJECT), Requires(name), Objects(("named", name, (same, False)))])
    others = PropertyGroup(node, listed, [], None)
    found.append([Types(OBJECT), Objects(HasMember(node, outside=(others,)))])
    return found


def _constant(node: Node, value: Any) -> Node:
    """A schema of exactly one value."""
    return node.documents.made({"const": value}, node)


# -- strings and numbers -----------------------------------------------------------------------------


def _not_min_length(expander: Expander, node: Node, value: Any) -> Alternatives:
    least = count(node, "minLength")
    return [[Types(STRING), Strings(("max", least - 1, node))]] if least else []


def _not_max_length(expander: Expander, node: Node, value: Any) -> Alternatives:
    return [[Types(STRING), Strings(("min", count(node, "maxLength") + 1, node))]]


def _not_pattern(expander: Expander, node: Node, value: Any) -> Alternatives:
    if not isinstance(value, str):
        raise node.error("pattern must be a string", "pattern")
    if widened_pattern(expander, node, value):
        return [[Types(STRING)]]
    return [[Types(STRING), Strings(("pattern", value, False, node))]]


def _not_format(expander: Expander, node: Node, value: Any) -> Alternatives:
    if not isinstance(value, str):
        raise node.error("format must be a string", "format")
    limits = asserted_format(expander, node, value)
    if limits is None:
        return []
    if limits:
        below, above = ("xmax", limits[0], node), ("xmin", limits[1], node)
        return [[Types(NUMBER), Numbers(below)], [Types(NUMBER), Numbers(above)]]
    return [[Types(STRING), Strings(("format", value, False, node))]]


def _number_dual(keyword: str, kind: str, flag: str | None = None) -> Callable[..., Alternatives]:
    def dual(expander: Expander, node: Node, value: Any) -> Alternatives:
        if isinstance(value, bool):
            return []  # draft 4: part of the inclusive keyword's dual
        exclusive = flag is not None and node.schema.get(flag) is True
        # "at least v" fails for "less than v"; draft 4's "more than v" fails for "at most v".
        atom_kind = kind.removeprefix("x") if exclusive else kind
        return [[Types(NUMBER), Numbers((atom_kind, number(node, keyword), node))]]

    return dual


def _not_multiple_of(expander: Expander, node: Node, value: Any) -> Alternatives:
    return [[Types(NUMBER), Numbers(("not_multiple", divisor(node), node))]]


# -- arrays ------------------------------------------------------------------------------------------


def _not_items(expander: Expander, node: Node, value: Any) -> Alternatives:
    group = item_group(node)
    found: Alternatives = []
    for index, inner in enumerate(group.prefix):
        found.append([Types(ARRAY), Arrays(("at", index, (inner, False)))])
    if group.rest is not None:
        some = Contains((group.rest, False), len(group.prefix), 1, None)
        found.append([Types(ARRAY), Arrays(some)])
    return found


def _not_items_alone(expander: Expander, node: Node, value: Any) -> Alternatives:
    if "prefixItems" in node.schema and "prefixItems" in node.resource.dialect.keywords:
        return []
    return _not_items(expander, node, value)


def _not_contains(expander: Expander, node: Node, value: Any) -> Alternatives:
    low, high = contains_bounds(node)
    inner = (node.child("contains"), True)
    found: Alternatives = []
    if low:
        found.append([Types(ARRAY), Arrays(Contains(inner, 0, 0, low - 1))])
    if high is not None:
        found.append([Types(ARRAY), Arrays(Contains(inner, 0, high + 1, None))])
    return found


def _not_min_items(expander: Expander, node: Node, value: Any) -> Alternatives:
    least = count(node, "minItems")
    return [[Types(ARRAY), Arrays(("max", least - 1, node))]] if least else []


def _not_max_items(expander: Expander, node: Node, value: Any) -> Alternatives:
    return [[Types(ARRAY), Arrays(("min", count(node, "maxItems") + 1, node))]]


def _not_unique_items(expander: Expander, node: Node, value: Any) -> Alternatives:
    return [[Types(ARRAY), Arrays(("unique", False, node))]] if value is True else []


def _not_unevaluated_items(expander: Expander, node: Node, value: Any) -> Alternatives:
    return _not_unevaluated(node, "unevaluatedItems", Types(ARRAY), Arrays)


# -- objects -----------------------------------------------------------------------------------------


def _not_properties(expander: Expander, node: Node, value: Any) -> Alternatives:
    group = property_group(node)
    found: Alternatives = []
    for name, inner in group.named.items():
        found.append([Types(OBJECT), Requires(name), Objects(("named", name, (inner, False)))])
    for pattern, inner in group.patterns:
        some = HasMember(node, pattern=pattern, value=(inner, False))
        found.append([Types(OBJECT), Objects(some)])
    if group.rest is not None:
        some = HasMember(node, outside=(group,), value=(group.rest, False))
        found.append([Types(OBJECT), Objects(some)])
    return found


def _not_pattern_properties(expander: Expander, node: Node, value: Any) -> Alternatives:
    return [] if "properties" in node.schema else _not_properties(expander, node, value)


def _not_additional_properties(expander: Expander, node: Node, value: Any) -> Alternatives:
    if "properties" in node.schema or "patternProperties" in node.schema:
        return []
    return _not_properties(expander, node, value)


def _not_required(expander: Expander, node: Node, value: Any) -> Alternatives:
    if isinstance(value, bool):
        return []
    return [[Types(OBJECT), Lacks(name)] for name in names(node, "required", value)]


def _not_property_names(expander: Expander, node: Node, value: Any) -> Alternatives:
    some = HasMember(node, name=(node.child("propertyNames"), False))
    return [[Types(OBJECT), Objects(some)]]


def _not_min_properties(expander: Expander, node: Node, value: Any) -> Alternatives:
    least = count(node, "minProperties")
    return [[Types(OBJECT), Objects(("max", least - 1, node))]] if least else []


def _not_max_properties(expander: Expander, node: Node, value: Any) -> Alternatives:
    return [[Types(OBJECT), Objects(("min", count(node, "maxProperties") + 1, node))]]


def _not_unevaluated_properties(expander: Expander, node: Node, value: Any) -> Alternatives:
    return _not_unevaluated(node, "unevaluatedProperties", Types(OBJECT), Objects)


def _not_unevaluated(node: Node, keyword: str, types: Types, kind: Callable[[Any], Task]) -> Alternatives:
    """Everything else in the schema holds (or another dual covers it), and a member is left that fails."""
    scope = Scope(node, exact=True)
    holds = Holds(node, True, (scope,), without=keyword)
    return [[types, holds, kind(Unevaluated(scope, node.child(keyword), False))]]


_DUALS: Final[dict[str, Callable[[Expander, Node, Any], Alternatives]]] = {
    "$ref": _not_ref,
    "$dynamicRef": _not_dynamic_ref,
    "$recursiveRef": _not_recursive_ref,
    "allOf": _not_all_of,
    "anyOf": _not_any_of,
    "oneOf": _not_one_of,
    "not": _not_not,
    "if": _not_if,
    "dependentSchemas": _not_dependent_schemas,
    "dependentRequired": _not_dependent_required,
    "dependencies": _not_dependencies,
    "type": _not_type,
    "enum": _not_enum,
    "const": _not_const,
    "minLength": _not_min_length,
    "maxLength": _not_max_length,
    "pattern": _not_pattern,
    "format": _not_format,
    "minimum": _number_dual("minimum", "xmax", "exclusiveMinimum"),
    "maximum": _number_dual("maximum", "xmin", "exclusiveMaximum"),
    "exclusiveMinimum": _number_dual("exclusiveMinimum", "max"),
    "exclusiveMaximum": _number_dual("exclusiveMaximum", "min"),
    "multipleOf": _not_multiple_of,
    "prefixItems": _not_items,
    "items": _not_items_alone,
    "contains": _not_contains,
    "minItems": _not_min_items,
    "maxItems": _not_max_items,
    "uniqueItems": _not_unique_items,
    "unevaluatedItems": _not_unevaluated_items,
    "properties": _not_properties,
    "patternProperties": _not_pattern_properties,
    "additionalProperties": _not_additional_properties,
    "required": _not_required,
    "propertyNames": _not_property_names,
    "minProperties": _not_min_properties,
    "maxProperties": _not_max_properties,
    "unevaluatedProperties": _not_unevaluated_properties,
}
