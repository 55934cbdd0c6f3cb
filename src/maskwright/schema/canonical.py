"""One spelling per value: the values of a set of obligations as a regular language of distinct texts.

``uniqueItems`` compares values; the kernel remembers texts. So items of such an array are written in one
spelling: strings with the shortest escapes, numbers without exponents and trailing zeros, containers with
one white space and their members in one order (`permuted` leaves that free). The order is the declared one
while all objects are closed. Names that no schema lists cannot be ordered by a regular language; there
members are sorted, and two open names with the same first byte are left out, as is nesting beyond a few
levels, and of unique arrays inside items what is not regular (see `unique_texts`): `left_out` says so.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from ..lexeme import (
    EMPTY,
    Lexeme,
    any_byte,
    byte_set,
    concat,
    intersection,
    literal,
    literals,
    optional,
    repeat,
    star,
    union,
)
from ..regex.encoding import JSON_STRING, JSON_STRING_CANONICAL
from .branches import Branch
from .emptiness import is_empty
from .finite import value_meets
from .members import Cell, Member
from .numeric import numbers_lexeme
from .pruning import pruned_objects
from .shapes import ArrayShape, ObjectShape, Obligations, cut_array
from .unique_texts import in_any_order, in_order_of_starts
from .values import ARRAY, BOOLEAN, INTEGER, NULL, NUMBER, OBJECT, STRING, decimal_of, string_text

if TYPE_CHECKING:
    from .builder import Builder

__all__ = ["CLASSES", "Canonical", "NotRegular"]

#: Bounds on the members of an object beyond which it is not written out.
_MAX_MEMBERS: Final = 64
_MAX_DIGITS: Final = 4000
#: Values of a unique array inside an item that may come in any order.
_MAX_SETS: Final = 8
_ANYTHING: Final = star(any_byte)
_DIGITS: Final = byte_set(b"0123456789")
_FIRST: Final = byte_set(b"123456789")
#: A key whose text starts so: one class per ASCII character, one for the escapes, one for all the others.
CLASSES: Final = (*((byte,) for byte in range(0x20, 0x80)), tuple(range(0x80, 0x100)))


class NotRegular(Exception):
    """The values have no regular language of this kind."""


class _Opened(Exception):
    """Some object has open names: members have to be sorted."""


@lru_cache(maxsize=2)
def _numbers(*, whole_only: bool) -> Lexeme:
    """One spelling of each number. Without a complement, so that nothing has to be searched for."""
    whole = concat(_FIRST, star(_DIGITS))
    if not whole_only:
        point = concat(literal(b"."), star(_DIGITS), _FIRST)
        whole = union(concat(whole, optional(point)), concat(literal(b"0"), point))
    return union(literal(b"0"), concat(optional(literal(b"-")), whole))


@lru_cache(maxsize=256)
def _keys_starting(first: tuple[int, ...]) -> Lexeme:
    return concat(literal(b'"'), byte_set(first), _ANYTHING)


@lru_cache(maxsize=1024)
def _cut(key: Lexeme, first: tuple[int, ...]) -> Lexeme:
    """The keys among some that start so, in one spelling. Open objects all have the same keys."""
    found = intersection(key, JSON_STRING_CANONICAL, _keys_starting(first))
    return EMPTY if is_empty(found) else found


def _number_text(value: Any) -> bytes:
    exact = value if isinstance(value, int) else decimal_of(value)
    if not exact:
        return b"0"
    if not isinstance(exact, int) and abs(exact.adjusted()) > _MAX_DIGITS:
        raise NotRegular("items that are numbers of thousands of digits")
    text = f"{exact:f}" if not isinstance(exact, int) else str(exact)
    return (text.rstrip("0").rstrip(".") if "." in text else text).encode()


class Canonical:
    """Makes the languages of the items of one array; equal values have equal texts in all of them.

    Attributes:
        left_out: What is never written, in words.
        max_nesting: Levels of containers in one item.
    """

    max_nesting = 4

    def __init__(self, builder: Builder, depth: int) -> None:
        self._builder = builder
        self._depth = depth
        self._is_sorted = False
        self.left_out: set[str] = set()
        self._order: dict[str, int] = {}
        self._memo: dict[tuple[Obligations, int], Lexeme] = {}

    def all_of(self, wanted: list[Obligations]) -> list[Lexeme]:
        """The language of each set of obligations.

        Raises:
            NotRegular: There is none.
        """
        try:
            return [self._of(one, 0) for one in wanted]
        except _Opened:
            self._is_sorted = True
            self._memo.clear()
            self.left_out.add("members of objects in another order than sorted by name")
            self.left_out.add("objects in which two open names start alike")
            return [self._of(one, 0) for one in wanted]

    def _of(self, obligations: Obligations, nesting: int) -> Lexeme:
        key = (obligations, nesting)
        found = self._memo.get(key)
        if found is None:
            if not obligations and self._is_sorted:
                found = self._anything(nesting)
            else:
                found = self._union(obligations, nesting)
            self._memo[key] = found
        return found

    def _union(self, obligations: Obligations, nesting: int) -> Lexeme:
        return union(*(self._branch(branch, nesting) for branch in self._builder.branches(obligations)))

    def _anything(self, nesting: int) -> Lexeme:
        """Any value. It is large and the same for all schemas, so it is made once for a layout."""
        layout = self._builder.layout
        place = (self._depth if layout.is_indented else 0, nesting)
        known = layout.canonical.get(place)
        if known is None:
            outer, self.left_out = self.left_out, set()
            lexeme = self._union(frozenset(), nesting)
            known = layout.canonical[place] = (lexeme, frozenset(self.left_out))
            self.left_out = outer
        lexeme, left_out = known
        self.left_out |= left_out
        return lexeme

    def _branch(self, branch: Branch, nesting: int) -> Lexeme:
        builder, types = self._builder, branch.types
        if branch.values is not None:
            met = [value for value in branch.values.values() if value_meets(builder, branch, value)]
            return self._given(met, nesting)
        parts: list[Lexeme] = []
        if types & (NULL | BOOLEAN):
            words = builder.words_of(branch, types & (NULL | BOOLEAN))
            parts.extend([words.lexeme] if words is not None else [])
        if types & STRING:
            strings = builder.strings_of(branch)
            plain = strings is JSON_STRING
            parts.append(JSON_STRING_CANONICAL if plain else intersection(strings, JSON_STRING_CANONICAL))
        if types & NUMBER:
            parts.append(self._numbers(branch))
        if types & (ARRAY | OBJECT) and nesting >= self.max_nesting:
            self.left_out.add(f"items with more than {self.max_nesting} levels of containers")
            types &= ~(ARRAY | OBJECT)
        if types & ARRAY:
            parts.append(self._array(builder.array_of(branch), nesting))
        if types & OBJECT:
            shape = builder.object_of(branch)
            shapes = [] if shape is None else pruned_objects(builder, shape, splits_all=True)
            parts.extend(self._object(one, nesting) for one in shapes)
        return union(*(part for part in parts if not is_empty(part)))

    def _numbers(self, branch: Branch) -> Lexeme:
        kinds = branch.types & NUMBER
        is_plain = all(kind == "plain" for kind, _, _ in branch.numbers) and not branch.excluded
        if is_plain and kinds in (NUMBER, INTEGER):
            return _numbers(whole_only=kinds == INTEGER)
        return intersection(numbers_lexeme(branch, "plain", self._builder.report), _numbers(whole_only=False))

    # -- given values ----------------------------------------------------------------------------------

    def _given(self, values: list[Any], nesting: int) -> Lexeme:
        return literals([self._text(value, nesting) for value in values])

    def _text(self, value: Any, nesting: int) -> bytes:
        if isinstance(value, str):
            return string_text(value)
        if value is None or isinstance(value, bool):
            return json.dumps(value).encode()
        if isinstance(value, list):
            return self._wrapped(b"[]", [self._text(item, nesting + 1) for item in value], nesting)
        if isinstance(value, dict):
            members = [
                string_text(name) + self._colon() + self._text(value[name], nesting + 1)
                for name in self._sorted(list(value))
            ]
            return self._wrapped(b"{}", members, nesting)
        return _number_text(value)

    def _sorted(self, names: list[str]) -> list[str]:
        if self._is_sorted:
            return sorted(names, key=string_text)
        for name in names:
            self._order.setdefault(name, len(self._order))
        return sorted(names, key=self._order.__getitem__)

    # -- white space -----------------------------------------------------------------------------------

    def _space(self, kind: bytes, nesting: int) -> bytes:
        """The one text of an opening, a separator or a closing."""
        layout = self._builder.layout
        return layout.fixed_text(kind, self._depth + nesting if layout.is_indented else 0)

    def _colon(self) -> bytes:
        return self._builder.layout.fixed_text(b":", 0)

    def _wrapped(self, brackets: bytes, parts: list[bytes], nesting: int) -> bytes:
        if not parts:
            return brackets
        inner = self._space(b",", nesting).join(parts)
        return self._space(brackets[:1], nesting) + inner + self._space(brackets[1:], nesting)

    # -- arrays ----------------------------------------------------------------------------------------

    def _array(self, shape: ArrayShape, nesting: int) -> Lexeme:
        if shape.counts or shape.unique is False:
            raise NotRegular("items that are arrays with contains, or with items that must not be unique")
        is_unique = shape.unique
        shape = cut_array(self._builder, shape)
        low, high = shape.low, shape.high
        if high is not None and high < low:
            return EMPTY
        if is_unique and (high is None or high > 1):
            return self._unique(shape, nesting)
        separator = literal(self._space(b",", nesting))
        n_prefix = len(shape.prefix)
        rest: Lexeme | None = None  # what may follow the prefix
        if high is None or high > n_prefix:
            item = self._of(shape.rest, nesting + 1)
            most = None if high is None else high - n_prefix
            if n_prefix == 0:
                more = repeat(concat(separator, item), max(0, low - 1), None if most is None else most - 1)
                rest = concat(item, more)
            else:
                rest = repeat(concat(separator, item), max(0, low - n_prefix), most)
        elif n_prefix == 0:
            return literal(b"[]")
        for index in range(n_prefix - 1, -1, -1):
            item = self._of(shape.prefix[index], nesting + 1)
            here = item if rest is None else concat(item, rest)
            here = concat(separator, here) if index else here
            rest = here if low > index or index == 0 else optional(here)
        assert rest is not None
        full = concat(literal(self._space(b"[", nesting)), rest, literal(self._space(b"]", nesting)))
        return union(literal(b"[]"), full) if low == 0 else full

    def _unique(self, shape: ArrayShape, nesting: int) -> Lexeme:
        """Arrays of unique items inside an item; perhaps not all of them, see `unique_texts`."""
        from .unique import finite_values

        low, high = shape.low, shape.high
        if shape.prefix or max(low, high or 0) > _MAX_MEMBERS:
            raise NotRegular("items that are arrays of unique items with prefixItems or large bounds")
        separator = self._space(b",", nesting)
        values = finite_values(self._builder, shape.rest)
        if values is not None and len(values) <= _MAX_SETS:
            texts = [self._text(value, nesting + 1) for value in values]
            inside = in_any_order(texts, separator, low, high)
        else:
            self.left_out.add(
                "arrays of unique items inside them, unless sorted by how the items start, with no two alike"
            )
            inside = in_order_of_starts(self._of(shape.rest, nesting + 1), separator, low, high)
            if is_empty(inside) and low > 1:
                raise NotRegular("items that are arrays of several unique items that start alike")
        full = concat(literal(self._space(b"[", nesting)), inside, literal(self._space(b"]", nesting)))
        return union(literal(b"[]"), full) if low == 0 else full

    # -- objects ---------------------------------------------------------------------------------------

    def _object(self, shape: ObjectShape, nesting: int) -> Lexeme:
        if shape.clauses or shape.musts or shape.asked:
            raise NotRegular("items that are objects of which some member has to fail something")
        if shape.cells and not self._is_sorted:
            raise _Opened
        bound = max(shape.low, shape.high or 0)
        if bound > _MAX_MEMBERS:
            raise NotRegular("items that are objects with a large number of members")
        return _Members(self, shape, nesting).lexeme()

    def key(self, name: str) -> Lexeme:
        """A name and the colon."""
        return literal(string_text(name) + self._colon())


class _Members:
    """The members of one object in one order, from the last one."""

    def __init__(self, canonical: Canonical, shape: ObjectShape, nesting: int) -> None:
        self._canonical = canonical
        self._shape = shape
        self._nesting = nesting
        self._separator = literal(canonical._space(b",", nesting))
        self._colon = literal(canonical._colon())
        by_name = {member.name: member for member in shape.members}
        known = [by_name[name] for name in canonical._sorted(list(by_name))]
        #: (member or cells, class of the first byte)
        self._places: list[tuple[Member | list[Cell], int]] = []
        if not shape.cells:
            self._places = [(member, 0) for member in known]
        else:
            self._interleave(known)
        self._top = max(shape.low, 1 if shape.high is None else shape.high + 1)

    def _interleave(self, known: list[Member]) -> None:
        for number, first in enumerate(CLASSES):
            self._places.extend(
                (member, number) for member in known if (string_text(member.name)[1:] or b'"')[0] in first
            )
            cells = [Cell(_cut(cell.key, first), cell.obligations) for cell in self._shape.cells]
            cells = [cell for cell in cells if cell.key is not EMPTY]
            if cells:
                self._places.append((cells, number))

    def lexeme(self) -> Lexeme:
        """All objects of the shape."""
        canonical, nesting = self._canonical, self._nesting
        close = literal(canonical._space(b"}", nesting))
        # `after[n, used]`: what may follow with n members so far, and whether one of the current class is
        # among them. The counts end at `_top`, from where they no longer matter.
        counts = range(self._top + 1)
        after: dict[tuple[int, bool], Lexeme] = {}
        for n in counts:
            ends = n >= max(self._shape.low, 1) and (self._shape.high is None or n <= self._shape.high)
            after[n, False] = after[n, True] = close if ends else EMPTY
        for index in range(len(self._places) - 1, -1, -1):
            place, number = self._places[index]
            changes = index + 1 < len(self._places) and self._places[index + 1][1] != number
            member = self._member(place)
            before: dict[tuple[int, bool], Lexeme] = {}
            for n in counts:
                for used in (False, True):
                    skipped = after[n, used and not changes]
                    if isinstance(place, Member) and place.required:
                        skipped = EMPTY
                    if isinstance(place, list) and used:
                        before[n, used] = skipped
                        continue
                    lead = (self._separator,) if n else ()
                    onward = after[min(n + 1, self._top), not changes]
                    before[n, used] = union(concat(*lead, member, onward), skipped)
            after = before
        full = concat(literal(canonical._space(b"{", nesting)), after[0, False])
        is_needed = self._shape.low > 0 or any(member.required for member in self._shape.members)
        return full if is_needed else union(literal(b"{}"), full)

    def _member(self, place: Member | list[Cell]) -> Lexeme:
        canonical = self._canonical
        if isinstance(place, Member):
            value = canonical._of(place.obligations, self._nesting + 1)
            return concat(canonical.key(place.name), value)
        return union(
            *(
                concat(cell.key, self._colon, canonical._of(cell.obligations, self._nesting + 1))
                for cell in place
            )
        )
