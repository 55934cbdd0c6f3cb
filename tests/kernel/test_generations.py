"""When the automaton is full a matcher moves to an empty one, or says by name that it cannot."""

import numpy as np
import pytest

import maskwright

INFO = maskwright.TokenizerInfo([bytes([byte]) for byte in range(256)] + ["</s>"])
COUNTED = {"type": "array", "items": {"type": "integer"}, "maxItems": 4000}
TEXT = b"[" + b"1,2," * 300 + b"7]"


def matcher_with(limit_bytes: int, schema: dict[str, object]) -> maskwright.GrammarMatcher:
    compiler = maskwright.GrammarCompiler(INFO, automaton_limit_bytes=limit_bytes, cache_enabled=False)
    return maskwright.GrammarMatcher(compiler.compile_json_schema(schema))


def follow(matcher: maskwright.GrammarMatcher, fill: bool) -> None:
    row = np.zeros(9, np.int32)
    for token in TEXT:
        if fill:
            matcher.fill_next_token_bitmask(row)
        assert matcher.accept_token(token)


@pytest.mark.parametrize("fill", [False, True])
@pytest.mark.parametrize("limit_bytes", [10_000, 40_000, 150_000])
def test_an_output_too_large_for_a_generation_is_refused_and_the_matcher_stays_usable(limit_bytes, fill):
    matcher = matcher_with(limit_bytes, COUNTED)
    with pytest.raises(maskwright.LimitExceeded, match="memory limit"):
        follow(matcher, fill)
    accepted = matcher.n_steps
    assert 0 < accepted < len(TEXT)
    matcher.rollback(2)
    assert matcher.accept_token(TEXT[accepted - 2])


def test_a_limit_too_small_for_the_start_is_refused():
    with pytest.raises(maskwright.LimitExceeded):
        follow(matcher_with(1, COUNTED), fill=False)


def test_many_outputs_share_a_small_memory():
    """Each output fits; together they do not, so generations come and go under live matchers."""
    schema = {"type": "array", "items": {"type": "string", "maxLength": 3000}}
    compiler = maskwright.GrammarCompiler(INFO, automaton_limit_bytes=100_000, cache_enabled=False)
    compiled = compiler.compile_json_schema(schema)
    matchers = [maskwright.GrammarMatcher(compiled) for _ in range(30)]
    texts = [f'["{"x" * (10 + 5 * number)}", "{number}"]'.encode() for number in range(30)]
    row = np.zeros(9, np.int32)
    for position in range(max(map(len, texts))):
        for matcher, text in zip(matchers, texts, strict=True):
            if position < len(text):
                matcher.fill_next_token_bitmask(row)
                assert row.view(np.uint32)[text[position] >> 5] >> (text[position] & 31) & 1
                assert matcher.accept_token(text[position])
    for matcher, text in zip(matchers, texts, strict=True):
        assert matcher.is_completed()
        matcher.rollback(3)
        assert matcher.accept_string(text[-3:])
