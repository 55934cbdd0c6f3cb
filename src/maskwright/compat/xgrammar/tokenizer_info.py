"""`TokenizerInfo` with XGrammar's signature.

Differences that stay are in ``docs/xgrammar.md``: control tokens of a tokenizer are never text, and its stop
tokens are all that its files name.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import maskwright
from maskwright.vocabulary import VocabType

from . import _serialization
from .exception import DeserializeFormatError, VocabularyError, raises_runtime_errors

__all__ = ["TokenizerInfo", "VocabType"]


class TokenizerInfo(maskwright.TokenizerInfo):
    """A model's vocabulary; see `maskwright.TokenizerInfo`.

    Args:
        encoded_vocab: One entry per id.
        vocab_type: How the entries are spelled.
        vocab_size: Width of the logits, at least ``len(encoded_vocab)``.
        stop_token_ids: Ids that end generation; None to find them by their text.
        add_prefix_space: Whether the tokenizer puts a space before the text.
        special_token_ids: Beyond XGrammar: control tokens, which text never matches.

    Raises:
        VocabularyError: An entry is not text, an id is out of range, or `vocab_size` is too small.
    """

    @raises_runtime_errors
    def __init__(
        self,
        encoded_vocab: Sequence[bytes] | Sequence[str],
        vocab_type: VocabType = VocabType.RAW,
        *,
        vocab_size: int | None = None,
        stop_token_ids: Sequence[int] | int | None = None,
        add_prefix_space: bool = False,
        special_token_ids: Sequence[int] | None = None,
    ) -> None:
        if vocab_size is not None and vocab_size < len(encoded_vocab):
            raise VocabularyError(
                f"vocab_size is {vocab_size}, but there are {len(encoded_vocab)} tokens",
                hint="pass the width of the logits, or cut the list if the model has fewer tokens",
            )
        super().__init__(
            encoded_vocab,
            vocab_type,
            vocab_size=vocab_size,
            stop_token_ids=stop_token_ids,
            add_prefix_space=add_prefix_space,
            special_token_ids=special_token_ids,
        )

    @classmethod
    def _adopt(cls, info: maskwright.TokenizerInfo) -> TokenizerInfo:
        """The same vocabulary as this class; nothing is copied."""
        if isinstance(info, cls):
            return info
        twin = cls.__new__(cls)
        twin.__dict__.update(info.__dict__)
        return twin

    @staticmethod
    @raises_runtime_errors
    def from_huggingface(  # type: ignore[override]  # special tokens are not for the caller to name here
        tokenizer: Any,
        *,
        vocab_size: int | None = None,
        stop_token_ids: Sequence[int] | int | None = None,
    ) -> TokenizerInfo:
        """Read a transformers tokenizer.

        Raises:
            VocabularyError: A tokenizer of an unknown kind, or an empty list of stop tokens.
        """
        if isinstance(stop_token_ids, Sequence) and not stop_token_ids:
            raise VocabularyError("stop_token_ids is empty", hint="pass None to find them")
        info = maskwright.TokenizerInfo.from_huggingface(
            tokenizer, vocab_size=vocab_size, stop_token_ids=stop_token_ids
        )
        return TokenizerInfo._adopt(info)

    @staticmethod
    @raises_runtime_errors
    def from_vocab_and_metadata(encoded_vocab: Sequence[str | bytes], metadata: str) -> TokenizerInfo:
        """Put a vocabulary and the text of `dump_metadata` together again; XGrammar's metadata will do."""
        return TokenizerInfo._adopt(maskwright.TokenizerInfo.from_vocab_and_metadata(encoded_vocab, metadata))

    @property
    def prepend_space_in_tokenization(self) -> bool:
        """Deprecated name of `add_prefix_space`."""
        warnings.warn("use add_prefix_space", DeprecationWarning, stacklevel=2)
        return self.add_prefix_space

    def dump_metadata(self) -> str:
        """Everything but the tokens, as JSON text; ``special_token_ids`` only if there are any."""
        metadata = self._metadata()
        if not metadata["special_token_ids"]:
            del metadata["special_token_ids"]  # then the text is XGrammar's, character for character
        return json.dumps(metadata, separators=(",", ":"))

    def serialize_json(self) -> str:
        """The whole vocabulary as JSON text."""
        return _serialization.dump("TokenizerInfo", {"vocabulary": super().serialize_json()})

    @staticmethod
    def deserialize_json(json_string: str) -> TokenizerInfo:
        """Read back what `serialize_json` wrote.

        Raises:
            InvalidJSONError: Not JSON.
            DeserializeVersionError: Of another version.
            DeserializeFormatError: Damaged.
        """
        body = _serialization.parse("TokenizerInfo", json_string)
        try:
            info = maskwright.TokenizerInfo.deserialize_json(body["vocabulary"])
        except (KeyError, maskwright.VocabularyError) as error:
            raise DeserializeFormatError(f"a damaged vocabulary: {error}") from None
        return TokenizerInfo._adopt(info)

    @staticmethod
    @raises_runtime_errors
    def _detect_metadata_from_hf(backend_str: str) -> dict[str, Any]:
        """What a ``tokenizer.json`` text says about spelling; engines call it."""
        from maskwright.vocabulary.tokenizer_json import read_document

        source = read_document(json.loads(backend_str))
        return {"vocab_type": source.vocab_type, "add_prefix_space": source.add_prefix_space}

    def __reduce__(self) -> tuple[Callable[..., TokenizerInfo], tuple[list[bytes], dict[str, Any]]]:
        return _restore, (self._decoded, self._metadata())


def _restore(decoded: list[bytes], metadata: dict[str, Any]) -> TokenizerInfo:
    return TokenizerInfo._adopt(maskwright.TokenizerInfo._from_state(decoded, metadata))
