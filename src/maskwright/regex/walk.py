"""Walking pattern trees without using Python's stack.

`run` drives mutually recursive functions written as generators: where a recursive function would
call ``f(x)``, the generator says ``yield f(x)`` and receives the result. Depth is then a list.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, TypeVar

from .tree import And, Concat, Look, Node, Not, Repeat, Union

__all__ = ["bottom_up", "every_node", "run"]

_T = TypeVar("_T")


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


def bottom_up(root: Node, combine: Callable[[Node, dict[Node, _T]], _T]) -> _T:
    """What `combine` makes of the root; it is called for each node after its children, with their results.

    The bodies of look-arounds are not visited.
    """
    done: dict[Node, _T] = {}
    stack = [root]
    while stack:
        node = stack[-1]
        if node in done:
            stack.pop()
            continue
        waiting = [child for child in _children(node) if child not in done]
        if waiting:
            stack.extend(waiting)
            continue
        stack.pop()
        done[node] = combine(node, done)
    return done[root]


def _children(node: Node) -> Sequence[Node]:
    if isinstance(node, Concat | Union | And):
        return node.parts
    if isinstance(node, Repeat | Not):
        return (node.body,)
    return ()
