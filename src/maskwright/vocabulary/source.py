"""What a loader hands over: one vocabulary, decoded, with what its file says about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from maskwright.errors import VocabularyError
from maskwright.vocabulary.decoding import VocabType

__all__ = ["PathLike", "VocabularySource", "as_ids", "missing_package", "read_bytes"]

PathLike = str | Path


@dataclass(slots=True, kw_only=True)
class VocabularySource:
    """A vocabulary as a loader found it; ids index ``decoded`` without holes (a hole is ``b""``)."""

    decoded: list[bytes]
    vocab_type: VocabType
    special_token_ids: set[int] = field(default_factory=set)
    stop_token_ids: list[int] = field(default_factory=list)
    add_prefix_space: bool = False
    #: Text to ids, without any special token; for the self-test only.
    encode: Callable[[str], Sequence[int]] | None = None


def as_ids(value: object) -> list[int]:
    """Token ids from what configuration files and tokenizer objects hold: an id, a list, or nothing."""
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, int):
        return [value]
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return [int(item) for item in value if isinstance(item, int) and not isinstance(item, bool)]
    return []


def read_bytes(path: PathLike, what: str) -> bytes:
    """The content of a file.

    Raises:
        VocabularyError: it cannot be read; `what` names the kind of file in the message.
    """
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise VocabularyError(
            f"cannot read {what} {str(path)!r}: {error.strerror or error}",
            hint="pass the path of an existing, readable file",
        ) from error


def missing_package(what: str, package: str) -> VocabularyError:
    """The error for an optional library that is not installed."""
    return VocabularyError(f"{what} needs the package {package!r}", hint=f"pip install {package}")
