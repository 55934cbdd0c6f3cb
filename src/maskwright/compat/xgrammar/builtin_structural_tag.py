"""The structural tags of known models, by name: refused when they are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NoReturn

from ._refusals import refused_function

__all__ = [
    "get_builtin_structural_tag",
    "get_model_structural_tag",
    "normalize_tool_choice",
    "register_model_structural_tag",
]

_WHAT: Final = "structural tags"
_HINT: Final = "constrain the arguments of a tool call with compile_json_schema"

get_builtin_structural_tag = refused_function("get_builtin_structural_tag", __name__, _WHAT, _HINT)
get_model_structural_tag = refused_function("get_model_structural_tag", __name__, _WHAT, _HINT)
normalize_tool_choice = refused_function("normalize_tool_choice", __name__, _WHAT, _HINT)
register_model_structural_tag = refused_function("register_model_structural_tag", __name__, _WHAT, _HINT)


def __getattr__(name: str) -> Callable[..., NoReturn]:
    # One function per model; the list grows with every release of XGrammar.
    if name.startswith("get_") and name.endswith("_structural_tag"):
        return refused_function(name, __name__, _WHAT, _HINT)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
