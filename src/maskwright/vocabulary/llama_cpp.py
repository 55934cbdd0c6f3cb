"""The vocabulary of a model that llama-cpp-python has loaded.

The bytes come from the model file, which the object names: its own ``token_to_piece`` unescapes
and strips, which is right for printing a text and wrong for one token. What the file does not say
is which tokens llama.cpp *treats* as ends of generation; that is asked of the loaded model, so that
mask and sampler agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from maskwright.errors import VocabularyError
from maskwright.vocabulary.gguf import read_gguf
from maskwright.vocabulary.source import VocabularySource

__all__ = ["read_llama_cpp"]


def read_llama_cpp(llama: Any) -> VocabularySource:
    """The vocabulary of a `llama_cpp.Llama`."""
    path = getattr(llama, "model_path", None)
    if not path or not hasattr(llama, "n_vocab"):
        raise VocabularyError(
            f"a {type(llama).__qualname__} is not a llama_cpp.Llama with a model file",
            hint="pass the Llama object, or the path of its GGUF file to from_gguf()",
        )
    source = read_gguf(path)
    n_vocab = int(llama.n_vocab())
    if n_vocab != len(source.decoded):
        raise VocabularyError(
            f"the loaded model has {n_vocab} tokens, its file {path!r} has {len(source.decoded)}",
            hint="the file was replaced after loading; load the model again",
        )
    ends = _ends_of_generation(llama, source.special_token_ids | set(source.stop_token_ids))
    source.stop_token_ids = list(dict.fromkeys([*source.stop_token_ids, *ends]))
    source.encode = _encoder(llama)
    return source


def _ends_of_generation(llama: Any, candidates: set[int]) -> list[int]:
    """Those of the special tokens at which llama.cpp stops."""
    vocab = getattr(getattr(llama, "_model", None), "vocab", None)
    if vocab is not None:
        import llama_cpp  # it is there: it made the object

        is_end = getattr(llama_cpp, "llama_vocab_is_eog", None)
        if is_end is not None:
            return [token_id for token_id in sorted(candidates) if is_end(vocab, token_id)]
    return [int(llama.token_eos())] if hasattr(llama, "token_eos") else []


def _encoder(llama: Any) -> Callable[[str], Sequence[int]]:
    return lambda text: list(llama.tokenize(text.encode(), add_bos=False, special=False))
