"""Fusing keeps the language, and does fuse."""

import pytest
from hypothesis import HealthCheck, given, settings

from maskwright.lexeme import Lexeme, Op, byte_set, literal
from maskwright.reference import accepts
from maskwright.rules import NOTHING, Act, Action, Alt, Call, Lex, Repeat, Rule, Seq, Tokens
from maskwright.syntax.fuse import MAX_DEPTH, fuse
from maskwright.syntax.parser import parse
from maskwright.syntax.scanner import EBNF, Source
from maskwright.syntax.walk import calls_of, children, reachable_rules
from tests.reference.brute_force import all_texts, rule_texts
from tests.strategies import any_grammars
from tests.syntax.grammar_texts import grammar_texts

UNIVERSE = all_texts(b"ab", 4)
A, B = Lex(literal(b"a")), Lex(literal(b"b"))


def fused(text):
    return fuse(parse(Source(text, EBNF), "root"))


def lexeme_of(root):
    body = root.expand()
    assert isinstance(body, Lex), body
    return body.lexeme


@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(root=any_grammars())
def test_the_language_stays(root):
    # Fused first: some rules are lazy, and comparing expands them.
    result = fuse(root)
    assert rule_texts(result, UNIVERSE) == rule_texts(root, UNIVERSE)


@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(pair=grammar_texts())
def test_the_language_stays_under_a_tight_cap(pair):
    _, root = pair
    for max_size in (1, 2, 3, 5):
        assert rule_texts(fuse(root, max_size=max_size), UNIVERSE) == rule_texts(root, UNIVERSE)


def test_regular_rules_become_one_lexeme():
    root = fused('root ::= number ("," number)*\nnumber ::= "-"? digit+\ndigit ::= [0-9]')
    assert lexeme_of(root).op is Op.CONCAT


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('root ::= ([ \\t] root)?', {b"", b" ", b"\t ", b"  "}),
        ('root ::= "x" root | "y" root | "z"', {b"z", b"xz", b"yxz"}),
        ('root ::= root "x" | "z"', {b"z", b"zx", b"zxx"}),
        ('root ::= "x" ("y" root | "w")', {b"xw", b"xyxw"}),
        ('root ::= root root_2 | ""\nroot_2 ::= "x"', {b"", b"x", b"xx"}),
    ],
)  # fmt: skip
def test_self_recursion_at_one_end_is_a_loop(text, expected):
    root = fused(text)
    lexeme_of(root)
    assert expected <= rule_texts(root, all_texts(b" \txyzw", 4))


@pytest.mark.parametrize(
    "text",
    ['root ::= "(" root ")" | "x"', 'root ::= root "," root | "x"', 'root ::= "a" root | root "b" | "x"'],
)
def test_other_recursion_stays(text):
    assert not isinstance(fused(text).expand(), Lex)
    plain = parse(Source(text, EBNF), "root")
    universe = all_texts(b"(x),ab", 4)
    assert rule_texts(fused(text), universe) == rule_texts(plain, universe)


def test_neighbours_in_a_sequence_are_joined():
    root = fused('root ::= "a" "b" [cd] root "d" "e" | "f"')
    option = next(each for each in root.expand().options if isinstance(each, Seq))
    first, call, last = option.parts
    assert first.lexeme.args[0].args == (b"ab",)
    assert isinstance(call, Call)
    assert last.lexeme.args == (b"de",)


def test_literal_options_are_one_set():
    words = [f"word{at}" for at in range(5000)]
    lexeme = lexeme_of(fused("root ::= " + " | ".join(f'"{word}"' for word in words)))
    assert lexeme.op is Op.LITERALS
    assert len(lexeme.args) == 5000


QUOTED = 'string ::= "\\"" ([^"\\\\] | "\\\\" ["\\\\nu])* "\\"" ws\nws ::= " "*'


def test_a_string_is_the_same_lexeme_wherever_it_stands():
    root = fused(f'root ::= "a" string ":" string "b" root | string "!"\n{QUOTED}')
    inside = []
    todo = [root.expand()]
    while todo:
        expr = todo.pop()
        todo.extend(children(expr))
        if isinstance(expr, Lex) and any(
            part.op is Op.REPEAT for part in expr.lexeme.args if isinstance(part, Lexeme)
        ):
            inside += [
                part for part in expr.lexeme.args if part.op is Op.REPEAT and part.args[0].op is Op.UNION
            ]
            if inside and inside[-1] in expr.lexeme.args:
                assert expr.lexeme.args[-1].args == (b'"',), "nothing is joined behind the closing quote"
    assert len(inside) == 3


def test_without_a_certain_end_all_is_joined():
    assert isinstance(fused('root ::= [^]* ("yes" | "no")').expand(), Lex)
    assert isinstance(fused('root ::= "<" [^]* ">" " "*').expand(), Lex)
    body = fused('root ::= "<" [^>]* ">" " "*').expand()
    assert isinstance(body, Seq)
    assert len(body.parts) == 2


def test_rows_are_copied_into_their_callers():
    root = fused(f'root ::= "[" string ("," string)* "]"\n{QUOTED}')
    assert reachable_rules(root) == [root]


def test_a_recursive_list_of_strings_is_a_loop():
    root = fused(f'root ::= string "," root | string\n{QUOTED}')
    assert reachable_rules(root) == [root]
    assert calls_of(root.expand()) == []
    assert accepts(root, b'"a" ,"b","" ')
    assert not accepts(root, b'"a",')


def test_counts_stay_counts():
    lexeme = lexeme_of(fused("root ::= [a-z]{2,20000}"))
    assert (lexeme.op, lexeme.args[1:]) == (Op.REPEAT, (2, 20000))


def test_doubling_rules_are_capped():
    text = "\n".join(f"r{at} ::= r{at + 1} r{at + 1}" for at in range(40))
    root = fused(f"root ::= r0\n{text}\nr40 ::= [a]")
    assert len(reachable_rules(root)) > 20
    # Literals that only grow are capped by their length in the same way.
    root = fused(f'root ::= r0\n{text}\nr40 ::= "a"')
    assert len(reachable_rules(root)) > 20


def test_depth_is_capped():
    chain = "\n".join(f'r{at} ::= "a" | [b] r{at + 1} [c]' for at in range(500))
    root = fused(f'root ::= r0\n{chain}\nr500 ::= "z"')
    assert len(reachable_rules(root)) > 500 // MAX_DEPTH
    for depth in (0, 1, 39, 40, 41, 85):
        text = b"b" * depth + b"a" + b"c" * depth
        assert accepts(root, text)
        assert not accepts(root, text + b"c")


def test_what_is_not_regular_stays():
    act = Act(Action.MARK, 1)
    root = Rule("root", Seq((A, act, Tokens((5,)), A, B)))
    parts = fuse(root).expand().parts
    assert parts[1] is act
    assert parts[2].ids == (5,)
    assert parts[3].lexeme.args == (b"ab",)


def test_lazy_rules_are_kept_and_not_expanded():
    def explode():
        raise AssertionError("expanded")

    lazy = Rule("lazy", explode)
    root = fuse(Rule("root", Seq((A, Call(lazy), Repeat(B, 0, None)))))
    assert root.expand().parts[1].rule is lazy
    assert fuse(lazy) is lazy


def test_the_given_rules_are_left_alone():
    inner = Rule("inner", A)
    body = Seq((Call(inner), Call(inner)))
    root = Rule("root", body)
    assert fuse(root) is not root
    assert root.expand() is body


def test_the_empty_text():
    assert fuse(Rule("root", NOTHING)).expand() is NOTHING
    assert rule_texts(fuse(Rule("root", Alt((NOTHING, A)))), UNIVERSE) == {b"", b"a"}
    assert rule_texts(fuse(Rule("root", Alt((NOTHING, Lex(byte_set(b"ab")))))), UNIVERSE) == {b"", b"a", b"b"}
