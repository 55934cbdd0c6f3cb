"""Looking at once at what may turn out not to be enforceable, and at nothing else.

Rules expand while tokens are generated, which is too late to refuse a schema. `preflight` names the schema
objects with keywords that can be refused, or can split into too many cases. Here they are worked out before
the first token, as far as they can fail: branches, shapes, and the languages of what is constrained in an
unusual way. The way to them leads through plain objects, arrays and unions, whose parts do not depend on each
other, and which are only walked through. Where schemas are entangled (a conjunction, two groups that may name
the same property) the whole place is worked out, and what that leads to is looked at alike.

Rejected: expanding all rules of a document in which any keyword can be refused. Large schemas have one
``oneOf`` in a corner, and compiling them took longer than compiling ten of their size without one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from .arrays import array_expr
from .branches import AnyOf, Branch
from .disjoint import are_disjoint
from .numeric import numbers_lexeme
from .objects import object_expr
from .pruning import holds_object, pruned_objects
from .values import ARRAY, NUMBER, OBJECT, STRING

if TYPE_CHECKING:
    from .builder import Builder
    from .nodes import Node
    from .preflight import Findings
    from .shapes import ObjectShape, Obligations

__all__ = ["Inspection"]

#: Places that are worked out at most.
_MAX_PLACES: Final = 500
#: Keywords that bind parts of a schema together, so that one part says little.
_ENTANGLED: Final = frozenset(
    [
        "$ref",
        "$dynamicRef",
        "$recursiveRef",
        "allOf",
        "dependentSchemas",
        "patternProperties",
        "propertyNames",
        "contains",
    ]
)
#: What can be refused besides ``oneOf``, ``multipleOf`` and ``uniqueItems``, which are often harmless.
_ALWAYS_RISKY: Final = frozenset(
    [
        "not",
        "if",
        "unevaluatedItems",
        "unevaluatedProperties",
        "dependencies",
        "dependentRequired",
        "minProperties",
    ]
)
#: Multiples that leave so few residues are never refused.
_MAX_RESIDUES: Final = 200
_SCALARS: Final = frozenset(["string", "integer", "number", "boolean", "null"])
_UNIONS: Final = ("anyOf", "oneOf")
_MEMBERS: Final = ("properties", "additionalProperties", "items", "prefixItems", "additionalItems")


class Inspection:
    """One pass over the rules of a builder.

    Args:
        builder: Makes the rules.
        findings: What preflight has seen of its schema.
    """

    def __init__(self, builder: Builder, findings: Findings) -> None:
        self._builder = builder
        self._root = builder.documents.root
        self._risky = findings.risky
        self._leads = findings.leads

    def run(self) -> None:
        """Expand what has to be.

        Raises:
            SchemaError: A part of the schema cannot be enforced.
            LimitExceeded: A part splits into too many cases.
        """
        builder = self._builder
        stack = [builder.obligations(self._root)]
        seen: set[Obligations] = set()
        n_places = 0
        while stack and n_places < _MAX_PLACES:
            obligations = stack.pop()
            if obligations in seen or not self._may_fail(obligations):
                continue
            seen.add(obligations)
            parts = self._plain_parts(obligations)
            if parts is not None:
                stack.extend(map(builder.obligations, parts))
                continue
            n_places += 1
            for branch in builder.branches(obligations):
                if branch.values is None:
                    stack.extend(self._worked_out(branch))

    def _worked_out(self, branch: Branch) -> Iterator[Obligations]:
        """What the values of a branch lead to; raises if they cannot be enforced."""
        builder, types = self._builder, branch.types
        n_made = len(builder.made)
        if types & STRING and branch.strings:
            builder.has_string(branch)
        if types & NUMBER and _residues(branch) > _MAX_RESIDUES:
            numbers_lexeme(branch, builder.options.integer_spelling, builder.report)
        if types & ARRAY and branch.arrays:
            array = builder.array_of(branch)
            if array.unique is not None or array.counts:
                array_expr(builder, array, 0)
            else:
                yield from self._possible([*array.prefix, array.rest])
        if types & OBJECT and (branch.objects or branch.required or branch.lacks):
            shape = builder.object_of(branch)
            if shape is not None:
                yield from self._objects(shape)
        for made, _ in builder.made[n_made:]:
            yield made if isinstance(made, frozenset) else made.obligations()

    def _objects(self, shape: ObjectShape) -> Iterator[Obligations]:
        builder = self._builder
        if shape.asked or shape.clauses or shape.low > 1:
            for pruned in pruned_objects(builder, shape):
                object_expr(builder, pruned, 0)
            return
        owed = [member.obligations for member in shape.members]
        owed += [cell.obligations for cell in shape.cells]
        if any(map(self._may_fail, owed)) and holds_object(builder, shape):
            yield from self._possible(owed)

    def _possible(self, owed: Iterable[Obligations]) -> Iterator[Obligations]:
        return (one for one in owed if self._may_fail(one) and self._builder.satisfiable(one))

    def _may_fail(self, obligations: Obligations) -> bool:
        """Whether anything that can be refused is in, or below, what has to hold."""
        return any(isinstance(node, AnyOf) or self._is_leading(node) for node, _ in obligations)

    def _is_leading(self, node: Node) -> bool:
        # Documents of a registry are not looked over before.
        elsewhere = node.resource is not self._root.resource
        return elsewhere or self._leads is None or id(node.schema) in self._leads

    def _plain_parts(self, obligations: Obligations) -> list[Node] | None:
        """The parts of a plain schema that lead to something; None if it has to be worked out."""
        if len(obligations) != 1 or self._leads is None:
            return None
        ((node, positive),) = obligations
        if not positive or isinstance(node, AnyOf) or node.resource is not self._root.resource:
            return None
        schema = node.schema
        if not _ENTANGLED.isdisjoint(schema) or (id(schema) in self._risky and not _is_harmless(node)):
            return None
        unions = [keyword for keyword in _UNIONS if keyword in schema]
        members = [keyword for keyword in _MEMBERS if keyword in schema]
        if len(unions) > 1 or (unions and members):
            return None
        known = node.resource.dialect.keywords
        keys = [key for word in (*unions, *members) if word in known for key in _keys(word, schema[word])]
        return [node.child(*key) for key in keys if id(_at(schema, key)) in self._leads]


def _is_harmless(node: Node) -> bool:
    """Whether a risky keyword plainly is none here."""
    schema = node.schema
    if not _ALWAYS_RISKY.isdisjoint(schema) or ("pattern" in schema and "format" in schema):
        return False
    if "multipleOf" in schema:
        divisor = schema["multipleOf"]
        if divisor.__class__ is not int or not 0 < divisor <= _MAX_RESIDUES:
            return False
    if schema.get("uniqueItems") is True:
        items = schema.get("items", True)
        kind = items.get("type") if isinstance(items, dict) else None
        if "prefixItems" in schema or not (items is True or (isinstance(kind, str) and kind in _SCALARS)):
            return False
    if "oneOf" in schema:
        options = [node.child("oneOf", index) for index in range(len(schema["oneOf"]))]
        return all(are_disjoint(one, other) for i, one in enumerate(options) for other in options[:i])
    return True


def _residues(branch: Branch) -> int:
    """About how many residues the multiples of a branch tell apart."""
    n_residues = 1
    for kind, value, _ in branch.numbers:
        if kind == "multiple" or kind == "not_multiple":
            numerator, denominator = value.as_integer_ratio()
            n_residues *= abs(numerator) * denominator
    return n_residues


def _keys(keyword: str, value: Any) -> Iterable[tuple[str | int, ...]]:
    """Where the subschemas of a keyword are."""
    if isinstance(value, list):
        return ((keyword, index) for index in range(len(value)))
    if keyword == "properties":
        return ((keyword, name) for name in value)
    return ((keyword,),)


def _at(value: Any, key: Iterable[str | int]) -> Any:
    for part in key:
        value = value[part]
    return value
