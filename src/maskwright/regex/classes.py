r"""Named character classes: ``\d \w \s``, line terminators, Unicode properties, case folding.

Does: answers with code point ranges, from constants or from the committed Unicode tables (read on
first use). Does not: parse patterns.

Property names are matched loosely (case, spaces, ``_`` and ``-`` do not count, as UAX 44 advises),
where ECMA-262 wants exact spelling: a name that only differs in case has one possible meaning.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Final

from .charset import ALL, NONE, Ranges, contains, intersect, invert, make, size, unite

__all__ = [
    "ASCII",
    "DIGIT",
    "LINE_TERMINATOR",
    "POSIX",
    "SPACE",
    "WORD",
    "fold_case",
    "property_set",
    "unicode_digit",
    "unicode_space",
    "unicode_word",
]

_COLUMNS: Final = {
    "gc": "gc",
    "generalcategory": "gc",
    "sc": "sc",
    "script": "sc",
    "scx": "scx",
    "scriptextensions": "scx",
}


def _of(*spans: str) -> Ranges:
    return make((ord(span[0]), ord(span[-1])) for span in spans)


ASCII: Final[Ranges] = ((0, 0x7F),)
DIGIT: Final = _of("09")
WORD: Final = _of("09", "AZ", "_", "az")
#: ECMA-262 WhiteSpace and LineTerminator.
SPACE: Final = _of(
    "\t\r", " ", "\u00a0", "\u1680", "\u2000\u200a", "\u2028\u2029", "\u202f", "\u205f", "\u3000", "\ufeff"
)
LINE_TERMINATOR: Final = _of("\n", "\r", "\u2028\u2029")

_GRAPH: Final = _of("!~")
#: The bracketed names of POSIX, ASCII only as in the Rust flavour.
POSIX: Final[dict[str, Ranges]] = {
    "alnum": _of("09", "AZ", "az"),
    "alpha": _of("AZ", "az"),
    "ascii": ASCII,
    "blank": _of("\t", " "),
    "cntrl": _of("\x00\x1f", "\x7f"),
    "digit": DIGIT,
    "graph": _GRAPH,
    "lower": _of("az"),
    "print": _of(" ~"),
    "punct": intersect(_GRAPH, invert(_of("09", "AZ", "az"))),
    "space": _of("\t\r", " "),
    "upper": _of("AZ"),
    "word": WORD,
    "xdigit": _of("09", "AF", "af"),
}


def unicode_digit() -> Ranges:
    """Decimal digits of all scripts."""
    return _known("gc", "Nd")


def unicode_space() -> Ranges:
    """White_Space."""
    return _known("", "White_Space")


@cache
def unicode_word() -> Ranges:
    """Word characters as UTS 18 defines them."""
    parts = (("", "Alphabetic"), ("gc", "M"), ("gc", "Nd"), ("gc", "Pc"), ("", "Join_Control"))
    return unite(*(_known(kind, name) for kind, name in parts))


def _known(kind: str, name: str) -> Ranges:
    found = property_set(kind, name)
    assert found is not None, f"the tables lack {name}"
    return found


def _loose(name: str) -> str:
    return "".join(char for char in name.lower() if char not in " _-")


@lru_cache(maxsize=256)
def property_set(kind: str, name: str) -> Ranges | None:
    """The members of a Unicode property.

    Args:
        kind: ``gc``, ``sc``, ``scx`` or their long names; empty for ``\\p{name}``, which looks
            among general categories, binary properties and scripts, in this order.
        name: Value or property name, short or long.

    Returns:
        The set, or None if there is no such property.
    """
    value = _loose(name)
    if kind:
        column = _COLUMNS.get(_loose(kind))
        return None if column is None else _lookup(column, value)
    special = {"any": ALL, "ascii": ASCII}.get(value)
    if special is not None:
        return special
    if value == "assigned":
        unassigned = _lookup("gc", "cn")
        return None if unassigned is None else invert(unassigned)
    for column in ("gc", "bin", "sc"):
        found = _lookup(column, value)
        if found is not None:
            return found
    return None


@cache
def _packed() -> dict[str, str]:
    from . import unicode_tables

    return {name: packed for names, packed in unicode_tables.RANGES.items() for name in names.split()}


def _lookup(column: str, value: str) -> Ranges | None:
    packed = _packed().get(f"{column}:{value}")
    if packed is None:
        return None
    if packed.startswith("+"):
        return unite(*(unpack(_packed()[f"{column}:{part}"]) for part in packed[1:].split()))
    return unpack(packed)


def unpack(packed: str) -> Ranges:
    """Ranges from their packed form: ``gap`` or ``gap-length`` in base 36, from the last end on."""
    out: list[tuple[int, int]] = []
    last = 0
    for entry in packed.split():
        gap, _, length = entry.partition("-")
        low = last + int(gap, 36)
        last = low + (int(length, 36) if length else 0)
        out.append((low, last))
    return tuple(out) if out else NONE


@cache
def _orbits() -> dict[int, tuple[int, ...]]:
    """For each cased character all characters that simple case folding equates with it."""
    from . import unicode_tables as tables

    found: dict[int, tuple[int, ...]] = {}
    last = 0
    for entry in tables.CASE_ORBITS.split():
        members: list[int] = []
        for step in entry.split(","):
            last = int(step, 36) + (members[0] if members else last)
            members.append(last)
        last = members[0]
        for member in members:
            found[member] = tuple(members)
    return found


@lru_cache(maxsize=1024)
def fold_case(ranges: Ranges) -> Ranges:
    """The set with every character that differs from a member in case only."""
    orbits = _orbits()
    if size(ranges) < len(orbits):
        cased = (char for low, high in ranges for char in range(low, high + 1) if char in orbits)
    else:
        cased = (char for char in orbits if contains(ranges, char))
    extra = [(member, member) for char in cased for member in orbits[char]]
    return unite(ranges, tuple(extra)) if extra else ranges
