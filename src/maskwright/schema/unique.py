"""``uniqueItems`` and its negation.

A few values (``enum``, booleans): the state is the set of values used, one lazy rule per set that generation
visits; they keep the schema's spelling. All else is remembered by the kernel, see `distinct` and, for the
negation, `repeated`; what they cannot do is refused by name (or widened when lenient).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..rules import Alt, Call, Expr, Rule, Seq
from .canonical import NotRegular
from .distinct import Distinct
from .finite import value_expr, value_meets
from .repeated import repeated_items
from .report import Status
from .shapes import ArrayShape, Obligations
from .values import BOOLEAN, NULL, json_key

if TYPE_CHECKING:
    from .builder import Builder

__all__ = ["distinct_items", "finite_values", "unique_expr", "unique_is_possible"]

_MAX_VALUES: Final = 4096
#: Values up to which the sets of those used are rules.
_MAX_SETS: Final = 64


def finite_values(builder: Builder, obligations: Obligations) -> list[Any] | None:
    """All values that meet the obligations, or None when they are not plainly finite."""
    if not obligations:
        return None
    found: dict[Any, Any] = {}
    for branch in builder.branches(obligations):
        if branch.values is not None:
            candidates = list(branch.values.values())
        elif branch.types & ~(NULL | BOOLEAN) == 0:
            candidates = [None, True, False]
        else:
            return None
        for value in candidates:
            if value_meets(builder, branch, value):
                found.setdefault(json_key(value), value)
    return list(found.values()) if len(found) <= _MAX_VALUES else None


def unique_is_possible(builder: Builder, shape: ArrayShape) -> bool:
    """Whether some array has the shape."""
    if shape.unique and shape.low == 0 and not any(count.low for count in shape.counts):
        return True
    if shape.unique and shape.low <= 1 and not shape.counts:
        return True if shape.prefix[:1] else builder.satisfiable(shape.rest)
    if not shape.unique and shape.high is not None and shape.high <= 1:
        return False
    values = _values(builder, shape)
    if values is not None:
        return len(values) >= shape.low if shape.unique else bool(values)
    if not shape.unique:
        return builder.satisfiable(shape.rest)  # beside positions it is refused when it is written
    try:
        distinct = distinct_items(builder, shape, 0)
    except NotRegular:
        return True
    # What is left out may be just what is asked for: then it is refused when it is written.
    return distinct.is_possible or bool(distinct.left_out)


def _values(builder: Builder, shape: ArrayShape) -> list[Any] | None:
    if shape.prefix or shape.counts:
        return None
    if shape.high is not None and shape.high <= 0:
        return []
    values = finite_values(builder, shape.rest)
    if values is not None and shape.unique and len(values) > _MAX_SETS:
        return None  # the kernel remembers texts, which takes less than a rule per set of values
    return values


def distinct_items(builder: Builder, shape: ArrayShape, depth: int) -> Distinct:
    """The arrays of a shape, remembered by the builder."""
    key = (shape, depth)
    found = builder.distinct.get(key)
    if found is None:
        found = builder.distinct[key] = Distinct(builder, shape, depth)
    return found


def unique_expr(builder: Builder, shape: ArrayShape, depth: int) -> Expr | None:
    """The expression for the arrays of a shape with unique (or not unique) items."""
    from .arrays import array_expr

    if shape.unique and shape.high is not None and shape.high <= 1:
        return array_expr(builder, _without(shape), depth)
    values = _values(builder, shape)
    if values is not None:
        return _Using(builder, shape, values, depth).expr()
    assert shape.place is not None
    try:
        return _remembering(builder, shape, depth) if shape.unique else _repeating(builder, shape, depth)
    except NotRegular as error:
        what = "uniqueItems" if shape.unique else "the negation of uniqueItems"
        why = f"{what} cannot be enforced for {error}"
    hint = "list the items' values with enum, drop uniqueItems, or use lenient=True"
    builder.widen(shape.place, "uniqueItems", why, hint)
    return array_expr(builder, _without(shape), depth)


def _remembering(builder: Builder, shape: ArrayShape, depth: int) -> Expr | None:
    distinct = distinct_items(builder, shape, depth)
    if not distinct.is_possible and distinct.left_out:
        raise NotRegular("items of which too few are left without " + " and ".join(sorted(distinct.left_out)))
    _note(builder, shape, distinct.left_out)
    return distinct.expr() if distinct.is_possible else None


def _repeating(builder: Builder, shape: ArrayShape, depth: int) -> Expr:
    expr, left_out = repeated_items(builder, shape, depth)
    _note(builder, shape, left_out)
    return expr


def _note(builder: Builder, shape: ArrayShape, more: set[str]) -> None:
    assert shape.place is not None
    left_out = ["numbers and strings in another than the shortest spelling", *sorted(more)]
    why = f"never written: {'; '.join(left_out)}"
    builder.report.note(shape.place.pointer, "uniqueItems", Status.ENFORCED, why)


def _without(shape: ArrayShape) -> ArrayShape:
    return ArrayShape(shape.prefix, shape.rest, shape.low, shape.high, shape.counts)


class _Using:
    """The states of an array that uses up values (or, for the dual, must repeat one)."""

    def __init__(self, builder: Builder, shape: ArrayShape, values: list[Any], depth: int) -> None:
        self._shape = shape
        self._layout = builder.layout
        self._depth = depth
        inner = builder.layout.below(depth)
        self._items = [value_expr(builder, value, inner) for value in values]
        self._separator = builder.layout.separator(depth)
        self._close = builder.layout.closing(b"]", depth)
        self._rules: dict[tuple[int, int, bool], Rule] = {}
        self._high = shape.high
        if shape.unique:
            self._high = len(values) if shape.high is None else min(shape.high, len(values))

    def expr(self) -> Expr:
        """The whole array."""
        first = self._item(0, 0, repeated=False)
        empty = self._shape.low == 0 and self._shape.unique is True
        return self._layout.container(b"[]", self._depth, first, empty)

    def _item(self, used: int, n_items: int, *, repeated: bool) -> Expr | None:
        if self._high is not None and n_items >= self._high:
            return None
        options: list[Expr] = []
        # The last place that is left must be a repetition when none was made yet.
        last = self._high is not None and n_items + 1 == self._high
        for index, item in enumerate(self._items):
            again = bool(used >> index & 1)
            if (again and self._shape.unique) or (
                last and not self._shape.unique and not (again or repeated)
            ):
                continue
            options.append(Seq((item, self._after(used | 1 << index, n_items + 1, repeated or again))))
        if not options:
            return None
        return options[0] if len(options) == 1 else Alt(tuple(options))

    def _after(self, used: int, n_items: int, repeated: bool) -> Expr:
        if self._high is None:
            n_items = min(n_items, self._shape.low)
        if not self._shape.unique and repeated:
            used = 0
        key = (used, n_items, repeated)
        rule = self._rules.get(key)
        if rule is None:
            rule = self._rules[key] = Rule("unique items", lambda: self._after_body(*key))
        return Call(rule)

    def _after_body(self, used: int, n_items: int, repeated: bool) -> Expr:
        options: list[Expr] = []
        item = self._item(used, n_items, repeated=repeated)
        if item is not None:
            options.append(Seq((self._separator, item)))
        if n_items >= self._shape.low and (self._shape.unique or repeated):
            options.append(self._close)
        return options[0] if len(options) == 1 else Alt(tuple(options))
