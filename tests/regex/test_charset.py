"""Range algebra against Python's sets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from maskwright.regex import charset

_SMALL = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)).map(sorted).map(tuple), max_size=5)


def members(ranges: charset.Ranges) -> set[int]:
    return {char for low, high in ranges for char in range(low, high + 1)}


@given(_SMALL, _SMALL)
def test_operations_are_those_of_sets(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> None:
    one, other = charset.make(left), charset.make(right)
    assert members(one) == {c for low, high in left for c in range(low, high + 1)}
    assert members(charset.unite(one, other)) == members(one) | members(other)
    assert members(charset.intersect(one, other)) == members(one) & members(other)
    assert members(charset.subtract(one, other)) == members(one) - members(other)
    assert charset.size(one) == len(members(one))
    assert charset.invert(charset.invert(one)) == one
    assert [charset.contains(one, char) for char in range(42)] == [char in members(one) for char in range(42)]


@given(_SMALL)
def test_the_form_is_unique(ranges: list[tuple[int, int]]) -> None:
    made = charset.make(ranges)
    assert charset.make((char, char) for char in members(made)) == made


def test_surrogates_are_never_members() -> None:
    assert charset.make([(0xD000, 0xE100)]) == ((0xD000, 0xD7FF), (0xE000, 0xE100))
    assert charset.make([(0xD800, 0xDFFF)]) == ()
    assert charset.invert(()) == charset.ALL
    assert charset.size(charset.ALL) == 0x110000 - 0x800
