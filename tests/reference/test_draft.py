"""Draft trees that are no trees."""

import numpy as np
import pytest

from maskwright.draft import read_tree
from maskwright.errors import MatcherError


def ids(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def test_children_in_order():
    #      0
    #    1   3
    #    2   4 5
    tree = read_tree(ids(1, 2, -1, 4, -1, -1), ids(-1, 3, -1, -1, 5, -1), ids(9, 8, 7, 6, 5, 4))
    assert [node.children for node in tree] == [[1, 3], [2], [], [4, 5], [], []]
    assert [node.token_id for node in tree] == [9, 8, 7, 6, 5, 4]


@pytest.mark.parametrize(
    ("first_child", "next_sibling", "tokens", "message"),
    [
        (ids(1, -1), ids(-1), ids(0, 0), "three arrays of one length"),
        (ids(), ids(), ids(), "three arrays of one length"),
        (ids(2, -1), ids(-1, -1), ids(0, 0), "names node 2"),
        (ids(1, -1), ids(-1, -2), ids(0, 0), "names node -2"),
        (ids(1, 0), ids(-1, -1), ids(0, 0), "node 0 of a draft tree is reached twice"),
        (ids(1, -1), ids(-1, 1), ids(0, 0), "node 1 of a draft tree is reached twice"),
        (ids(1, 2, -1), ids(-1, 2, -1), ids(0, 0, 0), "node 2 of a draft tree is reached twice"),
        (ids(1, -1).astype(np.int32), ids(-1, -1), ids(0, 0), "one-dimensional int64"),
        (ids(1, -1).reshape(1, 2), ids(-1, -1), ids(0, 0), "one-dimensional int64"),
    ],
)
def test_bad_trees_are_refused(first_child, next_sibling, tokens, message):
    with pytest.raises(MatcherError, match=message):
        read_tree(first_child, next_sibling, tokens)
