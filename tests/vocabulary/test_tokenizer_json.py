"""``tokenizer.json`` documents: decoders, added tokens, ids."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import VocabularyError
from maskwright.vocabulary.decoding import VocabType
from maskwright.vocabulary.source import VocabularySource
from maskwright.vocabulary.tokenizer_json import read_document, tokens_by_id

SPACE = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
LLAMA_DECODER = {
    "type": "Sequence",
    "decoders": [
        SPACE,
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ],
}


def read(vocab: Any, decoder: Any = None, added: Any = (), **parts: Any) -> VocabularySource:
    model = {"type": "BPE", "vocab": vocab, **parts.pop("model", {})}
    return read_document({"model": model, "decoder": decoder, "added_tokens": list(added), **parts})


def test_byte_level() -> None:
    source = read({"Ġa": 0, "Ã©": 1}, {"type": "ByteLevel"})
    assert (source.decoded, source.vocab_type) == ([b" a", "é".encode()], VocabType.BYTE_LEVEL)


def test_llama_decoder() -> None:
    source = read({"▁a": 0, "<0x0A>": 1, "b": 2}, LLAMA_DECODER)
    assert (source.decoded, source.vocab_type) == ([b" a", b"\n", b"b"], VocabType.BYTE_FALLBACK)


def test_metaspace_with_another_replacement_and_unigram_pieces() -> None:
    source = read([["_a", -1.0], ["b", -2.0]], {"type": "Metaspace", "replacement": "_"})
    assert source.decoded == [b" a", b"b"]


def test_nested_sequences() -> None:
    decoder = {"type": "Sequence", "decoders": [{"type": "Sequence", "decoders": [{"type": "ByteLevel"}]}]}
    assert read({"Ġ": 0}, decoder).decoded == [b" "]


@pytest.mark.parametrize(
    ("vocab", "parts", "kind"),
    [
        ({"Ġ": 0}, {"pre_tokenizer": {"type": "ByteLevel"}}, VocabType.BYTE_LEVEL),
        ({"▁": 0}, {"pre_tokenizer": {"type": "Metaspace"}}, VocabType.BYTE_FALLBACK),
        ({"<0x0A>": 0}, {}, VocabType.BYTE_FALLBACK),
        ({"a": 0}, {}, VocabType.RAW),
    ],
)
def test_without_a_decoder(vocab: dict[str, int], parts: dict[str, Any], kind: VocabType) -> None:
    assert read(vocab, None, **parts).vocab_type is kind


@pytest.mark.parametrize(
    ("decoder", "model", "named"),
    [
        ({"type": "WordPiece", "prefix": "##"}, {}, "WordPiece"),
        ({"type": "BPEDecoder", "suffix": "</w>"}, {}, "BPEDecoder"),
        ({"type": "CTC"}, {}, "CTC"),
        (None, {"type": "WordPiece"}, "WordPiece"),
        ({"type": "Sequence", "decoders": [{"type": "ByteLevel"}, {"type": "Novel"}]}, {}, "Novel"),
        ({"type": "Replace", "pattern": {"Regex": "x+"}, "content": ""}, {}, "Regex"),
    ],
)
def test_decoders_without_bytes_per_token_are_refused_by_name(decoder: Any, model: Any, named: str) -> None:
    with pytest.raises(VocabularyError, match=named) as caught:
        read({"a": 0}, decoder, model=model)
    assert caught.value.hint


def test_added_tokens() -> None:
    added = [
        {"id": 1, "content": "é", "special": False},
        {"id": 2, "content": "<|im_end|>", "special": True},
        {"id": 3, "content": "<think>", "special": False},
        {"id": 5, "content": "    ", "special": False},
    ]
    source = read({"a": 0, "é": 1}, {"type": "ByteLevel"}, added)
    assert source.decoded == [b"a", "é".encode(), b"<|im_end|>", b"<think>", b"", b"    "]
    assert source.special_token_ids == {2, 3}
    assert source.stop_token_ids == [2]


def test_added_text_with_byte_fallback_has_its_spaces_spelled() -> None:
    added = [{"id": 1, "content": "▁▁", "special": False}, {"id": 2, "content": "<▁>", "special": True}]
    assert read({"a": 0}, LLAMA_DECODER, added).decoded == [b"a", b"  ", "<▁>".encode()]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({}, False),
        ({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True}}, True),
        ({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False}}, False),
        ({"pre_tokenizer": {"type": "Metaspace", "prepend_scheme": "first"}}, True),
        (
            {"pre_tokenizer": {"type": "Metaspace", "prepend_scheme": "never", "add_prefix_space": True}},
            False,
        ),
        ({"normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}]}}, True),
    ],
)
def test_prefix_space(parts: dict[str, Any], expected: bool) -> None:
    assert read({"a": 0}, {"type": "ByteLevel"}, **parts).add_prefix_space is expected


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({}, "no 'model'"),
        ({"model": {}}, "no vocabulary"),
        ({"model": {"vocab": [["a", 0.0], 3]}}, "entry 1 "),
        ({"model": {"vocab": {"a": 0}}, "added_tokens": [{"id": 1}]}, "added token is malformed"),
        ({"model": {"vocab": {"a": 0, "b": 0}}}, "two tokens have the id 0"),
        ({"model": {"vocab": {"a": -1}}}, "not a token id"),
        ({"model": {"vocab": {"a": 1 << 40}}}, "not a token id"),
        ({"model": {"vocab": {"a": "0"}}}, "not a token id"),
    ],
)
def test_malformed_documents(document: dict[str, Any], message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        read_document(document)


def test_holes_and_repeated_equal_tokens() -> None:
    assert tokens_by_id([(b"b", 2), (b"a", 0), (b"b", 2)]) == [b"a", b"", b"b"]
    assert tokens_by_id([]) == []
