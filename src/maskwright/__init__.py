"""maskwright: exact constrained decoding of language models.

Give it a JSON Schema, a grammar or a regular expression and a model's vocabulary; at every decoding
step it says which tokens may legally come next. See the README for a first program and
`docs/architecture.md` for how it works.
"""

from typing import TYPE_CHECKING, Any

from .bitmask import (
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
    bitmask_dtype,
    get_bitmask_shape,
    reset_token_bitmask,
)
from .compiler import CompiledGrammar, GrammarCompiler
from .errors import (
    BitmaskError,
    BudgetError,
    GrammarError,
    GrammarSyntaxError,
    LimitExceeded,
    MaskwrightError,
    MatcherError,
    RegexError,
    SchemaError,
    SyntaxError_,
    VocabularyError,
)
from .grammar import Grammar
from .matcher import BatchGrammarMatcher, GrammarMatcher
from .vocabulary import TokenizerInfo, VocabType

if TYPE_CHECKING:
    from .generator import Generator

__version__ = "0.1.0"

__all__ = [
    "BatchGrammarMatcher",
    "BitmaskError",
    "BudgetError",
    "CompiledGrammar",
    "Generator",
    "Grammar",
    "GrammarCompiler",
    "GrammarError",
    "GrammarMatcher",
    "GrammarSyntaxError",
    "LimitExceeded",
    "MaskwrightError",
    "MatcherError",
    "RegexError",
    "SchemaError",
    "SyntaxError_",
    "TokenizerInfo",
    "VocabType",
    "VocabularyError",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "bitmask_dtype",
    "get_bitmask_shape",
    "reset_token_bitmask",
]


def __getattr__(name: str) -> Any:
    """`Generator` is for scripts and brings what servers do not need: it is loaded when it is asked for."""
    if name == "Generator":
        from .generator import Generator

        return Generator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
