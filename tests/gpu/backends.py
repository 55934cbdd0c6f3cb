"""Cases that every backend must get right, as a module and as a program.

As a program, ``python backends.py BACKEND DEVICE``, it runs them all and ends with a count: Triton decides
when it is imported whether it compiles or interprets, so the interpreter needs a process of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

from maskwright import BitmaskError, apply_token_bitmask_inplace

DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
WORDS = (-1, 0, 1, -(2**31), 0x0F0F0F0F, -2)


class Case(NamedTuple):
    """One call; ``rows`` says how ``indices`` are passed."""

    n_rows: int
    width: int
    n_words: int
    vocab_size: int | None
    indices: list[int] | None
    dtype: torch.dtype
    one_dimension: bool = False
    row_gap: int = 0
    device_indices: bool = False


def cases() -> Iterator[Case]:
    """Narrow, exact and wide bitmasks; blocks that end inside a word; every type; every form of rows."""
    for dtype in DTYPES:
        yield Case(2, 70, 3, None, None, dtype)
    for width, n_words in [
        (64, 2),
        (33, 2),
        (100, 2),
        (20, 4),
        (1, 1),
        (4096, 128),
        (5000, 130),
        (9000, 140),
    ]:
        yield Case(1, width, n_words, None, None, torch.float32)
    for vocab_size in (0, 1, 31, 32, 33, 69, 70, 1000):
        yield Case(2, 70, 3, vocab_size, None, torch.bfloat16)
    for indices in ([], [0], [3, 1], [2, 2, 0]):
        yield Case(4, 40, 1, None, indices, torch.float16)
        yield Case(4, 40, 1, 35, indices, torch.float32, device_indices=True)
    yield Case(3, 50, 2, None, None, torch.float32, row_gap=7)
    yield Case(3, 50, 2, 40, [2], torch.float32, row_gap=7)
    yield Case(1, 50, 2, None, None, torch.float32, one_dimension=True)
    yield Case(0, 50, 2, None, None, torch.float32)
    yield Case(2, 0, 2, None, None, torch.float32)
    yield Case(2, 50, 0, None, None, torch.float32)


def check(case: Case, backend: str, device: str) -> None:
    """Apply a random bitmask and compare with one bit at a time."""
    random = np.random.default_rng(abs(hash(case[:4])) % 2**32)
    words = random.choice(WORDS, size=(case.n_rows, case.n_words)).astype(np.int32)
    store = torch.arange(case.n_rows * (case.width + case.row_gap), dtype=torch.float32) % 50
    store = store.reshape(case.n_rows, case.width + case.row_gap).to(case.dtype)
    expected = store.clone()
    limit = 32 * case.n_words if case.vocab_size is None else min(case.vocab_size, 32 * case.n_words)
    for row in range(case.n_rows) if case.indices is None else case.indices:
        for token in range(case.width):
            if token >= limit or not (int(words[row, token // 32]) >> (token % 32)) & 1:
                expected[row, token] = -torch.inf
    actual, bitmask = store.to(device), torch.from_numpy(words).to(device)
    logits = actual[:, : case.width]
    indices: Any = case.indices
    if case.device_indices:
        indices = torch.tensor(indices, dtype=torch.int32, device=device)
    apply_token_bitmask_inplace(
        logits[0] if case.one_dimension else logits,
        bitmask[0] if case.one_dimension else bitmask,
        vocab_size=case.vocab_size,
        indices=indices,
        backend=backend,
    )
    assert torch.equal(actual.cpu(), expected), case


def check_batch_sizes(backend: str, device: str) -> None:
    """With indices the two batches may differ in size; without, and with rows that do not exist, not."""
    logits, bitmask = torch.zeros(4, 8, device=device), torch.zeros(2, 1, dtype=torch.int32, device=device)
    apply_token_bitmask_inplace(logits, bitmask, indices=[1], backend=backend)
    assert torch.isinf(logits).all(dim=1).tolist() == [False, True, False, False]
    for indices in (None, [2], [-1]):
        try:
            apply_token_bitmask_inplace(logits, bitmask, indices=indices, backend=backend)
        except BitmaskError:
            continue
        raise AssertionError(f"indices={indices} were taken")


def run_all(backend: str, device: str) -> int:
    """Every case; returns their number."""
    check_batch_sizes(backend, device)
    n_cases = 0
    for case in cases():
        check(case, backend, device)
        n_cases += 1
    return n_cases


if __name__ == "__main__":
    print(run_all(sys.argv[1], sys.argv[2]), "cases")
