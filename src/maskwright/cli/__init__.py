"""The command `maskwright`. One module per sub-command; `app` puts them together."""

from __future__ import annotations

from .app import main

__all__ = ["main"]
