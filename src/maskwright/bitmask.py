"""Token bitmasks: make them, reset them, apply them to logits.

A bitmask has one row per sequence and ``ceil(vocab_size / 32)`` int32 words per row; bit ``t % 32`` of
word ``t // 32`` (least significant first) is 1 iff token ``t`` is allowed. Bitmasks and logits may be
numpy arrays or torch tensors on the CPU, in any mixture, or torch tensors on one accelerator; torch is
never imported here, only recognised.

Decision: logits beyond the bitmask, or beyond `vocab_size`, are *always* masked. XGrammar leaves them
unmasked and warns; then a padded model can sample an id that its tokenizer does not have, which
crashes the engine later. There is no use for the other behaviour.

Decision: elements of a row must be contiguous, rows may be strided. Logits are made that way, and the
loop can then work on whole words. Anything else is an error, never a silent copy: the call is in place.

Backends: what is wrong with a call is found here, once; `_BACKENDS` then maps a name to the function that
does the work. Those for accelerators are in `maskwright.gpu` and are imported by their first call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from maskwright.errors import BitmaskError
from maskwright.kernel.bitmask import apply_bitmask

__all__ = [
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "bitmask_dtype",
    "get_bitmask_shape",
    "reset_token_bitmask",
]

#: Type of a bitmask's words.
bitmask_dtype: Final = np.int32

_WORD_BITS: Final = 32

#: Size in bytes and bit pattern of minus infinity, by the name of the element type.
_MINUS_INFINITY: Final[dict[str, tuple[int, int]]] = {
    "float16": (2, 0xFC00),
    "bfloat16": (2, 0xFF80),
    "float32": (4, 0xFF80_0000),
    "float64": (8, 0xFFF0_0000_0000_0000),
}


def get_bitmask_shape(batch_size: int, vocab_size: int) -> tuple[int, int]:
    """Shape of the bitmask for a batch: ``(batch_size, ceil(vocab_size / 32))``.

    Raises:
        BitmaskError: a size is negative.

    >>> get_bitmask_shape(2, 33)
    (2, 2)
    """
    if batch_size < 0 or vocab_size < 0:
        raise BitmaskError(
            f"a bitmask for {batch_size} sequences and {vocab_size} tokens makes no sense",
            hint="pass sizes of at least 0",
        )
    return batch_size, -(-vocab_size // _WORD_BITS)


def allocate_token_bitmask(batch_size: int, vocab_size: int) -> npt.NDArray[np.int32]:
    """A new bitmask, int32 of shape ``(batch_size, ceil(vocab_size / 32))``, in which all is allowed.

    Raises:
        BitmaskError: a size is negative.
    """
    return np.full(get_bitmask_shape(batch_size, vocab_size), -1, dtype=bitmask_dtype)


def reset_token_bitmask(bitmask: Any) -> None:
    """Allow every token again, in place.

    Args:
        bitmask: numpy array or torch tensor, int32.
    """
    if _is_tensor(bitmask):
        bitmask.fill_(-1)
    else:
        bitmask.fill(-1)


def apply_token_bitmask_inplace(
    logits: Any,
    bitmask: Any,
    *,
    vocab_size: int | None = None,
    indices: Sequence[int] | None = None,
    backend: str = "auto",
) -> None:
    """Set the logits of tokens that are not allowed to minus infinity, in place.

    Args:
        logits: ``(batch, width)`` or ``(width,)``; float32, float16, bfloat16 (torch) or float64;
            numpy array or torch tensor. Rows may be strided, elements of a row may not.
        bitmask: ``(batch, words)`` or ``(words,)``, int32, numpy array or torch tensor, on the device of
            the logits.
        vocab_size: Tokens governed by the bitmask, by default as many as it has bits. Logits from
            there on are masked.
        indices: Rows to mask, the same row of logits and bitmask; by default all of them. The two
            batch sizes may differ only if this is given. A tensor on an accelerator is used as it is,
            without waiting for the device: rows in it that do not exist are then left out.
        backend: ``"auto"`` by the device of the logits: ``"cpu"``, ``"triton"`` for CUDA,
            ``"torch_native"`` for NPUs and ``"torch_compile"`` elsewhere. The last two take torch tensors
            on any device. ``"cuda"`` is another name of ``"triton"``.

    Raises:
        BitmaskError: a wrong shape, type, device, stride, row or backend; nothing was changed.
        ImportError: the backend needs torch or Triton, which is not installed.

    >>> logits = np.zeros(4, dtype=np.float32)
    >>> apply_token_bitmask_inplace(logits, np.array([0b1010], dtype=np.int32), vocab_size=3)
    >>> logits.tolist()
    [-inf, 0.0, -inf, -inf]
    """
    logits_view = _view(logits, "logits")
    mask_view = _view(bitmask, "bitmask")
    name = backend
    if backend == "auto":
        name = _BY_DEVICE.get(logits_view.device_type, "torch_compile")
    apply = _BACKENDS.get(name)
    if apply is None:
        raise BitmaskError(
            f"there is no backend {backend!r}",
            hint="available: 'auto', " + ", ".join(map(repr, _BACKENDS)),
        )
    _check_types(logits_view, mask_view)
    if vocab_size is not None and vocab_size < 0:
        raise BitmaskError(f"vocab_size is {vocab_size}", hint="pass at least 0, or None")
    limit = min(logits_view.width, mask_view.width * _WORD_BITS)
    if vocab_size is not None:
        limit = min(limit, vocab_size)
    rows = _rows(logits_view, mask_view, indices)
    apply(MaskJob(name, logits, bitmask, logits_view, mask_view, rows, limit))


class _View(NamedTuple):
    """What is needed of an array, whatever library it comes from; sizes and strides in elements."""

    role: str
    address: int
    dtype: str
    device: str
    writable: bool
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def device_type(self) -> str:
        return self.device.partition(":")[0]

    @property
    def n_rows(self) -> int:
        return self.shape[0] if len(self.shape) == 2 else 1

    @property
    def width(self) -> int:
        return self.shape[-1]

    @property
    def row_stride(self) -> int:
        return self.strides[0] if len(self.shape) == 2 else 0


class MaskJob(NamedTuple):
    """One call that was found sound, as a backend gets it.

    Attributes:
        backend: The name under which the backend was called.
        logits: What the caller passed.
        bitmask: What the caller passed.
        logits_view: Shape, type and place of the logits.
        mask_view: Shape, type and place of the bitmask.
        rows: Rows to mask, None for all: int64 and checked, or a tensor on the accelerator, unchecked.
        limit: Tokens governed by the bitmask, at most the width of both; all logits from there on are masked.
    """

    backend: str
    logits: Any
    bitmask: Any
    logits_view: _View
    mask_view: _View
    rows: Any
    limit: int


def _is_tensor(array: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def _view(array: Any, role: str) -> _View:
    if isinstance(array, np.ndarray):
        view = _numpy_view(array, role)
    elif _is_tensor(array):
        view = _torch_view(array, role)
    else:
        raise BitmaskError(
            f"the {role} must be a numpy array or a torch tensor, not a {type(array).__qualname__}",
            hint="numpy.asarray(...) makes one, but then masks the copy",
        )
    if len(view.shape) not in (1, 2):
        raise BitmaskError(
            f"the {role} must have 1 or 2 dimensions, not shape {view.shape}",
            hint="pass the logits of the last position: (batch, vocabulary)",
        )
    # The strides of an array without elements, or with rows of one, mean nothing.
    if not view.strides or (view.width > 1 and view.n_rows > 0 and view.strides[-1] != 1):
        raise BitmaskError(
            f"the elements of a row of the {role} are not contiguous (strides {view.strides})",
            hint="mask the contiguous array that this is a view of, or a contiguous copy",
        )
    return view


def _numpy_view(array: npt.NDArray[Any], role: str) -> _View:
    native = array.dtype.newbyteorder("=")
    size = max(1, array.itemsize)
    # A field of a structured array may lie at odd distances; then there are no strides in elements.
    whole = all(stride % size == 0 for stride in array.strides)
    return _View(
        role=role,
        address=array.ctypes.data,
        dtype=native.name if array.dtype == native else f"byte-swapped {native.name}",
        device="cpu",
        writable=bool(array.flags.writeable),
        shape=array.shape,
        strides=tuple(stride // size for stride in array.strides) if whole else (),
    )


def _torch_view(tensor: Any, role: str) -> _View:
    strided = _name(tensor.layout) == "strided"
    device = _name(tensor.device)
    return _View(
        role=role,
        address=tensor.data_ptr() if strided and device == "cpu" else 0,
        dtype=_name(tensor.dtype),
        device=device,
        writable=True,
        shape=tuple(tensor.shape),
        strides=tensor.stride() if strided else (),
    )


@cache
def _name(value: object) -> str:
    """The name of a torch type, layout or device. There are few, and spelling one takes a microsecond."""
    return str(value).removeprefix("torch.")


def _check_types(logits: _View, bitmask: _View) -> None:
    if logits.dtype not in _MINUS_INFINITY:
        raise BitmaskError(
            f"logits of type {logits.dtype} cannot be masked",
            hint="use one of " + ", ".join(_MINUS_INFINITY),
        )
    if bitmask.dtype != "int32":
        raise BitmaskError(
            f"the bitmask has words of type {bitmask.dtype}, not int32",
            hint="allocate it with allocate_token_bitmask()",
        )
    if not logits.writable:
        raise BitmaskError("the logits are read-only", hint="pass a writable array: it is changed in place")
    if bitmask.device != logits.device:
        raise BitmaskError(
            f"the logits are on {logits.device!r}, the bitmask on {bitmask.device!r}",
            hint="move the bitmask to the device of the logits",
        )


def _rows(logits: _View, bitmask: _View, indices: Any) -> Any:
    """The rows to mask as an int64 array, or None for all; every row exists in both.

    A tensor on an accelerator is returned as it is: to look into it would stall the device.
    """
    if indices is None:
        if logits.n_rows != bitmask.n_rows:
            raise BitmaskError(
                f"{logits.n_rows} rows of logits, but {bitmask.n_rows} rows of bitmask",
                hint="give both the same batch size, or say which rows with indices=",
            )
        return None
    if _is_tensor(indices) and indices.device.type != "cpu":
        if indices.dim() != 1 or indices.is_floating_point() or str(indices.device) != logits.device:
            raise BitmaskError(
                f"indices of type {indices.dtype} and shape {tuple(indices.shape)} on {indices.device}",
                hint=f"pass a list, or one dimension of integers on {logits.device}",
            )
        return indices
    listed = np.asarray(indices)
    if listed.size == 0:
        return np.zeros(0, dtype=np.int64)
    if listed.ndim != 1 or listed.dtype.kind not in "iu":
        raise BitmaskError(f"indices must be a list of row numbers, not {indices!r}", hint="pass integers")
    n_rows = min(logits.n_rows, bitmask.n_rows)
    rows = np.ascontiguousarray(listed, dtype=np.int64)
    outside = (rows < 0) | (rows >= n_rows)
    if outside.any():
        raise BitmaskError(
            f"there is no row {int(listed[outside][0])}: the logits have {logits.n_rows} rows, "
            f"the bitmask has {bitmask.n_rows}",
            hint="rows are counted from 0 and must exist in both",
        )
    return rows


def _apply_on_cpu(job: MaskJob) -> None:
    logits, bitmask = job.logits_view, job.mask_view
    if logits.device != "cpu":
        raise BitmaskError(
            f"the backend 'cpu' cannot mask logits on {logits.device!r}", hint="leave the choice to 'auto'"
        )
    size, pattern = _MINUS_INFINITY[logits.dtype]
    apply_bitmask(
        logits.address,
        size,
        pattern,
        logits.row_stride,
        bitmask.address,
        bitmask.row_stride,
        job.rows,
        logits.n_rows if job.rows is None else len(job.rows),
        job.limit,
        logits.width,
    )


def _check_tensors(job: MaskJob) -> None:
    if not (_is_tensor(job.logits) and _is_tensor(job.bitmask)):
        raise BitmaskError(
            f"the backend {job.backend!r} masks torch tensors only", hint="use the backend 'auto' or 'cpu'"
        )


def _apply_with_triton(job: MaskJob) -> None:
    _check_tensors(job)
    from maskwright.gpu.triton_backend import apply

    apply(job)


def _apply_with_torch(job: MaskJob) -> None:
    _check_tensors(job)
    from maskwright.gpu.torch_backend import apply

    apply(job)


#: What masks logits, by the name of the backend.
_BACKENDS: Final[dict[str, Callable[[MaskJob], None]]] = {
    "cpu": _apply_on_cpu,
    "cuda": _apply_with_triton,
    "triton": _apply_with_triton,
    "torch_compile": _apply_with_torch,
    "torch_native": _apply_with_torch,
}

#: What "auto" means on a device; "torch_compile" where nothing is said.
_BY_DEVICE: Final = {"cpu": "cpu", "cuda": "triton", "npu": "torch_native"}
