"""A vocabulary as JSON text, and its content hash.

The tokens are one base64 string of all bytes in order plus a list of lengths: any byte sequence
survives, and 128,000 tokens are read in about 20 ms.

Rejected: JSON strings in Latin-1 (``"\\u00e9"`` six characters for one byte, and editors "repair"
them), and pickle (reading a stored vocabulary must not run code).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import itertools
import json
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from maskwright.errors import VocabularyError

__all__ = ["content_hash", "dump_json", "dump_vocabulary", "parse_metadata", "parse_vocabulary"]

_FORMAT: Final = "maskwright.vocabulary"
_VERSION: Final = 1

#: Keys of the metadata and their types; XGrammar's metadata lacks the last one.
_METADATA_TYPES: Final[dict[str, type]] = {
    "vocab_type": int,
    "vocab_size": int,
    "add_prefix_space": bool,
    "stop_token_ids": list,
    "special_token_ids": list,
}


def content_hash(
    decoded: Sequence[bytes], vocab_size: int, special_ids: Sequence[int], stop_ids: Sequence[int]
) -> str:
    """SHA-256 of the numbers as little-endian int64 and the bytes, each part with its length first."""
    parts = [
        [vocab_size],
        sorted(special_ids),
        sorted(stop_ids),
        [len(raw) for raw in decoded],
    ]
    digest = hashlib.sha256(b"maskwright vocabulary 1\0")
    for part in parts:
        digest.update(np.array([len(part), *part], dtype="<i8").tobytes())
    digest.update(b"".join(decoded))
    return digest.hexdigest()


def dump_json(value: Any) -> str:
    """Compact JSON text."""
    return json.dumps(value, separators=(",", ":"))


def dump_vocabulary(decoded: Sequence[bytes], metadata: dict[str, Any], fingerprint: str) -> str:
    """The whole vocabulary as JSON text."""
    return dump_json(
        {
            "format": _FORMAT,
            "version": _VERSION,
            "metadata": metadata,
            "fingerprint": fingerprint,
            "token_lengths": [len(raw) for raw in decoded],
            "token_bytes": base64.b64encode(b"".join(decoded)).decode("ascii"),
        }
    )


def parse_metadata(text: str) -> dict[str, Any]:
    """Keyword arguments for `TokenizerInfo` from the text of `dump_metadata`."""
    return _checked_metadata(_parse_object(text, "vocabulary metadata"))


def parse_vocabulary(text: str) -> tuple[list[bytes], dict[str, Any], str]:
    """Tokens, metadata and the fingerprint they should have."""
    stored = _parse_object(text, "a stored vocabulary")
    if stored.get("format") != _FORMAT:
        raise VocabularyError(
            "the text is not a stored vocabulary", hint="it must come from TokenizerInfo.serialize_json()"
        )
    if stored.get("version") != _VERSION:
        raise VocabularyError(
            f"the stored vocabulary has version {stored.get('version')!r}, this library reads {_VERSION}",
            hint="serialize the vocabulary again with this version",
        )
    metadata = stored.get("metadata")
    if not isinstance(metadata, dict):
        raise VocabularyError("the stored vocabulary has no metadata", hint="serialize it again")
    return _parse_tokens(stored), _checked_metadata(metadata), str(stored.get("fingerprint"))


def _parse_object(text: str, what: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (TypeError, ValueError) as error:
        raise VocabularyError(f"{what} is not JSON: {error}", hint="pass the text unchanged") from None
    if not isinstance(value, dict):
        raise VocabularyError(f"{what} must be a JSON object", hint="pass the text unchanged")
    return value


def _checked_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    checked: dict[str, Any] = {"special_token_ids": []}
    for key, kind in _METADATA_TYPES.items():
        value = metadata.get(key, checked.get(key))
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise VocabularyError(
                f"vocabulary metadata: {key!r} must be of type {kind.__name__}, not {value!r}",
                hint="it must come from TokenizerInfo.dump_metadata()",
            )
        checked[key] = value
    return checked


def _parse_tokens(stored: dict[str, Any]) -> list[bytes]:
    lengths, encoded = stored.get("token_lengths"), stored.get("token_bytes")
    try:
        flat = base64.b64decode(encoded, validate=True) if isinstance(encoded, str) else None
    except (binascii.Error, ValueError):
        flat = None
    sound = isinstance(lengths, list) and all(type(n) is int and n >= 0 for n in lengths)
    if flat is None or not isinstance(lengths, list) or not sound or sum(lengths) != len(flat):
        raise VocabularyError(
            "the stored vocabulary is damaged: token lengths and bytes do not fit together",
            hint="serialize the vocabulary again",
        )
    offsets = [0, *itertools.accumulate(lengths)]
    return [flat[start:end] for start, end in itertools.pairwise(offsets)]
