"""GGUF files: the header reader on written and damaged files, and a real model."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from maskwright.errors import VocabularyError
from maskwright.vocabulary import TokenizerInfo, VocabType
from maskwright.vocabulary.gguf import read_header
from maskwright.vocabulary.sentencepiece_ import PieceType
from tests.vocabulary.real import EXPECTED, library, real_file, real_vocabulary

UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY, FLOAT64 = 4, 5, 6, 7, 8, 9, 12
SCALARS = {UINT32: "I", INT32: "i", FLOAT32: "f", BOOL: "?", FLOAT64: "d"}


def encode(kind: int, value: Any, order: str) -> bytes:
    if kind == STRING:
        raw = value if isinstance(value, bytes) else value.encode()
        return struct.pack(order + "Q", len(raw)) + raw
    if kind == ARRAY:
        inner, items = value
        body = b"".join(encode(inner, item, order) for item in items)
        return struct.pack(order + "IQ", inner, len(items)) + body
    return struct.pack(order + SCALARS[kind], value)


def gguf(pairs: dict[str, tuple[int, Any]], order: str = "<", version: int = 3) -> bytes:
    body = b"GGUF" + struct.pack(order + "IQQ", version, 0, len(pairs))
    for key, (kind, value) in pairs.items():
        body += encode(STRING, key, order) + struct.pack(order + "I", kind) + encode(kind, value, order)
    return body


def tokenizer(
    model: str, pieces: list[tuple[Any, int]], **extra: tuple[int, Any]
) -> dict[str, tuple[int, Any]]:
    values = {
        "model": (STRING, model),
        "tokens": (ARRAY, (STRING, [text for text, _ in pieces])),
        "scores": (ARRAY, (FLOAT32, [0.0] * len(pieces))),
        "token_type": (ARRAY, (INT32, [int(kind) for _, kind in pieces])),
        **extra,
    }
    return {
        "general.architecture": (STRING, "llama"),
        "general.nested": (ARRAY, (ARRAY, [(UINT32, [1, 2]), (STRING, ["x"])])),
        "general.scale": (FLOAT64, 0.5),
        **{f"tokenizer.ggml.{key}": value for key, value in values.items()},
    }


BYTE_LEVEL = [
    ("Ġa", PieceType.NORMAL),
    ("é", PieceType.USER_DEFINED),
    ("<|im_end|>", PieceType.CONTROL),
    ("<tool_call>", PieceType.USER_DEFINED),
    ("[PAD4]", PieceType.UNUSED),
    ("<end>", PieceType.CONTROL),
]


def read(tmp_path: Path, content: bytes) -> TokenizerInfo:
    file = tmp_path / "model.gguf"
    file.write_bytes(content)
    return TokenizerInfo.from_gguf(file)


def test_byte_level(tmp_path: Path) -> None:
    info = read(
        tmp_path, gguf(tokenizer("gpt2", BYTE_LEVEL, eot_token_id=(UINT32, 5), eos_token_id=(UINT32, 2)))
    )
    assert info.decoded_vocab == [b" a", "é".encode(), b"<|im_end|>", b"<tool_call>", b"[PAD4]", b"<end>"]
    assert (info.special_token_ids, info.stop_token_ids) == ([2, 3, 4, 5], [2, 5])
    assert (info.vocab_type, info.add_prefix_space) == (VocabType.BYTE_LEVEL, False)


@pytest.mark.parametrize("model", ["llama", "t5", "gemma4"])
def test_sentencepiece_spelling(tmp_path: Path, model: str) -> None:
    pieces = [
        ("<unk>", PieceType.UNKNOWN),
        ("</s>", PieceType.CONTROL),
        ("<0x0A>", PieceType.BYTE),
        ("▁a", PieceType.NORMAL),
        ("  ", PieceType.USER_DEFINED),
    ]
    info = read(tmp_path, gguf(tokenizer(model, pieces, eos_token_id=(UINT32, 1))))
    assert info.decoded_vocab == [b"<unk>", b"</s>", b"\n", b" a", b"  "]
    assert (info.special_token_ids, info.stop_token_ids) == ([0, 1], [1])
    assert (info.vocab_type, info.add_prefix_space) == (VocabType.BYTE_FALLBACK, True)


def test_add_space_prefix_is_read(tmp_path: Path) -> None:
    pairs = tokenizer("llama", [("a", PieceType.NORMAL)], add_space_prefix=(BOOL, False))
    assert read(tmp_path, gguf(pairs)).add_prefix_space is False


def test_big_endian_and_version_2_files(tmp_path: Path) -> None:
    pairs = tokenizer("gpt2", BYTE_LEVEL)
    expected = read(tmp_path, gguf(pairs))
    assert read(tmp_path, gguf(pairs, order=">")) == expected
    assert read(tmp_path, gguf(pairs, version=2)) == expected


def test_stop_ids_out_of_range_are_dropped(tmp_path: Path) -> None:
    pairs = tokenizer("gpt2", BYTE_LEVEL, eos_token_id=(UINT32, 0xFFFFFFFF))
    assert read(tmp_path, gguf(pairs)).stop_token_ids == [2]


def test_tokens_that_are_not_utf8_keep_their_bytes(tmp_path: Path) -> None:
    info = read(tmp_path, gguf(tokenizer("gpt2", [(b"<\xff>", PieceType.CONTROL), ("a", PieceType.NORMAL)])))
    assert info.decoded_vocab == [b"<\xff>", b"a"]


def test_a_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    whole = gguf(tokenizer("gpt2", BYTE_LEVEL))
    for size in range(0, len(whole)):
        with pytest.raises(VocabularyError) as caught:
            read(tmp_path, whole[:size])
        assert caught.value.hint


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04" + bytes(40), "does not start with 'GGUF'"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "its version is 1"),
        (gguf({}), "has no tokenizer"),
        (gguf(tokenizer("bert", BYTE_LEVEL)), "of the kind 'bert'"),
        (gguf(tokenizer("gpt2", BYTE_LEVEL, token_type=(ARRAY, (INT32, [1])))), "6 tokens but 1 token types"),
        (
            gguf({"k": (STRING, "v")}).replace(struct.pack("<IQ", STRING, 1), struct.pack("<IQ", 77, 1)),
            "type 77",
        ),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 1 << 62), "inside its header"),
        (
            b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1) + b"k" + struct.pack("<IIQ", ARRAY, INT32, 1 << 60),
            "inside its header",
        ),
    ],
)
def test_damaged_files(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        read(tmp_path, content)


def test_an_absent_or_empty_file(tmp_path: Path) -> None:
    with pytest.raises(VocabularyError, match="cannot read the GGUF file"):
        TokenizerInfo.from_gguf(tmp_path / "absent.gguf")
    with pytest.raises(VocabularyError, match="not a usable GGUF file"):
        read(tmp_path, b"")


def test_a_real_model() -> None:
    info = real_vocabulary("smollm2")
    n_text, n_special, stops = EXPECTED["smollm2"]
    assert (info.vocab_size, len(info.special_token_ids)) == (n_text + n_special, n_special)
    assert tuple(info.decoded_vocab[token_id] for token_id in info.stop_token_ids) == stops
    assert info.self_test().ok


def test_the_header_agrees_with_the_gguf_package() -> None:
    package = library("gguf")
    file = real_file("smollm2")
    header = read_header(file)
    fields = package.GGUFReader(file).fields
    for key in ("tokenizer.ggml.eos_token_id", "llama.rope.freq_base", "tokenizer.ggml.add_bos_token"):
        assert header[key] == fields[key].contents()
    assert header["general.architecture"].decode() == fields["general.architecture"].contents()
    tokens = fields["tokenizer.ggml.tokens"]
    assert header["tokenizer.ggml.tokens"] == [bytes(tokens.parts[part]) for part in tokens.data]
