"""Typed errors: what went wrong, where, and what to do about it.

Every error a caller can cause derives from a builtin that the caller would expect
(`ValueError`), carries its place as fields (a JSON pointer; an offset; a line and a column)
and a hint. The text is drawn in one place, `_render`, so that all errors read alike.
"""

from __future__ import annotations

__all__ = [
    "BitmaskError",
    "BudgetError",
    "GrammarError",
    "GrammarSyntaxError",
    "LimitExceeded",
    "MaskwrightError",
    "MatcherError",
    "RegexError",
    "SchemaError",
    "SyntaxError_",
    "VocabularyError",
]


class MaskwrightError(ValueError):
    """Base of all errors raised on purpose by maskwright.

    Attributes:
        message: One sentence, without the place.
        hint: What to do instead, or None.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def _place(self) -> str:
        return ""

    def __str__(self) -> str:
        place = self._place()
        text = f"{place}: {self.message}" if place else self.message
        return f"{text}\n  hint: {self.hint}" if self.hint else text


class GrammarError(MaskwrightError):
    """A grammar of any kind cannot be compiled."""


class SchemaError(GrammarError):
    """A JSON Schema is malformed, unsatisfiable, or uses something that cannot be enforced.

    Attributes:
        pointer: JSON pointer of the place, with a leading ``#`` (``#/properties/a/type``).
        keyword: The keyword concerned, or None.
    """

    def __init__(
        self, message: str, *, pointer: str = "#", keyword: str | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.pointer = pointer
        self.keyword = keyword

    def _place(self) -> str:
        return self.pointer


class RegexError(GrammarError):
    """A regular expression is malformed or not regular.

    Attributes:
        pattern: The pattern text.
        offset: Position in the pattern, in code points.
    """

    def __init__(self, message: str, *, pattern: str, offset: int, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.pattern = pattern
        self.offset = offset

    def _place(self) -> str:
        # A window keeps the caret on screen for patterns of any length.
        start = max(0, self.offset - 30)
        window = self.pattern[start : self.offset + 30].replace("\n", " ")
        return f"pattern offset {self.offset}\n  {window}\n  {' ' * (self.offset - start)}^\n"


class GrammarSyntaxError(GrammarError):
    """Grammar text (EBNF, GBNF, Lark) does not parse or names something undefined.

    Attributes:
        source: The whole text.
        line: Line, from 1.
        column: Column, from 1, in code points.
    """

    def __init__(self, message: str, *, source: str, line: int, column: int, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.source = source
        self.line = line
        self.column = column

    def _place(self) -> str:
        lines = self.source.split("\n")
        text = lines[self.line - 1] if 0 < self.line <= len(lines) else ""
        start = max(0, self.column - 60)
        return (
            f"line {self.line}, column {self.column}\n"
            f"  {text[start : self.column + 40]}\n  {' ' * (self.column - 1 - start)}^\n"
        )


#: The name the design uses; the trailing underscore keeps the builtin readable.
SyntaxError_ = GrammarSyntaxError


class VocabularyError(MaskwrightError):
    """A vocabulary cannot be read, or contradicts itself."""


class LimitExceeded(GrammarError):
    """A grammar needs more of a metered resource than it may have.

    Attributes:
        resource: What ran out (``"lexeme states"``, ``"automaton states"``, ...).
        limit: How much of it was allowed.
    """

    def __init__(self, message: str, *, resource: str, limit: int, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.resource = resource
        self.limit = limit


class MatcherError(MaskwrightError):
    """A matcher was asked for something that its state does not allow (too long a rollback, ...)."""


class BudgetError(MaskwrightError):
    """A budget of tokens is too small to complete an output.

    Attributes:
        available: Tokens that are left.
        needed: Tokens that would suffice, the stop token included; None if no number is known to.
    """

    def __init__(self, message: str, *, available: int, needed: int | None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.available = available
        self.needed = needed


class BitmaskError(MaskwrightError):
    """A bitmask or logits array has the wrong shape, dtype or device."""
