"""The Triton kernel: interpreted on the CPU, compiled on a GPU where there is one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("triton", reason="Triton is not installed")

import torch
import triton

from maskwright import BitmaskError, apply_token_bitmask_inplace
from tests.gpu.backends import cases, run_all

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


def run_interpreted(program: str, *arguments: str) -> str:
    """Output of a program in a process in which Triton interprets."""
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=root,
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_every_case_under_the_interpreter() -> None:
    for backend in ("triton", "cuda"):
        program = f"from tests.gpu.backends import run_all; print(run_all({backend!r}, 'cpu'))"
        assert run_interpreted(program) == str(len(list(cases())))


def test_rows_that_do_not_exist_are_left_out_by_the_kernel() -> None:
    # A tensor on a device is not looked into before the launch; the interpreter's device is the CPU, where
    # it would be. So the kernel is launched directly.
    program = """
import torch
import triton
from maskwright.gpu.triton_backend import _mask_kernel
logits = torch.zeros(4, 64)
rows = torch.tensor([-1, 1, 3, 9])
_mask_kernel[(4, 1)](
    logits, torch.zeros(3, 2, dtype=torch.int32), rows, 3, 64, 64, 64, 2, HAS_ROWS=True, WORDS=2
)
print(torch.isinf(logits).all(dim=1).tolist(), torch.isinf(logits).sum().item())
"""
    assert run_interpreted(program) == "[False, True, False, False] 64"


@pytest.mark.skipif(os.environ.get("TRITON_INTERPRET") == "1", reason="Triton interprets here")
def test_refuses_the_cpu_unless_it_interprets() -> None:
    logits = torch.zeros(2, 8)
    with pytest.raises(BitmaskError, match="'triton' cannot mask logits on 'cpu'"):
        apply_token_bitmask_inplace(logits, torch.zeros(2, 1, dtype=torch.int32), backend="triton")
    assert not logits.any()


@needs_gpu
@pytest.mark.parametrize("backend", ["auto", "triton", "cuda", "torch_native", "torch_compile"])
def test_every_case_on_a_gpu(backend: str) -> None:
    assert run_all(backend, "cuda") == len(list(cases()))


@needs_gpu
def test_devices_are_not_mixed() -> None:
    logits = torch.zeros(2, 8, device="cuda")
    with pytest.raises(BitmaskError, match="the bitmask on 'cpu'"):
        apply_token_bitmask_inplace(logits, torch.zeros(2, 1, dtype=torch.int32))


@pytest.mark.skipif(os.environ.get("TRITON_INTERPRET") == "1", reason="Triton interprets here")
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16", "fp64"])
@pytest.mark.parametrize("has_rows", [False, True])
def test_compiles_for_a_gpu_that_is_not_there(dtype: str, has_rows: bool) -> None:
    # The interpreter forgives what the compiler does not; making machine code needs no GPU.
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from maskwright.gpu.triton_backend import _mask_kernel

    names = ["n_rows", "width", "limit", "logits_stride", "bitmask_stride"]
    signature = {"logits": f"*{dtype}", "bitmask": "*i32", "rows": "*i64", **dict.fromkeys(names, "i32")}
    source = ASTSource(
        fn=_mask_kernel,
        signature={**signature, "HAS_ROWS": "constexpr", "WORDS": "constexpr"},
        constexprs={"HAS_ROWS": has_rows, "WORDS": 128},
    )
    compiled = triton.compile(
        source, target=GPUTarget("cuda", 80, 32), options={"num_warps": 8, "enable_fp_fusion": False}
    )
    assert "st.global" in compiled.asm["ptx"]
