"""Settings of XGrammar that have nothing to set here, kept so that programs that set them run.

XGrammar's parsers recurse and need a limit; maskwright's do not recurse and have limits of their own. The
number is stored and handed back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from .exception import MaskwrightError

__all__ = [
    "get_max_recursion_depth",
    "get_serialization_version",
    "max_recursion_depth",
    "set_max_recursion_depth",
]

_DEFAULT_DEPTH: Final = 10_000
_LARGEST_DEPTH: Final = 1_000_000

#: What `serialize_json` writes and `deserialize_json` reads. XGrammar's are "v" and a number: neither
#: library takes the other's for its own.
_SERIALIZATION_VERSION: Final = "maskwright-1"


def _depth_from_environment() -> int:
    text = os.environ.get("XGRAMMAR_MAX_RECURSION_DEPTH", "")
    return int(text) if text.isdecimal() and 0 < int(text) <= _LARGEST_DEPTH else _DEFAULT_DEPTH


_depth = _depth_from_environment()


def get_max_recursion_depth() -> int:
    """The number last set; 10,000 at first, or the environment's ``XGRAMMAR_MAX_RECURSION_DEPTH``."""
    return _depth


def set_max_recursion_depth(max_depth: int) -> None:
    """Store a depth. It limits nothing.

    Raises:
        MaskwrightError: Not between 1 and 1,000,000.
        TypeError: Not an integer.
    """
    global _depth
    if not isinstance(max_depth, int):
        raise TypeError(f"a recursion depth is an integer, not {type(max_depth).__name__}")
    if not 0 < max_depth <= _LARGEST_DEPTH:
        raise MaskwrightError(f"a recursion depth is between 1 and {_LARGEST_DEPTH}, not {max_depth}")
    _depth = max_depth


@contextmanager
def max_recursion_depth(temp_depth: int) -> Iterator[None]:
    """Store a depth for the duration of a block."""
    before = get_max_recursion_depth()
    set_max_recursion_depth(temp_depth)
    try:
        yield
    finally:
        set_max_recursion_depth(before)


def get_serialization_version() -> str:
    """The version that serialized objects must carry."""
    return _SERIALIZATION_VERSION
