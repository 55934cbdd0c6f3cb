"""Arrays that must not have unique items, over endlessly many values.

The array is read up to the first item that repeats another: until then every item is a `Fresh` text, that one
is a text ``again``, and behind it anything may follow. Values up to there are written in one spelling (see
`canonical`), as those of arrays of unique items are; there is always a way on, because what was written
can be repeated.

Refused: positions that differ from each other, and ``contains``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import LimitExceeded
from ..lexeme import Lexeme
from ..rules import Act, Action, Call, Expr, Fresh, Repeat, Rule, Seq
from .canonical import Canonical, NotRegular
from .emptiness import is_empty
from .shapes import ArrayShape

if TYPE_CHECKING:
    from .builder import Builder

__all__ = ["repeated_items"]

#: The counter of all items.
_ALL = 0


def repeated_items(builder: Builder, shape: ArrayShape, depth: int) -> tuple[Expr, set[str]]:
    """The arrays of a shape with two equal items, and what of them is never written, in words.

    Args:
        builder: Makes the values.
        shape: The arrays; at least two items are allowed, and some value is.
        depth: Depth of the array.

    Raises:
        NotRegular: They cannot be written exactly.
    """
    if shape.prefix or shape.counts:
        raise NotRegular("arrays with positions or contains")
    canonical = Canonical(builder, builder.layout.below(depth))
    try:
        (item,) = canonical.all_of([shape.rest])
    except (RecursionError, LimitExceeded) as error:
        raise NotRegular("items that are too large to be compared") from error
    if is_empty(item):
        raise NotRegular("items of which none are left without " + " and ".join(sorted(canonical.left_out)))
    return Call(Rule("repeated items", lambda: _body(builder, shape, item, depth))), canonical.left_out


def _body(builder: Builder, shape: ArrayShape, item: Lexeme, depth: int) -> Expr:
    layout = builder.layout
    separator, close = layout.separator(depth), layout.closing(b"]", depth)
    low, high = max(shape.low, 2), shape.high

    def counted(most: int | None) -> Act:
        """One item more, as long as there are fewer than ``most``."""
        return Act(Action.COUNT, _ALL, -1 if most is None else most, low if high is None else high)

    # One place at least is left for the repetition.
    before = None if high is None else high - 1
    fresh = Repeat(Seq((counted(before), separator, Fresh(item, 0))), 0, None)
    again = Seq((counted(high), separator, Fresh(item, 0, again=True)))
    rest = Repeat(Seq((counted(high), separator, builder.value(shape.rest, layout.below(depth)))), 0, None)
    full = Seq((counted(before), Fresh(item, 0), fresh, again, rest, Act(Action.AT_LEAST, _ALL, low), close))
    return layout.container(b"[]", depth, full, empty=False)
