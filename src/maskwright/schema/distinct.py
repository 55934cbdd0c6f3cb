"""Arrays whose items differ, as one rule that remembers the items' texts.

Every item is a `Fresh` text of a language with one spelling per value, but for the order of the members of
objects (see `permuted`). What is left is to see that there is always something fresh to write or a way to
end: the items are cut into classes, each with as many members as it may use up, and a counter per class is
asked before a comma is written. A class with more values than an output can hold needs no counter.

Refused: positions whose few values earlier positions may have used up, several ``contains``, and
``contains`` beside a prefix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..errors import LimitExceeded
from ..lexeme import Lexeme, difference, intersection
from ..rules import Act, Action, Alt, Call, Expr, Fresh, Repeat, Rule, Seq
from .canonical import Canonical, NotRegular
from .emptiness import is_empty, is_plainly_endless, size_of
from .permuted import Declared, Permuted
from .shapes import ArrayShape, Obligations, cut_array

if TYPE_CHECKING:
    from .builder import Builder

__all__ = ["Distinct"]

#: Positions of a prefix, which nest.
_MAX_PREFIX: Final = 100
#: Counters: all items (behind the prefix), and those of each class.
_ALL: Final = 0
#: More than that nobody counts to.
_ENDLESS: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class _Items:
    """Values that an item may be.

    Attributes:
        texts: What is written.
        orders: The same, and all other orders of members.
        counted: One text of each of them; as good as `texts` where these are endless.
    """

    texts: Lexeme
    orders: Lexeme
    counted: Lexeme

    @property
    def size(self) -> int | None:
        """How many there are, or a lower bound; None when there are more than any output could use up."""
        return None if is_plainly_endless(self.texts) else size_of(self.counted)

    def meets(self, other: _Items) -> bool:
        return not is_empty(intersection(self.orders, other.orders))

    def within(self, other: _Items) -> _Items:
        return _Items(
            intersection(self.texts, other.orders),
            intersection(self.orders, other.orders),
            intersection(self.counted, other.counted),
        )

    def without(self, other: _Items) -> _Items:
        return _Items(
            difference(self.texts, other.orders),
            difference(self.orders, other.orders),
            difference(self.counted, other.counted),
        )


@dataclass(frozen=True, slots=True)
class _Class:
    """Items that are counted together.

    Attributes:
        texts: What is written.
        least: How many the array needs.
        most: How many there may be; None for no bound.
    """

    texts: Lexeme
    least: int
    most: int | None


class Distinct:
    """The arrays of a shape with ``unique``.

    Attributes:
        is_possible: Whether there is one.
        left_out: What is never written, in words.

    Raises:
        NotRegular: They cannot be written exactly.
    """

    def __init__(self, builder: Builder, shape: ArrayShape, depth: int) -> None:
        self._layout = builder.layout
        self._depth = depth
        self._shape = shape = cut_array(builder, shape)
        self._low, self._high = shape.low, shape.high
        self._prefix: list[Expr] = []
        self._classes: list[_Class] = []
        self._permutes = False
        self.left_out: set[str] = set()
        self._uncounted: set[str] = set()
        self.is_possible = shape.high is None or shape.high >= shape.low
        if not self.is_possible:
            return
        try:
            if shape.counts:
                self._count(builder)
            else:
                self._positions(builder)
        except (RecursionError, LimitExceeded) as error:
            raise NotRegular("items that are too large to be compared") from error
        if not self.is_possible:
            self.left_out |= self._uncounted

    def _items(self, builder: Builder, wanted: list[Obligations]) -> list[_Items]:
        """The items that meet each set of obligations."""
        depth = builder.layout.below(self._depth)
        any_order = builder.options.any_order
        written = Permuted(builder, depth) if any_order else Declared(builder, depth)
        texts = orders = counted = written.all_of(wanted)
        self.left_out = written.left_out
        self._permutes = written.permutes
        if self._permutes and self._shape.prefix and not any_order:
            orders = Permuted(builder, depth).all_of(wanted)
        if self._permutes and not all(map(is_plainly_endless, texts)):
            counting = Canonical(builder, depth)
            counted = counting.all_of(wanted)
            self._uncounted = counting.left_out
        return list(map(_Items, texts, orders, counted))

    def _fresh(self, texts: Lexeme) -> Fresh:
        return Fresh(texts, 0, self._permutes)

    # -- without contains ------------------------------------------------------------------------------

    def _positions(self, builder: Builder) -> None:
        shape, high = self._shape, self._high
        n_prefix = len(shape.prefix) if high is None else min(len(shape.prefix), high)
        if n_prefix > _MAX_PREFIX:
            raise NotRegular("more than 100 positions")
        has_rest = high is None or high > n_prefix
        wanted = [*shape.prefix[:n_prefix], *([shape.rest] if has_rest else [])]
        items = self._items(builder, wanted)
        prefix, rest = items[:n_prefix], items[n_prefix] if has_rest else None
        for index, one in enumerate(prefix):
            if not self._has_always(one, prefix[:index]):
                raise NotRegular("a position whose few values may have been used up before it")
        self._prefix = [self._fresh(one.texts) for one in prefix]
        n_values = None if rest is None else rest.size
        if rest is None or n_values is None:
            if rest is not None:
                self._classes = [_Class(rest.texts, 0, None)]
            return
        overlapping = [index for index, one in enumerate(prefix) if one.meets(rest)]
        most = n_prefix + n_values
        if not overlapping or (high is not None and high - n_prefix + len(overlapping) <= n_values):
            self._high = most if high is None else min(high, most)
            self._classes = [_Class(rest.texts, 0, None)]
        else:
            self._share(prefix, rest, n_values, overlapping)
        self.is_possible = most >= self._low and (self._high is None or self._high >= self._low)

    def _share(self, prefix: list[_Items], rest: _Items, n_values: int, overlapping: list[int]) -> None:
        """Positions of the prefix that use up what the rest is made of: both draw on one counter."""
        spare = n_values - max(0, self._low - len(prefix))
        may_choose = False
        for index in overlapping:
            inside, outside = prefix[index].within(rest), prefix[index].without(rest)
            taken = Seq((Act(Action.COUNT, 1, spare, n_values), self._fresh(inside.texts)))
            if is_empty(outside.texts):
                if may_choose:
                    raise NotRegular("a position whose few values may have been used up before it")
                spare_left = spare - overlapping.index(index)
                if spare_left <= 0:
                    raise NotRegular("positions that use up the values of the others")
                self._prefix[index] = taken
                continue
            if not self._has_always(outside, prefix[:index]):
                raise NotRegular("a position whose few values may have been used up before it")
            may_choose = True
            self._prefix[index] = Alt((taken, self._fresh(outside.texts)))
        self._classes = [_Class(rest.texts, 0, n_values)]

    def _has_always(self, items: _Items, before: list[_Items]) -> bool:
        """Whether something is left, whatever stands before."""
        n_values = items.size
        if n_values is None or n_values > len(before):
            return True
        return n_values > sum(map(items.meets, before))

    # -- with contains ---------------------------------------------------------------------------------

    def _count(self, builder: Builder) -> None:
        shape, high = self._shape, self._high
        if shape.prefix or len(shape.counts) > 1 or shape.counts[0].start:
            raise NotRegular("contains beside prefixItems, or more than once")
        count = shape.counts[0]
        node, positive = count.obligation
        matching = builder.cleaned([*shape.rest, (node, positive)])
        other = builder.cleaned([*shape.rest, (node, not positive)])
        inside, outside = self._items(builder, [matching, other])
        spare = None if high is None else high - count.low
        found = [
            _Class(inside.texts, count.low, _least(count.high, inside.size)),
            _Class(outside.texts, 0, _least(spare, outside.size)),
        ]
        n_most = sum(_ENDLESS if one.most is None else one.most for one in found)
        self.is_possible = n_most >= self._low and all(
            one.most is None or one.most >= one.least for one in found
        )
        self._high = _least(high, n_most if n_most < _ENDLESS else None)
        self._classes = [one for one in found if one.most != 0 and not is_empty(one.texts)]

    # -- writing ---------------------------------------------------------------------------------------

    def expr(self) -> Expr:
        """The whole array; a rule of its own, because its register remembers the items."""
        return Call(Rule("unique items", self._body))

    def _body(self) -> Expr:
        layout, depth = self._layout, self._depth
        separator, close = layout.separator(depth), layout.closing(b"]", depth)
        n_prefix = len(self._prefix)
        ends: list[Expr] = []
        low, high = max(0, self._low - n_prefix), None if self._high is None else self._high - n_prefix
        if low:
            ends.append(Act(Action.AT_LEAST, _ALL, low))
        ends.extend(
            Act(Action.AT_LEAST, number, one.least)
            for number, one in enumerate(self._classes, 1)
            if one.least
        )
        full: Expr | None = Seq((*ends, close))
        if self._classes and (high is None or high > 0):
            more = Alt(tuple(self._options(separator, low, high)))
            loop = Repeat(more, 0, None)
            full = Seq((loop, *ends, close))
            if not n_prefix:
                full = Seq((Alt(tuple(self._options(None, low, high))), loop, *ends, close))
        elif not n_prefix:
            full = None
        for index in range(n_prefix - 1, -1, -1):
            assert full is not None
            if index + 1 < n_prefix:
                onward: Expr = Seq((separator, full))
                full = Alt((onward, close)) if index + 1 >= self._low else onward
            full = Seq((self._prefix[index], full))
        empty = self._low == 0 and not any(one.least for one in self._classes)
        return layout.container(b"[]", depth, full, empty)

    def _options(self, separator: Expr | None, low: int, high: int | None) -> list[Expr]:
        """One more item: the counters are asked before the comma, so that it is never a dead end."""
        found: list[Expr] = []
        for number, one in enumerate(self._classes, 1):
            parts: list[Expr] = []
            if low or high is not None:
                parts.append(_counted(_ALL, low, high))
            if one.least or one.most is not None:
                parts.append(_counted(number, one.least, one.most))
            parts.extend([separator] if separator is not None else [])
            found.append(Seq((*parts, self._fresh(one.texts))))
        return found


def _counted(counter: int, low: int, high: int | None) -> Act:
    """Counts one, as far as it matters."""
    if high is None or high >= _ENDLESS:
        return Act(Action.COUNT, counter, -1, low)
    return Act(Action.COUNT, counter, high, high)


def _least(one: int | None, other: int | None) -> int | None:
    """The smaller of two bounds, None being no bound."""
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
