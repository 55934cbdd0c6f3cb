"""Values with the members of their objects in any order, and everything else in one spelling.

What the items of a unique array are written in where ``any_order`` is on. The kernel takes all orders of a
text away once one is written (`rules.Fresh`), so equal values never meet. Members are arrangements (see
`lexeme`): listed names come at most once, and of the open names, which a regular language cannot tell
apart, one per first byte. Arrays of unique items inside items are arrangements too: of their values, or of
what starts differently.

These languages hold several texts per value: to count values is left to `canonical`.

Rejected: to let open names repeat, as in other objects, with the last one counting. Each text remembered
would then have to be compared to the very end of each item that shares a name with it.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final

from ..lexeme import Lexeme, arrangement, concat, either, intersection, literal, union
from ..regex.encoding import JSON_CANONICAL, JSON_STRING, json_string
from .canonical import CLASSES, Canonical, NotRegular
from .emptiness import go_on_alike
from .unique_texts import cut_by_starts

if TYPE_CHECKING:
    from .shapes import ArrayShape, ObjectShape, Obligations

__all__ = ["Permuted"]

_EMPTY_OBJECT: Final = literal(b"{}")
_EMPTY_ARRAY: Final = literal(b"[]")


@cache
def _names_starting(first: tuple[int, ...]) -> Lexeme:
    """All canonical strings whose first byte is one of these (see `CLASSES`)."""
    if first == (ord('"'),):
        return literal(b'""')
    if first == (ord("\\"),):
        chars = JSON_CANONICAL.chars(((0, 0x1F), (0x22, 0x22), (0x5C, 0x5C)))
    else:
        chars = JSON_CANONICAL.chars(((first[0], first[0] if len(first) == 1 else 0x10FFFF),))
    return json_string(concat(chars, JSON_CANONICAL.any_text))


@lru_cache(maxsize=4096)
def _cut(key: Lexeme, first: tuple[int, ...]) -> Lexeme:
    """The names of a cell that start so, without an intersection where the cell holds all of them.

    An intersection would have to be searched for its end in each of the many states that it gets into.
    """
    names = _names_starting(first)
    if key is JSON_STRING or all(go_on_alike(key, JSON_STRING, bytes((0x22, byte))) for byte in first):
        return names
    return intersection(key, names)


class Permuted(Canonical):
    """Makes the languages of the items of one array; equal values differ in the order of members only.

    Attributes:
        permutes: Whether some object has several members: else there is one text per value.
    """

    #: An arrangement is a node whatever the number of its members, so items may be deeper than where
    #: all ways to go on are written out.
    max_nesting = 6
    permutes = False

    def all_of(self, wanted: list[Obligations]) -> list[Lexeme]:
        """The language of each set of obligations.

        Raises:
            NotRegular: There is none.
        """
        return [self._of(one, 0) for one in wanted]

    def _given(self, values: list[Any], nesting: int) -> Lexeme:
        return either(self._one(value, nesting) for value in values)

    def _one(self, value: Any, nesting: int) -> Lexeme:
        """A given value."""
        if not value or not isinstance(value, (dict, list)):
            return literal(self._text(value, nesting))
        if isinstance(value, dict):
            parts = [concat(self.key(name), self._one(item, nesting + 1)) for name, item in value.items()]
            return self._members(parts, range(len(parts)), len(parts), None, nesting)
        separator = literal(self._space(b",", nesting))
        inner = [part for item in value for part in (separator, self._one(item, nesting + 1))]
        opening, closing = self._space(b"[", nesting), self._space(b"]", nesting)
        return concat(literal(opening), *inner[1:], literal(closing))

    # -- containers ------------------------------------------------------------------------------------

    def _members(
        self, parts: list[Lexeme], required: range | list[int], low: int, high: int | None, nesting: int
    ) -> Lexeme:
        """An object of some members, at least one."""
        self.permutes = self.permutes or len(parts) > 1
        separator, close = literal(self._space(b",", nesting)), literal(self._space(b"}", nesting))
        inside = arrangement(parts, separator, close, required=required, low=max(low, 1), high=high)
        return concat(literal(self._space(b"{", nesting)), inside)

    def _object(self, shape: ObjectShape, nesting: int) -> Lexeme:
        if shape.clauses or shape.musts:
            raise NotRegular("items that are objects of which some member has to fail something")
        parts = [
            concat(self.key(member.name), self._of(member.obligations, nesting + 1))
            for member in shape.members
        ]
        required = [index for index, member in enumerate(shape.members) if member.required]
        if shape.cells:
            self.left_out.add("objects in which two open names start alike")
            parts.extend(self._open_members(shape, nesting))
        full = self._members(parts, required, shape.low, shape.high, nesting)
        return full if shape.low > 0 or required else union(_EMPTY_OBJECT, full)

    def _open_members(self, shape: ObjectShape, nesting: int) -> list[Lexeme]:
        """Members with open names, one for each way in which a name starts."""
        colon = literal(self._colon())
        cells = [(cell.key, concat(colon, self._of(cell.obligations, nesting + 1))) for cell in shape.cells]
        return [union(*(concat(_cut(key, first), value) for key, value in cells)) for first in CLASSES]

    def _unique(self, shape: ArrayShape, nesting: int) -> Lexeme:
        from .unique import finite_values

        if shape.prefix:
            raise NotRegular("items that are arrays of unique items with prefixItems")
        values = finite_values(self._builder, shape.rest)
        if values is not None:
            parts = [self._given([value], nesting + 1) for value in values]
        else:
            self.left_out.add("arrays of unique items inside them in which two items start alike")
            parts = cut_by_starts(self._of(shape.rest, nesting + 1))
            if shape.low > max(len(parts), 1):
                raise NotRegular("items that are arrays of several unique items that start alike")
        separator, close = literal(self._space(b",", nesting)), literal(self._space(b"]", nesting))
        inside = arrangement(parts, separator, close, low=max(shape.low, 1), high=shape.high)
        full = concat(literal(self._space(b"[", nesting)), inside)
        return union(_EMPTY_ARRAY, full) if shape.low == 0 else full
