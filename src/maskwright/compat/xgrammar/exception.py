"""Errors of two families at once: maskwright's, with place and hint, and XGrammar's ``RuntimeError``.

A program written for XGrammar catches ``RuntimeError``; maskwright's errors are ``ValueError``. So each of
maskwright's classes has a twin here that is both, and what this package calls is wrapped so that the twin
is raised.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from maskwright import errors

__all__ = [
    "BitmaskError",
    "BudgetError",
    "DeserializeFormatError",
    "DeserializeVersionError",
    "GrammarError",
    "GrammarSyntaxError",
    "InvalidJSONError",
    "InvalidStructuralTagError",
    "LimitExceeded",
    "MaskwrightError",
    "MatcherError",
    "RegexError",
    "SchemaError",
    "UnsupportedError",
    "VocabularyError",
    "as_runtime_error",
    "raises_runtime_errors",
]

_P = ParamSpec("_P")
_R = TypeVar("_R")


class MaskwrightError(errors.MaskwrightError, RuntimeError):
    """Base of the twins."""


class GrammarError(errors.GrammarError, MaskwrightError):
    """A grammar of any kind cannot be compiled."""


class SchemaError(errors.SchemaError, GrammarError):
    """A JSON Schema is malformed, unsatisfiable, or uses something that cannot be enforced."""


class RegexError(errors.RegexError, GrammarError):
    """A regular expression is malformed or not regular."""


class GrammarSyntaxError(errors.GrammarSyntaxError, GrammarError):
    """Grammar text does not parse or names something undefined."""


class LimitExceeded(errors.LimitExceeded, GrammarError):
    """A grammar needs more of a metered resource than it may have."""


class VocabularyError(errors.VocabularyError, MaskwrightError):
    """A vocabulary cannot be read, or contradicts itself."""


class MatcherError(errors.MatcherError, MaskwrightError):
    """A matcher was asked for something that its state does not allow."""


class BitmaskError(errors.BitmaskError, MaskwrightError):
    """A bitmask or logits array has the wrong shape, dtype or device."""


class BudgetError(errors.BudgetError, MaskwrightError):
    """A budget of tokens is too small to complete an output."""


class UnsupportedError(GrammarError):
    """XGrammar has this, maskwright does not."""


class DeserializeFormatError(GrammarError):
    """A serialized object lacks something, or does not fit the vocabulary it is read for."""


class DeserializeVersionError(GrammarError):
    """A serialized object was written by another version, or by XGrammar."""


class InvalidJSONError(GrammarError):
    """A serialized object is not JSON."""


class InvalidStructuralTagError(GrammarError):
    """A structural tag is malformed. There to be caught: structural tags are refused before that is known."""


_TWINS: Final[dict[type[errors.MaskwrightError], type[MaskwrightError]]] = {
    errors.MaskwrightError: MaskwrightError,
    errors.GrammarError: GrammarError,
    errors.SchemaError: SchemaError,
    errors.RegexError: RegexError,
    errors.GrammarSyntaxError: GrammarSyntaxError,
    errors.LimitExceeded: LimitExceeded,
    errors.VocabularyError: VocabularyError,
    errors.MatcherError: MatcherError,
    errors.BitmaskError: BitmaskError,
    errors.BudgetError: BudgetError,
}


def as_runtime_error(error: errors.MaskwrightError) -> MaskwrightError:
    """The twin of an error: same message, place, hint and traceback."""
    if isinstance(error, MaskwrightError):
        return error
    kind = next(_TWINS[base] for base in type(error).__mro__ if base in _TWINS)
    # The constructors differ; everything that they set is in the arguments and the attributes.
    twin = kind.__new__(kind, *error.args)
    twin.__dict__.update(error.__dict__)
    return twin.with_traceback(error.__traceback__)


def raises_runtime_errors(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """A function whose errors arrive as their twins."""

    @wraps(function)
    def translated(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return function(*args, **kwargs)
        except errors.MaskwrightError as error:
            raise as_runtime_error(error) from error.__cause__

    return translated
