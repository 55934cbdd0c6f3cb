"""Values with members in the orders that the options allow, and everything else in one spelling.

What the items of a unique array are written in. The kernel takes all orders of a text away once one is
written (`rules.Fresh`), so equal values never meet. Members are arrangements (see `lexeme`): listed names
come at most once, and of the open names, which a regular language cannot tell apart, one per first byte.
Without ``any_order`` listed names come first and as declared, as they do elsewhere. Arrays of unique items
inside items are arrangements too: of their values, or of what starts differently.

These languages may hold several texts per value: to count values is left to `canonical`.

Rejected: to let open names repeat, as in other objects, with the last one counting. Each text remembered
would then have to be compared to the very end of each item that shares a name with it.
"""

from __future__ import annotations

from collections.abc import Container
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final

from ..lexeme import EMPTY, Lexeme, arrangement, concat, either, intersection, literal, union
from ..regex.encoding import JSON_CANONICAL, JSON_STRING, json_string
from .canonical import CLASSES, Canonical, NotRegular
from .emptiness import go_on_alike
from .unique_texts import cut_by_starts

if TYPE_CHECKING:
    from .shapes import ArrayShape, ObjectShape, Obligations

__all__ = ["Declared", "Permuted"]

#: Bounds on the members of an object beyond which listed ones are not written out for each number of them.
_MAX_BOUND: Final = 64

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
    """Makes the languages of the items of one array, with members in any order.

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
            return self._braced(parts, range(len(parts)), [], len(parts), None, nesting)
        separator = literal(self._space(b",", nesting))
        inner = [part for item in value for part in (separator, self._one(item, nesting + 1))]
        opening, closing = self._space(b"[", nesting), self._space(b"]", nesting)
        return concat(literal(opening), *inner[1:], literal(closing))

    # -- containers ------------------------------------------------------------------------------------

    def _object(self, shape: ObjectShape, nesting: int) -> Lexeme:
        if shape.clauses or shape.musts:
            raise NotRegular("items that are objects of which some member has to fail something")
        listed = [
            concat(self.key(member.name), self._of(member.obligations, nesting + 1))
            for member in shape.members
        ]
        required = [index for index, member in enumerate(shape.members) if member.required]
        opened = self._open_members(shape, nesting) if shape.cells else []
        full = self._braced(listed, required, opened, shape.low, shape.high, nesting)
        return full if shape.low > 0 or required else union(_EMPTY_OBJECT, full)

    def _braced(
        self,
        listed: list[Lexeme],
        required: Container[int],
        opened: list[Lexeme],
        low: int,
        high: int | None,
        nesting: int,
    ) -> Lexeme:
        """An object of some members, at least one; ``required`` are indexes of listed ones."""
        separator, close = literal(self._space(b",", nesting)), literal(self._space(b"}", nesting))
        inside = self._members(listed, required, opened, separator, close, low, high)
        self.permutes = self.permutes or len(listed) + len(opened) > 1
        return concat(literal(self._space(b"{", nesting)), inside)

    def _members(
        self,
        listed: list[Lexeme],
        required: Container[int],
        opened: list[Lexeme],
        separator: Lexeme,
        close: Lexeme,
        low: int,
        high: int | None,
    ) -> Lexeme:
        """The members and the close."""
        needed = [index for index in range(len(listed)) if index in required]
        parts = [*listed, *opened]
        return arrangement(parts, separator, close, required=needed, low=max(low, 1), high=high)

    def _open_members(self, shape: ObjectShape, nesting: int) -> list[Lexeme]:
        """Members with open names, one for each way in which a name starts."""
        self.left_out.add("objects in which two open names start alike")
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


class Declared(Permuted):
    """The same with listed members before all others, as declared."""

    def _members(
        self,
        listed: list[Lexeme],
        required: Container[int],
        opened: list[Lexeme],
        separator: Lexeme,
        close: Lexeme,
        low: int,
        high: int | None,
    ) -> Lexeme:
        if max(low, high or 0) > _MAX_BOUND and (low > len(listed) or high is not None):
            raise NotRegular("items that are objects with a large number of members")
        # What may follow n listed members. The counts end where they no longer matter.
        top = max(low, 1 if high is None else high + 1)
        after = [self._behind(n, opened, low, high, separator, close) for n in range(top + 1)]
        for index in range(len(listed) - 1, -1, -1):
            lead = [(listed[index],) if n == 0 else (separator, listed[index]) for n in range(top + 1)]
            taken = [concat(*lead[n], after[min(n + 1, top)]) for n in range(top + 1)]
            after = taken if index in required else list(map(union, taken, after))
        return after[0]

    @staticmethod
    def _behind(
        n: int, opened: list[Lexeme], low: int, high: int | None, separator: Lexeme, close: Lexeme
    ) -> Lexeme:
        """The end of an object with n listed members: perhaps others, and the close."""
        room = None if high is None else high - n
        if room is not None and room < 0:
            return EMPTY
        more = arrangement(opened, separator, close, low=max(1, low - n), high=room)
        more = concat(separator, more) if n else more
        return union(more, close) if n >= max(low, 1) else more
