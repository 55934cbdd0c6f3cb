"""What a vocabulary can spell, and what can be finished with it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright import lexeme as lx
from maskwright.reference import ReferenceRecogniser
from maskwright.reference.liveness import BOUNDARY, Spelling
from maskwright.rules import NOTHING, Alt, Call, Lex, Repeat, Rule, Seq
from tests.reference.brute_force import all_texts
from tests.strategies import texts


@settings(deadline=None)
@given(tokens=st.lists(texts(3, b"ab"), max_size=4))
def test_spelling_is_concatenation_of_tokens(tokens):
    spelling = Spelling(tokens)
    spelled = {b""}
    for _ in range(5):
        spelled |= {head + token for head in spelled for token in tokens if len(head + token) <= 5}
    for text in all_texts(b"ab", 5):
        states = frozenset((BOUNDARY,))
        for byte in text:
            states = spelling.step(states, byte)
        assert (BOUNDARY in states) == (text in spelled)


def test_a_vocabulary_of_all_its_bytes_has_one_state():
    assert len(Spelling([b"a", b"b", b"abba"]).rows) == 1
    assert len(Spelling([]).rows) == 1
    assert Spelling([]).rows[0] == {}
    assert len(Spelling([b"ab"]).rows) == 2


def alive(rule: Rule, *tokens: bytes) -> bool:
    return ReferenceRecogniser(rule, spelling=Spelling(tokens)).is_alive()


AS = Lex(lx.plus(lx.literal(b"a")))
EVEN = Lex(lx.plus(lx.literal(b"aa")))
THREE = Lex(lx.literal(b"aaa"))


@pytest.mark.parametrize(
    ("expr", "tokens", "expected"),
    [
        (THREE, [b"a"], True),
        (THREE, [b"aa"], False),
        (THREE, [b"aa", b"b"], False),
        (THREE, [b"aa", b"a"], True),
        (EVEN, [b"aaa"], True),
        (AS, [], False),
        (NOTHING, [], True),
        # A token may span lexemes, and rules.
        (Seq((THREE, THREE)), [b"aaaa", b"aa"], True),
        (Seq((THREE, THREE)), [b"aaaa"], False),
        (Repeat(THREE, 2, None), [b"aaaa"], True),
        (Repeat(THREE, 1, 3), [b"aaaa"], False),
    ],
)
def test_what_can_be_finished(expr, tokens, expected):
    assert alive(Rule("rule", expr), *tokens) is expected


def test_recursion_is_decided_beyond_any_bound():
    """a^n b^n with tokens of 7 and 5 letters: the shortest end is a^35 b^35."""
    nested = Rule("nested")
    nested.define(Seq((Lex(lx.literal(b"a")), Alt((Call(nested), NOTHING)), Lex(lx.literal(b"b")))))
    assert alive(nested, b"a" * 7, b"b" * 5)
    assert not alive(nested, b"a" * 7, b"b" * 5 + b"a")
    recogniser = ReferenceRecogniser(nested, spelling=Spelling([b"a" * 7, b"b" * 5]))
    for byte in b"a" * 7:
        recogniser.advance(byte)
    assert recogniser.is_alive()
    for byte in b"b" * 5:
        recogniser.advance(byte)
    # Two b are left to write, and no token has two.
    assert not recogniser.is_alive()
