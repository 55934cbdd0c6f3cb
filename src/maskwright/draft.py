"""Draft trees of speculative decoding: from first-child / next-sibling arrays to lists of children.

Does: check the arrays and say what is wrong with them.
Does not: know what a token means.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maskwright.errors import MatcherError

__all__ = ["DraftNode", "read_tree"]


class DraftNode(NamedTuple):
    """One drafted token and the nodes that may follow it."""

    token_id: int
    children: list[int]


def read_tree(first_child: Any, next_sibling: Any, tokens: Any) -> list[DraftNode]:
    """The nodes of a tree; node 0 is the root.

    Raises:
        MatcherError: The arrays are not int64 of one length, name nodes that are not there, or reach a
            node twice.
    """
    child_of, sibling_of, token_of = (_read_array(values) for values in (first_child, next_sibling, tokens))
    n_nodes = len(token_of)
    if not n_nodes == len(child_of) == len(sibling_of) or n_nodes == 0:
        raise MatcherError(
            "a draft tree needs three arrays of one length above 0, "
            f"not {len(child_of)}, {len(sibling_of)}, {n_nodes}"
        )
    for node in (*child_of, *sibling_of):
        if not -1 <= node < n_nodes:
            raise MatcherError(f"a draft tree of {n_nodes} nodes names node {node}")
    tree = [DraftNode(token_id, []) for token_id in token_of]
    reached = {0}
    agenda = [0]
    while agenda:
        parent = agenda.pop()
        node = child_of[parent]
        while node != -1:
            if node in reached:
                raise MatcherError(f"node {node} of a draft tree is reached twice")
            reached.add(node)
            tree[parent].children.append(node)
            agenda.append(node)
            node = sibling_of[node]
    return tree


def _read_array(values: Any) -> list[int]:
    array = values if isinstance(values, np.ndarray) else values.numpy()
    if array.ndim != 1 or array.dtype != np.int64:
        raise MatcherError(
            f"a draft tree's arrays are one-dimensional int64, not {array.dtype} of shape {array.shape}"
        )
    return [int(value) for value in array]
