"""Spelling of tokens to bytes: the three alphabets, exactly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskwright.errors import VocabularyError
from maskwright.vocabulary.decoding import VocabType, byte_level_alphabet, decode_token, decode_vocabulary


def test_byte_level_alphabet_is_a_bijection() -> None:
    alphabet = byte_level_alphabet()
    assert len(alphabet) == len(set(alphabet)) == 256
    assert [alphabet[byte] for byte in b"A~ \n\xad\xff"] == ["A", "~", "Ġ", "Ċ", "Ń", "ÿ"]


@given(st.binary())
def test_byte_level_spelling_of_any_bytes_comes_back(raw: bytes) -> None:
    alphabet = byte_level_alphabet()
    spelled = "".join(alphabet[byte] for byte in raw)
    assert decode_token(spelled, VocabType.BYTE_LEVEL) == raw


@given(st.text())
def test_byte_level_is_all_or_nothing(text: str) -> None:
    """A token is either wholly in the alphabet or wholly plain text, never a mixture."""
    alphabet = {character: byte for byte, character in enumerate(byte_level_alphabet())}
    expected = (
        bytes(alphabet[character] for character in text)
        if all(character in alphabet for character in text)
        else text.encode()
    )
    assert decode_token(text, VocabType.BYTE_LEVEL) == expected


@pytest.mark.parametrize(
    ("token", "raw"),
    [
        ("<0x0A>", b"\n"),
        ("<0xe4>", b"\xe4"),
        ("▁▁a", b"  a"),
        ("<0x0A", b"<0x0A"),
        ("a<0x0A>", b"a<0x0A>"),
        ("<0x0AB>", b"<0x0AB>"),
        ("中", "中".encode()),
    ],
)
def test_byte_fallback(token: str, raw: bytes) -> None:
    assert decode_token(token, VocabType.BYTE_FALLBACK) == raw


def test_bytes_are_spelled_like_text_except_raw() -> None:
    assert decode_vocabulary(["Ġa".encode()], VocabType.BYTE_LEVEL) == [b" a"]
    assert decode_vocabulary([b"\xff\xfe"], VocabType.RAW) == [b"\xff\xfe"]


def test_plain_ids_are_not_decoded() -> None:
    tokens = ["Ġ", "Ġ", "<0x41>"]
    assert decode_vocabulary(tokens[:2], VocabType.BYTE_LEVEL, plain_ids=[1]) == [b" ", "Ġ".encode()]
    assert decode_vocabulary(tokens[2:], VocabType.BYTE_FALLBACK, plain_ids=[0]) == [b"<0x41>"]


@pytest.mark.parametrize("kind", list(VocabType))
@pytest.mark.parametrize("token", ["\ud800", None, 7])
def test_entries_that_are_no_text_are_refused_with_their_id(kind: VocabType, token: object) -> None:
    with pytest.raises(VocabularyError, match="token 1 ") as caught:
        decode_vocabulary(["a", token], kind)  # type: ignore[list-item]
    assert caught.value.hint


def test_invalid_utf8_is_refused_unless_raw() -> None:
    with pytest.raises(VocabularyError, match="not valid Unicode"):
        decode_vocabulary([b"\xff"], VocabType.BYTE_LEVEL)
