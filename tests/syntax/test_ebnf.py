"""EBNF: what is read, what it means, and where errors point."""

import pytest
from hypothesis import HealthCheck, given, settings

from maskwright.errors import GrammarError, GrammarSyntaxError
from maskwright.reference import accepts
from maskwright.rules import Lex, Tokens
from maskwright.syntax.ebnf import rules_from_ebnf
from tests.reference.brute_force import all_texts, rule_texts
from tests.syntax.grammar_texts import LETTERS, grammar_texts
from tests.syntax.samples import SAMPLES

UNIVERSE = all_texts(LETTERS.encode(), 5)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_samples(sample):
    root = rules_from_ebnf(sample.grammar)
    for text in sample.accepted:
        assert accepts(root, text.encode()), text
    for text in sample.refused:
        assert not accepts(root, text.encode()), text


CASES = [
    # (body of root, accepted, refused)
    (r'"\x41\u00e9\U0001F600"', ["Aé😀"], ["A", "41"]),
    (r'"\ud83d\ude00"', ["😀"], []),
    (r'"\n\r\t\b\f\a\v\0\e\/\'\?\"\\"', ["\n\r\t\b\f\a\v\0\x1b/'?\"\\"], []),
    (r'"\x000041"', ["A"], ["\x0041"]),
    ("[^]", ["a", "\n", "é", "\U0010ffff", "\0"], ["", "ab"]),
    ("[^a-yé]", ["z", "è", "😀", "\n"], ["a", "m", "é"]),
    (r"[\]\\\-^a]", ["]", "\\", "-", "^", "a"], ["b", "["]),
    ("[a-]", ["a", "-"], ["b", ","]),
    ("[-a]", ["a", "-"], ["b", ","]),
    (r"[\u4e00-\u9fff]{2}", ["中文"], ["中", "ab", "中文中"]),
    ("()", [""], ["a"]),
    ('("a" | )', ["", "a"], ["b"]),
    ('| "a"', ["", "a"], ["b"]),
    ('"a"{2}', ["aa"], ["a", "aaa"]),
    ('"a"{ 1 , 2 }', ["a", "aa"], ["", "aaa"]),
    ('"ab"{2,}', ["abab", "ababab"], ["ab", "abb"]),
    ('"a"{0}', [""], ["a"]),
    ('"a" # comment "b"', ["a"], ["ab"]),
    ('"a"\n  "b"\n  | "c"', ["ab", "c"], ["a", "abc"]),
    ('[0-9]{1,2000} "."', ["1.", "9" * 2000 + "."], [".", "9" * 2001 + "."]),
    ('root "a" | "b"', ["b", "baa"], ["a", "ab"]),
    ('"(" root ")" | ""', ["", "(())"], ["(", "())"]),
    ('"a" root | "b"', ["b", "aab"], ["a", "ba"]),
    ('root root | "a" | ""', ["", "aaaa"], ["b"]),
    ('(("a"*)*)*', ["", "aaa"], ["b"]),
    (r'Regex("[0-9]+\\.\\d{2}") "!"', ["12.50!"], ["12!", "1.5!"]),
    ('Regex("a.b", flags="is u", json_string=false)', ["A\nb", "a-B"], ["ab"]),
]  # fmt: skip


@pytest.mark.parametrize(("body", "accepted", "refused"), CASES, ids=[case[0] for case in CASES])
def test_notation(body, accepted, refused):
    root = rules_from_ebnf(f"root ::= {body}")
    assert [text for text in accepted if not accepts(root, text.encode())] == []
    assert [text for text in refused if accepts(root, text.encode())] == []


def test_text_is_valid_utf8_only():
    root = rules_from_ebnf("root ::= [^a]")
    for bad in (b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\x80", b"\xf4\x90\x80\x80", b"\xc3"):
        assert not accepts(root, bad)


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(pair=grammar_texts())
def test_random_grammars_mean_what_they_say(pair):
    text, twin = pair
    expected = rule_texts(twin, UNIVERSE)
    try:
        found = rule_texts(rules_from_ebnf(text), UNIVERSE)
    except GrammarError as error:
        if "can never finish" not in str(error):
            raise
        found = frozenset()
    assert found == expected


ERRORS = [
    # (text, line, column, part of the message)
    ("", 1, 1, "no rule 'root'"),
    ("# only a comment", 1, 1, "no rule 'root'"),
    ('main ::= "a"', 1, 1, "no rule 'root'"),
    ("root ::= a", 1, 10, "rule 'a' is not defined"),
    ('root ::= "x"\n  | b c\nc ::= "c"', 2, 5, "rule 'b' is not defined"),
    ('root ::= "a"\n\nroot ::= "b"', 3, 1, "defined twice"),
    ('root ::= "a', 1, 10, "not closed"),
    ('root ::= "a\nb"', 1, 10, "not closed"),
    ("root ::= [ab", 1, 10, "not closed"),
    ("root ::= []", 1, 10, "empty character class"),
    ("root ::= [az-b]", 1, 12, "runs backwards"),
    (r'root ::= "a\q"', 1, 12, r"unknown escape \q"),
    (r"root ::= [\d]", 1, 11, r"unknown escape \d"),
    (r'root ::= "\u12"', 1, 11, "hexadecimal"),
    (r'root ::= "\x"', 1, 11, "hexadecimal"),
    (r'root ::= "\U00110000"', 1, 11, "above U+10FFFF"),
    (r'root ::= "\x' + "f" * 1000 + '"', 1, 11, "above U+10FFFF"),
    (r'root ::= "a\ud800b"', 1, 12, "surrogate"),
    (r"root ::= [\ud800-\udfff]", 1, 11, "surrogate"),
    ('root ::= "a"**', 1, 14, "follows another repetition"),
    ('root ::= "a"+?', 1, 14, "follows another repetition"),
    ('root ::= "a"{2}{3}', 1, 16, "follows another repetition"),
    ("root ::= *", 1, 10, "nothing before"),
    ('root ::= "a" | +', 1, 16, "nothing before"),
    ('root ::= "a"{,3}', 1, 13, "not a repetition"),
    ('root ::= "a"{3,2}', 1, 13, "cannot run from 3 to 2"),
    ('root ::= "a"{99999999999}', 1, 13, "at most"),
    ('root ::= "a"{x}', 1, 13, "not a repetition"),
    ('root ::= ("a"', 1, 10, "never closed"),
    ('root ::= ("a"\nx ::= "b"', 1, 10, "never closed"),
    ('root ::= "a")', 1, 13, "no open parenthesis"),
    ('root ::= "a" b ::= "c"', 1, 16, "start a line"),
    ('"a"', 1, 1, "a rule is expected"),
    ("root ::= 'a'", 1, 10, "single quotes"),
    ("root ::= .", 1, 10, "not part of EBNF"),
    ("root ::= a;", 1, 11, "semicolon"),
    ("root ::= /a/", 1, 10, "regular expression"),
    ("root ::= 12", 1, 10, "cannot stand here"),
    ("root ::= §", 1, 10, "cannot start anything"),
    ('root ::= "é" é', 1, 14, "cannot start anything"),
    ('root ::= "a" (= "b")', 1, 14, "lookahead"),
    ('root[max_tokens=3] ::= "a"', 1, 1, "`max_tokens` is not supported"),
    ('root[capture="x", lazy] ::= "a"', 1, 1, "`lazy` is not supported"),
    ('root[speed=3] ::= "a"', 1, 1, "`speed` is unknown"),
    ('root ::= TagDispatch(("a", root))', 1, 10, "macro `TagDispatch`"),
    ("root ::= ExcludeToken(3)", 1, 10, "macro `ExcludeToken`"),
    ("root ::= Token()", 1, 10, "takes token ids"),
    ('root ::= Token("a")', 1, 10, "takes token ids"),
    ("root ::= Token(3", 1, 17, "not closed"),
    ("root ::= Regex()", 1, 10, "takes a pattern"),
    ('root ::= Regex("[z-a]")', 1, 16, "in this pattern"),
    ('root ::= Regex("a", json_string=true)', 1, 19, "option of Regex"),
    ('root ::= Regex("a", flags="x")', 1, 27, "unknown flags"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line", "column", "message"), ERRORS, ids=[repr(case[0][:40]) for case in ERRORS]
)
def test_errors_point_at_the_place(text, line, column, message):
    with pytest.raises(GrammarSyntaxError) as caught:
        rules_from_ebnf(text)
    error = caught.value
    assert (error.line, error.column) == (line, column)
    assert message in error.message
    assert error.source == text


def test_options_without_effect_on_the_language_are_read():
    root = rules_from_ebnf('root[capture="x]y", temperature=0.5] ::= "a" word[a-b]\nword[capture] ::= "w"')
    assert accepts(root, b"awb")


def test_another_root_and_unreached_rules():
    text = 'root ::= "a" other\nother ::= "b"\nloose ::= loose'
    assert accepts(rules_from_ebnf(text, root_rule_name="other"), b"b")
    assert accepts(rules_from_ebnf(text), b"ab")


def test_names_may_hold_dots_and_dashes_and_look_like_macros():
    root = rules_from_ebnf('root ::= a.b-c_1 Token ("x")\na.b-c_1 ::= "1"\nToken ::= "t"')
    assert accepts(root, b"1tx")


def test_token_macro():
    body = rules_from_ebnf("root ::= Token(7, 3, 7)").expand()
    assert isinstance(body, Tokens)
    assert body.ids == (3, 7)


@pytest.mark.parametrize(
    ("text", "culprit"),
    [
        ('root ::= root "a"', "'root' can never finish:"),
        ('root ::= a | b\na ::= "x" a\nb ::= a b', "because rule 'a' cannot"),
        (r"root ::= [^\u0000-\U0010FFFF]", "'root' can never finish:"),
    ],
)
def test_a_root_that_never_finishes_is_refused_by_name(text, culprit):
    with pytest.raises(GrammarError, match=culprit):
        rules_from_ebnf(text)


def test_options_that_never_finish_are_removed():
    root = rules_from_ebnf('root ::= "a" | "b" dead | "c" dead? | "d" dead{0,3}\ndead ::= "x" dead')
    assert isinstance(root.expand(), Lex)
    assert rule_texts(root, all_texts(b"abcd", 3)) == {b"a", b"c", b"d"}


# Rows of user-cases.md, by number.


def test_case_57_free_prefix_with_fixed_end():
    root = rules_from_ebnf('root ::= [^]* ("yes" | "no")')
    assert isinstance(root.expand(), Lex), "one lexeme: no ambiguity is left to explode"
    assert accepts(root, ("word " * 200 + "yes").encode())
    assert not accepts(root, b"yes sir")


def test_case_65_deep_groups_are_an_error_or_work_but_never_overflow():
    with pytest.raises(GrammarSyntaxError, match="nested more than 10000 deep") as caught:
        rules_from_ebnf("root ::= " + "(" * 60_000 + '"a"' + ")" * 60_000)
    assert caught.value.column == 10 + 10_000
    with pytest.raises(GrammarSyntaxError, match="nested more than"):
        rules_from_ebnf("root ::= " + "(" * 60_000)
    assert accepts(rules_from_ebnf("root ::= " + "(" * 9_000 + '"a"' + ")" * 9_000), b"a")
    optional = rules_from_ebnf("root ::= " + '("a" ' * 2_000 + ")?" * 2_000)
    assert accepts(optional, b"a" * 40)
    assert not accepts(optional, b"ab")


def test_case_65_long_call_chains_do_not_overflow():
    n_rules = 5_000
    chain = "\n".join(f'r{at} ::= "a" r{at + 1} | "b" r{at // 2}' for at in range(n_rules))
    root = rules_from_ebnf(f'{chain}\nr{n_rules} ::= "z"', root_rule_name="r0")
    assert root.name == "r0"


def test_case_71_an_error_shows_its_line():
    with pytest.raises(GrammarSyntaxError) as caught:
        rules_from_ebnf('root ::= "a" | item\nthing ::= "b"')
    assert 'root ::= "a" | item' in str(caught.value)
    assert "hint:" in str(caught.value)


def test_case_82_emoji_ranges():
    root = rules_from_ebnf("root ::= [😀-🙏]+")
    assert accepts(root, "😀🙏".encode())
    assert not accepts(root, "😀a".encode())
    assert not accepts(root, "😀".encode()[:3])


def test_case_49_large_counts():
    root = rules_from_ebnf('root ::= "\\"" [a-z]{0,100000} "\\""')
    assert accepts(root, b'"' + b"a" * 3000 + b'"')
