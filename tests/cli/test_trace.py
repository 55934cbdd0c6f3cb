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


def test_refusal_names_token_and_place(small: None) -> None:
    result = trace("--regex", "baa?\\n?", "--text", "baab")
    assert result.exit_code == 1
    assert "NO" in result.stdout
    assert result.stderr.splitlines()[1:] == [
        "error: token 2 'ab' is not legal: 'b' cannot come here; its first 1 of 2 bytes fit",
        "line 1, column 4 (offset 3)",
        "  baab",
        "    ~^",
        "  hint: --why tells what was expected there",
    ]


def test_a_text_that_ends_too_early(small: None) -> None:
    result = trace("--regex", "aba", "--text", "ab")
    assert result.exit_code == 1
    assert "to end here is not legal: the output is not complete\nline 1, column 3" in result.stderr


def test_why_tells_what_was_expected(small: None) -> None:
    result = trace("--regex", "a\nb+(a|b\n)", "--text", "a\nba\n", "--why")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "token 6 '\\n' is not legal: the output is complete, and only a stop token may follow",
        "line 2, column 3 (offset 4)",
        "  ba\u21b5",
        "    ^",
        "expected instead:",
        "  - the end of the output",
        "legal in its place: 1 of 7 tokens, for example '</s>'",
    ]


def test_why_of_a_text_that_fits(small: None) -> None:
    result = trace("--regex", "ab?", "--text", "a", "--why")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(
        "to end here is legal\nline 1, column 2 (offset 1)\n  a\nexpected next:\n"
    )
    assert "  - 'ab', begun: 'a'  (rule regex)" in result.stdout


@pytest.mark.parametrize(
    ("asked", "headline", "exit_code"),
    [
        ("2", "token 2 'ab' is not legal: 'a' cannot come here", 1),
        ("ab", "token 2 'ab' is not legal: 'a' cannot come here", 1),
        ("1", "token 1 'b' is legal", 0),
        ("</s>", "token 5 '</s>' is not legal: the output is not complete", 1),
        ("bbbab", "the text 'bbbab' is legal", 0),
        ("77", "token 77 is outside the vocabulary of 7 tokens", 1),
    ],
)
def test_one_token_after_the_text(small: None, asked: str, headline: str, exit_code: int) -> None:
    result = trace("--regex", "ab+ab", "--text", "a", "--token", asked)
    assert result.stdout.splitlines()[0] == headline
    assert result.exit_code == exit_code


def test_a_token_after_a_text_that_does_not_fit(small: None) -> None:
    result = trace("--regex", "ab+", "--text", "ba", "--token", "b")
    assert result.stdout.splitlines()[0] == "token 1 'b' is not legal: 'b' cannot come here"


def test_why_in_a_schema(small: None, tmp_path: Path) -> None:
    whole = TokenizerInfo([bytes([byte]) for byte in range(256)] + ["</s>"])
    schema = tmp_path / "schema.json"
    schema.write_text('{"properties": {"size": {"enum": ["S", "M"]}}, "type": "object"}')
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maskwright.cli.trace, "open_tokenizer", lambda name: Tokenizer(whole, None))
        result = trace("--schema", str(schema), "--text", '{"size": "L"}', "--why")
    assert result.exit_code == 1
    assert "line 1, column 11 (offset 10), JSON pointer '/size'" in result.stdout
    assert '"M" or "S"' in result.stdout
    assert "#/properties/size" in result.stdout


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
