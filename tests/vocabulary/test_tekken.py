"""Mistral's tekken vocabularies."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from maskwright.errors import VocabularyError
from maskwright.vocabulary import TokenizerInfo
from tests.vocabulary.real import library, real_file


def document(**changes: Any) -> dict[str, Any]:
    ranked = [b"\x00", b"\xff", b" a", b"unused"]
    return {
        "config": {"default_vocab_size": 7, "default_num_special_tokens": 4},
        "vocab": [
            {"rank": rank, "token_bytes": base64.b64encode(raw).decode(), "token_str": None}
            for rank, raw in enumerate(ranked)
        ],
        **changes,
    }


def test_special_tokens_come_first_and_surplus_ranks_are_dropped() -> None:
    info = TokenizerInfo.from_tekken(document())
    assert info.decoded_vocab == [b"<unk>", b"<s>", b"</s>", b"[INST]", b"\x00", b"\xff", b" a"]
    assert (info.special_token_ids, info.stop_token_ids) == ([0, 1, 2, 3], [2])


def test_listed_special_tokens(tmp_path: Path) -> None:
    listed = [{"rank": 2, "token_str": "</s>", "is_control": True}, {"rank": 3, "token_str": "[THINK]"}]
    file = tmp_path / "tekken.json"
    file.write_text(json.dumps(document(special_tokens=listed)))
    info = TokenizerInfo.from_tekken(file)
    assert info.decoded_vocab[:4] == [b"<SPECIAL_0>", b"<SPECIAL_1>", b"</s>", b"[THINK]"]
    assert info.special_token_ids == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"config": {}},
        document(vocab=[{"rank": 0}]),
        document(vocab=[{"rank": 0, "token_bytes": "!"}]),
        document(special_tokens=[{"rank": 99, "token_str": "x"}]),
        document(special_tokens=[{"rank": -1, "token_str": "x"}]),
        document(vocab=3),
    ],
)
def test_malformed_documents(bad: dict[str, Any]) -> None:
    with pytest.raises(VocabularyError, match="malformed"):
        TokenizerInfo.from_tekken(bad)


def test_other_things_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "tekken.json"
    for text, message in (("{", "not JSON"), ("[]", "JSON object")):
        file.write_text(text)
        with pytest.raises(VocabularyError, match=message):
            TokenizerInfo.from_tekken(file)
    with pytest.raises(VocabularyError, match="int is not a tekken vocabulary"):
        TokenizerInfo.from_tekken(3)


def test_the_library_agrees_on_every_token() -> None:
    module = library("mistral_common.tokens.tokenizers.tekken")
    file = real_file("tekken")
    tekkenizer = module.Tekkenizer.from_file(file)
    info = TokenizerInfo.from_tekken(file)
    assert info == TokenizerInfo.from_tekken(tekkenizer)
    assert info.decoded_vocab[1000:] == [tekkenizer.id_to_byte_piece(i) for i in range(1000, info.vocab_size)]
    assert info.stop_token_ids == [tekkenizer.eos_id]
    assert TokenizerInfo.from_tekken(tekkenizer).self_test().ok
