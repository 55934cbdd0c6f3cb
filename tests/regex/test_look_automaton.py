"""Look-around by automaton: against the `regex` package, on its own and with its limits."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from maskwright.errors import LimitExceeded
from maskwright.lexeme import Op
from maskwright.regex import JSON_ANY_SPELLING, UTF8, compile_regex
from maskwright.regex.ecma import parse_ecma
from maskwright.regex.look_automaton import compile_automaton
from tests.lexeme_oracle import accepts
from tests.regex.patterns import EXAMPLES, expected, patterns, texts


@settings(max_examples=EXAMPLES)
@given(patterns(max_leaves=7), texts())
def test_agrees_with_the_regex_package(pattern: str, subjects: list[str]) -> None:
    try:
        lexeme = compile_automaton(parse_ecma(pattern), UTF8)
    except LimitExceeded:
        return
    for text in subjects:
        wanted = expected(pattern, text, search=False)
        if wanted is not None:
            assert accepts(lexeme, text.encode()) == wanted, text


@pytest.mark.parametrize(
    ("pattern", "text", "wanted"),
    [
        ("(?:(?!ab).)*c", "bac", True),
        ("(?:(?!ab).)*c", "babc", False),
        ("(?:(?<=a|^)b|a)*", "baab", True),
        ("(?:(?<=a|^)b|a)*", "abb", False),
        (r"(?:\b[a-z]+\b[ ,]?)+", "ab cd,e", True),
        (r"(?:\b[a-z]\b[ ,]?)+", "ab cd", False),
        # A look-behind that looks ahead again, and one inside another.
        ("a(?<=a(?=bc))b(?:c|d)", "abc", True),
        ("a(?<=a(?=bc))b(?:c|d)", "abd", False),
        ("(?:x|(?<=(?<!b)a+)c|a|b)*", "aac", True),
        ("(?:x|(?<=(?<!b)a+)c|a|b)*", "bac", False),
        ("(?:x|(?<=(?<!b)aa)c|a|b)*", "baac", False),
        ("(?:a(?=(?:bb)*$)|b)*", "abbbb", True),
        ("(?:a(?=(?:bb)*$)|b)*", "abbb", False),
    ],
)
def test_repeated_and_nested(pattern: str, text: str, wanted: bool) -> None:
    assert accepts(compile_automaton(parse_ecma(pattern), UTF8), text.encode()) == wanted
    assert accepts(compile_regex(pattern, encoding=JSON_ANY_SPELLING), text.encode()) == wanted


def test_no_state_is_dead() -> None:
    lexeme = compile_regex("(?:(?!ab)[ab])*(?<!aa)", search=False)
    assert lexeme.op is Op.AUTOMATON
    rows, accepting = lexeme.args
    reach = {state for state, ends in enumerate(accepting) if ends}
    for _ in rows:
        reach |= {state for state, row in enumerate(rows) if any(target in reach for _, _, target in row)}
    assert reach == set(range(len(rows)))


@pytest.mark.parametrize(
    ("pattern", "resource"),
    [
        ("(?:a(?=b)|[ab]*a[ab]{20})*$", "look-around"),
        ("(?:(?:^|a)b?){100000}$", "look-around places"),
        ("(?:" + "(?=a" * 100 + ")" * 100 + "a)*b", "look-around nesting"),
    ],
)
def test_growth_is_metered(pattern: str, resource: str) -> None:
    with pytest.raises(LimitExceeded) as caught:
        compile_regex(pattern, search=True)
    assert caught.value.resource.startswith(resource)
    assert caught.value.limit > 0
    assert repr(pattern[:20])[:-1] in caught.value.message
