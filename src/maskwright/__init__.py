"""maskwright: exact constrained decoding of language models.

Give it a JSON Schema, a grammar or a regular expression and a model's vocabulary; at every decoding
step it says which tokens may legally come next. See the README for a first program and
`docs/architecture.md` for how it works.
"""

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

__version__ = "0.1.0"

__all__ = [
    "BatchGrammarMatcher",
    "BitmaskError",
    "CompiledGrammar",
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
