"""Other libraries' names, served by maskwright.

`maskwright.compat.xgrammar` has XGrammar's; `install` makes ``import xgrammar`` mean it, for programs whose
import lines cannot be changed:

>>> import maskwright.compat
>>> maskwright.compat.install()
>>> import xgrammar
>>> xgrammar.__name__
'maskwright.compat.xgrammar'
>>> maskwright.compat.uninstall()

Idea: a finder in front of all others that answers for ``xgrammar`` and its submodules with the modules of
`maskwright.compat.xgrammar` themselves, so that a class is one class under both names.

Rejected: writing the modules into ``sys.modules`` at once. It imports all of them, torch included,
before anyone has asked.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_loader
from types import ModuleType
from typing import Final

__all__ = ["install", "uninstall"]

_ALIAS: Final = "xgrammar"
_TARGET: Final = "maskwright.compat.xgrammar"


class _AliasFinder(MetaPathFinder, Loader):
    """Finds ``xgrammar`` and ``xgrammar.x`` as the modules of `maskwright.compat.xgrammar`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        real = _real_name(fullname)
        if real is None or find_spec(real) is None:
            return None
        return spec_from_loader(fullname, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        real = _real_name(module.__name__)
        assert real is not None  # it was found by this finder
        # The import system hands out what is in sys.modules after this call, not the module it made.
        sys.modules[module.__name__] = importlib.import_module(real)


_FINDER: Final = _AliasFinder()


def install() -> None:
    """Make ``import xgrammar``, in this process and from now on, import `maskwright.compat.xgrammar`.

    Call it before anything imports ``xgrammar``. Calling it again changes nothing. What is not there (a
    submodule of XGrammar's internals) is an ImportError, also where the real XGrammar is installed.

    Raises:
        ImportError: Another module named ``xgrammar`` is imported already: its objects would be mixed with
            these.
    """
    present = sys.modules.get(_ALIAS)
    if present is not None and present.__name__ != _TARGET:
        raise ImportError(
            "xgrammar was imported before maskwright.compat.install(); install first", name=_ALIAS
        )
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)


def uninstall() -> None:
    """Undo `install`: the next ``import xgrammar`` finds the real one, or none."""
    if _FINDER not in sys.meta_path:
        return
    sys.meta_path.remove(_FINDER)
    for name in [name for name in sys.modules if _real_name(name) is not None]:
        del sys.modules[name]


def _real_name(name: str) -> str | None:
    if name == _ALIAS or name.startswith(f"{_ALIAS}."):
        return _TARGET + name.removeprefix(_ALIAS)
    return None
