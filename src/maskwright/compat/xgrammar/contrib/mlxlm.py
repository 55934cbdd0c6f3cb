"""MLX-LM: XGrammar's `XGrammarLogitsProcessor`, over `maskwright.engines.mlx`."""

from __future__ import annotations

import maskwright
from maskwright.engines.mlx import MaskLogitsProcessor

__all__ = ["XGrammarLogitsProcessor"]


class XGrammarLogitsProcessor(MaskLogitsProcessor):
    """Keeps one sequence inside a grammar: ``generate(..., logits_processors=[processor])``.

    Args:
        grammar: What the answer must match.
        max_rollback_tokens: Has no effect: rollback is never limited.
    """

    def __init__(self, grammar: maskwright.CompiledGrammar, max_rollback_tokens: int = 16) -> None:
        super().__init__(grammar)
