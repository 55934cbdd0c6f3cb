"""Bitmasks on MLX arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from maskwright.engines.mlx import apply_token_bitmask

from ..exception import BitmaskError, raises_runtime_errors

__all__ = ["apply_token_bitmask_mlx"]


@raises_runtime_errors
def apply_token_bitmask_mlx(bitmask: Any, logits: Any, vocab_size: int) -> Any:
    """New logits with -inf where a bitmask has no bit, and from `vocab_size` on.

    Args:
        bitmask: int32, shape (..., words); `mx.array`, numpy array or torch tensor on the CPU.
        logits: `mx.array`, shape (..., width).
        vocab_size: Tokens governed by the bitmask.

    Raises:
        BitmaskError: `vocab_size` is negative, or the bitmask is not int32.
    """
    if vocab_size < 0:
        raise BitmaskError(f"vocab_size is {vocab_size}", hint="pass at least 0")
    words = np.array(bitmask)
    if words.dtype != np.int32:
        raise BitmaskError(f"the bitmask has words of type {words.dtype}, not int32")
    bits = np.arange(32 * words.shape[-1], dtype=np.int64).reshape(-1, 32) < vocab_size
    governed = np.packbits(bits, axis=-1, bitorder="little").view(np.int32).reshape(-1)
    return apply_token_bitmask(logits, words & governed)
