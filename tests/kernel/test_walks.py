"""Random walks through the masks always finish, with a text that is in the language."""

import json
import random
from decimal import Decimal, InvalidOperation

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import maskwright
from maskwright.reference import accepts
from tests.kernel.pairs import cases, legal
from tests.strategies import STOP_ID

SLOW = (HealthCheck.too_slow, HealthCheck.filter_too_much)

#: Steps after which a walk stops to wander and makes for the end.
N_WANDERING = 40
MAX_STEPS = 3_000


@settings(max_examples=80, suppress_health_check=SLOW)
@given(case=cases(max_picks=0, named_ids=()), seed=st.integers(0, 999))
def test_walks_over_random_grammars_finish_in_the_language(case, seed):
    kernel = case.kernel()
    size = case.vocabulary.vocab_size
    random_numbers = random.Random(seed)
    text = b""
    for number in range(MAX_STEPS):
        allowed = legal(kernel, size)
        assert allowed, f"dead end after {text!r}"
        token_id = STOP_ID if number > 20 and STOP_ID in allowed else random_numbers.choice(allowed)
        assert kernel.accept_token(token_id)
        if kernel.is_terminated():
            break
        text += case.vocabulary.decoded_vocab[token_id]
        if number == 60:
            # A recursion may grow faster than uniform choice can close it; what is left to ask is
            # whether there is a way on.
            assert legal(kernel, size)
            return
    assert accepts(case.rule, text)


SCHEMAS = [
    {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name", "age"], "additionalProperties": False},
    {"type": "object", "properties": {"a": {"type": "boolean"}, "b": {"type": "null"}}},
    {"type": "object", "properties": {"id": {"type": "integer", "minimum": 3, "maximum": 120}}, "required": ["id"], "additionalProperties": {"type": "string", "maxLength": 3}},
    {"type": "array", "items": {"type": "number", "minimum": -1.5, "exclusiveMaximum": 2}, "minItems": 2, "maxItems": 4},
    {"type": "array", "prefixItems": [{"type": "string", "minLength": 2, "maxLength": 5}, {"const": {"k": [1, "é"]}}], "items": {"type": "boolean"}},
    {"enum": ["red", "gréen", 3, None, [1, 2], {"a": True}]},
    {"anyOf": [{"type": "string", "pattern": "^[a-c]{2,3}-\\d+$"}, {"type": "integer", "exclusiveMinimum": 10}]},
    {"type": "string", "pattern": "b.d"},
    {"type": ["integer", "null", "string"], "minLength": 1, "maximum": 9},
    {"$defs": {"node": {"type": "object", "properties": {"value": {"type": "integer"}, "next": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/node"}]}}, "required": ["value", "next"], "additionalProperties": False}}, "$ref": "#/$defs/node"},
    {"definitions": {"tree": {"type": "array", "items": {"$ref": "#/definitions/tree"}, "maxItems": 3}}, "$ref": "#/definitions/tree"},
    {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x", "y"], "additionalProperties": {"type": "integer"}},
    {},
]  # fmt: skip

PIECES = [
    '{"',
    '":',
    '", "',
    '"}',
    "]]",
    "[[",
    "true",
    "false",
    "null",
    "ab",
    "name",
    "id",
    "\\u",
    "\\n",
    " \n",
    "  ",
    "10",
    "0.",
    "1e",
    "-1",
    "é",
    "日",
    ': "',
    '",',
]


def vocabulary():
    """Every byte, and pieces that span what a grammar keeps apart."""
    tokens = [b"", b"</s>", *(bytes([byte]) for byte in range(256)), *(piece.encode() for piece in PIECES)]
    return maskwright.TokenizerInfo(tokens, stop_token_ids=[1])


#: Where a walk wants to end, the first of these that is legal is taken.
CLOSING = [b"}", b"]", b'"', b"0", b"1", b"n", b"t"]


#: What chance would need too long to find, tried while a string cannot be closed.
HINTS = {"b.d": b"bxd"}


def number(text: str) -> Decimal | float:
    """Exact, except where the exponent is too large even for Decimal."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return float(text)


def finish(matcher, info, seed: int, hint: bytes = b"") -> bytes:
    """A whole output: wander, then close."""
    random_numbers = random.Random(seed)
    closing = [info.decoded_vocab.index(token) for token in CLOSING]
    text = b""
    for n_steps in range(MAX_STEPS):
        allowed = legal(matcher, info.vocab_size)
        in_need = n_steps >= N_WANDERING and hint and info.decoded_vocab.index(b'"') not in allowed
        if in_need and matcher.accept_string(hint):
            text += hint
            allowed = legal(matcher, info.vocab_size)
        assert allowed, f"dead end after {text!r}"
        token_id = random_numbers.choice(allowed)
        if n_steps > N_WANDERING:
            # Now and then still any token, or two closing choices could take turns for ever.
            in_string = info.decoded_vocab.index(b"X") in allowed
            wanted = [1, info.decoded_vocab.index(b'"')] if in_string else [1, *closing]
            wanted = wanted if random_numbers.random() < 0.9 else [1]
            token_id = next((token for token in wanted if token in allowed), token_id)
        assert matcher.accept_token(token_id)
        if matcher.is_terminated():
            return text
        text += info.decoded_vocab[token_id]
    raise AssertionError(f"no end in {MAX_STEPS} tokens: {text!r}")


@pytest.mark.parametrize("schema", SCHEMAS, ids=[json.dumps(schema)[:60] for schema in SCHEMAS])
def test_walks_over_schemas_finish_and_validate(schema):
    info = vocabulary()
    compiled = maskwright.GrammarCompiler(info).compile_json_schema(schema)
    validator = jsonschema_rs.validator_for(schema)
    for seed in range(25):
        text = finish(maskwright.GrammarMatcher(compiled), info, seed, HINTS.get(schema.get("pattern"), b""))
        value = json.loads(text.decode(), parse_float=number)
        assert validator.is_valid(value), text
