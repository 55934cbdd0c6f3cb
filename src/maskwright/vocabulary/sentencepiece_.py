"""SentencePiece models: the pieces, straight from the protocol buffer.

A model is a ``ModelProto``: repeated ``pieces`` (text, score, type), then the trainer's and the
normaliser's settings. Only six fields matter, so the wire format is walked here (it has four
kinds of value) and neither `sentencepiece` nor `protobuf` is needed to read a file.

The type of each piece is exact in the proto; the library's methods do not tell user-defined
pieces from normal ones, which is the other reason for not asking it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, Final

from maskwright.errors import VocabularyError
from maskwright.vocabulary.decoding import VocabType, decode_token
from maskwright.vocabulary.source import VocabularySource, read_bytes
from maskwright.vocabulary.special import chat_end_ids, is_marker

__all__ = ["PieceType", "piece_bytes", "read_sentencepiece"]


class PieceType(IntEnum):
    """Kinds of pieces; llama.cpp uses the same numbers."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


_NEVER_TEXT: Final = frozenset({PieceType.UNKNOWN, PieceType.CONTROL, PieceType.UNUSED})

# Field numbers of ModelProto, SentencePiece, TrainerSpec and NormalizerSpec.
_PIECES, _TRAINER, _NORMALIZER = 1, 2, 3
_PIECE_TEXT, _PIECE_TYPE = 1, 3
_TRAINER_EOS_ID, _DEFAULT_EOS_ID = 42, 2
_NORMALIZER_DUMMY_PREFIX = 3


def piece_bytes(text: str, kind: int) -> bytes:
    """The bytes of one piece: ``<0x0A>`` is a byte only if its type says so."""
    if kind == PieceType.BYTE:
        return decode_token(text, VocabType.BYTE_FALLBACK)
    if kind in _NEVER_TEXT:
        return text.encode("utf-8", "replace")
    return text.replace("▁", " ").encode("utf-8", "replace")


def is_special_piece(text: str, kind: int) -> bool:
    """Whether text must not match the piece."""
    return kind in _NEVER_TEXT or (kind == PieceType.USER_DEFINED and is_marker(text))


def read_sentencepiece(model: Any) -> VocabularySource:
    """The vocabulary of a ``.model`` file or of a `SentencePieceProcessor`."""
    if isinstance(model, (str, Path)):
        proto = read_bytes(model, "the SentencePiece model")
    elif hasattr(model, "serialized_model_proto"):
        proto = model.serialized_model_proto()
    else:
        raise VocabularyError(
            f"a {type(model).__qualname__} is not a SentencePiece model",
            hint="pass the path of a .model file or a SentencePieceProcessor",
        )
    try:
        source = _read_proto(proto)
    except (IndexError, ValueError) as error:
        raise VocabularyError(
            f"the SentencePiece model is malformed: {error}",
            hint="a file with one base64 token per line is read by from_tiktoken()",
        ) from None
    source.encode = _encoder(model, proto)
    return source


def _encoder(model: Any, proto: bytes) -> Callable[[str], Sequence[int]] | None:
    if not isinstance(model, (str, Path)):
        return lambda text: list(model.encode(text))
    if importlib.util.find_spec("sentencepiece") is None:
        return None

    def encode(text: str) -> Sequence[int]:
        from sentencepiece import SentencePieceProcessor

        return list(SentencePieceProcessor(model_proto=proto).encode(text))

    return encode


def _read_proto(proto: bytes) -> VocabularySource:
    pieces: list[tuple[str, int]] = []
    eos_id, dummy_prefix = _DEFAULT_EOS_ID, True
    for number, value in _fields(proto):
        if number == _PIECES:
            pieces.append(_piece(value))
        elif number == _TRAINER:
            eos_id = _last_int(value, _TRAINER_EOS_ID, eos_id)
        elif number == _NORMALIZER:
            dummy_prefix = bool(_last_int(value, _NORMALIZER_DUMMY_PREFIX, int(dummy_prefix)))
    if not pieces:
        raise ValueError("it has no pieces")
    special = {i for i, (text, kind) in enumerate(pieces) if is_special_piece(text, kind)}
    ends = chat_end_ids((pieces[i][0], i) for i in special)
    # A disabled end token is -1, which the proto stores as a 64-bit two's complement.
    eos = [eos_id] if eos_id < len(pieces) and eos_id in special else []
    return VocabularySource(
        decoded=[piece_bytes(text, kind) for text, kind in pieces],
        vocab_type=VocabType.BYTE_FALLBACK,
        special_token_ids=special,
        stop_token_ids=list(dict.fromkeys([*eos, *ends])),
        add_prefix_space=dummy_prefix,
    )


def _piece(message: int | bytes) -> tuple[str, int]:
    text, kind = "", int(PieceType.NORMAL)
    for number, value in _fields(message):
        if number == _PIECE_TEXT and isinstance(value, bytes):
            text = value.decode()
        elif number == _PIECE_TYPE and isinstance(value, int):
            kind = value
    return text, kind


def _last_int(message: int | bytes, wanted: int, default: int) -> int:
    for number, value in _fields(message):
        if number == wanted and isinstance(value, int):
            default = value
    return default


def _fields(message: int | bytes) -> Iterator[tuple[int, int | bytes]]:
    """Field number and value of a protocol buffer message; numbers as int, the rest as bytes."""
    if isinstance(message, int):
        raise ValueError("a message was expected, not a number")
    position = 0
    while position < len(message):
        tag, position = _varint(message, position)
        wire = tag & 7
        if wire == 0:
            value, position = _varint(message, position)
            yield tag >> 3, value
            continue
        if wire == 2:
            size, position = _varint(message, position)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
        else:
            raise ValueError(f"unknown wire type {wire} at byte {position}")
        if position + size > len(message):
            raise ValueError(f"the file ends inside a field at byte {position}")
        yield tag >> 3, message[position : position + size]
        position += size


def _varint(message: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
        if shift > 63:
            raise ValueError(f"a number is too long at byte {position}")
