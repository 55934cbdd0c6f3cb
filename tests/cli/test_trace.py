"""`maskwright trace`: what was legal at each token, and where and why a text does not fit."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import maskwright.cli.trace
from maskwright import GrammarCompiler, GrammarMatcher, TokenizerInfo
from maskwright.cli.app import app
from maskwright.cli.tokenizers import Tokenizer
from maskwright.cli.trace import trace_tokens

WORDS = [b"a", b"b", b"ab", b"\xc3", b"\xa9", b"</s>", b"\n"]
INFO = TokenizerInfo(WORDS, stop_token_ids=[5])


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A vocabulary of seven tokens instead of whatever is named."""
    monkeypatch.setattr(maskwright.cli.trace, "open_tokenizer", lambda name: Tokenizer(INFO, None))


def trace(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["trace", *arguments])


def test_steps_hold_every_legal_token() -> None:
    compiled = GrammarCompiler(INFO).compile_regex("a?b(ab)?")
    steps = trace_tokens(GrammarMatcher(compiled), INFO, [2, 0, 1])
    assert [(step.token, step.legal, step.accepted) for step in steps] == [
        (2, [0, 1, 2], True),
        (0, [0, 2, 5], True),
        (1, [1], True),
        (None, [5], True),
    ]


def test_steps_end_at_the_first_token_that_is_not_legal() -> None:
    compiled = GrammarCompiler(INFO).compile_regex("ab")
    steps = trace_tokens(GrammarMatcher(compiled), INFO, [0, 0, 1])
    assert [(step.token, step.accepted) for step in steps] == [(0, True), (0, False)]


def test_accepted_text(small: None) -> None:
    result = trace("--regex", "abé\n?", "--text", "abé")
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows[2] == ["0", "'ab'", "2", "'a'", "'ab'"]
    assert rows[-2] == ["3", "(end)", "2", "[stop", "</s>]", "'\\n'"]
    assert rows[-1] == ["accepted:", "the", "text", "fits"]
    assert "greedily" in result.stderr


def test_only_the_first_few_legal_tokens_are_shown(small: None) -> None:
    result = trace("--regex", "[ab]+", "--text", "a", "--show", "1")
    assert "'a'  ..." in result.stdout


def test_refusal_names_token_offset_and_what_led_there(small: None) -> None:
    result = trace("--regex", "baa?c?", "--text", "baab")
    assert result.exit_code == 1
    assert "NO" in result.stdout
    assert "offset 3" in result.stderr
    assert "'ab' is not legal after 'ba'" in result.stderr
    assert "its first 1 bytes would still fit" in result.stderr


def test_a_text_that_ends_too_early(small: None) -> None:
    result = trace("--regex", "aba", "--text", "ab")
    assert result.exit_code == 1
    assert "may not end here, after 'ab'" in result.stderr


def test_errors_have_their_codes(small: None) -> None:
    assert trace("--regex", "a[", "--text", "a").exit_code == 3
    assert trace("--regex", "a", "--text", "z").exit_code == 4
    assert trace("--text", "a").exit_code == 2


@pytest.mark.model
def test_real_vocabulary(model_path: Path) -> None:
    result = CliRunner().invoke(app, ["trace", "--choices", "yes,no", "--text", "yes"])
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[2].split()[:2] == ["0", "'yes'"]
    assert result.stderr == ""
