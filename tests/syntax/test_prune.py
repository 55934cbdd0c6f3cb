"""Pruning keeps the language and leaves no dead end."""

import pytest
from hypothesis import HealthCheck, given, settings

from maskwright.errors import GrammarError
from maskwright.lexeme import EMPTY, literal
from maskwright.rules import Act, Action, Alt, Call, Lex, Never, Repeat, Rule, Seq, Tokens
from maskwright.syntax.prune import prune
from maskwright.syntax.walk import body_of, calls_of, fold, reachable_rules
from tests.reference.brute_force import all_texts, rule_texts
from tests.strategies import any_grammars

UNIVERSE = all_texts(b"ab", 4)
A, B = Lex(literal(b"a")), Lex(literal(b"b"))


def finishes(rule: Rule) -> bool:
    """By the textbook: repeat until nothing changes."""
    rules = reachable_rules(rule)
    done: set[Rule] = set()

    def one(expr, parts):
        if isinstance(expr, Call):
            return expr.rule in done or body_of(expr.rule) is None
        if isinstance(expr, Alt):
            return any(parts)
        if isinstance(expr, Repeat):
            return expr.low == 0 or parts[0]
        return all(parts) and not (isinstance(expr, Lex) and expr.lexeme is EMPTY)

    for _ in rules:
        done |= {each for each in rules if body_of(each) is None or fold(body_of(each), one)}
    return rule in done


@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(root=any_grammars())
def test_the_language_stays_and_every_rule_finishes(root):
    if not finishes(root):
        with pytest.raises(GrammarError, match="can never finish"):
            prune(root)
        return
    expected = None
    pruned = prune(root)
    assert all(finishes(rule) for rule in reachable_rules(pruned))
    expected = rule_texts(root, UNIVERSE)
    assert rule_texts(pruned, UNIVERSE) == expected


def test_a_clean_grammar_is_returned_as_it_is():
    root = Rule("root", Seq((A, B)))
    assert prune(root) is root


def test_the_given_rules_are_left_alone():
    dead = Rule("dead")
    dead.define(Seq((A, Call(dead))))
    root = Rule("root", Alt((A, Call(dead))))
    pruned = prune(root)
    assert calls_of(root.expand()) == [dead]
    assert calls_of(pruned.expand()) == []
    assert pruned.name == "root"


@pytest.mark.parametrize("dead", [Never, Lex(EMPTY), Tokens(())])
def test_dead_leaves(dead):
    assert rule_texts(prune(Rule("root", Alt((A, Seq((B, dead)))))), UNIVERSE) == {b"a"}
    with pytest.raises(GrammarError, match="because rule 'inner' cannot"):
        prune(Rule("root", Call(Rule("inner", Repeat(dead, 1, None)))))


def test_lazy_rules_and_acts_count_as_able_to_finish():
    def explode():
        raise AssertionError("expanded")

    root = Rule("root", Seq((Act(Action.MARK, 1), Call(Rule("lazy", explode)))))
    assert prune(root) is root


def test_a_wide_grammar_takes_linear_time():
    rules = [Rule(str(at)) for at in range(20_000)]
    for at, rule in enumerate(rules):
        rule.define(Seq((A, Call(rules[at + 1]))) if at + 1 < len(rules) else A)
    root = Rule("root", Seq(tuple(map(Call, rules))))
    assert prune(root) is root
