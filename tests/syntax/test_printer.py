"""Printing: the text reads back as the same language."""

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from maskwright import lexeme as lexemes
from maskwright.errors import GrammarError, LimitExceeded
from maskwright.lexeme import literal
from maskwright.reference import accepts
from maskwright.regex import JSON_STRING, UTF8, compile_regex
from maskwright.rules import Act, Action, Alt, Call, Lex, Never, Repeat, Rule, Seq, Tokens
from maskwright.syntax import printer
from maskwright.syntax.ebnf import rules_from_ebnf
from maskwright.syntax.printer import print_rules
from tests.reference.brute_force import all_texts, rule_texts
from tests.strategies import grammars
from tests.syntax.grammar_texts import LETTERS, grammar_texts
from tests.syntax.samples import SAMPLES

UNIVERSE = all_texts(LETTERS.encode(), 4)
A = Lex(literal(b"a"))


def texts_after_printing(root, universe=UNIVERSE):
    try:
        return rule_texts(rules_from_ebnf(print_rules(root)), universe)
    except GrammarError as error:
        if "can never finish" not in str(error):
            raise
        return frozenset()


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(pair=grammar_texts())
def test_grammars_from_text_come_back(pair):
    _, root = pair
    assert texts_after_printing(root) == rule_texts(root, UNIVERSE)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(root=grammars(acts=False))
def test_any_rules_come_back(root):
    try:
        found = texts_after_printing(root)
    except GrammarError as error:
        assume("UTF-8" not in str(error))
        raise
    assert found == rule_texts(root, UNIVERSE)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_samples_come_back(sample):
    text = print_rules(rules_from_ebnf(sample.grammar))
    root = rules_from_ebnf(text)
    assert all(accepts(root, each.encode()) for each in sample.accepted)
    assert not any(accepts(root, each.encode()) for each in sample.refused)
    assert print_rules(root) == text, "printing what was printed changes nothing"


@settings(deadline=None, max_examples=100)
@given(text=st.text(min_size=1, max_size=8))
def test_any_characters_come_back(text):
    printed = print_rules(Rule("root", Lex(literal(text.encode()))))
    assert rules_from_ebnf(printed).expand().lexeme.args == (text.encode(),)
    members = UTF8.chars([(ord(char), ord(char)) for char in text])
    root = rules_from_ebnf(print_rules(Rule("root", Seq((Lex(members), A)))))
    assert all(accepts(root, char.encode() + b"a") for char in text)
    assert not accepts(root, chr((max(map(ord, text)) + 1) % 0xD800).encode() + b"a") or len(set(text)) > 1


def test_readable_where_it_can_be():
    text = 'root ::= "[" (item (", " item){0,7})? "]"\nitem ::= root | [^\\n\\]a-c,]+ | "é"{2}\n'
    printed = print_rules(rules_from_ebnf(text))
    assert printed == 'root ::= "[" (item (", " item){0,7})? "]"\nitem ::= [^\\n,\\]a-c]+ | "é"{2} | root\n'


def test_intersection_and_complement_become_rules_per_state():
    key = lexemes.difference(JSON_STRING, lexemes.literals([b'"name"', b'"age"']))
    root = rules_from_ebnf(print_rules(Rule("key", Seq((Lex(key), A)))))
    assert accepts(root, b'"nam"a')
    assert accepts(root, '"ágé"a'.encode())
    assert not accepts(root, b'"name"a')


def test_look_around_comes_back():
    root = rules_from_ebnf(print_rules(Rule("root", Lex(compile_regex("(?!ab)[ab]{2}")))))
    assert rule_texts(root, UNIVERSE) == {b"aa", b"ba", b"bb"}


def test_tokens_and_never():
    printed = print_rules(Rule("root", Alt((Tokens((4, 9)), Seq((A, Never)), Repeat(Tokens(()), 0, None)))))
    assert "Token(4, 9)" in printed
    first, second = rules_from_ebnf(printed).expand().options
    assert {type(first), type(second)} == {Tokens, Seq}


def test_names_are_made_readable_and_distinct():
    inner = [Rule("root", A), Rule("a b", A), Rule("a_b", A), Rule("1/x", A), Rule("#", A)]
    text = print_rules(Rule("start", Seq(tuple(map(Call, inner)))))
    assert text.splitlines()[0] == "root ::= root_2 a_b a_b_2 _1_x rule"
    assert accepts(rules_from_ebnf(text), b"aaaaa")


def test_lazy_rules_are_expanded_and_bounded(monkeypatch):
    def count(at):
        return Rule(f"r{at}", lambda: Seq((A, Call(count(at + 1)))) if at < 20 else A)

    assert accepts(rules_from_ebnf(print_rules(count(0))), b"a" * 21)
    monkeypatch.setattr(printer, "MAX_RULES", 10)
    with pytest.raises(LimitExceeded, match="too many rules"):
        print_rules(count(0))


def test_what_ebnf_cannot_say_is_an_error():
    with pytest.raises(GrammarError, match="counts or remembers"):
        print_rules(Rule("root", Seq((Act(Action.MARK, 1), A))))
    with pytest.raises(GrammarError, match="not whole UTF-8"):
        print_rules(Rule("root", Lex(literal(b"\xff"))))
