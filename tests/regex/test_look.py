"""Look-around by continuations: against the `regex` package, and the shapes that speed depends on."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.errors import LimitExceeded
from maskwright.lexeme import EMPTY, EPSILON, Lexeme, Op
from maskwright.regex import JSON_CANONICAL, UTF8, Encoding, compile_regex
from maskwright.regex.ecma import parse_ecma
from maskwright.regex.look import NeedsAutomaton, compile_look
from tests.lexeme_oracle import accepts, has_op, nodes
from tests.regex.patterns import EXAMPLES, expected, patterns, texts


@settings(max_examples=EXAMPLES)
@given(patterns(), texts(), st.booleans())
def test_compiled_patterns_agree_with_the_regex_package(
    pattern: str, subjects: list[str], search: bool
) -> None:
    try:
        lexeme = compile_regex(pattern, search=search)
    except LimitExceeded:
        return
    for text in subjects:
        wanted = expected(pattern, text, search=search)
        if wanted is not None:
            assert accepts(lexeme, text.encode()) == wanted, text


@settings(max_examples=EXAMPLES)
@given(patterns(max_leaves=6), texts())
def test_continuations_alone_are_exact_or_step_aside(pattern: str, subjects: list[str]) -> None:
    tree = parse_ecma(pattern)
    try:
        lexeme = compile_look(tree, UTF8)
    except NeedsAutomaton:
        return
    for text in subjects:
        wanted = expected(pattern, text, search=False)
        if wanted is not None:
            assert accepts(lexeme, text.encode()) == wanted, text


@pytest.mark.parametrize("encoding", [UTF8, JSON_CANONICAL], ids=repr)
@pytest.mark.parametrize(
    "pattern",
    [
        "a",
        "^a",
        "a$",
        "^a$",
        "^a|b$",
        "(^a|b$)",
        "(?:^|,)x(?:,|$)",
        "^(foo|bar)$",
        r"^\w+\b",
        r"\bfoo\b",
        r"^[a-z](?:[a-z-]*[a-z])?$",
        "^(?!-)[a-z-]{1,63}(?<!-)$",
        r"^(?:[a-z0-9-]{1,63}(?<!-)\.)+[a-z]{2,}$",
        "(?<=a)b(?=c)",
    ],
)
def test_usual_shapes_need_no_intersection(pattern: str, encoding: Encoding) -> None:
    lexeme = compile_regex(pattern, search=True, encoding=encoding)
    assert not has_op(lexeme, Op.INTERSECTION)
    assert not has_op(lexeme, Op.COMPLEMENT)


@pytest.mark.parametrize(
    ("pattern", "lexeme"), [("a$b", EMPTY), ("^$", EPSILON), ("(?=a)b", EMPTY), ("a^", EMPTY)]
)
def test_contradictions_vanish(pattern: str, lexeme: Lexeme) -> None:
    assert compile_regex(pattern, search=True) is lexeme


@pytest.mark.parametrize(
    "pattern",
    [
        "^(?!-)[a-z-]{1,4000}(?<!-)$",
        "^(?=.{1,4000}$)a*b",
        "^(?:(?!--)[a-z-]){1,4000}$",
        "(?<!foo)[a-z]{4000}$",
    ],
)
def test_counts_survive_look_around(pattern: str) -> None:
    lexeme = compile_regex(pattern, search=True)
    assert any(one.op is Op.REPEAT and one.args[2] in (4000, 3998) for one in nodes(lexeme))
    assert not has_op(lexeme, Op.AUTOMATON)


def test_a_repeated_look_around_is_written_out_when_short() -> None:
    lexeme = compile_regex("^(?:(?=ab|b).){2,3}c", search=True)
    assert not has_op(lexeme, Op.AUTOMATON)
    for text, wanted in [("abbc", True), ("abbbc", False), ("abc", True), ("bbbc", True), ("bc", False)]:
        assert accepts(lexeme, text.encode()) == wanted, text


def test_json_text_is_judged_decoded() -> None:
    lexeme = compile_regex(r'^(?!.*")(?=.{2}$)', search=True, encoding=JSON_CANONICAL)
    assert accepts(lexeme, rb"\\\n") is False  # the dot takes no line feed
    assert accepts(lexeme, rb"\\a")
    assert not accepts(lexeme, rb"a\"")


@pytest.mark.parametrize("pattern", ["(?:(?=ab).)*c", "(?<=ab)c", r"(?:^a|b)*"])
def test_what_is_outside_is_said(pattern: str) -> None:
    with pytest.raises(NeedsAutomaton):
        compile_look(parse_ecma(pattern), UTF8)
