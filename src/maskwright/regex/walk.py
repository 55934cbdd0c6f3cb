"""Walking pattern trees without using Python's stack.

`run` drives mutually recursive functions written as generators: where a recursive function would
call ``f(x)``, the generator says ``yield f(x)`` and receives the result. Depth is then a list.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

from .tree import And, Concat, Look, Node, Not, Repeat, Union

__all__ = ["every_node", "run"]


def run(start: Any) -> Any:
    """The result of a generator that yields further generators (or plain values)."""
    stack: list[Generator[Any, Any, Any]] = []
    value: Any = start
    while True:
        if isinstance(value, Generator):
            stack.append(value)
            value = None
        try:
            value = stack[-1].send(value)
        except StopIteration as stop:
            stack.pop()
            value = stop.value
            if not stack:
                return value


def every_node(root: Node) -> Iterator[Node]:
    """All nodes of a tree, bodies of look-arounds included."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, Concat | Union | And):
            stack.extend(node.parts)
        elif isinstance(node, Repeat | Not | Look):
            stack.append(node.body)
