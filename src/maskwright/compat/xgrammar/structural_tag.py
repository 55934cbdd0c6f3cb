"""The classes of structural tags, by name: they can be imported and tested for, not made."""

from __future__ import annotations

from typing import Final

from ._refusals import refused_class

_FORMATS: Final = (
    "AnyTextFormat",
    "AnyTokensFormat",
    "ConstStringFormat",
    "DispatchFormat",
    "ExcludeTokenFormat",
    "GrammarFormat",
    "JSONSchemaFormat",
    "OptionalFormat",
    "OrFormat",
    "PlusFormat",
    "QwenXMLParameterFormat",
    "RegexFormat",
    "RepeatFormat",
    "SequenceFormat",
    "StarFormat",
    "TagFormat",
    "TagsWithSeparatorFormat",
    "TokenDispatchFormat",
    "TokenFormat",
    "TokenTriggeredTagsFormat",
    "TriggeredTagsFormat",
)
_WHAT: Final = "structural tags"
_HINT: Final = "concatenate and unite grammars for the same text"

StructuralTag = refused_class("StructuralTag", __name__, _WHAT, _HINT)
StructuralTagItem = refused_class("StructuralTagItem", __name__, _WHAT, _HINT)
Format = refused_class("Format", __name__, _WHAT, _HINT)
globals().update({name: refused_class(name, __name__, _WHAT, _HINT) for name in _FORMATS})

__all__ = ["Format", "StructuralTag", "StructuralTagItem", *_FORMATS]  # strings they are
