"""The driver of generator recursion, and the tree walk."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from maskwright.regex.ecma import parse_ecma
from maskwright.regex.walk import every_node, run


def test_depth_needs_no_stack() -> None:
    def depth(n: int) -> Generator[Any, int, int]:
        return 0 if n == 0 else 1 + (yield depth(n - 1))

    assert run(depth(100_000)) == 100_000


def test_plain_values_pass_through() -> None:
    def step() -> Generator[Any, int, int]:
        one = yield 1
        two = yield 2
        return one + two

    assert run(step()) == 3


def test_errors_come_out() -> None:
    def inner() -> Generator[Any, int, int]:
        yield 1
        raise KeyError("x")

    def outer() -> Generator[Any, int, int]:
        return (yield inner())

    with pytest.raises(KeyError):
        run(outer())


def test_every_node_enters_look_around() -> None:
    assert len(list(every_node(parse_ecma("(?=ab)c")))) == 6
