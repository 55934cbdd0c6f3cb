"""SGLang's real modules where there is no accelerator and half of its requirements are missing.

Everything that decides about grammars imports with ``pip install --no-deps sglang`` and a few small
packages. What does not is torchvision (no build of it goes with every CPU build of torch); SGLang imports
it for images only, so an empty module stands in for it when it is missing.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
import warnings
from typing import Any

import pytest


class _Empty(types.ModuleType):
    """Has every attribute: a class that does nothing."""

    __path__: list[str] = []  # noqa: RUF012

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def _stand_in_for_torchvision() -> None:
    try:
        import torchvision  # noqa: F401
    except (ImportError, RuntimeError):
        import transformers.utils

        transformers.utils.is_torchvision_available()  # remembered; must not see the stand-in
        parts = (
            "",
            ".io",
            ".ops",
            ".transforms",
            ".transforms.functional",
            ".transforms.v2",
            ".transforms.v2.functional",
        )
        for part in parts:
            sys.modules["torchvision" + part] = _Empty("torchvision" + part)


def sglang_module(name: str) -> Any:
    """A module of SGLang by its full name; skips the test where SGLang or a requirement is missing."""
    if importlib.util.find_spec("sglang") is None:
        pytest.skip("no SGLang: pip install --no-deps sglang==0.5.23")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own, while it loads
        _stand_in_for_torchvision()
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            pytest.skip(f"{name} cannot be imported here: {error}")
