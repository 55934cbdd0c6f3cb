"""tiktoken encodings and rank files.

A rank file has one token per line: its bytes in base64, a space, its rank, which is its id. The
special tokens are not in the file; code that loads it adds them, so the caller must say them.

The files are read here and not with tiktoken's loader, which fetches and caches URLs and is not
needed for the rest.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from maskwright.errors import VocabularyError
from maskwright.vocabulary.decoding import VocabType
from maskwright.vocabulary.source import PathLike, VocabularySource, read_bytes
from maskwright.vocabulary.special import chat_end_ids
from maskwright.vocabulary.tokenizer_json import tokens_by_id

__all__ = ["read_ranks", "read_tiktoken"]


def read_tiktoken(encoding: Any, special_tokens: Mapping[str, int] | None = None) -> VocabularySource:
    """The vocabulary of an encoding, a rank file or a mapping of bytes to ranks."""
    special = dict(special_tokens or {})
    if isinstance(encoding, (str, Path)):
        pairs = list(read_ranks(encoding))
    elif isinstance(encoding, Mapping):
        pairs = list(encoding.items())
    elif hasattr(encoding, "decode_single_token_bytes"):
        own = {name: int(encoding.encode_single_token(name)) for name in encoding.special_tokens_set}
        special = {**own, **special}
        pairs = list(_encoding_tokens(encoding, set(own.values())))
    else:
        raise VocabularyError(
            f"a {type(encoding).__qualname__} is not a tiktoken encoding",
            hint="pass a tiktoken.Encoding, the path of a rank file, or a mapping of bytes to ranks",
        )
    pairs += [(text.encode(), token_id) for text, token_id in special.items()]
    source = VocabularySource(
        decoded=tokens_by_id(pairs),
        vocab_type=VocabType.RAW,
        special_token_ids=set(special.values()),
        stop_token_ids=chat_end_ids(special),
    )
    if hasattr(encoding, "encode_ordinary"):
        source.encode = encoding.encode_ordinary
    return source


def read_ranks(path: PathLike) -> Iterator[tuple[bytes, int]]:
    """Token bytes and rank of each line of a rank file."""
    content = read_bytes(path, "the rank file")
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            encoded, rank = line.split()
            yield base64.b64decode(encoded, validate=True), int(rank)
        except (binascii.Error, ValueError):
            raise VocabularyError(
                f"line {number} of {Path(path).name} is not a base64 token and its rank: {line[:60]!r}",
                hint="a SentencePiece model is read by from_sentencepiece()",
            ) from None


def _encoding_tokens(encoding: Any, special_ids: set[int]) -> Iterator[tuple[bytes, int]]:
    for token_id in range(encoding.n_vocab):
        if token_id in special_ids:
            continue
        try:
            yield encoding.decode_single_token_bytes(token_id), token_id
        except KeyError:  # ids between the ranks and the special tokens may be unused
            continue
