"""The parser alone, before pruning and fusing."""

import pytest

from maskwright.errors import GrammarSyntaxError
from maskwright.rules import Alt, Call, Lex, Repeat, Seq
from maskwright.syntax.parser import GROUPS_PER_RULE, MAX_NESTING, parse
from maskwright.syntax.scanner import EBNF, Source
from maskwright.syntax.walk import fold, reachable_rules


def parsed(text):
    return parse(Source(text, EBNF), "root")


def test_shape_of_a_rule():
    body = parsed('root ::= "a" root? | [b]{2,}').expand()
    assert isinstance(body, Alt)
    first, second = body.options
    assert isinstance(first, Seq)
    assert [type(part) for part in first.parts] == [Lex, Repeat]
    assert isinstance(second, Repeat)
    assert (second.low, second.high) == (2, None)


def test_equal_classes_are_one_object():
    body = parsed("root ::= [a-z] root [a-z]").expand()
    assert body.parts[0] is body.parts[2]


def test_rules_are_shared_between_their_calls():
    body = parsed('root ::= x x\nx ::= "a"').expand()
    assert isinstance(body.parts[0], Call)
    assert body.parts[0].rule is body.parts[1].rule


def test_redundant_parentheses_leave_nothing_behind():
    assert isinstance(parsed("root ::= " + "(" * 100 + '"a"' + ")" * 100).expand(), Lex)


def test_expressions_stay_shallow_however_deep_the_text():
    root = parsed("root ::= " + '("a" | "b" ' * MAX_NESTING + "root" + ")?" * MAX_NESTING)
    rules = reachable_rules(root)
    assert len(rules) > MAX_NESTING // GROUPS_PER_RULE
    depths = [fold(rule.expand(), lambda node, parts: 1 + max(parts, default=0)) for rule in rules]
    assert max(depths) <= 4 * GROUPS_PER_RULE


def test_one_group_more_is_refused():
    with pytest.raises(GrammarSyntaxError, match="nested"):
        parsed("root ::= " + "(" * (MAX_NESTING + 1) + ")" * (MAX_NESTING + 1))
