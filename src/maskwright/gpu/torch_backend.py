"""A bitmask applied in torch operations, for devices that have no kernel of their own.

Does: unpack the words into a truth value per token and fill where it is false; as it is
(``"torch_native"``) or fused by `torch.compile` into one pass (``"torch_compile"``).
Does not: check its input (`maskwright.bitmask` did).

Rejected: `torch.where` into a new tensor. The call is in place, and a second tensor of logits is memory
that an engine has not planned for.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from maskwright.bitmask import MaskJob

__all__ = ["apply"]


def apply(job: MaskJob) -> None:
    """Mask the logits of a job that was found sound, whose arrays are torch tensors."""
    import torch

    if 0 in job.logits.shape:
        return
    mask_rows = _compiled() if job.backend == "torch_compile" else _mask_rows
    logits, bitmask = torch.atleast_2d(job.logits), torch.atleast_2d(job.bitmask)
    if job.rows is None:
        mask_rows(logits, bitmask, job.limit)
        return
    rows = torch.as_tensor(job.rows, device=logits.device, dtype=torch.int64)
    if not rows.numel():
        return
    chosen = logits.index_select(0, rows)
    mask_rows(chosen, bitmask.index_select(0, rows), job.limit)
    logits.index_copy_(0, rows, chosen)


def _mask_rows(logits: Any, bitmask: Any, limit: int) -> None:
    """Mask all rows of ``logits``: (rows, width), by ``bitmask``: (rows, words)."""
    import torch

    bits = torch.arange(32, dtype=torch.int32, device=bitmask.device)
    # The shift keeps the sign, so the top bit of a word comes down as the others do.
    allowed = ((bitmask.unsqueeze(-1) >> bits) & 1).flatten(1)[:, :limit].to(torch.bool)
    logits[:, :limit].masked_fill_(~allowed, float("-inf"))
    logits[:, limit:].fill_(float("-inf"))


@cache
def _compiled() -> Callable[[Any, Any, int], None]:
    import torch

    # Dynamic shapes: the batch changes at every step, and one program must serve all of them.
    compiled: Callable[[Any, Any, int], None] = torch.compile(_mask_rows, dynamic=True)
    return compiled
