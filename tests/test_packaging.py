"""What a user gets: a light import, one version, a package that needs no compiler to run."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

#: Partners and large standard modules that only the functions that need them may import.
HEAVY = {
    "asyncio", "click", "gguf", "huggingface_hub", "jsonschema", "jsonschema_rs", "llama_cpp", "mistral_common",
    "mlx", "multiprocessing", "pandas", "pydantic", "referencing", "scipy", "sentencepiece", "sglang", "tabulate",
    "tiktoken", "tokenizers", "torch", "transformers", "triton", "vllm",
}  # fmt: skip


def run(code: str) -> str:
    """The output of a program in a fresh interpreter."""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return result.stdout


def test_import_loads_numpy_and_little_else() -> None:
    loaded = set(json.loads(run("import json, sys, maskwright; print(json.dumps(list(sys.modules)))")))
    assert "numpy" in loaded
    assert not {name.partition(".")[0] for name in loaded} & HEAVY
    # Those that numpy brings along are not ours to count.
    numpy_alone = set(json.loads(run("import json, sys, numpy; print(json.dumps(list(sys.modules)))")))
    others = {name for name in loaded - numpy_alone if not name.startswith("maskwright")}
    assert len(others) < 60, sorted(others)


def test_help_of_the_command_loads_nothing_heavy() -> None:
    program = (
        "import json, sys\n"
        "from maskwright.cli.app import app\n"
        "app.main(['generate', '--help'], standalone_mode=False)\n"
        "print(json.dumps(list(sys.modules)))"
    )
    loaded = json.loads(run(program).splitlines()[-1])
    assert not {name.partition(".")[0] for name in loaded} & (HEAVY - {"click", "asyncio"})


def test_every_public_name_is_there_and_named_once() -> None:
    import maskwright

    assert len(set(maskwright.__all__)) == len(maskwright.__all__)
    missing = [name for name in maskwright.__all__ if not hasattr(maskwright, name)]
    assert not missing


def test_versions_agree() -> None:
    import maskwright

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert maskwright.__version__ == project["version"]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{project['version']}]" in changelog


def installed() -> importlib.metadata.Distribution:
    """The installed distribution; these tests have nothing to say about a tree on PYTHONPATH."""
    import maskwright

    try:
        distribution = importlib.metadata.distribution("maskwright")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("maskwright is not installed here")
    if not distribution.locate_file("maskwright/__init__.py").samefile(maskwright.__file__):  # type: ignore[attr-defined]
        pytest.skip("maskwright is imported from the tree")
    return distribution


def test_installed_files_need_no_compiler() -> None:
    names = [str(file) for file in installed().files or ()]
    assert "maskwright/py.typed" in names
    modules = {name.rsplit("/", 1)[-1].partition(".")[0] for name in names if name.endswith((".so", ".pyd"))}
    sources = {path.stem for path in ROOT.glob("src/maskwright/**/*.pyx")}
    assert modules == sources
    assert not [name for name in names if name.endswith((".pyx", ".cpp", ".c"))]


def test_installed_modules_are_those_of_the_tree() -> None:
    """A stale build folder or a missing package would show here."""
    names = {str(file) for file in installed().files or () if str(file).endswith(".py")}
    tree = {path.relative_to(ROOT / "src").as_posix() for path in ROOT.glob("src/maskwright/**/*.py")}
    assert {name for name in names if name.startswith("maskwright/")} == tree


def test_installed_kernel_runs_without_cython() -> None:
    program = "import sys; sys.modules['Cython'] = None; import maskwright; print(maskwright.__version__)"
    assert run(program).strip() == installed().version


def test_console_script_is_declared() -> None:
    entries = importlib.metadata.entry_points(group="console_scripts", name="maskwright")
    if not entries:
        pytest.skip("maskwright is not installed here")
    assert next(iter(entries)).value == "maskwright.cli:main"


def test_type_information_is_shipped() -> None:
    assert files("maskwright").joinpath("py.typed").is_file()
