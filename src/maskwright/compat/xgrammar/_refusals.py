"""Names that are there to be imported, and refuse when they are used.

A program may import what it never calls; so the import works. What is called is refused with the name, never
answered by something weaker.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

from .exception import UnsupportedError

__all__ = ["refused_class", "refused_function"]


class _Refused:
    """Base of classes that cannot be made."""

    _reason: ClassVar[tuple[str, str]]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._refuse()

    @classmethod
    def _refuse(cls) -> NoReturn:
        message, hint = cls._reason
        raise UnsupportedError(message, hint=hint)

    # The constructors of XGrammar's classes, and those that its pydantic models inherit.

    @classmethod
    def from_json(cls, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused."""
        cls._refuse()

    @classmethod
    def from_legacy_structural_tag(cls, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused."""
        cls._refuse()

    @classmethod
    def model_validate(cls, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused."""
        cls._refuse()

    @classmethod
    def model_validate_json(cls, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused."""
        cls._refuse()


def refused_class(name: str, module: str, what: str, hint: str) -> Any:
    """A class that raises `UnsupportedError` when it is made."""
    reason = (f"{name}: {what} are not supported", hint)
    body = {"__doc__": f"Refused: {what} are not supported.", "__module__": module, "_reason": reason}
    return type(name, (_Refused,), body)


def refused_function(name: str, module: str, what: str, hint: str) -> Callable[..., NoReturn]:
    """A function that raises `UnsupportedError` when it is called."""

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise UnsupportedError(f"{name}(): {what} are not supported", hint=hint)

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__module__ = module
    refuse.__doc__ = f"Refused: {what} are not supported."
    return refuse
