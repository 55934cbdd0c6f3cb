"""The functions of `xgrammar.kernels`: one answer from all that run here."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import pytest

import maskwright.compat.xgrammar as xgr

torch = pytest.importorskip("torch", reason="torch is not installed")


def kernel(name: str) -> Any:
    module = importlib.import_module(f"maskwright.compat.xgrammar.kernels.apply_token_bitmask_{name}")
    return getattr(module, f"apply_token_bitmask_{name}")


@pytest.mark.parametrize("name", ["inplace_cpu", "inplace_torch"])
@pytest.mark.parametrize("indices", [None, [1], torch.tensor([1, 0])])
def test_on_the_cpu(name: str, indices: Any) -> None:
    logits = torch.zeros(2, 40)
    kernel(name)(logits, torch.tensor([[6, -1], [5, 0]], dtype=torch.int32), 35, indices)
    allowed = [torch.where(row == 0)[0].tolist() for row in logits]
    untouched = list(range(40))
    assert allowed[1] == [0, 2]
    assert allowed[0] == (untouched if indices is not None and len(indices) == 1 else [1, 2, 32, 33, 34])


@pytest.mark.parametrize("name", ["inplace_triton", "inplace_cuda"])
def test_refused_on_the_cpu(name: str) -> None:
    pytest.importorskip("triton", reason="Triton is not installed")
    with pytest.raises(RuntimeError, match="on 'cpu'"):
        kernel(name)(torch.zeros(2, 8), torch.zeros(2, 1, dtype=torch.int32))


def test_signatures() -> None:
    for name in ("cpu", "triton", "torch", "torch_compile"):
        parameters = inspect.signature(kernel(f"inplace_{name}")).parameters
        assert list(parameters) == ["logits", "bitmask", "vocab_size", "indices"]
    assert list(inspect.signature(kernel("inplace_cuda")).parameters) == ["logits", "bitmask", "indices"]
    assert list(inspect.signature(kernel("mlx")).parameters) == ["bitmask", "logits", "vocab_size"]
    assert xgr.kernels.apply_token_bitmask_inplace_cpu is not None


def test_mlx_limits_the_bitmask_to_the_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    from maskwright.compat.xgrammar.kernels import apply_token_bitmask_mlx as module

    monkeypatch.setattr(module, "apply_token_bitmask", lambda logits, words: (logits, words.tolist()))
    bitmask = torch.tensor([[-1, -1], [5, 6]], dtype=torch.int32)
    assert kernel("mlx")(bitmask, "logits", 33) == ("logits", [[-1, 1], [5, 0]])
    assert kernel("mlx")(bitmask, "logits", 99) == ("logits", [[-1, -1], [5, 6]])
    assert kernel("mlx")(bitmask, "logits", 0) == ("logits", [[0, 0], [0, 0]])
    with pytest.raises(RuntimeError, match="vocab_size"):
        kernel("mlx")(bitmask, "logits", -1)
    with pytest.raises(RuntimeError, match="int64"):
        kernel("mlx")(bitmask.long(), "logits", 3)
