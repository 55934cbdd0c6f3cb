"""Masking logits where they are: on an accelerator.

`triton_backend` has the kernel for CUDA devices, `torch_backend` the same in torch operations, as they are
or compiled. Both are called through `maskwright.apply_token_bitmask_inplace`, which checks the arguments;
neither is imported before it is needed.
"""
