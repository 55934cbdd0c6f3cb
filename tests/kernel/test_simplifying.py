"""Simpler lexemes are the same languages, and shortest strings are as short as they can be."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright import lexeme as lx
from maskwright.kernel.distances import Distances
from maskwright.kernel.lexemes import LexemeTable
from maskwright.kernel.simplifying import Simplifier
from tests.strategies import ALPHABET, lexemes, texts

QUOTE = lx.literal(b'"')
#: A prefix code with words of one byte and of two, as the characters of JSON text are.
CHARACTER = lx.union(lx.byte_set(b"abc"), lx.concat(lx.literal(b"\\"), lx.byte_set(b"\\n")))
WORDS = [b"a", b"b", b"c", b"\\\\", b"\\n"]


def counted() -> st.SearchStrategy[lx.Lexeme]:
    """Lexemes made of words of the code, most of them; some only look like it."""
    pieces = st.sampled_from(
        [
            lx.byte_set(b"ab"),
            lx.literal(b"abc"),
            lx.literal(b"\\nb"),
            lx.literal(b"\\"),
            lx.literals([b"ab", b"c"]),
            CHARACTER,
            lx.concat(lx.star(lx.byte_set(b"a")), lx.literal(b"b")),
        ]
    )
    bounds = st.tuples(st.integers(0, 3), st.integers(0, 3) | st.none())

    def grow(parts: st.SearchStrategy[lx.Lexeme]) -> st.SearchStrategy[lx.Lexeme]:
        return st.one_of(
            st.tuples(parts, parts).map(lambda pair: lx.concat(*pair)),
            st.tuples(parts, parts).map(lambda pair: lx.union(*pair)),
            st.builds(
                lambda part, bound: lx.repeat(part, bound[0], None if bound[1] is None else sum(bound)),
                parts,
                bounds,
            ),
        )

    return st.recursive(pieces, grow, max_leaves=5)


def same(table: LexemeTable, one: int, two: int, text: bytes) -> bool:
    return table.is_nullable(table.walk(one, text)) == table.is_nullable(table.walk(two, text))


@settings(max_examples=400)
@given(
    part=counted(),
    low=st.integers(0, 3),
    more=st.integers(0, 3) | st.none(),
    quoted=st.sampled_from(["neither", "outside", "inside"]),
    samples=st.lists(st.lists(st.sampled_from(WORDS), max_size=7).map(b"".join), max_size=12),
)
def test_lengths_beside_patterns(part, low, more, quoted, samples):
    length = lx.repeat(CHARACTER, low, None if more is None else low + more)
    if quoted == "inside":
        lexeme = lx.intersection(lx.concat(length, QUOTE), lx.concat(part, QUOTE))
    else:
        lexeme = lx.intersection(length, part)
        if quoted == "outside":
            lexeme = lx.concat(lexeme, QUOTE)
    table = LexemeTable()
    simplifier = Simplifier(table)
    node = table.node_of(lexeme)
    simpler = simplifier.simpler(node)
    if simplifier.is_live(node):
        assert not table.is_node_empty(node)
    end = b"" if quoted == "neither" else b'"'
    for text in [*samples, *WORDS, b"", *(one + two for one in WORDS for two in WORDS)]:
        assert same(table, node, simpler, text + end), text
        assert same(table, node, simpler, text)


@settings(max_examples=200)
@given(lexeme=lexemes(max_leaves=8), samples=st.lists(texts(6), max_size=8))
def test_any_lexeme(lexeme, samples):
    table = LexemeTable()
    simplifier = Simplifier(table)
    node = table.node_of(lexeme)
    simpler = simplifier.simpler(node)
    if simplifier.is_live(node):
        assert not table.is_node_empty(node)
    for text in samples:
        assert same(table, node, simpler, text)


def test_what_says_nothing_goes():
    table = LexemeTable()
    simpler = Simplifier(table).simpler
    pattern = lx.plus(lx.byte_set(b"ab"))
    node_of = table.node_of
    # More characters than the pattern has are no bound, and two counts are one.
    assert simpler(node_of(lx.intersection(lx.star(CHARACTER), pattern))) == node_of(pattern)
    assert simpler(node_of(lx.intersection(lx.repeat(CHARACTER, 3, 9), pattern))) == node_of(
        lx.repeat(lx.byte_set(b"ab"), 3, 9)
    )
    within = lx.repeat(CHARACTER, 2, 6)
    date = lx.concat(lx.repeat(lx.byte_set(b"ab"), 2, 2), lx.literal(b"\\n"), lx.byte_set(b"c"))
    assert simpler(node_of(lx.intersection(within, date))) == node_of(date)
    # Half a character is none of its words.
    half = lx.concat(lx.literal(b"a"), lx.literal(b"\\"))
    assert simpler(node_of(lx.intersection(within, half))) == node_of(lx.intersection(within, half))


@settings(max_examples=300)
@given(lexeme=lexemes(max_leaves=6))
def test_shortest_strings(lexeme):
    table = LexemeTable(ALPHABET)
    node = table.node_of(lexeme)
    shortest = Distances(table).shortest(node)
    assert (shortest is None) == table.is_node_empty(node)
    reached = {node}
    for length in range(6):
        ends = any(table.is_nullable(state) for state in reached)
        if shortest == length:
            assert ends
            return
        assert not ends
        reached = {table.walk(state, bytes([byte])) for state in reached for byte in ALPHABET} - {0}


@pytest.mark.parametrize("years", [1, 40])
def test_a_long_way_through_a_conjunction(years):
    digit = lx.byte_range(0x30, 0x39)
    date = lx.concat(lx.repeat(digit, 4, 4), lx.literal(b"-"), lx.repeat(digit, 2, 2))
    dates = lx.concat(*[date] * years)
    table = LexemeTable()
    node = table.node_of(lx.intersection(dates, lx.star(lx.byte_range(0x20, 0x7E))))
    assert Distances(table).shortest(node) == 7 * years
