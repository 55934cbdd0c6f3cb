"""Multiples of large numbers: the kernel's arithmetic says what writing all states out says."""

import random
import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import maskwright
from maskwright.errors import LimitExceeded
from maskwright.kernel.lexemes import LexemeTable
from maskwright.lexeme import EMPTY, Lexeme, concat, literal, multiples
from maskwright.reference.lexemes import DerivativeTable
from maskwright.rules import Lex, Rule
from tests.lexeme_oracle import is_multiple

small = st.sampled_from([1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 25, 50])


@st.composite
def small_multiples(draw: st.DrawFn) -> Lexeme:
    point = draw(st.booleans())
    low = draw(st.sampled_from([0, 0, 1, 5, 17, 123]))
    return multiples(
        draw(small),
        unwanted=draw(st.lists(small, max_size=2)),
        excluded=draw(st.lists(st.integers(0, 200), max_size=3)),
        decimals=draw(st.integers(0, 2)) if point else 0,
        low=low,
        high=draw(st.none() | st.integers(low, 2500)),
        point=point,
    )


SHORT = ["".join(text) for n in range(5) for text in product("012579.", repeat=n)]


@settings(max_examples=30)
@given(small_multiples(), st.randoms(use_true_random=False))
def test_texts_and_beginnings(lexeme: Lexeme, rng: random.Random) -> None:
    """A text is held if its number is; a beginning lives if the reference, by search, finds a way on."""
    kernel, reference = LexemeTable(), DerivativeTable()
    try:
        start, slow_start = kernel.node_of(lexeme), reference.start(lexeme)
    except LimitExceeded:
        reject()  # too many states to be written out
    longer = ["".join(rng.choices("0123456789.", k=rng.randint(5, 9))) for _ in range(100)]
    for text in [*SHORT, *longer]:
        node, state = start, slow_start
        for byte in text.encode():
            node, state = kernel.walk(node, bytes([byte])), reference.step(state, byte)
        assert kernel.is_nullable(node) == reference.nullable(state) == is_multiple(lexeme.args, text)
        assert (node == 0) == reference.is_empty(state), text


@settings(max_examples=25)
@given(small_multiples())
def test_masks_of_a_vocabulary_with_long_tokens(lexeme: Lexeme) -> None:
    """In a grammar, with tokens of several digits, some of which leave the number."""
    numbers = [str(number) for number in range(0, 1000, 7)]
    info = maskwright.TokenizerInfo(
        [*(bytes([byte]) for byte in range(256)), *numbers, "0.", "5.0", "00", "7,", "12,", ".5,", "</s>"]
    )
    rule = Rule("root", Lex(concat(lexeme, literal(b","))))
    try:
        compiled = maskwright.GrammarCompiler(info).compile_grammar(maskwright.Grammar(rule))
        matcher = maskwright.GrammarMatcher(compiled)
    except maskwright.GrammarError:
        assert LexemeTable().is_node_empty(LexemeTable().node_of(lexeme))
        return
    row = maskwright.allocate_token_bitmask(1, info.vocab_size)
    for pick in range(4):
        matcher.fill_next_token_bitmask(row)
        legal = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist()
        accepted = [token for token in range(info.vocab_size) if matcher.validate_tokens([token])]
        assert legal == accepted
        matcher.accept_token(legal[pick % len(legal)])
        if matcher.is_completed():
            break


def test_a_billion_costs_nothing() -> None:
    table = LexemeTable()
    node = table.node_of(multiples(10**9 + 7, point=False))
    began = time.monotonic()
    for factor in range(1, 200):
        assert table.is_nullable(table.walk(node, str(factor * (10**9 + 7)).encode()))
        assert not table.is_nullable(table.walk(node, str(factor * (10**9 + 7) + 1).encode()))
    assert time.monotonic() - began < 5
    assert table.n_nodes < 5000


def test_a_vocabulary_that_lacks_digits() -> None:
    """What can end is searched then, not computed: with 5 and 0 alone, 55 is a multiple of 11 and 5 needs another 5."""
    info = maskwright.TokenizerInfo(["5", "0", ",", "</s>"])
    compiler = maskwright.GrammarCompiler(info)

    def compiled(wanted: int) -> maskwright.CompiledGrammar:
        lexeme = concat(multiples(wanted, low=1, high=600, point=False), literal(b","))
        return compiler.compile_grammar(maskwright.Grammar(Rule("root", Lex(lexeme))))

    matcher = maskwright.GrammarMatcher(compiled(11))
    assert matcher.accept_string("5")
    assert matcher.find_jump_forward_bytes() == b"5"
    with pytest.raises(maskwright.GrammarError):
        maskwright.GrammarMatcher(compiled(7))


def test_arguments() -> None:
    assert multiples(3, low=5, high=4) is EMPTY
    for bad in ({"wanted": 0}, {"wanted": 1, "low": -1}, {"wanted": 1, "decimals": 1, "point": False}):
        with pytest.raises(ValueError, match="positive"):
            multiples(**bad)
    with pytest.raises(ValueError, match="at most"):
        multiples(10**18)
    # All multiples but the first 30,000 are excluded: telling that nothing is left takes too long.
    with pytest.raises(LimitExceeded):
        LexemeTable().node_of(multiples(1, excluded=range(30_000), high=29_999))
