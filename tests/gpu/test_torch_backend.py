"""The fallbacks in torch operations: as they are, traced by the compiler's front-end, and compiled."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch

from maskwright import BitmaskError, apply_token_bitmask_inplace
from maskwright.gpu import torch_backend
from tests.gpu.backends import Case, cases, check, check_batch_sizes


@pytest.mark.parametrize("case", cases(), ids=str)
def test_every_case(case: Case) -> None:
    check(case, "torch_native", "cpu")


@pytest.mark.parametrize("case", cases(), ids=str)
def test_every_case_as_one_traced_program(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    # No breaks in the graph: what the compiler gets is the whole function.
    torch.compiler.reset()  # it gives up on a function after a few programs, and each type is one
    traced = torch.compile(torch_backend._mask_rows, dynamic=True, backend="eager", fullgraph=True)
    monkeypatch.setattr(torch_backend, "_compiled", lambda: traced)
    check(case, "torch_compile", "cpu")


@pytest.mark.skipif(shutil.which("c++") is None, reason="torch.compile needs a C++ compiler")
def test_compiled() -> None:
    for case in (Case(2, 100, 2, 50, None, torch.float32), Case(4, 40, 2, None, [3, 1], torch.float32)):
        check(case, "torch_compile", "cpu")


@pytest.mark.parametrize("backend", ["torch_native"])
def test_batch_sizes(backend: str) -> None:
    check_batch_sizes(backend, "cpu")


def test_takes_tensors_only() -> None:
    logits = np.zeros((1, 8), dtype=np.float32)
    with pytest.raises(BitmaskError, match="torch tensors only"):
        apply_token_bitmask_inplace(logits, np.zeros((1, 1), dtype=np.int32), backend="torch_compile")


def test_unknown_backend() -> None:
    with pytest.raises(BitmaskError, match="no backend 'gpu'"):
        apply_token_bitmask_inplace(torch.zeros(8), torch.zeros(1, dtype=torch.int32), backend="gpu")
