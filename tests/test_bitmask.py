"""Bitmasks: the compiled loop against plain numpy, and every refusal."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskwright.bitmask import (
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
    bitmask_dtype,
    get_bitmask_shape,
    reset_token_bitmask,
)
from maskwright.errors import BitmaskError

NUMPY_TYPES = (np.float32, np.float16, np.float64)
#: Words that take every path of the loop: skip, fill, select.
WORDS = st.sampled_from([-1, 0, 0, -1, 1, -(2**31), 0x0F0F0F0F]) | st.integers(-(2**31), 2**31 - 1)


def reference(
    logits: npt.NDArray[Any], bitmask: npt.NDArray[np.int32], vocab_size: int | None, rows: list[int] | None
) -> npt.NDArray[Any]:
    """The slow twin: one bit at a time."""
    expected = np.atleast_2d(logits).copy()
    masks = np.atleast_2d(bitmask)
    limit = 32 * masks.shape[1] if vocab_size is None else vocab_size
    for row in range(len(expected)) if rows is None else rows:
        for token in range(expected.shape[1]):
            inside = token < limit and token < 32 * masks.shape[1]
            if not inside or not (int(masks[row, token // 32]) >> (token % 32)) & 1:
                expected[row, token] = -np.inf
    return expected.reshape(logits.shape)


@st.composite
def cases(draw: st.DrawFn) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32], int | None, list[int] | None]:
    n_rows = draw(st.integers(0, 4))
    n_words = draw(st.integers(0, 6))
    width = draw(st.integers(0, 32 * n_words + 40))
    words = draw(st.lists(WORDS, min_size=n_rows * n_words, max_size=n_rows * n_words))
    bitmask = np.array(words, dtype=np.int32).reshape(n_rows, n_words)
    logits = np.arange(n_rows * width, dtype=draw(st.sampled_from(NUMPY_TYPES))).reshape(n_rows, width)
    vocab_size = draw(st.none() | st.integers(0, width + 40))
    rows = draw(st.none() | st.lists(st.integers(0, n_rows - 1), max_size=5)) if n_rows else None
    return logits, bitmask, vocab_size, rows


@given(cases())
def test_equals_the_slow_twin(case: tuple[Any, Any, int | None, list[int] | None]) -> None:
    logits, bitmask, vocab_size, rows = case
    before = bitmask.copy()
    expected = reference(logits, bitmask, vocab_size, rows)
    apply_token_bitmask_inplace(logits, bitmask, vocab_size=vocab_size, indices=rows)
    np.testing.assert_array_equal(logits, expected)
    np.testing.assert_array_equal(bitmask, before)


@given(cases())
def test_strided_rows_leave_what_lies_between_alone(case: tuple[Any, Any, Any, Any]) -> None:
    logits, bitmask, vocab_size, rows = case
    n_rows, width = logits.shape
    wide_logits = np.full((2 * n_rows, width + 3), 7, dtype=logits.dtype)
    wide_masks = np.full((3 * n_rows, bitmask.shape[1] + 2), 99, dtype=np.int32)
    view, mask_view = wide_logits[::2, :width], wide_masks[::3, : bitmask.shape[1]]
    view[:], mask_view[:] = logits, bitmask
    expected = wide_logits.copy()
    expected[::2, :width] = reference(logits, bitmask, vocab_size, rows)
    apply_token_bitmask_inplace(view, mask_view, vocab_size=vocab_size, indices=rows)
    np.testing.assert_array_equal(wide_logits, expected)


@pytest.mark.parametrize("dtype", NUMPY_TYPES)
def test_one_dimension(dtype: Any) -> None:
    logits = np.zeros(40, dtype=dtype)
    apply_token_bitmask_inplace(logits, np.array([0b101, 0b1], dtype=np.int32))
    assert np.flatnonzero(logits == 0).tolist() == [0, 2, 32]
    assert np.isneginf(logits[[1, 3, 33, 39]]).all()


def test_one_dimension_against_one_row() -> None:
    logits = np.zeros(3, dtype=np.float32)
    apply_token_bitmask_inplace(logits, np.array([[0b010]], dtype=np.int32))
    assert np.flatnonzero(logits == 0).tolist() == [1]


def test_the_tail_beyond_the_bitmask_is_always_masked() -> None:
    logits = np.zeros((1, 100), dtype=np.float32)
    apply_token_bitmask_inplace(logits, allocate_token_bitmask(1, 32))
    assert np.flatnonzero(logits == 0).tolist() == list(range(32))


def test_not_a_number_is_masked_and_otherwise_kept() -> None:
    logits = np.full((1, 2), np.nan, dtype=np.float32)
    apply_token_bitmask_inplace(logits, np.array([[0b01]], dtype=np.int32))
    assert np.isnan(logits[0, 0])
    assert np.isneginf(logits[0, 1])


def test_allocate_shape_and_reset() -> None:
    bitmask = allocate_token_bitmask(3, 65)
    assert bitmask.shape == get_bitmask_shape(3, 65) == (3, 3)
    assert bitmask.dtype == bitmask_dtype == np.int32
    assert (bitmask == -1).all()
    bitmask[:] = 0
    reset_token_bitmask(bitmask)
    assert (bitmask == -1).all()
    assert get_bitmask_shape(0, 0) == (0, 0)


@pytest.mark.parametrize("sizes", [(-1, 5), (2, -5)])
def test_negative_sizes(sizes: tuple[int, int]) -> None:
    with pytest.raises(BitmaskError, match="makes no sense"):
        allocate_token_bitmask(*sizes)


def read_only() -> npt.NDArray[np.float32]:
    array = np.zeros((2, 64), dtype=np.float32)
    array.flags.writeable = False
    return array


LOGITS, MASK = np.zeros((2, 64), dtype=np.float32), np.zeros((2, 2), dtype=np.int32)


@pytest.mark.parametrize(
    ("logits", "bitmask", "options", "message"),
    [
        ([0.0], MASK, {}, "logits must be a numpy array or a torch tensor, not a list"),
        (LOGITS, None, {}, "bitmask must be a numpy array or a torch tensor, not a NoneType"),
        (LOGITS.astype(np.int64), MASK, {}, "logits of type int64"),
        (LOGITS.astype(">f4"), MASK, {}, "logits of type byte-swapped float32"),
        (LOGITS, MASK.astype(np.uint32), {}, "words of type uint32"),
        (LOGITS, MASK.astype(np.int64), {}, "words of type int64"),
        (np.zeros((1, 2, 64), np.float32), MASK, {}, "1 or 2 dimensions"),
        (LOGITS, np.zeros((1, 1, 2), np.int32), {}, "1 or 2 dimensions"),
        (np.float32(0) * np.zeros(()), MASK, {}, "logits must be|1 or 2 dimensions"),
        (LOGITS[:1], MASK, {}, "1 rows of logits, but 2 rows of bitmask"),
        (LOGITS[0], MASK, {}, "1 rows of logits, but 2 rows of bitmask"),
        (LOGITS[:, ::2], MASK, {}, "not contiguous"),
        (np.asfortranarray(LOGITS), MASK, {}, "logits are not contiguous"),
        (LOGITS, np.asfortranarray(MASK), {}, "bitmask are not contiguous"),
        (LOGITS[:, ::-1], MASK, {}, "not contiguous"),
        (np.zeros((2, 64), dtype="<f4,<i1")["f0"], MASK, {}, "not contiguous"),
        (read_only(), MASK, {}, "read-only"),
        (LOGITS, MASK, {"indices": [2]}, "no row 2"),
        (LOGITS, MASK, {"indices": [-1]}, "no row -1"),
        (LOGITS, MASK[:1], {"indices": [1]}, "no row 1"),
        (LOGITS, MASK, {"indices": [0.5]}, "list of row numbers"),
        (LOGITS, MASK, {"indices": [[0]]}, "list of row numbers"),
        (LOGITS, MASK, {"indices": [True, False]}, "list of row numbers"),
        (LOGITS, MASK, {"vocab_size": -1}, "vocab_size is -1"),
        (LOGITS, MASK, {"backend": "triton"}, "backend 'triton' masks torch tensors only"),
        (LOGITS, MASK, {"backend": "nonsense"}, "no backend 'nonsense'"),
    ],
)
def test_refusals_change_nothing(logits: Any, bitmask: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(BitmaskError, match=message) as caught:
        apply_token_bitmask_inplace(logits, bitmask, **options)
    assert caught.value.hint
    assert (LOGITS == 0).all()


def test_one_row_subviews_with_odd_strides() -> None:
    """A view of one row or one column has meaningless strides, which numpy does not normalise."""
    logits = np.zeros((4, 64), dtype=np.float32)
    apply_token_bitmask_inplace(logits[1:2], MASK[:1])
    assert np.isneginf(logits).any(axis=1).tolist() == [False, True, False, False]
    column = np.zeros((4, 64), dtype=np.float32)
    apply_token_bitmask_inplace(column[:, 5:6], np.array([[0], [1], [0], [1]], dtype=np.int32))
    assert np.isneginf(column[:, 5]).tolist() == [True, False, True, False]
    assert (np.delete(column, 5, axis=1) == 0).all()


def test_rows_in_many_threads() -> None:
    """The loop runs without the GIL; rows of one array may be masked at the same time."""
    rng = np.random.default_rng(0)
    logits = rng.standard_normal((8, 5000)).astype(np.float32)
    bitmask = rng.integers(-(2**31), 2**31, get_bitmask_shape(8, 5000)).astype(np.int32)
    expected = reference(logits, bitmask, None, None)
    threads = [
        threading.Thread(
            target=apply_token_bitmask_inplace, args=(logits, bitmask), kwargs={"indices": [row]}
        )
        for row in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(logits, expected)


# ---- torch ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="torch is not installed", exc_type=ImportError)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
@pytest.mark.parametrize("mask_library", ["numpy", "torch"])
def test_torch_tensors(torch: Any, dtype: str, mask_library: str) -> None:
    rng = np.random.default_rng(1)
    words = rng.integers(-(2**31), 2**31, (3, 5)).astype(np.int32)
    words[:, 1], words[:, 2] = 0, -1
    values = rng.standard_normal((3, 150)).astype(np.float16)
    logits = torch.tensor(values).to(getattr(torch, dtype))
    expected = torch.tensor(reference(values, words, 140, [0, 2])).to(getattr(torch, dtype))
    mask = words if mask_library == "numpy" else torch.from_numpy(words)
    apply_token_bitmask_inplace(logits, mask, vocab_size=140, indices=[0, 2])
    assert torch.equal(logits, expected)


def test_torch_strided_rows_and_one_dimension(torch: Any) -> None:
    logits = torch.zeros(4, 70, dtype=torch.bfloat16)
    mask = torch.tensor([[0b1, 0], [0b10, 0]], dtype=torch.int32)
    apply_token_bitmask_inplace(logits[::2, :64], mask)
    assert (logits == 0).sum(dim=1).tolist() == [7, 70, 7, 70]
    assert logits[2, 1] == 0
    apply_token_bitmask_inplace(logits[1], mask[0])
    assert (logits[1] == 0).nonzero().flatten().tolist() == [0]


def test_numpy_logits_with_a_torch_mask(torch: Any) -> None:
    logits = np.zeros((1, 3), dtype=np.float32)
    apply_token_bitmask_inplace(logits, torch.tensor([[0b100]], dtype=torch.int32))
    assert np.flatnonzero(logits == 0).tolist() == [2]


def test_torch_reset(torch: Any) -> None:
    mask = torch.zeros(2, 2, dtype=torch.int32)
    reset_token_bitmask(mask)
    assert (mask == -1).all()


def test_torch_indices(torch: Any) -> None:
    logits = torch.zeros(3, 32)
    apply_token_bitmask_inplace(logits, torch.zeros(3, 1, dtype=torch.int32), indices=torch.tensor([1]))
    assert torch.isneginf(logits).all(dim=1).tolist() == [False, True, False]


def test_torch_refusals(torch: Any) -> None:
    logits, mask = torch.zeros(2, 64), torch.zeros(2, 2, dtype=torch.int32)
    for bad_logits, bad_mask, message in [
        (logits.t(), mask, "not contiguous"),
        (logits.to(torch.int32), mask, "logits of type int32"),
        (logits, mask.to(torch.int64), "words of type int64"),
        (logits.to("meta"), mask, "the logits are on 'meta'"),
        (logits, mask.to("meta"), "the bitmask on 'meta'"),
        (logits.to_sparse(), mask, "not contiguous"),
    ]:
        with pytest.raises(BitmaskError, match=message):
            apply_token_bitmask_inplace(bad_logits, bad_mask)
