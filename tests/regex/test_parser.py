"""What all flavours share: groups, quantifiers, metering."""

from __future__ import annotations

import pytest

from maskwright.errors import LimitExceeded, RegexError
from maskwright.regex.compile import parse_regex
from maskwright.regex.parser import MAX_COUNT, MAX_NESTING
from maskwright.regex.tree import Chars, Concat, Repeat, Union

FLAVOURS = ["ecma", "rust", "rust-ext"]


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_structure(flavour: str) -> None:
    tree = parse_regex("a(?:b|cd){2,3}?e*", flavour=flavour)
    assert isinstance(tree, Concat)
    first, group, last = tree.parts
    assert isinstance(first, Chars)
    assert isinstance(group, Repeat)
    assert (group.low, group.high) == (2, 3)
    assert isinstance(group.body, Union)
    assert isinstance(last, Repeat)
    assert last.high is None


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_limits(flavour: str) -> None:
    parse_regex("(" * MAX_NESTING + ")" * MAX_NESTING, flavour=flavour)
    with pytest.raises(LimitExceeded, match="nested"):
        parse_regex("(" * (MAX_NESTING + 1) + ")" * (MAX_NESTING + 1), flavour=flavour)
    parse_regex(f"a{{{MAX_COUNT}}}", flavour=flavour)
    with pytest.raises(LimitExceeded, match="count"):
        parse_regex(f"a{{0,{MAX_COUNT + 1}}}", flavour=flavour)


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize(
    ("pattern", "offset"), [("ab)", 2), ("a(b", 1), ("a+*", 2), ("|*", 1), ("a{2,1}", 0)]
)
def test_errors(flavour: str, pattern: str, offset: int) -> None:
    with pytest.raises(RegexError) as caught:
        parse_regex(pattern, flavour=flavour)
    assert caught.value.offset == offset


def test_a_long_pattern_is_linear() -> None:
    tree = parse_regex("ab" * 50_000)
    assert isinstance(tree, Concat)
    assert len(tree.parts) == 100_000
