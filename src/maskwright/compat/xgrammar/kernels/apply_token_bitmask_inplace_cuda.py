"""Bitmasks on a CUDA device. XGrammar compiles CUDA code here; this is the Triton kernel again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..matcher import apply_token_bitmask_inplace

if TYPE_CHECKING:
    import torch

__all__ = ["apply_token_bitmask_inplace_cuda"]


def apply_token_bitmask_inplace_cuda(
    logits: torch.Tensor,
    bitmask: torch.Tensor,
    indices: Sequence[int] | torch.Tensor | None = None,
) -> None:
    """Mask logits in place; arguments and errors as for `apply_token_bitmask_inplace`."""
    apply_token_bitmask_inplace(logits, bitmask, indices=indices, backend="cuda")
