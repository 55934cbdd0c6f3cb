"""The language of patterns: every member is a valid pattern, and ordinary patterns are members."""

from __future__ import annotations

import random

import pytest

from maskwright.errors import RegexError
from maskwright.regex import UTF8, check_ecma
from maskwright.schema.formats import format_lexeme

from .test_formats import Walker

ORDINARY = [
    r"^[A-Za-z0-9_.-]{3,64}$",
    r"^(?:(?:\d{1,3}\.){3}\d{1,3})$",
    r"(a|b)*?c+",
    r"^(?=.*\d)(?!.*\s).{8,}$",
    r"(?<=\$)\d+(?<year>x)",
    r"\p{L}+\P{Lu}\p{Script=Greek}\p{gc=Nd}",
    r"[^\]\\\-]\u{1F600}\u00e9\x41\cJ\0",
    r"((((a))))",
    r"a{2}b{2,}c{2,13}?",
    r"[]|[^]|[-a]|[a-]|[--]",
]

BROKEN = [
    r"(",
    r")",
    r"a**",
    r"^*",
    r"[b-a]",
    r"a{2,1}",
    r"a{99,98}",
    r"\a",
    r"\-",
    r"[a",
    r"[a-\d]",
    r"(?<n>a)(?<n>b)",
    r"\p{Foo}",
    r"\u{110000}",
    r"\01",
    r"x{",
    r"}",
    r"]",
    r"(?:a",
    r"(?i)a",
    r"\k<n>",
    r"\1",
    r"{1}",
    r"a{,2}",
]


@pytest.mark.parametrize("pattern", ORDINARY)
def test_ordinary_patterns_are_members(pattern: str) -> None:
    """What schemas really contain."""
    check_ecma(pattern)
    assert Walker(format_lexeme("regex", UTF8)).accepts(pattern)


@pytest.mark.parametrize("pattern", BROKEN)
def test_broken_patterns_are_not(pattern: str) -> None:
    """Errors of the standard, and what is left out."""
    assert not Walker(format_lexeme("regex", UTF8)).accepts(pattern)


def test_every_member_is_valid() -> None:
    """Mutations of patterns that are still members pass the parser."""
    walker = Walker(format_lexeme("regex", UTF8))
    chance = random.Random(262)
    n_members = 0
    for _ in range(6000):
        pattern = chance.choice(ORDINARY + BROKEN)
        for _ in range(chance.randint(1, 4)):
            place = chance.randint(0, len(pattern))
            middle = chance.choice([*r"()[]{}\|*+?^$-0d,2<=!:anp", "", chance.choice(ORDINARY)[:5]])
            pattern = pattern[:place] + middle + pattern[place + chance.randint(0, 1) :]
        if walker.accepts(pattern):
            n_members += 1
            try:
                check_ecma(pattern)
            except RegexError as error:
                pytest.fail(f"{pattern!r}: {error.message}")
    assert n_members > 500
