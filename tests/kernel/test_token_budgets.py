"""Token budgets: whatever is chosen, the output is whole in time, and nothing is withheld that could be afforded."""

import json
import random

import jsonschema_rs
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import maskwright
from maskwright.reference import accepts
from tests.kernel.pairs import cases, legal, token_ids
from tests.kernel.test_walks import SCHEMAS
from tests.strategies import STOP_ID

SLOW = (HealthCheck.too_slow, HealthCheck.filter_too_much)


def small_vocabulary() -> maskwright.TokenizerInfo:
    longer = [
        b'{"',
        b'":',
        b'": ',
        b'","',
        b'"}',
        b"},",
        b"true",
        b"null",
        b"ab",
        b"abc",
        b"12",
        b"   ",
        b"[[",
        b"]]",
        b"\xc3\xa9",
        b'\\"',
        b'a"',
    ]
    return maskwright.TokenizerInfo([bytes([byte]) for byte in range(256)] + longer + ["</s>"])


INFO = small_vocabulary()


def walk(matcher, choose, budget: int) -> bytes:
    """Tokens by `choose` until the stop token; the text. Fails if the budget is overrun."""
    text = b""
    for number in range(budget):
        tokens = legal(matcher, INFO.vocab_size)
        assert tokens, f"dead end after {number} of {budget} tokens: {text!r}"
        token = choose(tokens)
        assert matcher.accept_token(token), (token, text)
        if matcher.is_terminated():
            return text
        text += INFO.decoded_vocab[token]
    raise AssertionError(f"{text!r} is not complete after {budget} tokens")


def longest(tokens: list[int]) -> int:
    stops = set(INFO.stop_token_ids)
    return max(tokens, key=lambda token: (token not in stops, len(INFO.decoded_vocab[token]), token))


def another(tokens: list[int]) -> int:
    """Always another member, item or level."""
    liked = [token for token in tokens if INFO.decoded_vocab[token][:1] in (b",", b"[", b"{", b'"')]
    return (liked or tokens)[0]


def blank(tokens: list[int]) -> int:
    liked = [token for token in tokens if INFO.decoded_vocab[token].isspace()]
    return (liked or tokens)[-1]


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_schemas_finish_in_time(schema):
    compiled = maskwright.GrammarCompiler(INFO).compile_json_schema(schema)
    validator = jsonschema_rs.validator_for(schema)
    numbers = random.Random(1)
    for more in (0, 1, 2, 3, 5, 8, 20, 50):
        budget = compiled.min_tokens + more
        for choose in (numbers.choice, numbers.choice, longest, another, blank):
            text = walk(maskwright.GrammarMatcher(compiled, max_tokens=budget), choose, budget)
            value = json.loads(text)
            assert validator.is_valid(value), text


@settings(max_examples=60, suppress_health_check=SLOW)
@given(case=cases(max_picks=0, named_ids=()), more=st.integers(0, 6), seed=st.integers(0, 999))
def test_random_grammars_finish_in_time(case, more, seed):
    needed = case.kernel().tokens_to_finish()
    assume(needed is not None)
    budget = needed + more
    kernel = case.kernel(max_tokens=budget)
    numbers = random.Random(seed)
    text = b""
    while not kernel.is_terminated():
        tokens = legal(kernel, case.vocabulary.vocab_size)
        assert tokens, f"dead end after {text!r}"
        token = numbers.choice(tokens)
        assert kernel.accept_token(token)
        if token != STOP_ID:
            text += case.vocabulary.decoded_vocab[token]
    assert kernel.n_steps <= budget
    assert accepts(case.rule, text)


@settings(max_examples=60, suppress_health_check=SLOW)
@given(case=cases(), more=st.integers(0, 6))
def test_only_what_cannot_be_afforded_is_withheld(case, more):
    """A token is legal exactly if it is without a budget, and enough is left after it."""
    needed = case.kernel().tokens_to_finish()
    assume(needed is not None)
    size = case.vocabulary.vocab_size
    plain, bounded = case.kernel(), case.kernel(max_tokens=needed + more)
    for pick in case.picks:
        if plain.is_terminated():
            break
        allowed = []
        for token in legal(plain, size):
            twin = plain.fork()
            assert twin.accept_token(token)
            after = twin.tokens_to_finish()
            if after is not None and after <= bounded.tokens_left - 1:
                allowed.append(token)
        assert legal(bounded, size) == allowed
        for token in range(size):
            assert bounded.fork().accept_token(token) == (token in allowed)
            assert bounded.validate_tokens([token]) == (token in allowed)
        token = allowed[pick % len(allowed)]
        assert plain.accept_token(token)
        assert bounded.accept_token(token)


@settings(max_examples=40, suppress_health_check=SLOW)
@given(case=cases(max_picks=0, named_ids=()))
def test_no_way_with_fewer_bytes_needs_fewer_tokens(case):
    """The number comes true: by following it the output ends with exactly so many tokens or fewer."""
    kernel = case.kernel()
    needed = kernel.tokens_to_finish()
    assume(needed is not None)
    while not kernel.is_terminated():
        left = needed
        for token in legal(kernel, case.vocabulary.vocab_size):
            twin = kernel.fork()
            assert twin.accept_token(token)
            after = twin.tokens_to_finish()
            if after is not None and after < left:
                left, best = after, token
        assert left < needed, "no token leads nearer to the end"
        needed = left
        assert kernel.accept_token(best)
    assert needed == 0


def matcher_for(schema: object, **options: object) -> maskwright.GrammarMatcher:
    return maskwright.GrammarMatcher(maskwright.GrammarCompiler(INFO).compile_json_schema(schema), **options)


def test_a_budget_below_the_minimum_is_an_error_before_anything_is_generated():
    with pytest.raises(maskwright.BudgetError, match="6 tokens are needed") as caught:
        matcher_for({"type": "string", "minLength": 4, "maxLength": 9, "pattern": "^[a-z]*$"}, max_tokens=3)
    assert (caught.value.needed, caught.value.available) == (6, 3)


def test_budgets_roll_back_fork_and_reset():
    matcher = matcher_for({"type": "array", "items": {"type": "integer"}}, max_tokens=9)
    assert matcher.tokens_left == 9
    assert matcher.accept_string("[12,")
    assert matcher.tokens_left == 6
    twin = matcher.fork()
    assert twin.accept_token(ord("7"))
    assert (twin.tokens_left, matcher.tokens_left) == (5, 6)
    matcher.rollback()
    assert matcher.tokens_left == 9
    twin.reset()
    assert twin.tokens_left == 9


def test_a_text_that_leaves_too_little_is_refused():
    matcher = matcher_for({"type": "string"}, max_tokens=6)
    assert not matcher.accept_string('"wxyzw')
    assert matcher.accept_string('"wxy')
    assert legal(matcher, INFO.vocab_size) == [
        ord('"'),
        INFO.decoded_vocab.index(b'{"'),
        INFO.decoded_vocab.index(b'a"'),
    ]


def test_engines_that_count_themselves():
    matcher = matcher_for({"type": "array", "items": {"enum": [12]}})
    assert matcher.accept_string("[")
    row = maskwright.allocate_token_bitmask(1, INFO.vocab_size)
    matcher.fill_next_token_bitmask(row, tokens_left=2)
    assert [INFO.decoded_vocab[token] for token in token_ids(row[0])] == [b"]"]
    matcher.fill_next_token_bitmask(row, tokens_left=4)
    assert b"12" in [INFO.decoded_vocab[token] for token in token_ids(row[0])]
    with pytest.raises(maskwright.BudgetError):
        matcher.fill_next_token_bitmask(row, tokens_left=1)


def test_batches_and_draft_trees_keep_to_the_budget():
    compiled = maskwright.GrammarCompiler(INFO).compile_json_schema(
        {"type": "array", "items": {"enum": [12]}}
    )
    matchers = [maskwright.GrammarMatcher(compiled, max_tokens=budget) for budget in (3, 4, 5, 40)]
    rows = maskwright.allocate_token_bitmask(len(matchers), INFO.vocab_size)
    for _ in range(2):  # the second time all masks are there
        maskwright.BatchGrammarMatcher().batch_fill_next_token_bitmask(matchers, rows)
        for matcher, row in zip(matchers, rows, strict=True):
            assert token_ids(row) == legal(matcher, INFO.vocab_size)
    # [ -> "12" -> "]", and [ -> "," which is illegal anyway
    tight = maskwright.GrammarMatcher(compiled, max_tokens=4)
    drafts = np.array([0, ord("["), INFO.decoded_vocab.index(b"12"), ord("]")], np.int64)
    rows = maskwright.allocate_token_bitmask(4, INFO.vocab_size)
    assert tight.traverse_draft_tree(np.array([1, 2, 3, -1]), np.full(4, -1), drafts, rows)
    follower = maskwright.GrammarMatcher(compiled, max_tokens=4)
    for row, token in zip(rows, [*drafts[1:].tolist(), None], strict=True):
        assert token_ids(row) == legal(follower, INFO.vocab_size)
        assert token is None or follower.accept_token(token)


def test_without_a_stop_token_none_is_kept_back():
    matcher = matcher_for({"const": 1}, terminate_without_stop_token=True, max_tokens=1)
    assert matcher.accept_token(ord("1"))
    assert matcher.is_terminated()
