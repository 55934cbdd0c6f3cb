"""SentencePiece models: the wire format, and real models against the library."""

from __future__ import annotations

from pathlib import Path

import pytest

from maskwright.errors import VocabularyError
from maskwright.vocabulary import TokenizerInfo, VocabType
from maskwright.vocabulary.sentencepiece_ import PieceType
from tests.vocabulary.real import SENTENCEPIECE_FILES, library, sentencepiece_file


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def model(*pieces: tuple[str, int], eos: int | None = None, dummy_prefix: bool | None = None) -> bytes:
    """A ModelProto with scores (a wire type that is skipped) in every piece."""
    score = varint(2 << 3 | 5) + bytes(4)
    proto = b"".join(field(1, field(1, text.encode()) + score + field(3, kind)) for text, kind in pieces)
    if eos is not None:
        proto += field(2, field(42, eos))
    if dummy_prefix is not None:
        proto += field(3, field(1, b"nmt") + field(3, int(dummy_prefix)))
    return proto


PIECES = (
    ("<unk>", PieceType.UNKNOWN),
    ("<0x0A>", PieceType.BYTE),
    ("<0x41>", PieceType.NORMAL),
    ("▁the", PieceType.NORMAL),
    ("</s>", PieceType.CONTROL),
    ("old", PieceType.UNUSED),
    ("▁▁", PieceType.USER_DEFINED),
    ("<table>", PieceType.USER_DEFINED),
    ("[INST]", PieceType.USER_DEFINED),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tokenizer.model"
    path.write_bytes(model(*PIECES, eos=4, dummy_prefix=False))
    return path


def test_types_decide(file: Path) -> None:
    info = TokenizerInfo.from_sentencepiece(file)
    assert info.decoded_vocab == [
        b"<unk>", b"\n", b"<0x41>", b" the", b"</s>", b"old", b"  ", b"<table>", b"[INST]",
    ]  # fmt: skip
    assert info.special_token_ids == [0, 4, 5, 8]
    assert (info.stop_token_ids, info.add_prefix_space) == ([4], False)
    assert info.vocab_type is VocabType.BYTE_FALLBACK


def test_defaults_of_absent_fields(tmp_path: Path) -> None:
    path = tmp_path / "m"
    path.write_bytes(model(("a", 1), ("b", 1), ("<e>", PieceType.CONTROL)))
    info = TokenizerInfo.from_sentencepiece(str(path))
    assert (info.stop_token_ids, info.add_prefix_space) == ([2], True)


def test_a_disabled_end_token(tmp_path: Path) -> None:
    path = tmp_path / "m"
    path.write_bytes(model(("a", 1), ("<c>", PieceType.CONTROL), eos=-1))
    assert TokenizerInfo.from_sentencepiece(path).stop_token_ids == []


def test_a_cut_file_is_an_error_or_a_shorter_vocabulary(file: Path) -> None:
    """Never a crash of another kind; a cut between two fields cannot be noticed."""
    whole = file.read_bytes()
    full = TokenizerInfo.from_sentencepiece(file).decoded_vocab
    errors = []
    for size in range(len(whole)):
        file.write_bytes(whole[:size])
        try:
            shorter = TokenizerInfo.from_sentencepiece(file).decoded_vocab
        except VocabularyError as error:
            errors.append(error.message)
        else:
            assert shorter == full[: len(shorter)]
    assert len(errors) > len(whole) // 2
    assert all("malformed" in message for message in errors)


@pytest.mark.parametrize("content", [b"", b"\x0b", b"\xff" * 20, b"IQ== 0\nIg== 1\n"])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m"
    path.write_bytes(content)
    with pytest.raises(VocabularyError, match="malformed"):
        TokenizerInfo.from_sentencepiece(path)


def test_other_things_are_refused() -> None:
    with pytest.raises(VocabularyError, match="dict is not a SentencePiece model"):
        TokenizerInfo.from_sentencepiece({})


@pytest.mark.parametrize("pattern", SENTENCEPIECE_FILES)
def test_real_models_agree_with_the_library(pattern: str) -> None:
    file = sentencepiece_file(pattern)
    processor = library("sentencepiece").SentencePieceProcessor(model_file=str(file))
    info = TokenizerInfo.from_sentencepiece(file)
    assert info == TokenizerInfo.from_sentencepiece(processor)
    assert info.vocab_size == len(processor)
    special = set(info.special_token_ids)
    for token_id in range(info.vocab_size):
        piece, raw = processor.id_to_piece(token_id), info.decoded_vocab[token_id]
        if processor.is_byte(token_id):
            assert raw == bytes([int(piece[3:5], 16)])
        else:
            assert raw == (piece if token_id in special else piece.replace("▁", " ")).encode()
        if processor.is_control(token_id) or processor.is_unknown(token_id) or processor.is_unused(token_id):
            assert token_id in special
    assert info.stop_token_ids == [processor.eos_id()]
    report = info.self_test()
    assert report.ok
    assert report.round_trip
    assert not report.problems
