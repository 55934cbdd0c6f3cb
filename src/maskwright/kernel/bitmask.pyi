import numpy as np
import numpy.typing as npt

def apply_bitmask(
    logits: int,
    element_size: int,
    minus_infinity: int,
    logits_stride: int,
    bitmask: int,
    mask_stride: int,
    rows: npt.NDArray[np.int64] | None,
    n_rows: int,
    limit: int,
    width: int,
) -> None: ...
