"""Rewrites keep the language, and dissolve what they promise to."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.errors import LimitExceeded
from maskwright.regex import UTF8
from maskwright.regex.charset import make
from maskwright.regex.ecma import parse_ecma
from maskwright.regex.look_automaton import compile_automaton
from maskwright.regex.lower import lower
from maskwright.regex.simplify import at_edge, prefixes_tested, simplified
from maskwright.regex.tree import Concat
from tests.lexeme_oracle import accepts
from tests.regex.patterns import EXAMPLES, expected, patterns, texts


@settings(max_examples=EXAMPLES)
@given(patterns(max_leaves=7), texts())
def test_simplified_matches_the_same(pattern: str, subjects: list[str]) -> None:
    tree = simplified(parse_ecma(pattern))
    try:
        lexeme = compile_automaton(tree, UTF8) if tree.has_look else lower(tree, UTF8)
    except LimitExceeded:
        return
    for text in subjects:
        wanted = expected(pattern, text, search=False)
        if wanted is not None:
            assert accepts(lexeme, text.encode()) == wanted, text


@settings(max_examples=EXAMPLES)
@given(patterns(look=False, max_leaves=6), st.booleans(), texts())
def test_edges(pattern: str, last: bool, subjects: list[str]) -> None:
    tree = parse_ecma(pattern)
    edge = lower(at_edge(tree, make([(ord("a"), ord("b"))]), last=last), UTF8)
    for text in subjects:
        at = text[-1:] if last else text[:1]
        wanted = at in ("a", "b") and expected(pattern, text, search=False)
        assert accepts(edge, text.encode()) == wanted, text


@pytest.mark.parametrize(
    "pattern",
    [
        r"x\b",
        r"a\bb",
        "(?=a)[ab]c",
        "[a-z]+(?<!-)",
        r"(?:[a-z-]+(?<!-)\.)+x",
        "(?:(?!-)[a-z-])*x",
    ],
)
def test_one_character_tests_dissolve(pattern: str) -> None:
    tree = simplified(parse_ecma("^" + pattern + "y$"))
    parts = tree.parts if isinstance(tree, Concat) else (tree,)
    # Only the anchors at the two ends are left, or nothing at all.
    assert not any(part.has_look for part in parts[1:-1])


@pytest.mark.parametrize(
    ("pattern", "text", "wanted"),
    [
        ("a*(?<=aa)b", "aab", True),
        ("a*(?<=aa)b", "ab", False),
        ("a*(?<!aa)b*(?<!ab)", "abb", True),
        ("a*(?<!aa)b*(?<!ab)", "ab", False),
        ("a*(?<!aa)b*(?<!ab)", "aabb", False),
    ],
)
def test_look_behind_as_intersection(pattern: str, text: str, wanted: bool) -> None:
    tree = prefixes_tested(parse_ecma(pattern))
    assert not tree.has_look
    assert accepts(lower(tree, UTF8), text.encode()) == wanted


def test_copies_are_metered() -> None:
    with pytest.raises(LimitExceeded, match="optional parts"):
        at_edge(parse_ecma("a?" * 2_000), ((0, 9),), last=True)
