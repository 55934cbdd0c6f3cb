"""`RowFollower`: any order of rows gives the masks that fresh matchers give."""

from __future__ import annotations

import random

import numpy as np
import pytest

from maskwright import (
    BudgetError,
    CompiledGrammar,
    GrammarCompiler,
    GrammarMatcher,
    MatcherError,
    TokenizerInfo,
)
from maskwright.engines.rows import RowFollower

STOP = 256
INFO = TokenizerInfo([bytes([byte]) for byte in range(256)] + [b"</s>", b"ab"], stop_token_ids=[STOP])
COMPILER = GrammarCompiler(INFO)
AB = COMPILER.compile_regex("(a|b|ab)*c")
DIGITS = COMPILER.compile_regex("[0-9]{2,5}")
PROMPT = [7, 8, 9]


def ids(text: str, prompt: list[int] = PROMPT) -> np.ndarray:
    return np.array([*prompt, *(STOP if char == "$" else ord(char) for char in text)], dtype=np.int64)


def legal(bitmask: np.ndarray, row: int) -> set[int]:
    bits = np.unpackbits(bitmask[row].view(np.uint8), bitorder="little")
    return set(np.flatnonzero(bits).tolist())


def expected(grammar: CompiledGrammar, tokens: list[int]) -> set[int]:
    """By a matcher that is made for this one row."""
    matcher = GrammarMatcher(grammar)
    for token in tokens:
        if matcher.is_terminated() or not matcher.accept_token(token):
            return {STOP}
    if matcher.is_terminated():
        return {STOP}
    bitmask = np.zeros((1, -(-INFO.vocab_size // 32)), np.int32)
    matcher.fill_next_token_bitmask(bitmask)
    return legal(bitmask, 0)


def check(
    follower: RowFollower, rows: list[np.ndarray], grammars: list[CompiledGrammar], prompt: int
) -> None:
    bitmask, ended = follower.next_masks(rows)
    each = len(rows) // len(grammars)
    for row, tokens in enumerate(rows):
        want = expected(grammars[row // each], tokens[prompt:].tolist())
        assert legal(bitmask, row) == want, (row, tokens)
        assert (row in ended) <= (want == {STOP})


def test_one_row_step_by_step() -> None:
    follower = RowFollower(AB)
    for text in ("", "a", "ab", "abc", "abc$", "abc$x"):
        check(follower, [ids(text)], [AB], 3)
    assert follower.n_masks == 6
    assert follower.mask_seconds > 0
    assert follower.left_grammar == []


@pytest.mark.parametrize("prompt_length", [None, 3])
@pytest.mark.parametrize("seed", range(8))
def test_beams_that_swap_and_repeat(seed: int, prompt_length: int | None) -> None:
    """Every row of a step is any row of its prompt's at the step before, and one token."""
    dice = random.Random(seed)
    grammars, beams = [AB, DIGITS], 3
    follower = RowFollower(grammars, prompt_length=prompt_length)
    prompts = [[7, 8, 9], [0, 0, 9]]  # the second one is padded
    rows = [ids("", prompt) for prompt in prompts for _ in range(beams)]
    for _ in range(12):
        check(follower, rows, grammars, 3)
        chosen = []
        for group, letters in enumerate(["abc$x", "0123$x"]):
            for _ in range(beams):
                parent = rows[group * beams + dice.randrange(beams)]
                letter = dice.choice(letters)
                chosen.append(np.append(parent, STOP if letter == "$" else ord(letter)))
        rows = chosen


@pytest.mark.parametrize("seed", range(8))
def test_steps_back_as_in_speculative_decoding(seed: int) -> None:
    """Any legal walk over beginnings of what was seen, and one token more."""
    dice = random.Random(seed)
    follower = RowFollower(AB)
    text = ""
    for _ in range(60):
        check(follower, [ids(text)], [AB], 3)
        seen = text
        text = seen[: dice.randint(0, len(seen))]
        if dice.random() < 0.8 and "c" not in text:
            text = (seen if "c" not in seen and dice.random() < 0.6 else text) + dice.choice("abc")
        elif dice.random() < 0.3 and text.endswith("c"):
            text += "$"


def test_a_processor_is_used_again_for_another_prompt() -> None:
    follower = RowFollower(DIGITS)
    for text in ("", "1", "12", "123"):
        check(follower, [ids(text)], [DIGITS], 3)
    other = [1, 2, 3, 4, 5, 6, 7, 8]
    for text in ("", "9", "98", "98$"):
        check(follower, [ids(text, other)], [DIGITS], len(other))
    # The same prompt again, with an answer that begins otherwise; then more rows.
    for text in ("", "5"):
        check(follower, [ids(text)], [DIGITS], 3)
    for text in ("", "5"):
        check(follower, [ids(text), ids(text)], [DIGITS], 3)


def test_a_prompt_that_begins_like_the_last_one() -> None:
    follower = RowFollower(DIGITS)
    for text in ("", "1", "12", "123"):
        check(follower, [ids(text)], [DIGITS], 3)
    # Token 50 is "2", which a step back could have brought; 7 is not legal, so this is a new prompt.
    longer = [*PROMPT, 7]
    check(follower, [ids("", longer)], [DIGITS], 4)
    check(follower, [ids("4", longer)], [DIGITS], 4)
    follower.reset()
    check(follower, [ids("4", longer)], [DIGITS], 5)


def test_given_prompt_lengths_let_a_prompt_hold_the_beginning() -> None:
    follower = RowFollower(DIGITS, prompt_length=[2, 3])
    rows = [np.array([1, 1, ord("4"), ord("5")]), np.array([1, 1, 1, ord("6")])]
    bitmask, ended = follower.next_masks(rows)
    assert ended == []
    assert STOP in legal(bitmask, 0)
    assert STOP not in legal(bitmask, 1)


def test_illegal_tokens_end_their_row_and_are_reported() -> None:
    follower = RowFollower(DIGITS)
    follower.next_masks([ids(""), ids("")])
    bitmask, ended = follower.next_masks([ids("1"), ids("x")])
    assert (ended, follower.left_grammar) == ([1], [1])
    assert legal(bitmask, 1) == {STOP}
    _, ended = follower.next_masks([ids("12"), ids("x1")])
    assert (ended, follower.left_grammar) == ([1], [1])


def test_other_stop_tokens() -> None:
    follower = RowFollower(DIGITS, stop_token_ids=[ord("!")])
    follower.next_masks([ids("")])
    follower.next_masks([ids("1")])
    bitmask, _ = follower.next_masks([ids("12")])
    assert ord("!") in legal(bitmask, 0)
    assert STOP not in legal(bitmask, 0)


def test_wrong_use_is_refused() -> None:
    with pytest.raises(MatcherError, match="no grammar"):
        RowFollower([])
    other = GrammarCompiler(TokenizerInfo(["a", "</s>"])).compile_regex("a")
    with pytest.raises(MatcherError, match="vocabularies"):
        RowFollower([AB, other])
    with pytest.raises(MatcherError, match="3 rows"):
        RowFollower([AB, DIGITS]).next_masks([ids("")] * 3)
    with pytest.raises(MatcherError, match="shorter"):
        RowFollower(AB, prompt_length=5).next_masks([ids("")])
    with pytest.raises(MatcherError, match="prompt lengths"):
        RowFollower(AB, prompt_length=[1, 1]).next_masks([ids("")])


def test_rows_end_within_their_budget() -> None:
    info = TokenizerInfo(["[", "]", "1", ",", "</s>"])
    compiled = GrammarCompiler(info).compile_regex(r"\[(1(,1)*)?\]")
    follower = RowFollower(compiled, prompt_length=1, max_tokens=6)
    answers: list[list[int]] = [[], []]
    for _ in range(6):
        masks, ended = follower.next_masks([np.array([9, *answer]) for answer in answers])
        for row, answer in enumerate(answers):
            if row not in ended:
                allowed = [token for token in range(5) if masks[row, 0] >> token & 1]
                # One would go on for ever, the other ends as soon as it can.
                answer.append(
                    min(allowed, key=lambda token: ((2, 3, 0, 1, 4), (1, 4, 0, 2, 3))[row].index(token))
                )
    assert answers == [[0, 2, 3, 2, 1, 4], [0, 1, 4]]
    with pytest.raises(BudgetError, match="3 tokens are needed"):
        RowFollower(compiled, max_tokens=2)
