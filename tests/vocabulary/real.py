"""Real vocabularies for the tests: where each one is, or a skip that says which package is absent."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from maskwright.errors import VocabularyError
from maskwright.vocabulary.info import TokenizerInfo
from maskwright.vocabulary.named import load_named, package_file

#: Name in `load_named`: text tokens, special tokens, stop tokens.
EXPECTED = {
    "llama3": (128_000, 256, (b"<|end_of_text|>", b"<|eom_id|>", b"<|eot_id|>")),
    "llama4": (200_000, 2_048, (b"<|end_of_text|>", b"<|eom|>", b"<|eot|>")),
    "qwen": (151_643, 22, (b"<|endoftext|>", b"<|im_end|>")),
    "deepseek": (127_999, 1_281, ("<｜end▁of▁sentence｜>".encode(), b"<|EOT|>")),
    "tekken": (130_072, 1_000, (b"</s>",)),
    "smollm2": (49_135, 17, (b"<|im_end|>", b"<|endoftext|>")),
}

SENTENCEPIECE_FILES = ("tokenizer.model.v1", "*.model.v2", "*.model.v7")


def real_file(name: str) -> Path:
    """The file of a named vocabulary; skips the test when its package is absent."""
    try:
        return package_file(name)
    except VocabularyError as error:
        pytest.skip(f"no {name} vocabulary: {error}")


def real_vocabulary(name: str) -> TokenizerInfo:
    """A named vocabulary; skips the test when its package is absent."""
    real_file(name)
    return load_named(name)


def sentencepiece_file(pattern: str) -> Path:
    """A SentencePiece model of mistral-common; skips the test when there is none."""
    spec = importlib.util.find_spec("mistral_common")
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    found = sorted(Path(folders[0], "data").glob(pattern)) if folders else []
    if not found:
        pytest.skip(f"no SentencePiece model {pattern}: pip install --no-deps mistral-common")
    return found[0]


def library(name: str) -> ModuleType:
    """An optional library; skips the test when it is absent or cannot be imported."""
    return pytest.importorskip(name, reason=f"{name} is not installed", exc_type=ImportError)
