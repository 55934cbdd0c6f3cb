"""The vocabulary of a loaded llama.cpp model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from maskwright.errors import VocabularyError
from maskwright.vocabulary import TokenizerInfo
from tests.vocabulary.real import library, real_file, real_vocabulary
from tests.vocabulary.test_gguf import BYTE_LEVEL, gguf, tokenizer


def stand_in(path: Path, n_vocab: int = len(BYTE_LEVEL)) -> Any:
    """The public face of a `Llama`, on a written file."""
    path.write_bytes(gguf(tokenizer("gpt2", BYTE_LEVEL)))
    return SimpleNamespace(
        model_path=str(path),
        n_vocab=lambda: n_vocab,
        token_eos=lambda: 5,
        tokenize=lambda text, add_bos, special: [len(text), int(add_bos), int(special)],
    )


def test_file_stops_and_encoder(tmp_path: Path) -> None:
    info = TokenizerInfo.from_llama_cpp(stand_in(tmp_path / "m.gguf"))
    assert info == TokenizerInfo.from_gguf(tmp_path / "m.gguf", stop_token_ids=[2, 5])
    assert info.encoder is not None
    assert info.encoder("é") == [2, 0, 0]


def test_a_file_that_does_not_fit_the_model(tmp_path: Path) -> None:
    with pytest.raises(VocabularyError, match="the loaded model has 7 tokens"):
        TokenizerInfo.from_llama_cpp(stand_in(tmp_path / "m.gguf", n_vocab=7))


@pytest.mark.parametrize(
    "thing", ["model.gguf", None, SimpleNamespace(model_path="x"), SimpleNamespace(n_vocab=3)]
)
def test_other_things_are_refused(thing: Any) -> None:
    with pytest.raises(VocabularyError, match=r"is not a llama_cpp\.Llama"):
        TokenizerInfo.from_llama_cpp(thing)


@pytest.fixture(scope="module")
def llama() -> Iterator[Any]:
    module = library("llama_cpp")
    model = module.Llama(str(real_file("smollm2")), vocab_only=True, verbose=False)
    yield model
    model.close()


def test_a_real_model(llama: Any) -> None:
    info = TokenizerInfo.from_llama_cpp(llama)
    plain = real_vocabulary("smollm2")
    assert info.decoded_vocab == plain.decoded_vocab
    assert info.special_token_ids == plain.special_token_ids
    assert set(info.stop_token_ids) >= {llama.token_eos(), *plain.stop_token_ids}
    report = info.self_test()
    assert report.ok
    assert report.round_trip


def test_the_bytes_of_every_token_are_those_that_llama_cpp_prints(llama: Any) -> None:
    info = TokenizerInfo.from_llama_cpp(llama)
    special = set(info.special_token_ids)
    for token_id in range(0, info.vocab_size, 11):
        # Its buffer has room for 31 bytes; longer tokens come back empty.
        if token_id not in special and len(info.decoded_vocab[token_id]) < 32:
            assert llama.detokenize([token_id]) == info.decoded_vocab[token_id]
