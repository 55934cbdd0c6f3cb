"""`lexeme.multiples` as an explicit automaton, for small numbers: the slow twin of `kernel/multiples.pyx`.

Does: write out every state, so that the emptiness search of `lexemes` decides what can still end, where the
kernel decides by arithmetic. Does not: serve large multiples, which have too many states.
"""

from __future__ import annotations

from math import lcm
from typing import Any, Final

from maskwright.errors import LimitExceeded

__all__ = ["written_out"]

MAX_STATES: Final = 20_000

#: ("start", 0, 0), ("zero", 0, 0), ("digits", value, 0) or ("decimals", value, how many were read).
State = tuple[str, int, int]
Rows = tuple[tuple[tuple[int, int, int], ...], ...]


def written_out(args: tuple[Any, ...]) -> tuple[Rows, tuple[bool, ...]]:
    """The arguments of `lexeme.automaton` for those of a `MULTIPLES` lexeme.

    Raises:
        LimitExceeded: There are more than `MAX_STATES` states.
    """
    wanted, unwanted, excluded, decimals, low, high, point = args
    unit = 10**decimals
    base = max([low, *(value + 1 for value in excluded)])
    period = lcm(wanted, *unwanted)

    def after(state: State, digit: int) -> State | None:
        kind, value, n_read = state
        if kind == "zero":
            return None
        if kind == "decimals":
            if n_read >= decimals:
                return None if digit else (kind, value, max(n_read, 1))
            return kind, value + digit * 10 ** (decimals - n_read - 1), n_read + 1
        if kind == "start" and digit == 0:
            return "zero", 0, 0
        value = value * 10 + digit * unit
        if high < 0:
            return "digits", value if value < base else base + (value - base) % period, 0
        return ("digits", value, 0) if value <= high else None

    def ends(state: State) -> bool:
        kind, value, n_read = state
        return (
            kind != "start"
            and not (kind == "decimals" and n_read == 0)
            and low <= value
            and (high < 0 or value <= high)
            and value % wanted == 0
            and all(value % number for number in unwanted)
            and value not in excluded
        )

    numbers: dict[State, int] = {("start", 0, 0): 0}
    order = list(numbers)
    rows = []
    for state in order:  # grows while it is read
        targets = [(48 + digit, after(state, digit)) for digit in range(10)]
        if point and state[0] in ("zero", "digits"):
            targets.append((46, ("decimals", state[1], 0)))
        row = []
        for byte, target in targets:
            if target is None:
                continue
            if target not in numbers:
                numbers[target] = len(order)
                order.append(target)
            row.append((byte, byte, numbers[target]))
        rows.append(tuple(row))
        if len(order) > MAX_STATES:
            raise LimitExceeded(
                "multiples of so large a number cannot be written out", resource="states", limit=MAX_STATES
            )
    return tuple(rows), tuple(map(ends, order))
