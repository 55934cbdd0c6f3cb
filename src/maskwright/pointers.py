"""JSON pointers (RFC 6901): paths of keys and indexes as text, and their parts back."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["escape", "pointer_of", "unescape"]


def escape(part: str | int) -> str:
    """A key or index as it stands between two slashes."""
    return str(part).replace("~", "~0").replace("/", "~1")


def unescape(part: str) -> str:
    """The key that such a part means."""
    return part.replace("~1", "/").replace("~0", "~")


def pointer_of(path: Iterable[str | int]) -> str:
    """Keys and indexes as a JSON pointer.

    >>> pointer_of(("a/b", 0))
    '/a~1b/0'
    """
    return "".join(f"/{escape(part)}" for part in path)
