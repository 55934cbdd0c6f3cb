"""Arrays of a shape as an expression: prefix, counted rest, and what `contains` counts.

Without `contains` the rest is one counted repetition. With it, the state is (items so far, matches per
`contains`), one lazy rule per state that generation visits; each item is an alternative over which
`contains` it is counted for. A state is entered only if it can be finished, so there are no dead ends.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

from ..errors import LimitExceeded
from ..rules import Alt, Call, Expr, Repeat, Rule, Seq
from .shapes import ArrayShape, Count, Obligations, cut_array

if TYPE_CHECKING:
    from .builder import Builder
    from .spelling import Layout

__all__ = ["array_expr", "is_possible", "uniform_array"]

#: States that the search for the end of an array may visit.
_MAX_SEARCH: Final = 20_000


def is_possible(builder: Builder, shape: ArrayShape) -> bool:
    """Whether some array has the shape; looks at positions only as far as it must."""
    low = shape.low
    if shape.high is not None and shape.high < low:
        return False
    if shape.unique is not None:
        from .unique import unique_is_possible

        if not unique_is_possible(builder, shape):
            return False
    if shape.counts:
        return _Counting(builder, shape, 0).can_finish(0, _zeros(shape))
    if not all(map(builder.satisfiable, shape.prefix[:low])):
        return False
    return low <= len(shape.prefix) or builder.satisfiable(shape.rest)


def array_expr(builder: Builder, shape: ArrayShape, depth: int) -> Expr | None:
    """The expression for the arrays of a shape, or None if there are none."""
    if not is_possible(builder, shape):
        return None
    if shape.unique is not None:
        from .unique import unique_expr

        return unique_expr(builder, shape, depth)
    if shape.counts:
        return _Counting(builder, shape, depth).expr()
    return _plain(builder, cut_array(builder, shape), depth)


def uniform_array(layout: Layout, item: Expr, low: int, high: int | None, depth: int) -> Expr:
    """An array of ``low`` to ``high`` items that are all alike; ``high`` is not 0."""
    close = layout.closing(b"]", depth)
    most = None if high is None else high - 1  # the first has no separator
    if most == 0:
        full = Seq((item, close))
    else:
        more = Repeat(Seq((layout.separator(depth), item)), max(0, low - 1), most)
        full = Seq((item, more, close))
    return layout.container(b"[]", depth, full, empty=low == 0)


def _plain(builder: Builder, shape: ArrayShape, depth: int) -> Expr:
    """An array whose items all have a value and are told apart by their places alone."""
    layout = builder.layout
    low, high = shape.low, shape.high
    if high == 0:
        return layout.container(b"[]", depth, None, empty=low == 0)
    if not shape.prefix:
        return uniform_array(layout, builder.value(shape.rest, layout.below(depth)), low, high, depth)
    return layout.container(b"[]", depth, _from_first(builder, shape, depth), empty=low == 0)


def _from_first(builder: Builder, shape: ArrayShape, depth: int) -> Expr:
    """Everything after the opening, where the first items have places of their own."""
    layout = builder.layout
    inner = layout.below(depth)
    low, high = shape.low, shape.high
    separator, close = layout.separator(depth), layout.closing(b"]", depth)
    prefix = shape.prefix if high is None else shape.prefix[:high]
    n_prefix = len(prefix)
    tail: list[Expr] = [close]  # in reverse: what follows the prefix
    if high is None or high > n_prefix:
        most = None if high is None else high - n_prefix
        item = builder.value(shape.rest, inner)
        tail.append(Repeat(Seq((separator, item)), max(0, low - n_prefix), most))
    for index in range(n_prefix - 1, -1, -1):
        # Entering: `tail` is what may follow item `index`.
        if index + 1 < n_prefix:
            if index + 1 >= low:
                onward = _shared("items", tail)
                tail = [Alt((Seq((separator, onward)), close))]
            else:
                tail.append(separator)
        tail.append(builder.value(prefix[index], inner))
    return Seq(tuple(reversed(tail)))


def _shared(name: str, parts: list[Expr]) -> Expr:
    """The parts (in reverse) as a rule of its own, so that expressions stay flat."""
    return Call(Rule(name, Seq(tuple(reversed(parts)))))


def _zeros(shape: ArrayShape) -> tuple[int, ...]:
    return (0,) * len(shape.counts)


class _Counting:
    """The states of an array with `contains`."""

    def __init__(self, builder: Builder, shape: ArrayShape, depth: int) -> None:
        self._builder = builder
        self._shape = shape
        self._depth = depth
        self._counts: list[Count] = shape.counts
        self._rules: dict[tuple[int, tuple[int, ...]], Rule] = {}
        self._least: dict[tuple[int, tuple[int, ...]], int | None] = {}

    def expr(self) -> Expr:
        """The whole array."""
        zeros = _zeros(self._shape)
        layout = self._builder.layout
        full = self._item(0, zeros)
        return layout.container(b"[]", self._depth, full, empty=self._may_close(0, zeros))

    def _may_close(self, n_items: int, counts: tuple[int, ...]) -> bool:
        enough = all(n >= c.low for n, c in zip(counts, self._counts, strict=True))
        return enough and n_items >= self._shape.low

    def _capped(self, n_items: int, counts: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        """The same state with counters that no longer matter held still."""
        if self._shape.high is None:
            n_items = min(n_items, max(self._shape.low, len(self._shape.prefix)))
        capped = tuple(
            min(n, c.low) if c.high is None else n for n, c in zip(counts, self._counts, strict=True)
        )
        return n_items, capped

    def _moves(self, n_items: int, counts: tuple[int, ...]) -> list[tuple[Obligations, tuple[int, ...]]]:
        """The next item: what it owes, and the counts after it."""
        signs: list[tuple[bool | None, ...]] = []
        for n, count in zip(counts, self._counts, strict=True):
            if n_items < count.start or (count.high is None and n >= count.low):
                signs.append((None,))  # not counted, or no longer
            elif count.high is None:
                signs.append((True, None))
            else:
                signs.append((True, False) if n < count.high else (False,))
        prefix = self._shape.prefix
        owed = prefix[n_items] if n_items < len(prefix) else self._shape.rest
        moves = []
        for chosen in itertools.product(*signs):
            wanted = set(owed)
            for sign, count in zip(chosen, self._counts, strict=True):
                if sign is not None:
                    node, positive = count.obligation
                    wanted.add((node, positive is sign))
            obligations = self._builder.cleaned(wanted)
            if self._builder.satisfiable(obligations):
                after = tuple(n + (s is True) for n, s in zip(counts, chosen, strict=True))
                moves.append((obligations, after))
        return moves

    def can_finish(self, n_items: int, counts: tuple[int, ...]) -> bool:
        """Whether a state, with any number of further items, can reach the end of the array."""
        least = self._least_more(n_items, counts)
        high = self._shape.high
        return least is not None and (high is None or n_items + least <= high)

    def _least_more(self, n_items: int, counts: tuple[int, ...]) -> int | None:
        """The least number of further items to the end of the array; None if there is no way."""
        low = max(self._shape.low, len(self._shape.prefix))
        start = self._for_search(min(n_items, low), counts)
        if start in self._least:
            return self._least[start]
        seen = {start}
        level = [start]
        steps = 0
        while level:
            if any(self._may_close(n, c) for n, c in level):
                self._least[start] = steps
                return steps
            following = []
            for n, c in level:
                for _, after in self._moves(n, c):
                    state = self._for_search(min(n + 1, low), after)
                    if state not in seen:
                        seen.add(state)
                        following.append(state)
            if len(seen) > _MAX_SEARCH:
                raise LimitExceeded(
                    "an array with contains has too many states",
                    resource="array states",
                    limit=_MAX_SEARCH,
                    hint="lower minItems, minContains or maxContains",
                )
            level = following
            steps += 1
        self._least[start] = None
        return None

    def _for_search(self, n_items: int, counts: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        capped = tuple(
            min(n, c.low) if c.high is None else n for n, c in zip(counts, self._counts, strict=True)
        )
        return n_items, capped

    def _state(self, n_items: int, counts: tuple[int, ...]) -> Expr:
        """After an item: another one, or the end."""
        key = self._capped(n_items, counts)
        rule = self._rules.get(key)
        if rule is None:
            rule = self._rules[key] = Rule("items", lambda: self._after(*key))
        return Call(rule)

    def _after(self, n_items: int, counts: tuple[int, ...]) -> Expr:
        layout = self._builder.layout
        options: list[Expr] = []
        item = self._item(n_items, counts)
        if item is not None:
            options.append(Seq((layout.separator(self._depth), item)))
        if self._may_close(n_items, counts):
            options.append(layout.closing(b"]", self._depth))
        return options[0] if len(options) == 1 else Alt(tuple(options))

    def _item(self, n_items: int, counts: tuple[int, ...]) -> Expr | None:
        """The next item and all that follows, or None if no item can come."""
        high = self._shape.high
        if high is not None and n_items >= high:
            return None
        inner = self._builder.layout.below(self._depth)
        options = [
            Seq((self._builder.value(obligations, inner), self._state(n_items + 1, after)))
            for obligations, after in self._moves(n_items, counts)
            if self.can_finish(n_items + 1, after)
        ]
        if not options:
            return None
        return options[0] if len(options) == 1 else Alt(tuple(options))
