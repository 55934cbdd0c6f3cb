"""Opens a tokenizer by name or path, with its own way to encode text where the library for it is there.

Where it is not, text is cut greedily: the longest token first. That is a legal spelling of the text,
though not always the one that the model would have produced; `Tokenizer.encode` tells which it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..vocabulary.named import NAMES, load_named, package_file
from .exits import MODEL, Failure
from .models import find_default_model, quieten_llama_cpp

if TYPE_CHECKING:
    from .. import TokenizerInfo

__all__ = ["DEFAULT", "Tokenizer", "open_tokenizer"]

DEFAULT = "smollm2"
_Encode = Callable[[str], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A vocabulary and, if there is one, the tokenizer's own encoder."""

    info: TokenizerInfo
    own_encode: _Encode | None

    def encode(self, text: str) -> tuple[list[int], bool]:
        """Token ids whose bytes are exactly the text, and whether the tokenizer itself chose them.

        Raises:
            Failure: The vocabulary cannot spell the text.
        """
        try:
            tokens = [] if self.own_encode is None else list(self.own_encode(text))
        except ImportError:  # a package that carries a vocabulary, without those that encode with it
            tokens = []
        # Encoders that add a space or normalise would make the trace speak of another text.
        if tokens and b"".join(self.info.decoded_vocab[token] for token in tokens) == text.encode():
            return tokens, True
        return _encode_greedily(self.info, text.encode()), not text


def open_tokenizer(name: str) -> Tokenizer:
    """A tokenizer by name or path.

    Args:
        name: A name of `maskwright.vocabulary.named`; a GGUF file; ``tokenizer.json`` or a folder with
            one; ``tekken.json``; a SentencePiece ``.model``; or the name of a tiktoken encoding.

    Raises:
        Failure: There is no such tokenizer, or a package for it is missing.
        VocabularyError: The file cannot be read, or the package with the named vocabulary is missing.
    """
    path = Path(name)
    if name == DEFAULT:
        path = find_default_model() or package_file(name)
    elif name in NAMES:
        path = package_file(name)
        if path.suffix != ".json":
            info = load_named(name)
            return Tokenizer(info, info._encode)
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
    quieten_llama_cpp()
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
        known = ", ".join([*NAMES, *tiktoken.list_encoding_names()])
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
            piece = text[start:end]
            if piece in ids:
                tokens.append(ids[piece])
                start = end
                break
        else:
            raise Failure(f"the vocabulary has no token for byte {text[start]:#04x} at offset {start}", MODEL)
    return tokens
