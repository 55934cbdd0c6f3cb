"""Whatever the text, reading it gives rules or a typed error that points into it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.errors import GrammarError, GrammarSyntaxError
from maskwright.rules import Rule
from maskwright.syntax.ebnf import rules_from_ebnf
from maskwright.syntax.gbnf import rules_from_gbnf

PIECES = [
    "root ::= ", "\nx ::= ", "::=", "x", "root", '"a"', '"', "[a-z]", "[^", "]", "[", "(", ")", "(=", "|", "?", "*", "+",
    "{2}", "{2,", "}", "\\", "\\u00", "#", "\n", "\r", " ", "Token(", "Regex(", "1", ",", "=", ".", "!", "<[3]>", "<", "\0", "é", "\ud800",
]  # fmt: skip


@pytest.mark.parametrize("read", [rules_from_ebnf, rules_from_gbnf])
@settings(deadline=None, max_examples=400)
@given(text=st.lists(st.sampled_from(PIECES) | st.text(max_size=2), max_size=14).map("".join))
def test_rules_or_a_typed_error(read, text):
    text = "root ::= " + text
    try:
        assert isinstance(read(text), Rule)
    except GrammarSyntaxError as error:
        lines = text.split("\n")
        inside = 1 <= error.line <= len(lines) and 1 <= error.column <= len(lines[error.line - 1]) + 1
        if not inside:
            raise
        str(error)
    except GrammarError:
        pass
