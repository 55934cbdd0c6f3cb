"""Tokenizers by name and path; text is always cut into tokens that spell exactly that text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskwright import TokenizerInfo
from maskwright.cli.exits import MODEL, Failure
from maskwright.cli.tokenizers import Tokenizer, open_tokenizer
from maskwright.errors import VocabularyError
from maskwright.vocabulary.named import package_file

PIECES = [b"a", b"b", b"ab", b"abb", b"\xc3", b"\xa9", b"</s>", b"<x>"]
TEXT = 'A "quoted" text, 北京 and 😀.'
INFO = TokenizerInfo(PIECES, stop_token_ids=[6], special_token_ids=[7])


def spell(tokens: list[int]) -> bytes:
    return b"".join(PIECES[token] for token in tokens)


def test_greedy_takes_the_longest() -> None:
    assert Tokenizer(INFO, None).encode("abbab") == ([3, 2], False)


@given(st.text(alphabet="abé"))
def test_greedy_spells_the_text(text: str) -> None:
    assert spell(Tokenizer(INFO, None).encode(text)[0]) == text.encode()


@pytest.mark.parametrize("text", ["abc", "a</s>", "<x>"])
def test_text_that_the_vocabulary_cannot_spell(text: str) -> None:
    """Stop and special tokens are not text, even where their names would fit."""
    with pytest.raises(Failure, match="no token for byte") as caught:
        Tokenizer(INFO, None).encode(text)
    assert caught.value.exit_code == MODEL


def test_an_encoder_that_changes_the_text_is_not_used() -> None:
    adds_a_prefix = Tokenizer(INFO, lambda text: [0, 1, 1])
    assert adds_a_prefix.encode("bb") == ([1, 1], False)
    cuts_small = Tokenizer(INFO, lambda text: [0, 1])
    assert cuts_small.encode("ab") == ([0, 1], True)


def test_an_encoder_without_its_packages_is_not_used() -> None:
    def encode(text: str) -> list[int]:
        raise ImportError

    assert Tokenizer(INFO, encode).encode("ab") == ([2], False)


def test_tokenizer_json_file_and_folder(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.BPE(vocab={"h": 0, "i": 1, "hi": 2, "Ġ": 3, "<|end|>": 4}, merges=[("h", "i")])
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|end|>"])
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"eos_token": "<|end|>"}))
    for path in (tmp_path, tmp_path / "tokenizer.json"):
        opened = open_tokenizer(str(path))
        assert opened.encode("hi hi") == ([2, 3, 2], True)
        assert opened.info.stop_token_ids == [4]


@pytest.mark.parametrize("name", ["no-such-encoding", "/no/such/tokenizer.json"])
def test_unknown_names(name: str) -> None:
    with pytest.raises(Failure, match="no file") as caught:
        open_tokenizer(name)
    assert caught.value.exit_code == MODEL


@pytest.mark.parametrize("name", ["qwen", "tekken", "deepseek", "llama3"])
def test_named_vocabularies(name: str) -> None:
    try:
        package_file(name)
    except VocabularyError as error:
        pytest.skip(str(error))
    tokenizer = open_tokenizer(name)
    tokens, _ = tokenizer.encode(TEXT)
    assert b"".join(tokenizer.info.decoded_vocab[token] for token in tokens) == TEXT.encode()


@pytest.mark.model
def test_default_tokenizer_is_the_models_own(model_path: Path) -> None:
    tokenizer = open_tokenizer("smollm2")
    tokens, exact = tokenizer.encode(TEXT)
    assert exact
    assert len(tokens) < len(TEXT)
    assert b"".join(tokenizer.info.decoded_vocab[token] for token in tokens) == TEXT.encode()
