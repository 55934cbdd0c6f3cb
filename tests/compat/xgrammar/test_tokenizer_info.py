"""`TokenizerInfo` as XGrammar's programs use it."""

from __future__ import annotations

import json
import pickle
import warnings

import pytest

import maskwright
import maskwright.compat.xgrammar as xgr

VOCABULARY = ["a", "b", "", "</s>", "<|im_end|>"]


def test_defaults() -> None:
    info = xgr.TokenizerInfo(VOCABULARY, vocab_size=7)
    assert isinstance(info, maskwright.TokenizerInfo)
    assert info.vocab_type is xgr.VocabType.RAW
    assert (info.vocab_size, info.stop_token_ids, info.special_token_ids) == (7, [3], [2, 5, 6])
    assert info.decoded_vocab == [entry.encode() for entry in VOCABULARY]
    assert (int(xgr.VocabType.RAW), int(xgr.VocabType.BYTE_FALLBACK), int(xgr.VocabType.BYTE_LEVEL)) == (
        0,
        1,
        2,
    )
    assert xgr.TokenizerInfo(["a"], stop_token_ids=0).stop_token_ids == [0]


def test_deprecated_name() -> None:
    info = xgr.TokenizerInfo(["a"], add_prefix_space=True)
    with pytest.warns(DeprecationWarning, match="add_prefix_space"):
        assert info.prepend_space_in_tokenization


def test_metadata_is_xgrammars_text() -> None:
    info = xgr.TokenizerInfo(VOCABULARY, vocab_size=7)
    text = info.dump_metadata()
    assert text == '{"vocab_type":0,"vocab_size":7,"add_prefix_space":false,"stop_token_ids":[3]}'
    assert xgr.TokenizerInfo.from_vocab_and_metadata(VOCABULARY, text) == info
    control = xgr.TokenizerInfo(VOCABULARY, special_token_ids=[4])
    again = xgr.TokenizerInfo.from_vocab_and_metadata(VOCABULARY, control.dump_metadata())
    assert again.special_token_ids == [2, 4]
    assert type(again) is xgr.TokenizerInfo


def test_serialized_and_back() -> None:
    info = xgr.TokenizerInfo(
        [b"a", b"\xff", b"</s>"], vocab_size=5, special_token_ids=[2], stop_token_ids=[2]
    )
    for again in (
        xgr.TokenizerInfo.deserialize_json(info.serialize_json()),
        pickle.loads(pickle.dumps(info)),
    ):
        assert type(again) is xgr.TokenizerInfo
        assert again == info
        assert again.dump_metadata() == info.dump_metadata()


def test_errors() -> None:
    text = xgr.TokenizerInfo(["a"]).serialize_json()
    for broken, kind in [
        ("{", xgr.InvalidJSONError),
        ("{}", xgr.DeserializeVersionError),
        ("[]", xgr.DeserializeVersionError),
        (text.replace("maskwright-1", "v18"), xgr.DeserializeVersionError),
        (xgr.Grammar.from_regex("a").serialize_json(), xgr.DeserializeFormatError),
        (text.replace("fingerprint", "finger"), xgr.DeserializeFormatError),
    ]:
        with pytest.raises(kind):
            xgr.TokenizerInfo.deserialize_json(broken)
    for call in (
        lambda: xgr.TokenizerInfo(["a", "b"], vocab_size=1),
        lambda: xgr.TokenizerInfo(["a"], stop_token_ids=[1]),
        lambda: xgr.TokenizerInfo.from_vocab_and_metadata(["a"], "{"),
        lambda: xgr.TokenizerInfo.from_vocab_and_metadata(["a"], "{}"),
    ):
        with pytest.raises(RuntimeError):
            call()


def test_from_huggingface() -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0, "Ġa": 1}, []))
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.add_special_tokens(["<eos>"])
    info = xgr.TokenizerInfo.from_huggingface(tokenizer, vocab_size=5, stop_token_ids=[2])
    assert type(info) is xgr.TokenizerInfo
    assert (info.decoded_vocab, info.stop_token_ids, info.vocab_size) == ([b"a", b" a", b"<eos>"], [2], 5)
    assert xgr.TokenizerInfo.from_huggingface(tokenizer, vocab_size=2, stop_token_ids=[1]).vocab_size == 2
    with pytest.raises(ValueError, match="stop_token_ids is empty"):
        xgr.TokenizerInfo.from_huggingface(tokenizer, stop_token_ids=[])
    with pytest.raises(ValueError, match="cannot read token bytes"):
        xgr.TokenizerInfo.from_huggingface(object())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        detected = xgr.TokenizerInfo._detect_metadata_from_hf(tokenizer.to_str())
    assert detected == {"vocab_type": xgr.VocabType.BYTE_LEVEL, "add_prefix_space": False}
    assert json.loads(info.dump_metadata())["vocab_type"] == 2
