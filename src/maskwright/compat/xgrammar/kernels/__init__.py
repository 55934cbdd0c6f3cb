"""XGrammar's functions that apply a bitmask on one kind of device; one module each, as there."""

from .apply_token_bitmask_inplace_cpu import apply_token_bitmask_inplace_cpu
from .apply_token_bitmask_inplace_triton import apply_token_bitmask_inplace_triton

__all__ = ["apply_token_bitmask_inplace_cpu", "apply_token_bitmask_inplace_triton"]
