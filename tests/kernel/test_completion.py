"""Shortest completions: complete, legal, and as short as a plain search over all short texts finds."""

import itertools
import json

import pytest
from hypothesis import HealthCheck, given, settings

import maskwright
from tests.kernel.pairs import cases

BYTES = maskwright.TokenizerInfo([bytes([byte]) for byte in range(256)] + ["</s>"])


def matcher_of(schema: object) -> maskwright.GrammarMatcher:
    return maskwright.GrammarMatcher(maskwright.GrammarCompiler(BYTES).compile_json_schema(schema))


@pytest.mark.parametrize(
    ("schema", "n_bytes"),
    [
        ({"type": "boolean"}, 4),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 3}, 7),
        ({"type": "string", "minLength": 5}, 7),
        ({"type": "string", "pattern": "^a{3}b"}, 6),
        ({"enum": ["abcdef", "abc", "abcd"]}, 5),
        ({"type": "object", "properties": {"key": {"type": "null"}}, "required": ["key"]}, 12),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}}}, 2),
    ],
)
def test_of_schemas(schema, n_bytes):
    matcher = matcher_of(schema)
    completion = matcher.find_shortest_completion()
    assert completion is not None
    assert len(completion) == n_bytes
    assert matcher.n_steps == 0
    assert matcher.accept_string(completion)
    assert matcher.is_completed()
    assert matcher.find_shortest_completion() == b""


def test_from_the_middle_and_in_tokens():
    matcher = matcher_of({"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2})
    assert matcher.accept_string('["a')
    assert matcher.find_shortest_completion() == b'",""]'
    assert matcher.tokens_to_finish() == 6


@pytest.mark.parametrize(
    ("schema", "n_bytes"),
    [
        ({"type": "array", "minItems": 10_000}, 20_001),
        ({"type": "string", "minLength": 5_000}, 5_002),
        ({"type": "string", "pattern": "a{3}", "minLength": 300}, 302),
        ({"type": "array", "uniqueItems": True, "minItems": 30, "items": {"type": "integer"}}, 81),
    ],
)
def test_far_away_ends(schema, n_bytes):
    matcher = matcher_of(schema)
    completion = matcher.find_shortest_completion()
    assert completion is not None
    assert len(completion) == n_bytes
    assert matcher.accept_string(completion)
    assert matcher.is_completed()


def test_members_in_any_order():
    """Every subset of the members is a place of its own; the search heads for those that are required."""
    names = [f"member{number}" for number in range(40)]
    schema = {
        "properties": {name: {"type": "boolean"} for name in names},
        "required": names,
        "type": "object",
    }
    compiler = maskwright.GrammarCompiler(BYTES)
    matcher = maskwright.GrammarMatcher(compiler.compile_json_schema(schema, any_order=True))
    completion = matcher.find_shortest_completion()
    assert completion is not None
    assert json.loads(completion) == dict.fromkeys(names, True)


@settings(max_examples=40, suppress_health_check=(HealthCheck.too_slow, HealthCheck.filter_too_much))
@given(case=cases(max_picks=0, named_ids=()))
def test_no_shorter_text_is_complete(case):
    matcher = case.kernel()
    completion = matcher.find_shortest_completion()
    if completion is None:
        return
    alphabet = sorted({byte for text in case.vocabulary.decoded_vocab for byte in text})
    for length in range(min(len(completion), 4)):
        for text in itertools.product(alphabet, repeat=length):
            twin = matcher.fork()
            assert not (twin.accept_string(bytes(text)) and twin.is_completed())
    if matcher.accept_string(completion):
        assert matcher.is_completed()
