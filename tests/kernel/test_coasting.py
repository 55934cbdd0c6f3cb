"""Coasting: a matcher that passes over the counts of a long string is not to be told from one that visits them.

The twin is given the same text as strings, which visits each byte's state. Whatever can be asked is asked of both.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import maskwright
from tests.kernel.test_subtrees import PIECES

WORDS = [piece.encode() for piece in PIECES]
INSIDE = [b"the", b"quick", b"brown", b"fox ", b" ", b"2024", "é".encode(), "語".encode(), b"x"]
BOUND = 120

SCHEMAS: list[Any] = [
    {"type": "string", "maxLength": BOUND},
    {"type": "string", "minLength": 5, "maxLength": BOUND},
    {"type": "string", "pattern": f"^[a-z ]{{2,{BOUND}}}$"},
    {"type": "string", "pattern": f"^(x[a-z ]{{0,{BOUND}}}|[0-9 ]{{3,40}}x?)$"},
    {"type": "string", "pattern": "x", "maxLength": BOUND},
    {"type": "array", "items": {"type": "string", "maxLength": BOUND}, "maxItems": 3},
    {
        "type": "object",
        "properties": {"a": {"type": "string", "maxLength": BOUND}, "b": {"enum": ["the fox", 2024]}},
        "required": ["a", "b"],
        "additionalProperties": {"type": "string", "maxLength": 200},
    },
]


@pytest.fixture(scope="module")
def info() -> maskwright.TokenizerInfo:
    choose = random.Random(11)
    tokens = {bytes([byte]) for byte in range(256)}
    while len(tokens) < 3000:
        tokens.add(b"".join(choose.choices(WORDS, k=choose.randint(1, 4))))
    return maskwright.TokenizerInfo(
        [b"<stop>", *sorted(tokens)], maskwright.VocabType.RAW, stop_token_ids=[0]
    )


class Pair:
    """A matcher that may coast and its twin, and how to compare them."""

    def __init__(self, compiled: maskwright.CompiledGrammar, info: maskwright.TokenizerInfo) -> None:
        self.info = info
        self.free = maskwright.GrammarMatcher(compiled)
        self.twin = maskwright.GrammarMatcher(compiled)
        self.row = maskwright.allocate_token_bitmask(1, info.vocab_size)

    def legal(self, matcher: maskwright.GrammarMatcher) -> list[int]:
        matcher.fill_next_token_bitmask(self.row)
        return np.flatnonzero(np.unpackbits(self.row.view(np.uint8), bitorder="little")).tolist()

    def masks(self) -> list[int]:
        legal = self.legal(self.free)
        assert legal == self.legal(self.twin)
        return legal

    def take(self, token: int) -> None:
        assert self.free.accept_token(token)
        assert self.twin.accept_string(self.info.decoded_vocab[token])

    def questions(self, choose: random.Random) -> None:
        """Asked of a fork half of the time, so that the matcher itself goes on coasting."""
        free = self.free.fork() if choose.random() < 0.5 else self.free
        tokens = choose.choices(range(1, self.info.vocab_size), k=3)
        match choose.randrange(6):
            case 0:
                assert free.validate_tokens(tokens) == self.twin.validate_tokens(tokens)
            case 1:
                assert free.find_jump_forward_bytes() == self.twin.find_jump_forward_bytes()
            case 2:
                assert free.find_shortest_completion() == self.twin.find_shortest_completion()
            case 3:
                assert free.tokens_to_finish() == self.twin.tokens_to_finish()
            case 4:
                ours, theirs = free.explain(tokens[0]), self.twin.explain(tokens[0])
                assert (ours.legal, str(ours)) == (theirs.legal, str(theirs))
            case 5:
                size = self.info.vocab_size
                rows = [maskwright.allocate_token_bitmask(3, size) for _ in range(2)]
                tree = [np.array(part, np.int64) for part in ([1, 2, -1], [-1, -1, -1], [0, *tokens[:2]])]
                free.traverse_draft_tree(*tree, rows[0])
                self.twin.traverse_draft_tree(*tree, rows[1])
                assert np.array_equal(*rows)


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: str(schema)[:60])
@pytest.mark.parametrize("seed", range(4))
def test_a_matcher_that_coasts_is_like_one_that_does_not(schema: Any, seed: int, info: Any) -> None:
    """Random walks to the bound and beyond, with questions, steps taken back, and forks."""
    compiled = maskwright.GrammarCompiler(info).compile_json_schema(schema)
    choose = random.Random(seed)
    preferred = {info.decoded_vocab.index(piece) for piece in INSIDE if piece in info.decoded_vocab}
    pair = Pair(compiled, info)
    for _ in range(150):
        legal = [token for token in pair.masks() if token]
        if not legal:
            break
        likely = [token for token in legal if token in preferred]
        pair.take(choose.choice(likely if likely and choose.random() < 0.9 else legal))
        if choose.random() < 0.1:
            pair.questions(choose)
        if choose.random() < 0.08:
            back = choose.randint(1, min(6, pair.free.n_steps))
            pair.free.rollback(back)
            pair.twin.rollback(back)
        if choose.random() < 0.08:
            pair.free = pair.free.fork()
    assert pair.free.is_completed() == pair.twin.is_completed()
    pair.free.rollback(pair.free.n_steps)
    assert pair.legal(pair.free) == pair.legal(maskwright.GrammarMatcher(compiled))


def test_a_long_string_makes_few_states(info: Any) -> None:
    """The text coasts; taken as a string, it visits every byte."""
    compiled = maskwright.GrammarCompiler(info).compile_json_schema({"type": "string", "maxLength": 4000})
    matcher = maskwright.GrammarMatcher(compiled)
    row = maskwright.allocate_token_bitmask(1, info.vocab_size)
    assert matcher.accept_string('"')
    word = info.decoded_vocab.index(b"quick")
    for _ in range(700):
        matcher.fill_next_token_bitmask(row)
        assert matcher.accept_token(word)
    states = compiled._core.n_states
    assert states < 100
    assert matcher.fork().accept_string(b"quick" * 50 + b'"')
    assert compiled._core.n_states > states + 200


def test_the_bound_is_kept(info: Any) -> None:
    """Not a character more than the bound, whatever was coasted."""
    compiled = maskwright.GrammarCompiler(info).compile_json_schema({"type": "string", "maxLength": 301})
    matcher = maskwright.GrammarMatcher(compiled)
    row = maskwright.allocate_token_bitmask(1, info.vocab_size)
    word = info.decoded_vocab.index(b"fox")
    assert matcher.accept_string('"')
    for _ in range(100):
        matcher.fill_next_token_bitmask(row)
        assert matcher.accept_token(word)
    assert not matcher.accept_token(word)
    assert matcher.accept_string("x")
    assert not matcher.accept_string("x")
    assert matcher.accept_string('"')
    assert matcher.is_completed()
