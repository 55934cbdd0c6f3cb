"""Plain objects, read off their schema.

Nearly every object says which properties there are, which of them it needs, and what else may come, and no
more. Then there is one branch with one group of properties, and its shape can be told from the keywords. The
general way, by `branches` and `shapes`, says the same; it was most of the work of a small schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..regex.encoding import JSON_STRING
from .branches import AnyOf
from .keywords import ASSERTING
from .members import Cell, Member, Obligations
from .shapes import ObjectShape, open_keys

if TYPE_CHECKING:
    from .builder import Builder

__all__ = ["plain_object"]

_READ: Final = frozenset(["type", "properties", "required", "additionalProperties"])
_OTHERS: Final = ASSERTING - _READ


def plain_object(builder: Builder, obligations: Obligations) -> ObjectShape | None:
    """The shape of the objects that meet one plain schema; None if it is not plain.

    Whether its members have values is not asked.
    """
    if len(obligations) != 1:
        return None
    ((node, positive),) = obligations
    if not positive or isinstance(node, AnyOf):
        return None
    schema = node.schema
    if not isinstance(schema, dict) or schema.get("type") != "object" or not _OTHERS.isdisjoint(schema):
        return None
    listed, needed = schema.get("properties", {}), schema.get("required", ())
    if not isinstance(listed, dict) or not (listed or needed) or not isinstance(needed, (list, tuple)):
        return None
    if not (node.resource.dialect.keywords >= _READ and all(isinstance(name, str) for name in needed)):
        return None
    builder.report.saw(node)
    builder.report.n_branches += 1
    is_needed = frozenset(needed)
    members = [
        Member(name, builder.obligations(node.child("properties", name)), name in is_needed)
        for name in listed
    ]
    rest: Obligations | None = None
    if "additionalProperties" in schema:
        rest = builder.obligations(node.child("additionalProperties"))
    unlisted = [name for name in dict.fromkeys(needed) if name not in listed]
    members.extend(Member(name, rest or frozenset(), True) for name in unlisted)
    known = [member.name for member in members]
    if rest is None:
        is_closed = builder.options.strict_mode and bool(listed)
    else:
        is_closed = schema["additionalProperties"] is False
    cells: list[Cell] = []
    if not is_closed:
        key = open_keys(builder, known) if known else JSON_STRING
        cells.append(Cell(key, rest or frozenset()))
    return ObjectShape(members, set(known), cells, 0, None, node)
