"""Masks over a real vocabulary, token by token: each bit is what accepting the token says.

Small random vocabularies never make a wide summary, so what summaries share (counted repetitions,
clipped bounds, differences, whole subtrees) is only exercised by a vocabulary of many thousand tokens.
"""

import random

import numpy as np
import pytest

import maskwright
from tests.vocabulary import real

#: Schemas whose lexeme states belong to every family of summaries.
SCHEMAS = [
    {"type": "string", "maxLength": 20},
    {"type": "string", "minLength": 3, "maxLength": 9},
    {"type": "string", "minLength": 4},
    {"type": "string", "maxLength": 4000},
    {"type": "string", "pattern": "@", "minLength": 5, "maxLength": 12},
    {"type": "string", "pattern": "^[A-Za-z0-9_.-]{3,64}$"},
    {"type": "string", "pattern": "^(ab)*$", "minLength": 3, "maxLength": 11},
    {"type": "string", "pattern": "^[a-z]+( [a-z]+)*$", "minLength": 6, "maxLength": 15},
    {"type": "string", "pattern": "^(..)*$", "minLength": 3, "maxLength": 7},
    {"type": "string", "pattern": "^([a-z]{1,30}\\.){1,3}[a-z]{2,40}$"},
    {"type": "string", "pattern": "^([a-z]{1,30}\\.){1,3}[a-z]{2,40}$", "maxLength": 60},
    {"type": "string", "pattern": "^\\w{1,40}( \\w{1,30})*$", "minLength": 5, "maxLength": 26},
    {"type": "string", "pattern": "^[a-z0-9é-]{1,25}(\\.[a-z0-9é-]{1,15})*$", "maxLength": 253},
    {"type": "string", "pattern": "^\\w{1,26}$", "not": {"pattern": "a"}, "minLength": 2, "maxLength": 90},
    {"type": "string", "not": {"pattern": "a"}, "maxLength": 6},
    {"type": "string", "not": {"pattern": "^[a-z]{0,40}$"}},
    {"type": "string", "format": "email"},
    {"type": "string", "format": "hostname"},
    {"type": "string", "format": "idn-hostname"},
    {"type": "string", "format": "idn-email"},
    {"type": "string", "format": "regex"},
    {"type": "string", "format": "date-time"},
    {
        "type": "object",
        "properties": {"name": {"type": "string"}, "names": {"type": "integer"}},
        "additionalProperties": {"type": "integer"},
    },
    {"type": "string", "pattern": "^[A-Za-z0-9]+$", "minLength": 30, "maxLength": 30},
    {"type": "string", "pattern": "^\\S+@\\S+$", "maxLength": 60},
    {"type": "string", "pattern": "\\.km[lz]$"},
    {"type": "string", "format": "date-time", "maxLength": 60},
    {"type": "string", "format": "email", "minLength": 3},
    {"type": "object", "patternProperties": {"^[-_a-zA-Z0-9]{1,255}$": {"type": "string"}}},
    {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    {"type": "array", "items": {"type": "integer"}, "minItems": 2},
    {"type": "number", "minimum": -3, "maximum": 17.5},
    {"enum": ["red", "green", "grey"]},
]


@pytest.fixture(scope="module")
def info() -> maskwright.TokenizerInfo:
    return real.real_vocabulary("qwen")


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_each_bit_is_what_accepting_says(schema, info):
    compiled = maskwright.GrammarCompiler(info).compile_json_schema(schema, strict_mode=False)
    matcher = maskwright.GrammarMatcher(compiled)
    bitmask = maskwright.allocate_token_bitmask(1, info.vocab_size)
    choose = random.Random(str(schema))
    for _ in range(8):
        matcher.fill_next_token_bitmask(bitmask)
        bits = np.unpackbits(bitmask.view(np.uint8), bitorder="little")
        assert not bits[info.vocab_size :].any()
        legal = np.flatnonzero(bits).tolist()
        assert legal
        some = choose.sample(range(info.vocab_size), 2000) + choose.sample(legal, min(len(legal), 500))
        for token in {*some, *legal[:500]}:
            assert matcher.validate_tokens([token]) == bits[token], token
        shortest = sorted(choose.sample(legal, min(len(legal), 40)), key=lambda token: len(text(info, token)))
        assert matcher.accept_token(shortest[0])
        if matcher.is_terminated():
            break


def text(info: maskwright.TokenizerInfo, token: int) -> bytes:
    return info.decoded_vocab[token] if token < len(info.decoded_vocab) else b""
