"""The engines that the benchmarks know, by name; a variant follows a colon (`xgrammar:strict`)."""

from __future__ import annotations

import importlib

from .base import Batch, Engine, EngineMissing, Refused, SchemaOptions, Stepper

__all__ = [
    "NAMES",
    "Batch",
    "Engine",
    "EngineMissing",
    "Refused",
    "SchemaOptions",
    "Stepper",
    "create",
    "parse_names",
]

_MODULES = {
    "maskwright": "maskwright_",
    "llguidance": "llguidance_",
    "xgrammar": "xgrammar_",
    "glrmask": "glrmask_",
    "outlines": "outlines_",
}

#: Names that `create` knows.
NAMES = tuple(_MODULES)


def create(spec: str) -> Engine:
    """The engine for `name` or `name:variant`. Its package is imported here and not before.

    Raises:
        EngineMissing: Unknown name, or the package is not installed.
    """
    name, _, variant = spec.partition(":")
    if name not in _MODULES:
        raise EngineMissing(f"unknown engine {name!r}; one of {', '.join(NAMES)}")
    try:
        module = importlib.import_module(f".{_MODULES[name]}", __package__)
    except ImportError as error:
        raise EngineMissing(f"engine {name!r} cannot be imported: {error}") from error
    engine = module.make(variant)
    assert isinstance(engine, Engine)
    return engine


def parse_names(text: str) -> list[str]:
    """Engine names out of a comma-separated argument."""
    return [part.strip() for part in text.split(",") if part.strip()]
