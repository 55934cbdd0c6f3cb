"""What a vocabulary was asked before changes no answer: summaries and their bases are shared by all grammars."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

import maskwright

# Enough tokens of several characters that wide states are kept as bitmasks.
TOKENS = [bytes([byte]) for byte in range(256)] + [
    (first + second).encode() for first in "ab1 ,]" for second in 'abé0 ,"]}'
]

schemas = st.fixed_dictionaries(
    {"type": st.just("string")},
    optional={
        "pattern": st.sampled_from(["b$", "^a", "^[ab]*$", "^(ab)*$", "[0-9]", "^.{2}$", "@"]),
        "minLength": st.integers(1, 3),
        "maxLength": st.integers(3, 5),
    },
)
options = st.sampled_from([{}, {"any_whitespace": False}, {"any_spelling": True}])


@settings(max_examples=60)
@given(st.lists(st.tuples(schemas, options), min_size=2, max_size=6))
@example(
    # Without an upper bound margins are not measured; they were noted as 0 when first asked for.
    [
        ({"type": "string", "pattern": "b$", "minLength": 2}, {"any_whitespace": False}),
        ({"type": "string", "pattern": "b$", "minLength": 1, "maxLength": 3}, {}),
    ]
)
def test_masks_are_what_accepting_says(questions):
    info = maskwright.TokenizerInfo([*TOKENS, "</s>"], stop_token_ids=[len(TOKENS)])
    compiler = maskwright.GrammarCompiler(info, cache_enabled=False)
    row = maskwright.allocate_token_bitmask(1, info.vocab_size)
    for schema, chosen in questions:
        try:
            compiled = compiler.compile_json_schema(schema, **chosen)
        except maskwright.SchemaError:  # no text has this pattern and this length
            continue
        for beginning in ('"', '"a', '"b', '"ab', '"1b'):
            matcher = maskwright.GrammarMatcher(compiled)
            if not matcher.accept_string(beginning):
                continue
            matcher.fill_next_token_bitmask(row)
            legal = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist()
            assert legal == [token for token in range(info.vocab_size) if matcher.validate_tokens([token])]
