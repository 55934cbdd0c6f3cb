"""`TokenizerInfo`: the bytes of every token, and which tokens are not text.

A token id is one of three things, and the rest of the library relies on the difference:

* a **text** token: its bytes are matched against the grammar;
* a **special** token: padding, empty, or a control token. Text never matches it; a grammar can
  name it by id;
* a **stop** token: legal exactly when the grammar is complete, never as text.

The object is immutable once made. It holds no tokenizer, so it can be pickled, stored and sent
to another process; only the self-test of a fresh one can still encode text.

Rejected: keeping control tokens among the text ones and excluding them where it matters. Then a
grammar's `.` matches them, and every engine needs a second vocabulary without them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from maskwright.errors import VocabularyError
from maskwright.vocabulary import serialization
from maskwright.vocabulary.decoding import VocabType, decode_vocabulary
from maskwright.vocabulary.source import PathLike, VocabularySource
from maskwright.vocabulary.special import XGRAMMAR_STOP_TOKENS
from maskwright.vocabulary.table import TokenTable, build_token_table

if TYPE_CHECKING:
    from maskwright.vocabulary.selftest import SelfTestReport

__all__ = ["Ids", "TokenizerInfo"]

#: Token ids as callers give them: one, several, or "decide for me".
Ids = int | Iterable[int] | None


class TokenizerInfo:
    """A model's vocabulary: the bytes of each token id, special tokens and stop tokens.

    Args:
        encoded_vocab: One entry per id, as the tokenizer spells it; ``""`` for an id without text.
        vocab_type: How the entries are spelled.
        vocab_size: Width of the model's logits, when it is not ``len(encoded_vocab)``. Ids beyond
            the list are padding and never legal; if it is smaller, the tokens beyond are dropped.
        stop_token_ids: Ids that end generation. By default the tokens whose text is one of
            ``</s> <|end_of_text|> <|eot_id|> <|endoftext|> <eos> <|eos|> <end_of_turn>
            <｜end▁of▁sentence｜>``; ``[]`` for none.
        add_prefix_space: Whether the tokenizer puts a space before the text that it encodes.
        special_token_ids: Control tokens: never legal as text. Their entries are read as plain
            text, whatever `vocab_type` is. Empty and padding ids are special in any case. A bare
            list says nothing about control tokens, so by default there are no others; the
            ``from_*`` constructors know them.

    Raises:
        VocabularyError: an entry is not text, or an id is out of range.

    >>> info = TokenizerInfo(["Ġhi", "!", "</s>"], VocabType.BYTE_LEVEL, vocab_size=4)
    >>> info.decoded_vocab, info.stop_token_ids, info.special_token_ids
    ([b' hi', b'!', b'</s>'], [2], [3])
    """

    def __init__(
        self,
        encoded_vocab: Sequence[str | bytes],
        vocab_type: VocabType = VocabType.RAW,
        *,
        vocab_size: int | None = None,
        stop_token_ids: Ids = None,
        add_prefix_space: bool = False,
        special_token_ids: Iterable[int] | None = None,
    ) -> None:
        kind = _vocab_type(vocab_type)
        special = _id_list(special_token_ids, "special_token_ids")
        decoded = decode_vocabulary(encoded_vocab, kind, plain_ids=special)
        size = _checked_size(vocab_size, len(decoded))
        if stop_token_ids is None:
            stops = _auto_stop_ids(decoded[:size])
        else:
            stops = _id_list(stop_token_ids, "stop_token_ids")
        source = VocabularySource(decoded=decoded, vocab_type=kind, add_prefix_space=add_prefix_space)
        self._fill(source, size, _in_range(stops, size, "stop"), _in_range(special, size, "special"))

    def _fill(self, source: VocabularySource, size: int, stops: list[int], special: Iterable[int]) -> None:
        """Set every field; `stops` and `special` are in range."""
        decoded = source.decoded[:size]
        without_text = {token_id for token_id, raw in enumerate(decoded) if not raw}
        self._decoded = decoded
        self._vocab_type = source.vocab_type
        self._vocab_size = size
        self._add_prefix_space = bool(source.add_prefix_space)
        self._stop_ids = list(dict.fromkeys(stops))
        self._special_ids = sorted({*special, *without_text, *range(len(decoded), size)})
        self._encode: Callable[[str], Sequence[int]] | None = source.encode

    @classmethod
    def _from_source(
        cls,
        source: VocabularySource,
        vocab_size: int | None = None,
        stop_token_ids: Ids = None,
        special_token_ids: Iterable[int] | None = None,
    ) -> TokenizerInfo:
        """Build from what a loader found; what the caller gives takes precedence over the file.

        The file's ids beyond a narrower `vocab_size` are dropped; the caller's are an error.
        """
        size = _checked_size(vocab_size, len(source.decoded))
        if stop_token_ids is None:
            stops = [token_id for token_id in source.stop_token_ids if 0 <= token_id < size]
        else:
            stops = _in_range(_id_list(stop_token_ids, "stop_token_ids"), size, "stop")
        if special_token_ids is None:
            special = [token_id for token_id in source.special_token_ids if 0 <= token_id < size]
        else:
            special = _in_range(_id_list(special_token_ids, "special_token_ids"), size, "special")
        info = cls.__new__(cls)
        info._fill(source, size, stops, special)
        return info

    # ---- what it holds ------------------------------------------------------------------------

    @property
    def vocab_type(self) -> VocabType:
        """How the tokens were spelled."""
        return self._vocab_type

    @property
    def vocab_size(self) -> int:
        """Width of the logits, in tokens; ids ``0 .. vocab_size - 1`` exist."""
        return self._vocab_size

    @property
    def add_prefix_space(self) -> bool:
        """Whether the tokenizer puts a space before the text that it encodes."""
        return self._add_prefix_space

    @property
    def decoded_vocab(self) -> list[bytes]:
        """Bytes of each id, special tokens included (their name); without the padding ids.

        This is the list itself, not a copy: do not change it.
        """
        return self._decoded

    @property
    def stop_token_ids(self) -> list[int]:
        """Ids that end generation, in the order given or found."""
        return list(self._stop_ids)

    @property
    def special_token_ids(self) -> list[int]:
        """Ids that text never matches: control tokens, empty tokens, padding; ascending."""
        return list(self._special_ids)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the content, as 64 hexadecimal digits; the same on every machine and version.

        It covers what masks depend on (the bytes of each id, the width, the special and the stop
        tokens) and nothing else, so the same vocabulary from two loaders has one fingerprint.
        """
        return serialization.content_hash(self._decoded, self._vocab_size, self._special_ids, self._stop_ids)

    @property
    def encoder(self) -> Callable[[str], Sequence[int]] | None:
        """Text to ids without special tokens, while the tokenizer it came from is at hand; else None."""
        return self._encode

    def find_tokens(self, text: str | bytes) -> list[int]:
        """The ids whose bytes are exactly `text`, special tokens first, then ascending.

        >>> TokenizerInfo(["a", "<|x|>", "a"], special_token_ids=[1, 2]).find_tokens("a")
        [2, 0]
        """
        raw = text.encode() if isinstance(text, str) else text
        return self._ids_by_bytes.get(raw, [])[:]

    @cached_property
    def _ids_by_bytes(self) -> dict[bytes, list[int]]:
        special = set(self._special_ids)
        found: dict[bytes, list[int]] = {}
        for token_id, raw in enumerate(self._decoded):
            found.setdefault(raw, []).append(token_id)
        for ids in found.values():
            if len(ids) > 1:
                ids.sort(key=lambda token_id: (token_id not in special, token_id))
        return found

    def _token_table(self, left_out: frozenset[int] = frozenset()) -> TokenTable:
        """The text tokens but those left out, as flat arrays: see `maskwright.vocabulary.table`."""
        if not left_out:
            return self._table
        return build_token_table(self._decoded, {*self._special_ids, *self._stop_ids, *left_out})

    @cached_property
    def _table(self) -> TokenTable:
        return build_token_table(self._decoded, {*self._special_ids, *self._stop_ids})

    def self_test(self) -> SelfTestReport:
        """Look for what is wrong with this vocabulary: round trip, duplicates, missing bytes.

        Text is encoded only when the object came from a tokenizer that can (not after unpickling).
        """
        from maskwright.vocabulary.selftest import run_self_test

        return run_self_test(self, self._encode)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TokenizerInfo):
            return NotImplemented
        return self is other or self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return (
            f"TokenizerInfo(vocab_size={self._vocab_size}, vocab_type={self._vocab_type.name}, "
            f"special={len(self._special_ids)}, stop_token_ids={self._stop_ids})"
        )

    # ---- storing ------------------------------------------------------------------------------

    def dump_metadata(self) -> str:
        """Everything but the tokens, as JSON text.

        Keys: ``vocab_type`` (int), ``vocab_size``, ``add_prefix_space``, ``stop_token_ids`` and
        ``special_token_ids`` (without padding and empty ids, which are found again).

        >>> TokenizerInfo(["a", "</s>"]).dump_metadata()
        '{"vocab_type":0,"vocab_size":2,"add_prefix_space":false,"stop_token_ids":[1],"special_token_ids":[]}'
        """
        return serialization.dump_json(self._metadata())

    def _metadata(self) -> dict[str, Any]:
        decoded = self._decoded
        return {
            "vocab_type": int(self._vocab_type),
            "vocab_size": self._vocab_size,
            "add_prefix_space": self._add_prefix_space,
            "stop_token_ids": self._stop_ids,
            "special_token_ids": [t for t in self._special_ids if t < len(decoded) and decoded[t]],
        }

    @staticmethod
    def from_vocab_and_metadata(encoded_vocab: Sequence[str | bytes], metadata: str) -> TokenizerInfo:
        """Put a vocabulary and the text of `dump_metadata` together again.

        Metadata written by XGrammar is accepted too: it has no ``special_token_ids``.

        Raises:
            VocabularyError: the metadata is not of that form.
        """
        return TokenizerInfo(encoded_vocab, **serialization.parse_metadata(metadata))

    def serialize_json(self) -> str:
        """The whole vocabulary as JSON text, for `deserialize_json`."""
        return serialization.dump_vocabulary(self._decoded, self._metadata(), self.fingerprint)

    @staticmethod
    def deserialize_json(text: str) -> TokenizerInfo:
        """Read back what `serialize_json` wrote.

        Raises:
            VocabularyError: the text is malformed, of another version, or was changed.
        """
        decoded, metadata, fingerprint = serialization.parse_vocabulary(text)
        info = TokenizerInfo._from_state(decoded, metadata)
        if info.fingerprint != fingerprint:
            raise VocabularyError(
                "the stored vocabulary does not match its fingerprint",
                hint="the text was changed or cut; serialize the vocabulary again",
            )
        return info

    @staticmethod
    def _from_state(decoded: list[bytes], metadata: Mapping[str, Any]) -> TokenizerInfo:
        source = VocabularySource(
            decoded=decoded,
            vocab_type=_vocab_type(metadata["vocab_type"]),
            add_prefix_space=metadata["add_prefix_space"],
        )
        return TokenizerInfo._from_source(
            source, metadata["vocab_size"], metadata["stop_token_ids"], metadata["special_token_ids"] or []
        )

    def __reduce__(self) -> tuple[Callable[..., TokenizerInfo], tuple[list[bytes], dict[str, Any]]]:
        return TokenizerInfo._from_state, (self._decoded, self._metadata())

    # ---- loaders: each is one module, imported when it is used ----------------------------------

    @staticmethod
    def from_huggingface(
        tokenizer: Any,
        *,
        vocab_size: int | None = None,
        stop_token_ids: Ids = None,
        special_token_ids: Iterable[int] | None = None,
    ) -> TokenizerInfo:
        """Read a transformers tokenizer, or a `tokenizers.Tokenizer`.

        The bytes come from the backend: the vocabulary and decoder of a fast tokenizer, the ranks
        of a tiktoken one, the pieces of a SentencePiece one, the raw bytes of a Mistral one.
        Nothing is decoded to text on the way.

        Args:
            tokenizer: The tokenizer object.
            vocab_size: Width of the model's logits (``model.config.vocab_size``) if it differs.
            stop_token_ids: Instead of the detected ones: the tokenizer's ``eos_token``, the lists in
                ``config.json`` and ``generation_config.json`` when it was loaded from a folder, and
                the chat format's end tokens. A ``UserWarning`` says when there are none.
            special_token_ids: Instead of the added control tokens; ``[]`` makes all of them text.

        Raises:
            VocabularyError: the tokenizer is of an unknown kind or cannot be read as bytes.
        """
        from maskwright.vocabulary.huggingface import read_huggingface

        source = read_huggingface(tokenizer)
        info = TokenizerInfo._from_source(source, vocab_size, stop_token_ids, special_token_ids)
        return _warn_without_stop(info, stop_token_ids)

    @staticmethod
    def from_file(
        path: PathLike,
        *,
        vocab_size: int | None = None,
        stop_token_ids: Ids = None,
        special_token_ids: Iterable[int] | None = None,
    ) -> TokenizerInfo:
        """Read a ``tokenizer.json`` file, or a folder that has one; needs no other library.

        ``tokenizer_config.json``, ``config.json`` and ``generation_config.json`` beside it are
        read for stop tokens. Arguments and errors as for `from_huggingface`.
        """
        from maskwright.vocabulary.huggingface import read_tokenizer_json

        source = read_tokenizer_json(path)
        info = TokenizerInfo._from_source(source, vocab_size, stop_token_ids, special_token_ids)
        return _warn_without_stop(info, stop_token_ids)

    @staticmethod
    def from_tiktoken(
        encoding: Any,
        *,
        special_tokens: Mapping[str, int] | None = None,
        vocab_size: int | None = None,
        stop_token_ids: Ids = None,
        special_token_ids: Iterable[int] | None = None,
    ) -> TokenizerInfo:
        """Read a `tiktoken.Encoding`, a rank file, or a mapping of bytes to ranks.

        Args:
            encoding: The encoding, the path of a rank file (a base64 token and its rank per line),
                or ``{bytes: rank}``.
            special_tokens: Text and id of special tokens; an encoding brings its own.
            vocab_size: Width of the model's logits if it differs.
            stop_token_ids: Instead of the special tokens that end a turn.
            special_token_ids: Instead of all special tokens; ``[]`` makes them text.

        Raises:
            VocabularyError: the file is malformed or two tokens share an id.
        """
        from maskwright.vocabulary.tiktoken_ import read_tiktoken

        source = read_tiktoken(encoding, special_tokens)
        return TokenizerInfo._from_source(source, vocab_size, stop_token_ids, special_token_ids)

    @staticmethod
    def from_sentencepiece(
        model: Any,
        *,
        vocab_size: int | None = None,
        stop_token_ids: Ids = None,
        special_token_ids: Iterable[int] | None = None,
    ) -> TokenizerInfo:
        """Read a SentencePiece ``.model`` file (needs no library), or a `SentencePieceProcessor`.

        Control, unknown and unused pieces are special, and user-defined ones with the shape of a
        control token. Other arguments as for `from_tiktoken`.

        Raises:
            VocabularyError: the model is malformed.
        """
        from maskwright.vocabulary.sentencepiece_ import read_sentencepiece

        source = read_sentencepiece(model)
        return TokenizerInfo._from_source(source, vocab_size, stop_token_ids, special_token_ids)

    @staticmethod
    def from_tekken(
        tekken: Any,
        *,
        vocab_size: int | None = None,
        stop_token_ids: Ids = None,
        special_token_ids: Iterable[int] | None = None,
    ) -> TokenizerInfo:
        """Read Mistral's ``tekken.json`` (a path or the parsed object), or a `Tekkenizer`.

        Other arguments as for `from_tiktoken`.

        Raises:
            VocabularyError: the file is malformed.
        """
        from maskwright.vocabulary.tekken import read_tekken

        source = read_tekken(tekken)
        return TokenizerInfo._from_source(source, vocab_size, stop_token_ids, special_token_ids)

    @staticmethod
    def from_gguf(
        path: PathLike,
        *,
        vocab_size: int | None = None,
        stop_token_ids: Ids = None,
        special_token_ids: Iterable[int] | None = None,
    ) -> TokenizerInfo:
        """Read the tokenizer in a GGUF model file; needs no llama.cpp and loads no weights.

        Other arguments as for `from_tiktoken`.

        Raises:
            VocabularyError: not a GGUF file, a truncated one, or a tokenizer kind whose tokens have
                no bytes of their own (``bert``, ``rwkv``).
        """
        from maskwright.vocabulary.gguf import read_gguf

        return TokenizerInfo._from_source(read_gguf(path), vocab_size, stop_token_ids, special_token_ids)

    @staticmethod
    def from_llama_cpp(
        llama: Any,
        *,
        vocab_size: int | None = None,
        stop_token_ids: Ids = None,
        special_token_ids: Iterable[int] | None = None,
    ) -> TokenizerInfo:
        """Read the vocabulary of a `llama_cpp.Llama`: its model file, and the stops llama.cpp uses.

        Other arguments as for `from_tiktoken`.

        Raises:
            VocabularyError: the object has no model file, or the file does not fit it.
        """
        from maskwright.vocabulary.llama_cpp import read_llama_cpp

        source = read_llama_cpp(llama)
        return TokenizerInfo._from_source(source, vocab_size, stop_token_ids, special_token_ids)


def _vocab_type(value: Any) -> VocabType:
    try:
        return VocabType(value)
    except ValueError:
        raise VocabularyError(
            f"{value!r} is not a vocabulary type",
            hint="use VocabType.RAW (0), BYTE_FALLBACK (1) or BYTE_LEVEL (2)",
        ) from None


def _checked_size(vocab_size: int | None, n_tokens: int) -> int:
    if vocab_size is None:
        return n_tokens
    try:
        size = operator.index(vocab_size)
    except TypeError:
        size = -1
    # Token ids are 32-bit integers in the kernel and in every engine.
    if not 0 <= size < 2**31:
        raise VocabularyError(
            f"vocab_size must be a whole number of tokens, not {vocab_size!r}",
            hint="pass the width of the model's logits, or None for the length of the vocabulary",
        )
    return size


def _id_list(ids: Ids, what: str) -> list[int]:
    if ids is None:
        return []
    try:
        if isinstance(ids, Iterable):
            return [operator.index(token_id) for token_id in ids]
        return [operator.index(ids)]
    except TypeError:
        raise VocabularyError(
            f"{what} must be token ids (integers), not {ids!r}",
            hint="look up the id of a token by its text with find_tokens()",
        ) from None


def _in_range(ids: list[int], vocab_size: int, what: str) -> list[int]:
    for token_id in ids:
        if not 0 <= token_id < vocab_size:
            raise VocabularyError(
                f"{what} token id {token_id} is outside the vocabulary of {vocab_size} tokens",
                hint="leave it out, or pass a larger vocab_size if the logits are wider",
            )
    return ids


def _auto_stop_ids(decoded: Sequence[bytes]) -> list[int]:
    names = {text.encode() for text in XGRAMMAR_STOP_TOKENS}
    return [token_id for token_id, raw in enumerate(decoded) if raw in names]


def _warn_without_stop(info: TokenizerInfo, stop_token_ids: Ids) -> TokenizerInfo:
    if stop_token_ids is None and not info.stop_token_ids:
        import warnings

        warnings.warn(
            "the tokenizer names no stop token: a grammar can end only with "
            "terminate_without_stop_token=True, or pass stop_token_ids",
            stacklevel=3,
        )
    return info
