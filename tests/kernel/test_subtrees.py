"""Subtrees taken whole, exits merged and masks shared: every bit of masks over thousands of made-up tokens.

The tokens are words with anything between them: characters of every length, halves of characters, bytes that no text
has. Each bit must be what accepting the token says.
"""

import random

import numpy as np
import pytest

import maskwright

#: Pieces of tokens. The last ones are no UTF-8: lone bytes, overlong forms, surrogates, beyond U+10FFFF.
PIECES = [
    *["the", "quick", "brown", "fox", "jumps", "over", "lazy", "dogs", "2024", "07", "x", "y", "Z", "AB"],
    *" .,:;-_/@\"\\'\n\t{}[]",
    *(
        "é",
        "ß",
        "\u2028",
        "\u00a0",
        "\u3000",
        "語",
        "漢",
        "\ufeff",
        "\U0001f600",
        "\U00010000",
        "ÿ",
        "\u07ff",
        "\u0800",
    ),
]
BROKEN = [
    b"\xe2",
    b"\x80",
    b"\xe2\x80",
    b"\xf0\x9f",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xff",
    b"\xf8",
]

STRINGS = [
    {},
    {"minLength": 1},
    {"maxLength": 300},
    {"minLength": 2, "maxLength": 6},
    {"pattern": "^[a-z ]{2,40}$"},
    {"pattern": "^[a-z]+$", "minLength": 4, "maxLength": 30},
    {"pattern": "^\\S+$"},
    {"pattern": "^[a-z_][a-z0-9_]*$"},
    {"pattern": "^[^- ][^/]*$"},
    {"pattern": "^[^q][^q]+[^x]*$"},
    {"pattern": "^[\\w\\s]*$", "maxLength": 12},
    {"pattern": "fox.*dogs"},
    {"pattern": "[^.]\\.[a-z]{2,}$"},
    {"pattern": "^(.+)/(.+)$"},
    {"pattern": "^([^:]+:[a-f]+|[a-f]{4})$"},
    {"pattern": "\\d{4}-\\d{2}"},
    {"pattern": "^[\u3040-\u9fff]+$"},
    {"not": {"pattern": "o"}},
    {"not": {"pattern": "^[a-z]{0,40}$"}},
    {"pattern": "^[ -~]+$", "minLength": 30, "maxLength": 30},
    # Letters that may not come, at once or ever again.
    {"pattern": "x", "not": {"pattern": "o"}},
    {"not": {"pattern": "[aeo0]"}},
    {"pattern": "^[^aeo]{2,}$"},
    {"pattern": "^[^aeo]*$", "maxLength": 12},
    {"pattern": "^[^aeo]*x?[a-z]{0,3}$"},
    {"not": {"pattern": "the.*dogs"}},
    {"not": {"pattern": "^[a-z ]{0,200}$"}},
    {"not": {"pattern": "fox.?jumps.?over"}},
    {"pattern": "^[a-z.]+$", "not": {"pattern": "quick(brown)+fox"}},
    # Bounds of a part of one character beside those of the whole.
    {"pattern": "^([a-z-]{0,40}[a-z])([. ][a-z]([a-z-]{0,61}[a-z])?)*$", "maxLength": 120},
    # Words and other parts of any length, so many at most.
    {"pattern": "^(?:\\S+\\s+){0,9}\\S+$", "maxLength": 100},
    {"pattern": "^(?:\\S+\\s+){0,4}\\S+$", "minLength": 1, "maxLength": 60},
    {"pattern": "^(?:\\S+\\s+){0,2}\\S+$", "maxLength": 30},
    {"pattern": "^(?:\\S+\\s+){1,3}$", "maxLength": 40},
    {"pattern": "^(?:(?:[a-z]+ ){0,2}[0-9]+,){0,3}x$", "maxLength": 60},
    {"pattern": "^(?:[a-z]* ?[.,]?){0,4}$", "maxLength": 60},
    {"pattern": "^(?:\\S+\\s+){0,5}\\S+$", "maxLength": 80, "not": {"pattern": "o"}},
]

#: Tokens of many words, in some of which a string ends.
WORDY = [
    b"x y Z AB",
    b"x y Z AB ",
    b" x y Z AB fox",
    b' x y Z AB fox"',
    b'x y Z", "',
    b'x y Z AB", "',
    b' a b c d e f g h"]',
    b' a b c d e f"] ',
    b'a  b\\tc\\td\\te",',
    b'1 2 3 4"]',
    b'a b 0,x",',
    b'1,2,3,x"}',
]


@pytest.fixture(scope="module")
def info() -> maskwright.TokenizerInfo:
    choose = random.Random(7)
    pieces = [piece.encode() for piece in PIECES]
    tokens = {bytes([byte]) for byte in range(256)}
    while len(tokens) < 6000:
        parts = choose.choices(pieces, k=choose.randint(1, 5))
        if choose.random() < 0.15:
            parts.insert(choose.randint(0, len(parts)), choose.choice(BROKEN))
        tokens.add(b"".join(parts))
    tokens.update(WORDY)
    return maskwright.TokenizerInfo(
        [b"<stop>", *sorted(tokens)], maskwright.VocabType.RAW, stop_token_ids=[0]
    )


def check(matcher: maskwright.GrammarMatcher, info: maskwright.TokenizerInfo) -> list[int]:
    """Compare each bit of a mask with accepting; the legal tokens."""
    bitmask = maskwright.allocate_token_bitmask(1, info.vocab_size)
    matcher.fill_next_token_bitmask(bitmask)
    bits = np.unpackbits(bitmask.view(np.uint8), bitorder="little")
    for token in range(1, info.vocab_size):
        assert matcher.validate_tokens([token]) == bits[token], info.decoded_vocab[token]
    return [token for token in np.flatnonzero(bits).tolist() if token]


@pytest.mark.parametrize("schema", STRINGS, ids=str)
def test_each_bit_inside_a_string(schema, info):
    compiled = maskwright.GrammarCompiler(info).compile_json_schema({"type": "string", **schema})
    choose = random.Random(str(schema))
    for _ in range(2):
        matcher = maskwright.GrammarMatcher(compiled)
        matcher.accept_string('"')
        for _ in range(4):
            legal = check(matcher, info)
            if not legal:
                break
            assert matcher.accept_token(choose.choice(legal))


@pytest.mark.parametrize("rest", [{}, {"pattern": "^x-[a-z]{1,255}$"}, {"maxLength": 40}])
def test_each_bit_of_open_names(rest, info):
    schema = {
        "type": "object",
        "properties": {"fox": {}, "foxes": {}, "quick brown": {}},
        "propertyNames": rest,
        "additionalProperties": {"type": "integer"},
    }
    compiled = maskwright.GrammarCompiler(info).compile_json_schema(schema, strict_mode=False)
    for start in ("{", '{"', '{"fox', '{"x-', '{"quick brown'):
        matcher = maskwright.GrammarMatcher(compiled)
        if matcher.accept_string(start):
            check(matcher, info)


@pytest.mark.parametrize(
    "patterns",
    [
        ["fox"],
        ["o_[xyz]"],
        ["qu+i", "^AB"],
        ["z{3,}"],
        ["[a-f]{30}"],
        ["the.*dogs", "x"],
        ["\\."],
        ["[^a-z]"],
        ["o", "x"],
        ["fox", "o"],
    ],
    ids=str,
)
def test_each_bit_of_names_by_patterns(patterns, info):
    """What a pattern holds and what it leaves: both are among the keys of one object."""
    values = [{"type": "integer"}, {"type": "boolean"}]
    schema = {"type": "object", "patternProperties": dict(zip(patterns, values, strict=False))}
    compiler = maskwright.GrammarCompiler(info)
    choose = random.Random(str(patterns))
    for closed in (False, True):
        if closed:
            schema["additionalProperties"] = False
        compiled = compiler.compile_json_schema(schema, strict_mode=False)
        for start in ('{"', '{"fo', '{"the qu'):
            matcher = maskwright.GrammarMatcher(compiled)
            if not matcher.accept_string(start):
                continue
            for _ in range(3):
                legal = check(matcher, info)
                if not legal:
                    break
                assert matcher.accept_token(choose.choice(legal))


@pytest.mark.parametrize("most", [1, 2, 3, 4, 6, 9])
@pytest.mark.parametrize("length", [{}, {"maxLength": 60}, {"minLength": 1, "maxLength": 24}], ids=str)
def test_each_bit_of_words(most, length, info):
    """Strings of so many words at most, in which tokens of many words come, some past the end of the string."""
    words = {"type": "string", "pattern": f"^(?:\\S+\\s+){{0,{most}}}\\S+$", **length}
    compiled = maskwright.GrammarCompiler(info).compile_json_schema({"type": "array", "items": words})
    matcher = maskwright.GrammarMatcher(compiled)
    for start in ('["', "a", " ", "b ", "c", " ", "d ", "e ", "f", " ", "g", ' h", "', "x y"):
        if matcher.accept_string(start):
            check(matcher, info)


def test_masks_that_are_shared_have_the_same_to_come(info):
    """The counts of a long string share masks: at one place of one object, and not with those of another place."""
    bounded = {"type": "string", "maxLength": 400}
    item = {
        "type": "object",
        "properties": {"a": bounded, "b": bounded},
        "required": ["a", "b"],
        "additionalProperties": False,
    }
    compiled = maskwright.GrammarCompiler(info).compile_json_schema(
        {"type": "object", "properties": {"x": {"type": "array", "items": item, "maxItems": 2}, "y": bounded}}
    )
    inside = "the quick brown fox "
    matcher = maskwright.GrammarMatcher(compiled)
    for start in ('{"x": [{"a": "', '", "b": "', '"}, {"a": "', '", "b": "', '"}], "y": "'):
        assert matcher.accept_string(start)
        for count in (1, 1, 10, 7):
            check(matcher, info)
            assert matcher.accept_string(inside * count)
        # Near the bound nothing is shared.
        assert matcher.accept_string("x" * 17)
        check(matcher, info)
    assert matcher.accept_string('"}')
