"""The kernel's lexeme table against the reference's derivatives."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright import lexeme as lx
from maskwright.kernel import lexemes as kernel
from maskwright.reference import lexemes as reference
from tests.strategies import ALPHABET, lexemes, texts


@settings(max_examples=300)
@given(lexeme=lexemes(max_leaves=8), samples=st.lists(texts(6) | st.binary(max_size=3), max_size=8))
def test_membership(lexeme, samples):
    for text in samples:
        assert kernel.accepts(lexeme, text) == reference.accepts(lexeme, text)


@settings(max_examples=200)
@given(lexeme=lexemes(max_leaves=8))
def test_short_members(lexeme):
    letters = [bytes([letter]) for letter in ALPHABET]
    for text in [b"", *letters, *(one + two for one in letters for two in letters)]:
        assert kernel.accepts(lexeme, text) == reference.accepts(lexeme, text)


@settings(max_examples=300)
@given(lexeme=lexemes(max_leaves=8))
def test_emptiness(lexeme):
    assert kernel.is_empty(lexeme) == reference.is_empty(lexeme)


@settings(max_examples=200)
@given(lexeme=lexemes(max_leaves=8))
def test_successors_count_the_bytes_that_lead_on(lexeme):
    table = kernel.LexemeTable()
    node = table.node_of(lexeme)
    targets = [table.walk(node, bytes([byte])) for byte in range(256)]
    assert table.successors(node) == Counter(target for target in targets if target)


@settings(max_examples=100)
@given(one=lexemes(max_leaves=5), two=lexemes(max_leaves=5))
def test_boolean_laws(one, two):
    """De Morgan, and what a difference leaves: these languages are empty by construction."""
    nor = lx.intersection(lx.complement(one), lx.complement(two))
    assert kernel.is_empty(lx.intersection(nor, lx.union(one, two)))
    assert kernel.is_empty(lx.intersection(lx.difference(one, two), two))
    assert kernel.is_empty(lx.difference(lx.difference(one, two), one))


def test_large_counts():
    counted = lx.repeat(lx.byte_set(b"ab"), 3, 20_000)
    for length in (0, 2, 3, 19_999, 20_000, 20_001):
        assert kernel.accepts(counted, b"a" * length) == (3 <= length <= 20_000)


def test_many_literals():
    words = [b"%d" % number for number in range(5_000)]
    table = lx.literals(words)
    assert kernel.accepts(table, b"4999")
    assert not kernel.accepts(table, b"5000")
    assert not kernel.accepts(lx.difference(lx.plus(lx.byte_range(0x30, 0x39)), table), b"77")
    assert kernel.accepts(lx.difference(lx.plus(lx.byte_range(0x30, 0x39)), table), b"077")


def test_a_conjunction_is_found_alive_without_a_tour():
    """The search goes for the nearest end, and not through all counts of what need not come."""
    letter, text = lx.byte_range(97, 122), lx.star(lx.byte_range(32, 126))
    counted = lx.concat(lx.repeat(letter, 0, 5_000), lx.literal(b"!"))
    table = kernel.LexemeTable(max_nodes=1_000)
    assert not table.is_node_empty(
        table.node_of(lx.intersection(counted, lx.concat(text, lx.literal(b"ab!"))))
    )


def test_a_language_and_its_complement_leave_nothing():
    """Seen at once, however many states the parts have."""
    text = lx.star(lx.byte_range(32, 126))
    part = lx.concat(text, lx.literal(b"x"), lx.repeat(lx.byte_range(97, 122), 200, 300), text)
    table = kernel.LexemeTable(max_nodes=1_000)
    both = lx.intersection(part, lx.concat(text, lx.literal(b"y"), text), lx.complement(part))
    assert table.is_node_empty(table.node_of(both))
