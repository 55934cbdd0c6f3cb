"""``import xgrammar`` as maskwright's, and as it was."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import maskwright.compat
import maskwright.compat.xgrammar

SUBMODULES = [
    "builtin_structural_tag",
    "compiler",
    "config",
    "contrib",
    "contrib.hf",
    "contrib.mlxlm",
    "exception",
    "grammar",
    "kernels",
    "kernels.apply_token_bitmask_inplace_cpu",
    "kernels.apply_token_bitmask_inplace_cuda",
    "kernels.apply_token_bitmask_inplace_torch",
    "kernels.apply_token_bitmask_inplace_torch_compile",
    "kernels.apply_token_bitmask_inplace_triton",
    "kernels.apply_token_bitmask_mlx",
    "matcher",
    "openai_tool_call_schema",
    "structural_tag",
    "testing",
    "tokenizer_info",
]


@pytest.fixture
def installed() -> Iterator[None]:
    maskwright.compat.install()
    yield
    maskwright.compat.uninstall()


@pytest.mark.usefixtures("installed")
def test_both_names_are_one_package() -> None:
    import xgrammar
    from xgrammar.grammar import Grammar

    assert xgrammar is maskwright.compat.xgrammar
    assert Grammar is maskwright.compat.xgrammar.Grammar
    # The module keeps its own identity, so that what is imported from within it stays one thing.
    assert xgrammar.__spec__.name == xgrammar.__name__ == "maskwright.compat.xgrammar"


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("name", SUBMODULES)
def test_submodules(name: str) -> None:
    real = importlib.import_module(f"maskwright.compat.xgrammar.{name}")
    assert importlib.import_module(f"xgrammar.{name}") is real


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("name", ["tvm_ffi_binding", "kernels.nothing", "nothing.at_all"])
def test_what_is_not_there_is_not_found_elsewhere(name: str) -> None:
    with pytest.raises(ImportError):
        importlib.import_module(f"xgrammar.{name}")


def test_uninstall_forgets_the_names_and_only_those() -> None:
    n_finders = len(sys.meta_path)
    maskwright.compat.install()
    maskwright.compat.install()
    importlib.import_module("xgrammar.testing")
    assert len(sys.meta_path) == n_finders + 1
    maskwright.compat.uninstall()
    maskwright.compat.uninstall()
    assert len(sys.meta_path) == n_finders
    assert not [name for name in sys.modules if name.partition(".")[0] == "xgrammar"]
    assert "maskwright.compat.xgrammar.testing" in sys.modules


def test_refuses_to_mix_with_one_that_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xgrammar", ModuleType("xgrammar"))
    with pytest.raises(ImportError, match="install first"):
        maskwright.compat.install()


def test_a_program_of_its_own_without_torch() -> None:
    program = """
import sys
import maskwright.compat
maskwright.compat.install()
import xgrammar as xgr
from xgrammar.structural_tag import StructuralTag, TagFormat
from xgrammar.testing import _is_grammar_accept_string
print(_is_grammar_accept_string('root ::= "a"+', "aa"), "torch" in sys.modules, "transformers" in sys.modules)
"""
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], cwd=root, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("True False False\n", 0), done.stderr
