"""What `valgrind --tool=callgrind` writes, summed by the shared library that the instructions were in.

Reads the file format that Valgrind documents: lines `ob=` name the object file, a cost line is a position
and its own cost, and the cost line after `calls=` is that of the callee, which is counted where the
callee stands. Function names are not read: compilers merge and inline functions, files they do not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePath

__all__ = ["cost_by_object", "room"]

_OBJECT = re.compile(r"(c?)ob=\((\d+)\)(?: (.*))?$")
_COST = re.compile(r"[+\-*\d]\S* (\d+)")


def cost_by_object(lines: Iterable[str]) -> Counter[str]:
    """Instructions by path of the object file."""
    names: dict[str, str] = {}
    costs: Counter[str] = Counter()
    current, of_callee = "???", False
    for line in lines:
        if line.startswith(("ob=", "cob=")):
            match = _OBJECT.match(line.rstrip("\n"))
            if match:
                # A name is written once, be it as a callee's, and is a number from then on.
                callee, number, name = match.groups()
                name = names.setdefault(number, name or "???")
                current = current if callee else name
        elif line.startswith("calls="):
            of_callee = True
        elif match := _COST.match(line):
            if not of_callee:
                costs[current] += int(match.group(1))
            of_callee = False
    return costs


def room(path: str) -> str:
    """What a reader calls an object file: a room of the kernel, or whose it is otherwise."""
    name = PurePath(path).name
    if "maskwright" in path and name.endswith((".so", ".pyd")):
        return name.partition(".")[0]
    if name.startswith(("libpython", "python")) or (name.endswith(".so") and "lib-dynload" in path):
        return "Python"
    if "numpy" in path:
        return "numpy"
    return "C library and others"
