"""GBNF: the shared notation, and where it differs from EBNF."""

import pytest
from hypothesis import HealthCheck, given, settings

from maskwright.errors import GrammarError, GrammarSyntaxError
from maskwright.reference import accepts
from maskwright.rules import Lex, Tokens
from maskwright.syntax.gbnf import rules_from_gbnf
from tests.reference.brute_force import all_texts, rule_texts
from tests.syntax.grammar_texts import LETTERS, grammar_texts
from tests.syntax.samples import SAMPLES

UNIVERSE = all_texts(LETTERS.encode(), 5)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_samples(sample):
    root = rules_from_gbnf(sample.grammar)
    for text in sample.accepted:
        assert accepts(root, text.encode()), text
    for text in sample.refused:
        assert not accepts(root, text.encode()), text


@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(pair=grammar_texts())
def test_random_grammars_mean_what_they_say(pair):
    text, twin = pair
    expected = rule_texts(twin, UNIVERSE)
    try:
        found = rule_texts(rules_from_gbnf(text), UNIVERSE)
    except GrammarError as error:
        if "can never finish" not in str(error):
            raise
        found = frozenset()
    assert found == expected


CASES = [
    ("root ::= .", ["a", "\n", "é"], ["", "ab"]),
    (r'root ::= "\x41B"', ["AB"], ["A", "\u041b"]),
    ('root ::= "a"*?', ["", "aa"], ["b"]),
    ('root ::= "a"{2}{2}', ["aaaa"], ["aa", "aaa"]),
    ('root ::= 1-st "b"\n1-st ::= "a"', ["ab"], ["a"]),
    ('root ::= "a" |\n "b"', ["a", "b"], ["ab"]),
    ('root ::= "a"\n | "b"', ["a", "b"], ["ab"]),
    ('root ::=\n "a"', ["a"], [""]),
    ('root ::= (\n"a"\n\n"b"\n)\n', ["ab"], ["a"]),
    ('root ::= "a\nb"', ["a\nb"], ["ab"]),
    ("root ::= x.*\nx ::= [x]", ["x", "xyz"], ["y"]),
    ('root ::= "a"\r\nx ::= "b"\r\n', ["a"], ["b"]),
]


@pytest.mark.parametrize(("text", "accepted", "refused"), CASES, ids=[repr(case[0]) for case in CASES])
def test_notation(text, accepted, refused):
    root = rules_from_gbnf(text)
    assert [each for each in accepted if not accepts(root, each.encode())] == []
    assert [each for each in refused if accepts(root, each.encode())] == []


ERRORS = [
    ('root ::= "a"\n"b"', 2, 1, "start of a line"),
    ('root ::= "a"\n  b\nb ::= "b"', 2, 3, "start of a line"),
    (r'root ::= "\x4"', 1, 11, "2 hexadecimal"),
    (r'root ::= "\e"', 1, 11, "unknown escape"),
    ("root ::= [^]", 1, 10, "empty character class"),
    ('root ::= "a"' + "*" * 9, 1, 21, "follows another repetition"),
    ("root ::= <think>", 1, 10, "named by its text"),
    ("root ::= !<[7]>", 1, 10, "negated token"),
    ('root[lazy] ::= "a"', 1, 12, "start a line"),
    ('root ::= Regex("a")', 1, 10, "not defined"),
]


@pytest.mark.parametrize(
    ("text", "line", "column", "message"), ERRORS, ids=[repr(case[0]) for case in ERRORS]
)
def test_errors_point_at_the_place(text, line, column, message):
    with pytest.raises(GrammarSyntaxError) as caught:
        rules_from_gbnf(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert message in caught.value.message


def test_token_terminals():
    body = rules_from_gbnf("root ::= <[1000]>").expand()
    assert isinstance(body, Tokens)
    assert body.ids == (1000,)


def test_case_57_free_prefix_with_fixed_end():
    root = rules_from_gbnf('root ::= .* ("yes"|"no")')
    assert isinstance(root.expand(), Lex)
    assert accepts(root, b"well, yes")
    assert not accepts(root, b"well")


def test_case_49_a_bound_above_2000_is_kept():
    root = rules_from_gbnf('root ::= "a"{0,2500}')
    assert accepts(root, b"a" * 2500)
    assert not accepts(root, b"a" * 2501)
