"""A bitmask applied by a Triton kernel, for CUDA devices (NVIDIA and AMD).

Idea: a program takes a block of the vocabulary in one row, reads its words once, and stores minus infinity
where a bit is 0. Logits are never read, and what is allowed is never written: the traffic is the bitmask
plus the forbidden logits. Where a grammar forbids nearly everything, that is one pass of writes.

Does not: check its input (`maskwright.bitmask` did). Row numbers in a tensor on the device cannot be
checked without waiting for the device, so the kernel leaves out those that do not exist.

Rejected: a grid as large as the device with a loop over blocks in each program. It saves launching some
blocks, which costs little beside the writes, and needs to know the device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import triton
import triton.language as tl

from maskwright.errors import BitmaskError

if TYPE_CHECKING:
    from maskwright.bitmask import MaskJob

__all__ = ["apply"]

#: Words of the bitmask that one program takes: 4,096 logits, enough stores to hide their latency.
_WORDS_PER_BLOCK = 128
_WARPS = 8


@triton.jit  # type: ignore[untyped-decorator]
def _mask_kernel(  # type: ignore[no-untyped-def]  # Triton evaluates annotations
    logits,
    bitmask,
    rows,
    n_rows,
    width,
    limit,
    logits_stride,
    bitmask_stride,
    HAS_ROWS: tl.constexpr,  # noqa: N803
    WORDS: tl.constexpr,  # noqa: N803
):
    """Mask one block of one row. ``n_rows`` rows exist in both arrays; strides are in elements."""
    row = tl.program_id(0).to(tl.int64)
    if HAS_ROWS:
        row = tl.load(rows + row).to(tl.int64)
        # A row that does not exist has no words and no logits.
        exists = tl.where(row < 0, 0, tl.where(row < n_rows, 1, 0))
        limit *= exists
        width *= exists
    word = tl.program_id(1) * WORDS + tl.arange(0, WORDS)
    # Words that begin at or beyond the limit may not exist: they count as "nothing is allowed".
    words = tl.load(bitmask + row * bitmask_stride + word, mask=word * 32 < limit, other=0)
    bit = tl.arange(0, 32)
    token = word[:, None] * 32 + bit[None, :]
    # Selections of integers instead of "and" of truth values, which Triton 3.9 interprets as integers and
    # then does not take for a mask.
    allowed = tl.where(token < limit, (words[:, None] >> bit[None, :]) & 1, 0)
    minus_infinity = tl.full((WORDS, 32), float("-inf"), tl.float32).to(logits.dtype.element_ty)
    tl.store(
        logits + row * logits_stride + token,
        minus_infinity,
        mask=tl.where(token < width, allowed, 1) == 0,
    )


def apply(job: MaskJob) -> None:
    """Mask the logits of a job that was found sound, whose arrays are torch tensors.

    Raises:
        BitmaskError: The logits are not on a CUDA device (and Triton does not interpret).
    """
    device = job.logits.device
    if device.type != "cuda" and not _interprets():
        raise BitmaskError(
            f"the backend {job.backend!r} cannot mask logits on {str(device)!r}",
            hint="leave the choice to 'auto'",
        )
    n_rows = min(job.logits_view.n_rows, job.mask_view.n_rows)
    rows = None if job.rows is None else torch.as_tensor(job.rows, device=device)
    n_programs = n_rows if rows is None else rows.numel()
    width = job.logits_view.width
    if n_programs == 0 or width == 0:
        return
    grid = (n_programs, triton.cdiv(width, 32 * _WORDS_PER_BLOCK))
    with _on(device):
        _mask_kernel[grid](
            job.logits,
            job.bitmask,
            job.logits if rows is None else rows,
            n_rows,
            width,
            job.limit,
            job.logits_view.row_stride,
            job.mask_view.row_stride,
            HAS_ROWS=rows is not None,
            WORDS=_WORDS_PER_BLOCK,
            num_warps=_WARPS,
            # There is no arithmetic to fuse; said, because Triton warns where nothing is said.
            enable_fp_fusion=False,
        )


def _interprets() -> bool:
    """Whether Triton was told, before this module was imported, to run kernels in Python on the CPU."""
    return not isinstance(_mask_kernel, triton.runtime.JITFunction)


def _on(device: torch.device) -> Any:
    """Triton launches on the current device, which need not be that of the logits."""
    from contextlib import nullcontext

    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()
