"""XGrammar's public names, with maskwright's masks.

``import maskwright.compat.xgrammar as xgr`` is all that changes in a program written for XGrammar (0.2.8 and
0.2.9): names, arguments, defaults, return values and error types are the same, bitmasks are torch tensors.
Where XGrammar does the wrong thing (a keyword that it ignores, invalid JSON), maskwright's behaviour stays;
``docs/xgrammar.md`` lists every such difference. What maskwright does not have, structural tags and Lark, is
there by name and refuses when it is used (`UnsupportedError`).

Every error that maskwright raises on purpose arrives here as a class that is maskwright's and a
``RuntimeError`` as well; see `exception`.

torch is imported by what needs it, not by importing this package.
"""

from __future__ import annotations

from typing import Any

from . import exception, structural_tag, testing
from . import kernels as kernels  # an attribute there too, though not public
from .builtin_structural_tag import (
    get_builtin_structural_tag,
    get_model_structural_tag,
    normalize_tool_choice,
    register_model_structural_tag,
)
from .compiler import CompiledGrammar, GrammarCompiler
from .config import (
    get_max_recursion_depth,
    get_serialization_version,
    max_recursion_depth,
    set_max_recursion_depth,
)
from .exception import (
    DeserializeFormatError,
    DeserializeVersionError,
    InvalidJSONError,
    InvalidStructuralTagError,
)
from .grammar import Grammar
from .matcher import (
    BatchGrammarMatcher,
    GrammarMatcher,
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
    get_bitmask_shape,
    reset_token_bitmask,
)
from .structural_tag import StructuralTag, StructuralTagItem
from .tokenizer_info import TokenizerInfo, VocabType

__all__ = [
    "BatchGrammarMatcher",
    "CompiledGrammar",
    "DeserializeFormatError",
    "DeserializeVersionError",
    "Grammar",
    "GrammarCompiler",
    "GrammarMatcher",
    "InvalidJSONError",
    "InvalidStructuralTagError",
    "StructuralTag",
    "StructuralTagItem",
    "TokenizerInfo",
    "VocabType",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "bitmask_dtype",
    "exception",
    "get_bitmask_shape",
    "get_builtin_structural_tag",
    "get_max_recursion_depth",
    "get_model_structural_tag",
    "get_serialization_version",
    "hf",
    "max_recursion_depth",
    "normalize_tool_choice",
    "register_model_structural_tag",
    "reset_token_bitmask",
    "set_max_recursion_depth",
    "structural_tag",
    "testing",
]


def __getattr__(name: str) -> Any:
    if name == "bitmask_dtype":
        from . import matcher

        return matcher.bitmask_dtype
    if name == "hf":
        from .contrib import hf

        return hf
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
