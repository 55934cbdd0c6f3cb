"""From the way a tokenizer file spells a token to the bytes the token stands for.

Three spellings cover the tokenizers in use:

* ``RAW``: the token is its own bytes (text is UTF-8).
* ``BYTE_FALLBACK``: ``▁`` is a space and ``<0x0A>`` is one byte (SentencePiece).
* ``BYTE_LEVEL``: each byte is one printable character of a fixed alphabet of 256 (GPT-2).

A byte-level vocabulary also holds added tokens that are spelled as plain text. A token with any
character outside the alphabet is therefore read as UTF-8, whole. A caller who knows which tokens
were added passes them as raw bytes and nothing needs guessing.

Rejected: decoding id by id through the tokenizer library. Its text has replacement characters
where a token ends inside a character, and some libraries drop leading spaces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from enum import IntEnum
from typing import Final

from maskwright.errors import VocabularyError

__all__ = ["VocabType", "byte_level_alphabet", "decode_token", "decode_vocabulary"]


class VocabType(IntEnum):
    """How the tokens of a vocabulary are spelled."""

    RAW = 0  #: the token's own bytes
    BYTE_FALLBACK = 1  #: SentencePiece: ``▁`` for a space, ``<0x0A>`` for a byte
    BYTE_LEVEL = 2  #: GPT-2: one printable character per byte


_BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>")

# Not a Latin-1 character: encoding it fails, which sends the token down the plain-text path.
_OUTSIDE: Final = 0xFFFF


def byte_level_alphabet() -> list[str]:
    """The character that stands for each byte, by byte value.

    Printable Latin-1 characters stand for themselves; the other 68 bytes take the code points
    from U+0100 on, in order. So a space is ``Ġ`` (U+0120) and a newline ``Ċ`` (U+010A).

    >>> byte_level_alphabet()[0x20], byte_level_alphabet()[0x41]
    ('Ġ', 'A')
    """
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


def _translation() -> dict[int, int]:
    table = dict.fromkeys(range(256), _OUTSIDE)
    table.update({ord(character): byte for byte, character in enumerate(byte_level_alphabet())})
    return table


_TO_BYTE: Final = _translation()


def _from_byte_level(token: str) -> bytes:
    try:
        return token.translate(_TO_BYTE).encode("latin-1")
    except UnicodeEncodeError:
        return token.encode()


def _from_byte_fallback(token: str) -> bytes:
    piece = _BYTE_PIECE.fullmatch(token)
    if piece is not None:
        return bytes((int(piece[1], 16),))
    return token.replace("▁", " ").encode()


_DECODERS: Final[dict[VocabType, Callable[[str], bytes]]] = {
    VocabType.RAW: str.encode,
    VocabType.BYTE_FALLBACK: _from_byte_fallback,
    VocabType.BYTE_LEVEL: _from_byte_level,
}


def decode_token(token: str, vocab_type: VocabType) -> bytes:
    r"""The bytes of one token.

    >>> decode_token("<0x0A>", VocabType.BYTE_FALLBACK), decode_token("Ġhi", VocabType.BYTE_LEVEL)
    (b'\n', b' hi')
    """
    return _DECODERS[vocab_type](token)


def decode_vocabulary(
    encoded: Sequence[str | bytes], vocab_type: VocabType, plain_ids: Collection[int] = ()
) -> list[bytes]:
    """The bytes of every token of a list.

    ``bytes`` entries are spelled like ``str`` ones, in UTF-8; with ``RAW`` they are the bytes.

    Args:
        encoded: One entry per id.
        vocab_type: How the entries are spelled.
        plain_ids: Ids whose entries are plain text all the same (added tokens).

    Raises:
        VocabularyError: an entry is neither text nor bytes, or is not valid Unicode.
    """
    decode = _DECODERS[vocab_type]
    plain = frozenset(plain_ids)
    decoded: list[bytes] = []
    for token_id, token in enumerate(encoded):
        raw = vocab_type is VocabType.RAW or token_id in plain
        try:
            if isinstance(token, str):
                decoded.append(token.encode() if raw else decode(token))
            elif isinstance(token, (bytes, bytearray)):
                decoded.append(bytes(token) if raw else decode(token.decode()))
            else:
                raise VocabularyError(
                    f"token {token_id} is a {type(token).__name__}, not text or bytes",
                    hint="give every id an entry; an empty string marks an id without text",
                )
        except UnicodeError as error:
            raise VocabularyError(
                f"token {token_id} ({token!r}) is not valid Unicode text: {error}",
                hint="pass raw bytes with VocabType.RAW",
            ) from None
    return decoded
