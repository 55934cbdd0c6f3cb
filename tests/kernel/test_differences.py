"""Differences: a lexeme with something taken away, in masks whose tokens spell what is taken away and more.

A mask is put together from the whole lexeme's summary and the tokens that are lost; accepting a token knows nothing of
either. The parts are drawn so that all ways to find what is lost are taken, and those in which it is not plain.
"""

from __future__ import annotations

import random
from itertools import compress, product

import numpy as np
import pytest

from maskwright import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo, allocate_token_bitmask
from maskwright.errors import GrammarError
from maskwright.lexeme import (
    EPSILON,
    Lexeme,
    automaton,
    byte_set,
    complement,
    concat,
    intersection,
    literal,
    literals,
    optional,
    plus,
    repeat,
    star,
    union,
)
from maskwright.rules import Lex, Rule, Seq

LETTER = byte_set(b"ab")
#: What something is taken away from: endless, with a bound, few texts, texts that hold the quote, texts that are it.
KEPT = {
    "letters": star(LETTER),
    "some letters": plus(LETTER),
    "letters and escapes": star(union(LETTER, concat(literal(b"\\"), byte_set(b'"\\a')))),
    "a bounded number": repeat(LETTER, 0, 4),
    "few": literals([b"", b"a", b"ab", b"abb", b"b"]),
    "letters and quotes": star(byte_set(b'ab"')),
    "pairs": star(concat(LETTER, LETTER)),
    "an a at the end": concat(star(LETTER), literal(b"a")),
    "quoted": concat(literal(b'"'), star(LETTER), literal(b'"')),
    "spaces behind a quote": concat(star(LETTER), optional(concat(literal(b'"'), star(literal(b" "))))),
}
#: What is taken away: finite sets in each form, and endless ones.
DROPPED = {
    "one": literal(b"ab"),
    "nothing written": literal(b""),
    "several": literals([b"a", b"ab", b"abab", b"bb"]),
    "all there is of few": literals([b"", b"a", b"ab", b"abb", b"b"]),
    "quoted": literals([b'"a"', b'"ab"', b'"bb"']),
    "spellings": concat(union(literal(b"a"), literal(b"\\a")), union(literal(b"b"), literal(b'\\"'))),
    "an automaton": automaton([[(97, 97, 1), (98, 98, 2)], [(98, 98, 2)], [(97, 98, 3)], []], [1, 3]),
    "an automaton with a cycle": automaton([[(97, 97, 1), (98, 98, 0)], [(98, 98, 1)]], [1]),
    "with ab": concat(star(LETTER), literal(b"ab"), star(LETTER)),
    "with abbab": concat(star(LETTER), literal(b"abbab"), star(LETTER)),
    "more than four": repeat(LETTER, 5, None),
    "short": repeat(LETTER, 1, 2),
    "with a space": literals([b'a" ', b'"']),
}
RESTS = {
    "quote": literal(b'"'),
    "quote and space": concat(literal(b'"'), star(literal(b" ")), literal(b":")),
    "quoted spaces": concat(literal(b'"'), star(literal(b" ")), literal(b'"')),
    "nothing": EPSILON,
    "letters": concat(literal(b"a"), star(literal(b"b")), literal(b":")),
    "perhaps": optional(literal(b":")),
}


def _tokens(rng: random.Random) -> list[bytes]:
    found = {bytes([byte]) for byte in b'ab"\\: ;'}
    words = [
        b"a",
        b"b",
        b"ab",
        b"abab",
        b"bb",
        b"\\a",
        b'\\"',
        b'"',
        b'":',
        b'";',
        b'" :',
        b";",
        b"ab;",
        b'ab"',
        b"",
    ]
    while len(found) < 150:
        found.add(b"".join(rng.choices(words, k=rng.randint(2, 5))) or b"a")
    return sorted(found)


def _differences(rng: random.Random) -> list[tuple[str, Lexeme]]:
    """All of these, behind a literal or not, some with two dropped."""
    found = []
    for (kept, keep), (dropped, drop), (rest, tail) in product(KEPT.items(), DROPPED.items(), RESTS.items()):
        parts = [keep, complement(drop)]
        if rng.random() < 0.3:
            other, also = rng.choice(list(DROPPED.items()))
            dropped += " and " + other
            parts.append(complement(also))
        opening = rng.choice([EPSILON, literal(b'"'), literal(b'a"')])
        found.append((f"{kept} without {dropped}, then {rest}", concat(opening, intersection(*parts), tail)))
    return found


@pytest.mark.parametrize("seed", range(2))
def test_what_is_lost_is_what_cannot_be_accepted(seed: int) -> None:
    """From state to state, and with the lexeme before something else."""
    rng = random.Random(seed)
    for name, lexeme in _differences(rng):
        tokens = _tokens(rng)
        info = TokenizerInfo([*tokens, b"</s>"], stop_token_ids=[len(tokens)])
        rule = Rule(name, _before_more(lexeme))
        try:
            compiled = GrammarCompiler(info, cache_enabled=False).compile_grammar(Grammar(rule))
        except GrammarError:
            # Nothing is left of few texts.
            assert name.startswith("few without")
            continue
        for _ in range(3):
            matcher = GrammarMatcher(compiled)
            for _ in range(5):
                row = allocate_token_bitmask(1, info.vocab_size)
                matcher.fill_next_token_bitmask(row)
                bits = np.unpackbits(row[0].view(np.uint8), bitorder="little")[: len(tokens)]
                accepted = [matcher.fork().accept_token(token) for token in range(len(tokens))]
                assert list(compress(tokens, bits)) == list(compress(tokens, accepted)), name
                going_on = list(compress(range(len(tokens)), accepted))
                if not going_on:
                    break
                assert matcher.accept_token(rng.choice(going_on))


def _before_more(lexeme: Lexeme) -> Seq:
    """The lexeme, then a semicolon and letters: what tokens go on with."""
    return Seq((Lex(lexeme), Lex(literal(b";")), Lex(star(LETTER))))
