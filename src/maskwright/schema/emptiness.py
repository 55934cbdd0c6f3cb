"""Whether a lexeme holds anything: the only question that this room asks the kernel."""

from __future__ import annotations

from ..lexeme import Lexeme, Op

__all__ = ["holds_text", "is_empty"]


def is_empty(lexeme: Lexeme) -> bool:
    """Whether the language is empty."""
    if lexeme.op is Op.EMPTY:
        return True
    from ..kernel.lexemes import is_empty as kernel_is_empty

    return bool(kernel_is_empty(lexeme))


def holds_text(lexeme: Lexeme, text: bytes) -> bool:
    """Whether one byte string is in the language."""
    from ..kernel.lexemes import accepts

    return bool(accepts(lexeme, text))
