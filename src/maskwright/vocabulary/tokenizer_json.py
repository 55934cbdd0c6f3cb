"""A ``tokenizer.json`` document (the format of the `tokenizers` library) as a vocabulary.

The decoder of the document says how tokens become text. Some of its steps work on single tokens
(byte alphabet, ``<0x0A>``, replacing ``▁``): those are applied here, token by token. Joining and
stripping steps work on whole texts and do not concern a token's bytes. A decoder with a step that
makes a token's bytes depend on its neighbours (WordPiece, BPE with word suffixes, CTC) is refused:
such a vocabulary has no bytes per id.

Tokens that were *added* are matched in the text before it is split, so they are plain text; the
special ones and those with the shape of a control token are kept apart from text.

Without a decoder the pre-tokenizer decides, then the spelling of the tokens themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from maskwright.errors import VocabularyError
from maskwright.vocabulary.decoding import VocabType, decode_token
from maskwright.vocabulary.source import VocabularySource
from maskwright.vocabulary.special import chat_end_ids, is_marker

__all__ = ["MAX_TOKENS", "read_document", "tokens_by_id"]

#: A larger id is a damaged file: the largest vocabularies in use have about 300,000 tokens.
MAX_TOKENS: Final = 1 << 24

_WHOLE_TEXT_STEPS: Final = frozenset({"Fuse", "Strip"})


@dataclass(slots=True)
class _Spelling:
    """The token-wise steps of a decoder."""

    vocab_type: VocabType = VocabType.RAW
    replacements: list[tuple[str, str]] = field(default_factory=list)

    def decode(self, token: str) -> bytes:
        if self.vocab_type is VocabType.BYTE_LEVEL:
            return decode_token(token, self.vocab_type)
        for old, new in self.replacements:
            token = token.replace(old, new)
        return decode_token(token, self.vocab_type)


def read_document(document: Mapping[str, Any]) -> VocabularySource:
    """The vocabulary of a parsed ``tokenizer.json``.

    Raises:
        VocabularyError: the document is malformed, or its tokens have no bytes of their own.
    """
    model = document.get("model")
    if not isinstance(model, Mapping):
        raise VocabularyError(
            "the tokenizer document has no 'model'",
            hint="pass the tokenizer.json of the model, not its config.json",
        )
    vocabulary = list(_model_tokens(model))
    spelling = _spelling(document, model, [token for token, _ in vocabulary])
    added = [_added_token(entry) for entry in document.get("added_tokens") or []]
    special = {token_id for text, token_id, flagged in added if flagged or is_marker(text)}
    added_ids = {token_id for _, token_id, _ in added}
    pairs = [
        (spelling.decode(token), token_id) for token, token_id in vocabulary if token_id not in added_ids
    ]
    pairs += [(_added_bytes(text, token_id in special, spelling), token_id) for text, token_id, _ in added]
    return VocabularySource(
        decoded=tokens_by_id(pairs),
        vocab_type=spelling.vocab_type,
        special_token_ids=special,
        stop_token_ids=chat_end_ids((text, token_id) for text, token_id, _ in added if token_id in special),
        add_prefix_space=_adds_prefix_space(document),
    )


def tokens_by_id(pairs: Iterable[tuple[bytes, int]]) -> list[bytes]:
    """A list of token bytes by id; holes are ``b""``.

    Raises:
        VocabularyError: an id is out of range or belongs to two different tokens.
    """
    found: dict[int, bytes] = {}
    for raw, token_id in pairs:
        if not isinstance(token_id, int) or not 0 <= token_id < MAX_TOKENS:
            raise VocabularyError(
                f"token {raw!r} has the id {token_id!r}, which is not a token id",
                hint=f"ids are whole numbers from 0 to {MAX_TOKENS - 1}; the file is damaged",
            )
        if found.setdefault(token_id, raw) != raw:
            raise VocabularyError(
                f"two tokens have the id {token_id}: {found[token_id]!r} and {raw!r}",
                hint="the file is damaged, or it was merged from two vocabularies",
            )
    return [found.get(token_id, b"") for token_id in range(max(found, default=-1) + 1)]


def _model_tokens(model: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    tokens = model.get("vocab")
    if isinstance(tokens, Mapping):
        yield from tokens.items()
    elif isinstance(tokens, list):  # Unigram: [piece, score] by id
        for token_id, entry in enumerate(tokens):
            if not (isinstance(entry, (list, tuple)) and entry and isinstance(entry[0], str)):
                raise VocabularyError(
                    f"entry {token_id} of the vocabulary is {entry!r}, not a piece with its score",
                    hint="the file is damaged",
                )
            yield entry[0], token_id
    else:
        raise VocabularyError("the tokenizer document has no vocabulary", hint="the file is damaged")


def _added_token(entry: Any) -> tuple[str, int, bool]:
    try:
        return str(entry["content"]), int(entry["id"]), bool(entry.get("special", False))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise VocabularyError(
            f"an added token is malformed: {entry!r}", hint="it needs 'id' and 'content'; the file is damaged"
        ) from None


def _added_bytes(text: str, special: bool, spelling: _Spelling) -> bytes:
    # Byte-level files spell added tokens plainly; SentencePiece ones still write ▁ in text tokens.
    if special or spelling.vocab_type is VocabType.BYTE_LEVEL:
        return text.encode("utf-8", "replace")
    return spelling.decode(text)


def _flatten(step: Any, member: str) -> Iterator[Mapping[str, Any]]:
    """The steps of a possibly nested ``Sequence``."""
    if not isinstance(step, Mapping):
        return
    if step.get("type") == "Sequence":
        for inner in step.get(member) or []:
            yield from _flatten(inner, member)
    else:
        yield step


def _spelling(document: Mapping[str, Any], model: Mapping[str, Any], tokens: list[str]) -> _Spelling:
    steps = list(_flatten(document.get("decoder"), "decoders"))
    if model.get("type") == "WordPiece" or model.get("continuing_subword_prefix"):
        raise _no_bytes("WordPiece")
    if not steps:
        return _guessed_spelling(document, tokens)
    spelling = _Spelling()
    for step in steps:
        kind = step.get("type")
        read = _TOKEN_STEPS.get(str(kind))
        if read is not None:
            read(step, spelling)
        elif kind not in _WHOLE_TEXT_STEPS:
            raise _no_bytes(str(kind))
    return spelling


def _guessed_spelling(document: Mapping[str, Any], tokens: list[str]) -> _Spelling:
    kinds = {step.get("type") for step in _flatten(document.get("pre_tokenizer"), "pretokenizers")}
    if "ByteLevel" in kinds:
        return _Spelling(VocabType.BYTE_LEVEL)
    if "Metaspace" in kinds or "<0x0A>" in tokens:
        return _Spelling(VocabType.BYTE_FALLBACK)
    return _Spelling(VocabType.RAW)


def _no_bytes(kind: str) -> VocabularyError:
    return VocabularyError(
        f"the decoder step {kind!r} makes a token's text depend on its neighbours",
        hint="only byte-level, byte-fallback and raw vocabularies have bytes per token; "
        "TokenizerInfo(list) takes any list of tokens",
    )


def _read_byte_level(step: Mapping[str, Any], spelling: _Spelling) -> None:
    spelling.vocab_type = VocabType.BYTE_LEVEL


def _read_byte_fallback(step: Mapping[str, Any], spelling: _Spelling) -> None:
    spelling.vocab_type = VocabType.BYTE_FALLBACK


def _read_metaspace(step: Mapping[str, Any], spelling: _Spelling) -> None:
    spelling.vocab_type = VocabType.BYTE_FALLBACK
    spelling.replacements.append((str(step.get("replacement", "▁")), " "))


def _read_replace(step: Mapping[str, Any], spelling: _Spelling) -> None:
    pattern = step.get("pattern")
    if not isinstance(pattern, Mapping) or not isinstance(pattern.get("String"), str):
        raise VocabularyError(
            f"the decoder replaces a pattern that is not plain text: {pattern!r}",
            hint="pass the decoded tokens to TokenizerInfo(list) yourself",
        )
    spelling.replacements.append((pattern["String"], str(step.get("content", ""))))


_TOKEN_STEPS: Final[dict[str, Callable[[Mapping[str, Any], _Spelling], None]]] = {
    "ByteLevel": _read_byte_level,
    "ByteFallback": _read_byte_fallback,
    "Metaspace": _read_metaspace,
    "Replace": _read_replace,
}


def _adds_prefix_space(document: Mapping[str, Any]) -> bool:
    for step in _flatten(document.get("pre_tokenizer"), "pretokenizers"):
        scheme = step.get("prepend_scheme")
        if scheme in ("always", "first") or (scheme is None and step.get("add_prefix_space") is True):
            return True
    return any(
        step.get("type") == "Prepend" and step.get("prepend") in ("▁", " ")
        for step in _flatten(document.get("normalizer"), "normalizers")
    )
