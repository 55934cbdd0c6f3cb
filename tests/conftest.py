"""What all tests share: the random-test profile, the real model, and the folder of optional data."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Machines differ by a factor of ten, and a checked kernel by another: time is never a reason to fail.
settings.register_profile(
    "maskwright",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    # CI asks whether this change is sound, so it draws the same examples each time; everybody else looks for new ones.
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("maskwright")

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def model_path() -> Path:
    """The GGUF file of the default model, where the demo's packages are there.

    With MASKWRIGHT_REQUIRE_MODEL set, a missing model is a failure: no run that should have had one
    passes without.
    """
    from maskwright.cli.models import find_default_model

    path = find_default_model()
    if path is not None and importlib.util.find_spec("llama_cpp") is not None:
        return path
    reason = "no real model: run `make demo` first"
    if os.environ.get("MASKWRIGHT_REQUIRE_MODEL"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of optional data sets: MASKWRIGHT_DATA, or ../shared/data beside the repository."""
    folder = Path(os.environ.get("MASKWRIGHT_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("no optional data: set MASKWRIGHT_DATA")
    return folder
