"""tiktoken encodings, rank files and mappings."""

from __future__ import annotations

from pathlib import Path

import pytest

from maskwright.errors import VocabularyError
from maskwright.vocabulary import TokenizerInfo
from tests.vocabulary.real import library, real_file, real_vocabulary

RANKS = {bytes([byte]): byte for byte in range(256)} | {b" a": 256, b"ab": 257}


def test_a_mapping() -> None:
    info = TokenizerInfo.from_tiktoken({b"a": 0, b"\xff": 1}, special_tokens={"<|endoftext|>": 4, "<|x|>": 3})
    assert info.decoded_vocab == [b"a", b"\xff", b"", b"<|x|>", b"<|endoftext|>"]
    assert info.special_token_ids == [2, 3, 4]
    assert info.stop_token_ids == [4]


def test_a_rank_file(tmp_path: Path) -> None:
    file = tmp_path / "ranks.tiktoken"
    file.write_text("YQ== 0\n\n/w== 1\n")
    for path in (file, str(file)):
        assert TokenizerInfo.from_tiktoken(path).decoded_vocab == [b"a", b"\xff"]


@pytest.mark.parametrize("line", ["YQ==", "YQ== x", "Y Q 3", "!! 1"])
def test_a_malformed_line_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "ranks"
    file.write_text(f"YQ== 0\n{line}\n")
    with pytest.raises(VocabularyError, match="line 2 of ranks"):
        TokenizerInfo.from_tiktoken(file)


def test_two_tokens_with_one_id() -> None:
    with pytest.raises(VocabularyError, match="two tokens have the id 0"):
        TokenizerInfo.from_tiktoken({b"a": 0}, special_tokens={"<|x|>": 0})


def test_other_things_are_refused(tmp_path: Path) -> None:
    with pytest.raises(VocabularyError, match="int is not a tiktoken encoding"):
        TokenizerInfo.from_tiktoken(3)
    with pytest.raises(VocabularyError, match="cannot read the rank file"):
        TokenizerInfo.from_tiktoken(tmp_path / "absent")


def test_an_encoding_with_a_hole_before_its_special_tokens() -> None:
    tiktoken = library("tiktoken")
    encoding = tiktoken.Encoding(
        "test", pat_str=r"\s?\w+|.", mergeable_ranks=RANKS, special_tokens={"<|endoftext|>": 260}
    )
    info = TokenizerInfo.from_tiktoken(encoding)
    assert info.decoded_vocab == [*RANKS, b"", b"", b"<|endoftext|>"]
    assert (info.special_token_ids, info.stop_token_ids) == ([258, 259, 260], [260])
    assert info.encoder is not None
    assert info.encoder("ab") == [257]


def test_a_real_encoding_agrees_with_its_rank_file() -> None:
    library("tiktoken")
    real_file("llama3")
    module = library("llama_models.llama3.tokenizer")
    info = TokenizerInfo.from_tiktoken(module.Tokenizer.get_instance().model)
    assert info == real_vocabulary("llama3")
    assert info.self_test().ok
