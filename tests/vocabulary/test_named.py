"""Named vocabularies: exact counts, and what happens when a package is absent."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import pytest

from maskwright.errors import VocabularyError
from maskwright.vocabulary.named import NAMES, QWEN_ADDED_TOKENS, load_named
from tests.vocabulary.real import EXPECTED, library, real_vocabulary


def test_every_name_is_tested() -> None:
    assert set(NAMES) == set(EXPECTED)


@pytest.mark.parametrize("name", NAMES)
def test_counts_and_stops(name: str) -> None:
    info = real_vocabulary(name)
    n_text, n_special, stops = EXPECTED[name]
    _, offsets, ids = info._token_table()
    assert len(ids) == len(offsets) - 1 == n_text
    assert len(info.special_token_ids) == n_special
    assert info.vocab_size == n_text + n_special
    assert tuple(info.decoded_vocab[token_id] for token_id in info.stop_token_ids) == stops
    assert set(info.stop_token_ids) <= set(info.special_token_ids)


@pytest.mark.parametrize("name", NAMES)
def test_self_tests_pass(name: str) -> None:
    report = real_vocabulary(name).self_test()
    assert report.ok, str(report)
    assert report.duplicates == ()


def test_llama3_special_ids_are_the_last_256() -> None:
    info = real_vocabulary("llama3")
    assert info.special_token_ids == list(range(128_000, 128_256))
    names = {"<|begin_of_text|>": 128_000, "<|eot_id|>": 128_009, "<|reserved_special_token_245|>": 128_255}
    assert {name: info.find_tokens(name)[0] for name in names} == names


def test_llama4_special_names_are_those_of_the_package() -> None:
    library("tiktoken")
    info = real_vocabulary("llama4")
    special = library("llama_models.llama4.tokenizer").Tokenizer.get_instance().special_tokens
    assert {info.decoded_vocab[token_id].decode(): token_id for token_id in info.special_token_ids} == special


def test_qwen_added_tokens_follow_the_ranks() -> None:
    info = real_vocabulary("qwen")
    assert info.decoded_vocab[151_643:] == [name.encode() for name in QWEN_ADDED_TOKENS]
    assert info.find_tokens("<|im_end|>") == [151_645]


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(VocabularyError, match="no vocabulary named 'gpt9'") as caught:
        load_named("gpt9")
    assert all(name in str(caught.value.hint) for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_an_absent_package_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda module: None)
    with pytest.raises(VocabularyError, match="not installed") as caught:
        load_named(name)
    assert "pip install" in str(caught.value.hint)


def test_loading_imports_no_tokenizer_library(monkeypatch: pytest.MonkeyPatch) -> None:
    absent: Any = None
    for module in ("tiktoken", "sentencepiece", "tokenizers", "transformers", "llama_cpp"):
        monkeypatch.setitem(sys.modules, module, absent)  # any import of it now fails
    for name in NAMES:
        real_vocabulary(name)
