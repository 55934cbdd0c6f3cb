"""Whether any value meets a set of obligations.

Needed so that generation never starts a property that cannot be finished, and to refuse a schema
that no value meets. The answer is a least fixed point: a recursive schema has a value only if some
finite value exists, so a set that is met again while it is being decided counts as unsatisfiable *there*;
a "no" that rests on such an assumption is not remembered.

Most sets are settled by an obvious witness (see `witness`) without being expanded. That matters: this runs
for every property of every object that is visited.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..errors import SchemaError
from ..lexeme import Op
from .arrays import is_possible
from .branches import AnyOf, Branch
from .finite import value_meets
from .numeric import numbers_lexeme, plainly_has_number
from .plain import plain_needs
from .pruning import holds_object
from .shapes import Obligations, needs_the_impossible
from .values import ARRAY, BOOLEAN, NULL, NUMBER, OBJECT, STRING
from .witness import has_witness

if TYPE_CHECKING:
    from .builder import Builder
    from .nodes import Node

__all__ = ["Satisfiability"]

_FREE: Final = 1 << 60


class Satisfiability:
    """Decides and remembers; one per builder."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._known: dict[Obligations, bool] = {}
        self._open: dict[Obligations, int] = {}  # being decided, with their depth
        self._lowest = _FREE  # the outermost open set that the current answer rests on

    def of(self, obligations: Obligations) -> bool:
        """Whether some value meets all of them."""
        if not obligations:
            return True
        known = self._known.get(obligations)
        if known is not None:
            return known
        if len(obligations) == 1:
            ((node, positive),) = obligations
            if positive and not isinstance(node, AnyOf) and has_witness(node.schema):
                self._known[obligations] = True
                return True
        if obligations in self._open:
            self._lowest = min(self._lowest, self._open[obligations])
            return False
        return self._decide(obligations)

    def _decide(self, obligations: Obligations) -> bool:
        outer, self._lowest = self._lowest, _FREE
        depth = self._open[obligations] = len(self._open)
        try:
            needs = plain_needs(self._builder, obligations)
            if needs is not None:
                answer = all(map(self.of, needs))
            else:
                answer = any(self.branch(branch) for branch in self._builder.branches(obligations))
        except BaseException:
            self._lowest = min(outer, self._lowest)  # whoever catches it goes on with what it rests on
            raise
        finally:
            del self._open[obligations]
        if answer or self._lowest >= depth:
            self._known[obligations] = answer
            self._lowest = outer
        else:
            self._lowest = min(outer, self._lowest)
        return answer

    def branch(self, branch: Branch) -> bool:
        """Whether some value is in the language of a branch."""
        builder = self._builder
        if branch.values is not None:
            return any(value_meets(builder, branch, value) for value in branch.values.values())
        types = branch.types
        if types & (NULL | BOOLEAN) and builder.words_of(branch, types & (NULL | BOOLEAN)) is not None:
            return True
        if types & STRING and builder.has_string(branch):
            return True
        if types & NUMBER and plainly_has_number(branch):
            return True
        if types & NUMBER:
            lexeme = numbers_lexeme(branch, builder.options.integer_spelling, builder.report)
            if lexeme.op is not Op.EMPTY:
                return True
        if types & ARRAY and (not branch.arrays or is_possible(builder, builder.array_of(branch))):
            return True
        if types & OBJECT:
            if not (branch.objects or branch.required or branch.lacks):
                return True
            if len(branch.objects) > 1 and needs_the_impossible(builder, branch):
                return False
            shape = builder.object_of(branch)
            return shape is not None and holds_object(builder, shape)
        return False

    def conflict(self, node: Node) -> SchemaError:
        """The error for a root that no value meets, with what contradicts what as far as it is plain."""
        place, keywords = _blame(self._builder, node)
        return SchemaError(
            f"no value can meet this schema: {keywords}",
            pointer=place.pointer,
            keyword=None,
            hint="bounds that cross, required properties that are false, or recursion without an end",
        )


def _blame(builder: Builder, node: Node) -> tuple[Node, str]:
    """The smallest part that is plainly to blame: a required property on the way down, or the root."""
    schema = node.schema
    seen = {node}
    while isinstance(schema, dict):
        for name in schema.get("required", ()) if isinstance(schema.get("required"), list) else ():
            inner = schema.get("properties", {}).get(name) if isinstance(name, str) else None
            if inner is None:
                continue
            child = node.child("properties", name)
            if child not in seen and not builder.satisfiable(builder.obligations(child)):
                seen.add(child)
                node, schema = child, child.schema
                break
        else:
            break
    if isinstance(schema, dict):
        asserted = [k for k in schema if node.resource.dialect.asserts(k, schema)]
        return node, f"{', '.join(asserted) or 'it'} leave nothing" if len(
            asserted
        ) != 1 else f"{asserted[0]} leaves nothing"
    return node, "it is false"
