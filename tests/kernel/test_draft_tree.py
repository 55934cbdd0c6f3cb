"""Masks of draft trees are those that accepting and rolling back gives."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maskwright import lexeme as lx
from maskwright.errors import MaskwrightError
from maskwright.rules import Lex, Rule
from tests.kernel.pairs import Case, cases, filled_row, kernel_matcher, new_row, step
from tests.strategies import SmallVocabulary

SLOW = (HealthCheck.too_slow, HealthCheck.filter_too_much)


def links(parents: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """First child and next sibling of each node, from parents (node 0 is the root; -1)."""
    first_child = np.full(len(parents), -1, np.int64)
    next_sibling = np.full(len(parents), -1, np.int64)
    for parent in range(len(parents)):
        children = [node for node, above in enumerate(parents) if above == parent]
        if children:
            first_child[parent] = children[0]
        for node, following in pairwise(children):
            next_sibling[node] = following
    return first_child, next_sibling


def path_to(node: int, parents: list[int]) -> list[int]:
    path = []
    while node > 0:
        path.append(node)
        node = parents[node]
    return path[::-1]


def expected_rows(kernel, parents: list[int], tokens: list[int], size: int) -> list[list[int]]:
    rows = []
    for node in range(len(parents)):
        accepted = 0
        path = path_to(node, parents)
        for below in path:
            if not kernel.accept_token(tokens[below]):
                break
            accepted += 1
        reached = accepted == len(path) and not kernel.is_terminated()
        rows.append(filled_row(kernel, size).tolist() if reached else [0] * len(new_row(size)))
        kernel.rollback(accepted)
    return rows


@st.composite
def drafts(draw: st.DrawFn) -> tuple[Case, list[int], list[int]]:
    """A case, the parents of up to seven nodes, and mostly legal tokens for them."""
    case = draw(cases(max_picks=3))
    parents = [-1] + [draw(st.integers(0, node - 1)) for node in range(1, draw(st.integers(1, 7)))]
    size = case.vocabulary.vocab_size
    legal_first = case.reference().legal_token_ids()
    token = (
        st.integers(0, size - 1) | st.sampled_from(legal_first) | st.just(case.vocabulary.stop_token_ids[0])
    )
    return case, parents, [draw(token) for _ in parents]


@settings(max_examples=100, suppress_health_check=SLOW)
@given(draft=drafts())
def test_each_row_is_what_accepting_gives(draft):
    case, parents, tokens = draft
    reference, kernel = case.reference(), case.kernel()
    for pick in case.picks:
        # One step fewer than to the end: there must be something to draft.
        if reference.is_completed() or not step(reference, kernel, pick):
            break
    size = case.vocabulary.vocab_size
    expected = expected_rows(kernel, parents, tokens, size)
    mask = np.full((len(parents), len(new_row(size))), -1, np.int32)
    first_child, next_sibling = links(parents)
    before = filled_row(kernel, size).tolist() if not kernel.is_terminated() else None
    assert kernel.traverse_draft_tree(first_child, next_sibling, np.array(tokens, np.int64), mask)
    assert mask.tolist() == expected
    assert before == (filled_row(kernel, size).tolist() if not kernel.is_terminated() else None)
    by_reference = np.full_like(mask, -1)
    reference.traverse_draft_tree(first_child, next_sibling, np.array(tokens, np.int64), by_reference)
    assert by_reference.tolist() == expected


def ids(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


@pytest.mark.parametrize(
    ("first_child", "next_sibling", "tokens", "rows"),
    [
        (ids(1, -1), ids(-1), ids(2, 2), 2),
        (ids(5, -1), ids(-1, -1), ids(2, 2), 2),
        (ids(1, 0), ids(-1, -1), ids(2, 2), 2),
        (ids(1, -1), ids(-1, 1), ids(2, 2), 2),
        (ids(1, -1).astype(np.int32), ids(-1, -1), ids(2, 2), 2),
        (ids(1, -1), ids(-1, -1), ids(2, 2), 1),
    ],
    ids=["lengths", "no such node", "cycle", "sibling cycle", "dtype", "too few rows"],
)
def test_bad_trees_are_refused_and_change_nothing(first_child, next_sibling, tokens, rows):
    vocabulary = SmallVocabulary([b"<s>", b"</s>", b"x"], 3, [1], [0])
    kernel = kernel_matcher(Rule("rule", Lex(lx.repeat(lx.literal(b"x"), 2, 3))), vocabulary)
    with pytest.raises(MaskwrightError):
        kernel.traverse_draft_tree(first_child, next_sibling, tokens, np.zeros((rows, 1), np.int32))
    assert filled_row(kernel, 3).tolist() == [0b100]
