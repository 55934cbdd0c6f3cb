"""Byte tries of code point ranges: the step from characters to bytes.

Does: given how an encoding spells a code point (a few `Form`s), turns a map from code point
ranges to targets into a deterministic, suffix-shared byte automaton. Does not: know any encoding.

The idea: a form writes a code point as the digits of a number in a mixed radix, one byte (or one
choice of bytes) per digit. UTF-8 is radix 64 with lead bytes, ``\\uXXXX`` is radix 16, a surrogate
pair is radix 4 and 16, and a literal prefix such as the backslash is a digit of radix 1. Splitting
ranges digit by digit and interning equal remainders yields the usual minimal UTF-8 automata
(as "utf8-ranges" do), and the same code serves escapes.

Rejected: one byte-range sequence per code point range, then a union. That is quadratic for
``\\p{L}`` under ``\\uXXXX`` (thousands of sequences), and not deterministic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TypeAlias

from .charset import Ranges

__all__ = ["ByteTrie", "Form", "Interval", "Ref", "Row", "literal_digits"]

#: (low, high, target), code points inclusive.
Interval: TypeAlias = tuple[int, int, int]
#: A node number, or ``~target`` for an end.
Ref: TypeAlias = int
#: Transitions of a node: (low byte, high byte, ref), sorted and disjoint.
Row: TypeAlias = tuple[tuple[int, int, Ref], ...]


def literal_digits(text: bytes) -> tuple[tuple[bytes, ...], ...]:
    """Digits of radix 1: every byte of a fixed prefix."""
    return tuple((bytes([byte]),) for byte in text)


@dataclass(frozen=True, eq=False)
class Form:
    """One way to spell the code points of a domain.

    Attributes:
        domain: Code points that have this spelling.
        offset: Subtracted from the code point before it is written in digits.
        digits: For each position the bytes of digit 0, 1, 2, ...; several bytes in one entry are
            interchangeable (hex digits of either case).
    """

    domain: Ranges
    digits: tuple[tuple[bytes, ...], ...]
    offset: int = 0
    weights: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        weights = [1]
        for digit in reversed(self.digits[1:]):
            weights.append(weights[-1] * len(digit))
        object.__setattr__(self, "weights", tuple(reversed(weights)))


class ByteTrie:
    """Builds and interns nodes for one set of forms."""

    def __init__(self, forms: Sequence[Form]) -> None:
        self._forms = forms
        self._ids: dict[Row, Ref] = {}
        self._memo: dict[tuple[int, int, tuple[Interval, ...]], Ref] = {}
        self._merged: dict[tuple[Ref, ...], Ref] = {}
        self.rows: list[Row] = []

    def root(self, intervals: Sequence[Interval]) -> Ref | None:
        """The node that reads one character and ends in its target; None when nothing can."""
        refs: list[Ref] = []
        for number, form in enumerate(self._forms):
            clipped = _clip(intervals, form.domain, form.offset)
            if clipped:
                refs.append(self._block(number, 0, clipped))
        return self._merge(tuple(sorted(set(refs)))) if refs else None

    def reachable(self, root: Ref) -> list[Ref]:
        """The nodes of one character's trie, root first."""
        found = {root}
        order = [root]
        for ref in order:
            for _, _, child in self.rows[ref]:
                if child >= 0 and child not in found:
                    found.add(child)
                    order.append(child)
        return order

    def automaton(self, root: Ref, table: Sequence[Sequence[int]]) -> list[Row]:
        """Rows of an automaton whose states read one character and go where its kind leads.

        The trie is walked once for each state, but parts that lead two states to the same targets are one.

        Args:
            root: A node whose ends are kinds of characters.
            table: For each state the target of each kind; -1 for none.

        Returns:
            The rows of these states, in their order, then those within characters. Transitions are
            (low byte, high byte, number of a row).
        """
        kinds: list[tuple[int, ...]] = []
        for row in self.rows:  # what a node leads to was made before it
            below = [(~ref,) if ref < 0 else kinds[ref] for _, _, ref in row]
            kinds.append(tuple(sorted({kind for some in below for kind in some})))
        select = [itemgetter(*some) for some in kinds]
        made: list[dict[object, int]] = [{} for _ in kinds]
        numbers: dict[Row, int] = {}
        inner: list[Row] = []

        def within(node: Ref, targets: Sequence[int]) -> Row:
            out: list[tuple[int, int, int]] = []
            for low, high, ref in self.rows[node]:
                if ref < 0:
                    target = targets[~ref]
                else:
                    key = select[ref](targets)
                    found = made[ref].get(key)
                    if found is None:
                        row = within(ref, targets)
                        found = numbers.get(row) if row else -1
                        if found is None:
                            found = numbers[row] = len(table) + len(inner)
                            inner.append(row)
                        made[ref][key] = found
                    target = found
                if target < 0:
                    continue
                if out and out[-1][2] == target and out[-1][1] == low - 1:
                    out[-1] = (out[-1][0], high, target)
                else:
                    out.append((low, high, target))
            return tuple(out)

        outer = [within(root, targets) for targets in table]
        return outer + inner

    def _block(self, number: int, level: int, intervals: tuple[Interval, ...]) -> Ref:
        form = self._forms[number]
        if level == len(form.digits):
            return ~intervals[0][2]
        key = (number, level, intervals)
        ref = self._memo.get(key)
        if ref is None:
            weight = form.weights[level]
            edges: dict[Ref, list[int]] = {}
            for first, last, inner in _by_digit(intervals, weight):
                child = self._block(number, level + 1, inner)
                values = edges.setdefault(child, [])
                for entry in form.digits[level][first : last + 1]:
                    values.extend(entry)
            ref = self._memo[key] = self._intern(_runs(edges))
        return ref

    def _merge(self, refs: tuple[Ref, ...]) -> Ref:
        """One node for several spellings; spellings never clash, so ends never meet."""
        if len(refs) == 1:
            return refs[0]
        ref = self._merged.get(refs)
        if ref is None:
            reach: dict[int, list[Ref]] = {}
            for one in refs:
                for low, high, child in self.rows[one]:
                    for byte in range(low, high + 1):
                        reach.setdefault(byte, []).append(child)
            edges: dict[Ref, list[int]] = {}
            for byte, children in reach.items():
                child = children[0] if len(children) == 1 else self._merge(tuple(sorted(set(children))))
                edges.setdefault(child, []).append(byte)
            ref = self._merged[refs] = self._intern(_runs(edges))
        return ref

    def _intern(self, row: Row) -> Ref:
        ref = self._ids.get(row)
        if ref is None:
            ref = self._ids[row] = len(self.rows)
            self.rows.append(row)
        return ref


def _clip(intervals: Sequence[Interval], domain: Ranges, offset: int) -> tuple[Interval, ...]:
    out: list[Interval] = []
    i = j = 0
    while i < len(intervals) and j < len(domain):
        low, high = max(intervals[i][0], domain[j][0]), min(intervals[i][1], domain[j][1])
        if low <= high:
            out.append((low - offset, high - offset, intervals[i][2]))
        if intervals[i][1] < domain[j][1]:
            i += 1
        else:
            j += 1
    return tuple(out)


def _by_digit(intervals: tuple[Interval, ...], weight: int) -> list[tuple[int, int, tuple[Interval, ...]]]:
    """Split a block's intervals by their leading digits: first and last digit, and what is in the block of
    each digit from the one to the other, relative to that block."""
    parts: dict[int, list[Interval]] = {}
    runs: list[tuple[int, int, tuple[Interval, ...]]] = []
    for low, high, target in intervals:
        first, begin = divmod(low, weight)
        last, end = divmod(high, weight)
        if first == last and (begin or end < weight - 1):
            parts.setdefault(first, []).append((begin, end, target))
            continue
        if begin:
            parts.setdefault(first, []).append((begin, weight - 1, target))
            first += 1
        if end < weight - 1:
            parts.setdefault(last, []).append((0, end, target))
            last -= 1
        # Whole blocks of one target, most of all single characters, are the same in all their digits.
        if first <= last:
            runs.append((first, last, ((0, weight - 1, target),)))
    return runs + [(digit, digit, _joined(part)) for digit, part in parts.items()]


def _joined(intervals: list[Interval]) -> tuple[Interval, ...]:
    """Neighbours with one target become one interval, so that equal blocks look equal."""
    out = [intervals[0]]
    for low, high, target in intervals[1:]:
        if out[-1][2] == target and out[-1][1] + 1 == low:
            out[-1] = (out[-1][0], high, target)
        else:
            out.append((low, high, target))
    return tuple(out)


def _runs(edges: dict[Ref, list[int]]) -> Row:
    runs: list[tuple[int, int, Ref]] = []
    for byte, child in sorted((byte, child) for child, values in edges.items() for byte in values):
        if runs and runs[-1][1] + 1 == byte and runs[-1][2] == child:
            runs[-1] = (runs[-1][0], byte, child)
        else:
            runs.append((byte, byte, child))
    return tuple(runs)
