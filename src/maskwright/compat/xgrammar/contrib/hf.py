"""transformers: XGrammar's `LogitsProcessor`.

It may be used again, with beams, and with several answers per prompt, which XGrammar's may not; the work is
done by `maskwright.engines.transformers`. Scores are returned as a new tensor; XGrammar's are changed in
place.
"""

from __future__ import annotations

from collections.abc import Sequence

import maskwright
from maskwright.engines.transformers import MaskLogitsProcessor

from ..exception import raises_runtime_errors

__all__ = ["LogitsProcessor"]


class LogitsProcessor(MaskLogitsProcessor):
    """Keeps `generate` inside a grammar: ``model.generate(..., logits_processor=[processor])``.

    Args:
        compiled_grammar: One for all prompts of the batch, or a list with one for each.

    Raises:
        MatcherError: No grammar, or grammars of different vocabularies.
    """

    @raises_runtime_errors
    def __init__(
        self, compiled_grammar: maskwright.CompiledGrammar | Sequence[maskwright.CompiledGrammar]
    ) -> None:
        super().__init__(compiled_grammar)
