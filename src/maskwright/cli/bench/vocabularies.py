"""Real vocabularies for the benchmarks, read from files inside installed packages.

Does: gives one vocabulary as the raw bytes of each id, its special tokens, its stop token, and a
function that tokenises text as the model's own tokenizer would. Does not: download anything; a
package that is missing is an error that names the package.

Every engine is handed the same bytes for the same ids, so that the measured masks are comparable.
The peers' own loaders (`from_huggingface`, ...) were rejected: they disagree about which ids are text.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from maskwright.errors import VocabularyError
from maskwright.vocabulary.named import load_named, package_file
from maskwright.vocabulary.tiktoken_ import read_ranks

__all__ = ["NAMES", "BenchVocabulary", "MissingVocabulary", "byte_vocabulary", "load"]


class MissingVocabulary(RuntimeError):
    """The package that holds a vocabulary is not installed, or does not hold it."""


@dataclass(frozen=True)
class BenchVocabulary:
    """One vocabulary.

    Attributes:
        name: The name it was loaded by.
        tokens: Raw bytes of each id; `b""` where the id is special or unused.
        special: Special tokens by their text.
        stop_id: The token that ends a reply.
        encode: Text to ids.
        ranks: Mergeable ranks (bytes to id) where the tokenizer is a byte-pair encoding, else empty.
        pattern: Its pre-tokenizer pattern, or None.
        huggingface: The `tokenizer.json` text where the vocabulary came as one, else None.
    """

    name: str
    tokens: list[bytes]
    special: Mapping[str, int]
    stop_id: int
    encode: Callable[[str], list[int]] = field(repr=False)
    ranks: Mapping[bytes, int] = field(default_factory=dict, repr=False)
    pattern: str | None = None
    huggingface: str | None = field(default=None, repr=False)

    @property
    def size(self) -> int:
        """Number of ids."""
        return len(self.tokens)

    @property
    def n_words(self) -> int:
        """Number of 32-bit words in one mask row."""
        return (len(self.tokens) + 31) // 32


def byte_vocabulary() -> BenchVocabulary:
    """256 tokens of one byte each, and a stop token: what a verdict on a text needs, and no more."""
    tokens = [bytes([value]) for value in range(256)] + [b""]
    ranks = {token: value for value, token in enumerate(tokens[:256])}
    return BenchVocabulary(
        name="bytes",
        tokens=tokens,
        special={"<|end|>": 256},
        stop_id=256,
        encode=lambda text: list(text.encode()),
        ranks=ranks,
        pattern=r"[\s\S]",
    )


def load(name: str) -> BenchVocabulary:
    """One of `NAMES`.

    Raises:
        MissingVocabulary: The package is missing; the message says which one.
    """
    try:
        loader = _LOADERS[name]
    except KeyError:
        raise MissingVocabulary(f"unknown vocabulary {name!r}; one of {', '.join(NAMES)}") from None
    try:
        return loader()
    except (ImportError, VocabularyError) as error:
        raise MissingVocabulary(str(error)) from error


def _from_ranks(
    name: str, ranks: dict[bytes, int], special: dict[str, int], pattern: str, stop: str
) -> BenchVocabulary:
    import tiktoken

    encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)
    tokens = [b""] * (max(max(ranks.values()), max(special.values())) + 1)
    for token, rank in ranks.items():
        tokens[rank] = token
    return BenchVocabulary(
        name=name,
        tokens=tokens,
        special=special,
        stop_id=special[stop],
        encode=encoding.encode_ordinary,
        ranks=ranks,
        pattern=pattern,
    )


def _from_named(name: str, pattern: str, stop: str) -> BenchVocabulary:
    info = load_named(name)
    special = {info.decoded_vocab[i].decode(): i for i in info.special_token_ids}
    return _from_ranks(name, dict(read_ranks(package_file(name))), special, pattern, stop)


_LLAMA3_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def _llama3() -> BenchVocabulary:
    return _from_named("llama3", _LLAMA3_PATTERN, "<|eot_id|>")


def _qwen() -> BenchVocabulary:
    return _from_named("qwen", _LLAMA3_PATTERN.replace(r"\p{N}{1,3}", r"\p{N}"), "<|im_end|>")


def _tekken() -> BenchVocabulary:
    data = json.loads(package_file("tekken").read_text())
    config = data["config"]
    n_special = config["default_num_special_tokens"]
    n_text = config["default_vocab_size"] - n_special
    # Control tokens come first; the text tokens' ids are their ranks behind them.
    entries = data["vocab"][:n_text]
    ranks = {base64.b64decode(entry["token_bytes"]): entry["rank"] + n_special for entry in entries}
    named = {0: "<unk>", 1: "<s>", 2: "</s>"}
    special = {named.get(i, f"<SPECIAL_{i}>"): i for i in range(n_special)}
    return _from_ranks("tekken", ranks, special, config["pattern"], "</s>")


def _deepseek() -> BenchVocabulary:
    text = package_file("deepseek").read_text()
    from tokenizers import Tokenizer

    tokenizer: Any = Tokenizer.from_str(text)
    added = {entry["content"]: entry["id"] for entry in json.loads(text)["added_tokens"]}
    alphabet = _byte_level_alphabet()
    tokens = [b""] * tokenizer.get_vocab_size(with_added_tokens=True)
    for token, token_id in tokenizer.get_vocab(with_added_tokens=False).items():
        if token not in added:
            tokens[token_id] = bytes(alphabet[char] for char in token)
    return BenchVocabulary(
        name="deepseek",
        tokens=tokens,
        special=added,
        stop_id=next(i for name, i in added.items() if "end" in name and "sentence" in name),
        encode=lambda s: list(tokenizer.encode(s, add_special_tokens=False).ids),
        huggingface=text,
    )


def _byte_level_alphabet() -> dict[str, int]:
    # GPT-2's printable stand-ins: printable Latin-1 is itself, the other bytes follow from U+0100 on.
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [value for value in range(256) if value not in printable]
    return {chr(v): v for v in printable} | {chr(0x100 + i): v for i, v in enumerate(others)}


def _gpt_oss() -> BenchVocabulary:
    import tiktoken

    try:
        base: Any = tiktoken.get_encoding("o200k_base")
    except Exception as error:  # tiktoken raises whatever its HTTP client does
        raise MissingVocabulary(f"tiktoken cannot get o200k_base here: {error}") from error
    special = {"<|startoftext|>": 199998, "<|endoftext|>": 199999, "<|return|>": 200002, "<|call|>": 200012}
    for token_id in range(200000, 201088):
        if token_id not in special.values():
            special[f"<|reserved_{token_id}|>"] = token_id
    return _from_ranks("gpt-oss", base._mergeable_ranks, special, base._pat_str, "<|return|>")


_LOADERS: dict[str, Callable[[], BenchVocabulary]] = {
    "llama3": _llama3,
    "qwen": _qwen,
    "deepseek": _deepseek,
    "tekken": _tekken,
    "gpt-oss": _gpt_oss,
    "bytes": byte_vocabulary,
}

#: Names that `load` knows.
NAMES = tuple(_LOADERS)
