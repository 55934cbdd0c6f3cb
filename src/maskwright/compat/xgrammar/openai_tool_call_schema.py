"""The models of tool definitions, by name: they serve structural tags, and are refused with them."""

from __future__ import annotations

from typing import Final

from ._refusals import refused_class

_NAMES: Final = (
    "AllowedToolChoiceParam",
    "AllowedToolRef",
    "AllowedToolsParam",
    "BuiltinToolChoiceParam",
    "BuiltinToolParam",
    "FunctionDefinition",
    "FunctionToolParam",
    "NamedToolChoiceFunction",
    "NamedToolChoiceParam",
    "ToolChoiceOptionParam",
    "ToolParam",
)

globals().update(
    {
        name: refused_class(
            name,
            __name__,
            "tool definitions for structural tags",
            "constrain the arguments of a tool call with compile_json_schema",
        )
        for name in _NAMES
    }
)

__all__ = [*_NAMES]  # strings they are
