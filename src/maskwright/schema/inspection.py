"""Looking at once at what may turn out not to be enforceable, and at nothing else.

Rules expand while tokens are generated, which is too late to refuse a schema. `preflight` names the schema
objects with keywords that can be refused, or can split into too many cases. Here their rules are expanded
before the first token; the way to them leads through plain objects, arrays and unions, whose parts do not
depend on each other, and which are only walked through. Where schemas are entangled (a conjunction, two groups
that may name the same property) the whole place is expanded, and what that leads to is looked at alike.

Rejected: expanding all rules of a document in which any keyword can be refused. Large schemas have one
``oneOf`` in a corner, and compiling them took longer than compiling ten of their size without one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from ..rules import Call
from .branches import AnyOf

if TYPE_CHECKING:
    from .builder import Builder
    from .nodes import Node
    from .preflight import Findings, Path
    from .shapes import Obligations

__all__ = ["Inspection"]

#: Rules that are expanded at most.
_MAX_EXPANDED: Final = 500
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
        self._risky: set[int] = set()
        self._leads: set[int] | None = None
        if not findings.has_ids:
            self._risky = {id(_schemas_on(self._root.schema, path)[-1]) for path in findings.risky}
            self._leads = _leading(self._root.schema, findings)

    def run(self) -> None:
        """Expand what has to be.

        Raises:
            SchemaError: A part of the schema cannot be enforced.
            LimitExceeded: A part splits into too many cases.
        """
        builder = self._builder
        stack = [builder.obligations(self._root)]
        seen: set[Obligations] = set()
        n_expanded = 0
        while stack and n_expanded < _MAX_EXPANDED:
            obligations = stack.pop()
            if obligations in seen or not self._may_fail(obligations):
                continue
            seen.add(obligations)
            parts = self._parts(obligations)
            if parts is not None:
                stack.extend(map(builder.obligations, parts))
                continue
            n_known = len(builder.made)
            expr = builder.value(obligations, 0)
            if isinstance(expr, Call):
                expr.rule.expand()
                n_expanded += 1
            stack.extend(made for made, _ in builder.made[n_known:])

    def _may_fail(self, obligations: Obligations) -> bool:
        """Whether anything that can be refused is in, or below, what has to hold."""
        return any(isinstance(node, AnyOf) or self._is_leading(node) for node, _ in obligations)

    def _is_leading(self, node: Node) -> bool:
        # Documents of a registry are not looked over before.
        elsewhere = node.resource is not self._root.resource
        return elsewhere or self._leads is None or id(node.schema) in self._leads

    def _parts(self, obligations: Obligations) -> list[Node] | None:
        """The parts of a plain schema that lead to something; None if it has to be expanded."""
        if len(obligations) != 1 or self._leads is None:
            return None
        ((node, positive),) = obligations
        if not positive or isinstance(node, AnyOf) or node.resource is not self._root.resource:
            return None
        schema = node.schema
        if id(schema) in self._risky or not _ENTANGLED.isdisjoint(schema):
            return None
        unions = [keyword for keyword in _UNIONS if keyword in schema]
        members = [keyword for keyword in _MEMBERS if keyword in schema]
        if len(unions) > 1 or (unions and members):
            return None
        known = node.resource.dialect.keywords
        keys = [key for word in (*unions, *members) if word in known for key in _keys(word, schema[word])]
        return [node.child(*key) for key in keys if id(_at(schema, key)) in self._leads]


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


def _leading(root: Any, findings: Findings) -> set[int]:
    """The ids of all schemas on the way to what may fail, through references too."""
    sources: dict[int, list[Path]] = {}
    for target, path in findings.local_refs:
        sources.setdefault(id(target), []).append(path)
    leads: set[int] = set()
    stack = list(findings.risky)
    while stack:
        for schema in _schemas_on(root, stack.pop()):
            if id(schema) not in leads:
                leads.add(id(schema))
                stack.extend(sources.get(id(schema), ()))
    return leads


def _schemas_on(root: Any, path: Path) -> list[Any]:
    """The schemas on the way to a place, the root and the place itself included."""
    steps: list[tuple[Any, ...]] = []
    while path:
        steps.append(path[1:])
        path = path[0]
    found = [root]
    for step in reversed(steps):
        found.append(_at(found[-1], step))
    return found
