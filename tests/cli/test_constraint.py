"""One constraint out of the options, and the words that a model is told."""

from __future__ import annotations

import io

import click
import pytest

from maskwright.cli.constraint import Constraint, read_constraint
from maskwright.errors import SchemaError


def test_exactly_one_option_counts() -> None:
    with pytest.raises(click.UsageError, match=r"--schema, --pydantic, --regex.*got 0"):
        read_constraint(schema=None, pydantic=None, regex=None)
    with pytest.raises(click.UsageError, match="got 2"):
        read_constraint(regex="a", choices="b")


def test_an_empty_pattern_is_given() -> None:
    assert read_constraint(regex="") == Constraint("regex", "")


def test_sources_are_read() -> None:
    assert read_constraint(schema=io.StringIO('{"type": "null"}')).source == {"type": "null"}
    assert read_constraint(ebnf=io.StringIO("root ::= x")) == Constraint("ebnf", "root ::= x")
    assert read_constraint(choices="a,b c,,d") == Constraint("choices", ["a", "b c", "d"])


def test_a_schema_that_is_not_json_says_where() -> None:
    with pytest.raises(SchemaError, match="line 2"):
        read_constraint(schema=io.StringIO('{"type":\n}'))


@pytest.mark.parametrize(
    ("constraint", "words"),
    [
        (Constraint("schema", {"enum": [1, 2]}), "one of 1, 2"),
        (Constraint("choices", ["yes", "no"]), "yes, no"),
        (Constraint("regex", "[0-9]+"), "[0-9]+"),
    ],
)
def test_words_for_the_prompt(constraint: Constraint, words: str) -> None:
    assert words in constraint.in_words()


def test_a_grammar_is_not_put_into_words() -> None:
    assert Constraint("ebnf", "root ::= x").in_words() == ""
