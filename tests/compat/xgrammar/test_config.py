"""Settings that are stored and handed back."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import maskwright.compat.xgrammar as xgr


def test_depth_is_kept() -> None:
    assert xgr.get_max_recursion_depth() == 10_000
    with xgr.max_recursion_depth(5):
        assert xgr.get_max_recursion_depth() == 5
    with pytest.raises(KeyError), xgr.max_recursion_depth(6):
        raise KeyError
    assert xgr.get_max_recursion_depth() == 10_000
    xgr.set_max_recursion_depth(1_000_000)
    assert xgr.get_max_recursion_depth() == 1_000_000
    xgr.set_max_recursion_depth(10_000)


@pytest.mark.parametrize("depth", [0, -1, 1_000_001])
def test_depth_out_of_range(depth: int) -> None:
    with pytest.raises(RuntimeError, match="between 1 and 1000000"):
        xgr.set_max_recursion_depth(depth)
    with pytest.raises(TypeError):
        xgr.set_max_recursion_depth("5")  # type: ignore[arg-type]


@pytest.mark.parametrize(("value", "depth"), [("77", 77), ("x", 10_000), ("0", 10_000), ("1000001", 10_000)])
def test_depth_from_the_environment(value: str, depth: int) -> None:
    program = "import maskwright.compat.xgrammar as x; print(x.get_max_recursion_depth())"
    environment = {**os.environ, "XGRAMMAR_MAX_RECURSION_DEPTH": value}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{depth}\n"


def test_version_is_none_of_xgrammars() -> None:
    assert xgr.get_serialization_version() == "maskwright-1"
