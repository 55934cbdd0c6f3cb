"""Bitmasks on the CPU: the compiled loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..matcher import apply_token_bitmask_inplace

if TYPE_CHECKING:
    import torch

__all__ = ["apply_token_bitmask_inplace_cpu"]


def apply_token_bitmask_inplace_cpu(
    logits: torch.Tensor,
    bitmask: torch.Tensor,
    vocab_size: int | None = None,
    indices: Sequence[int] | torch.Tensor | None = None,
) -> None:
    """Mask logits in place; arguments and errors as for `apply_token_bitmask_inplace`."""
    apply_token_bitmask_inplace(logits, bitmask, vocab_size=vocab_size, indices=indices, backend="cpu")
