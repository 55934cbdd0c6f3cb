"""Write src/maskwright/regex/unicode_tables.py from the Unicode data in the `regex` package.

Usage: python scripts/make_unicode_tables.py (needs the `regex` package; takes seconds)

Each property is read off by matching every scalar value against it, so the script depends on the
package's documented syntax only, except for the list of names, which has no public form.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import regex
from regex import _regex_core  # the only list of property names and aliases there is

TARGET = Path(__file__).parents[1] / "src" / "maskwright" / "regex" / "unicode_tables.py"
SCALARS = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))
#: The binary properties that ECMA-262 lists (table "Binary Unicode property aliases"), and no others.
BINARY_TEXT = """
AHEX ALPHA BIDIC BIDIM CI CASED CWCF CWCM CWL CWT CWU DASH DI DEP DIA EMOJI ECOMP EMOD EBASE
EPRES EXTPICT EXT GRBASE GREXT HEX IDSB IDST IDC IDS IDEO JOINC LOE LOWER MATH NCHAR PATSYN PATWS QMARK
RADICAL RI STERM SD TERM UIDEO UPPER VS SPACE XIDC XIDS"""
BINARY = frozenset(BINARY_TEXT.split())


def base36(number: int) -> str:
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    out = ""
    while True:
        number, digit = divmod(number, 36)
        out = digits[digit] + out
        if not number:
            return out


def pack(ranges: Iterable[tuple[int, int]]) -> str:
    entries = []
    last = 0
    for low, high in ranges:
        entries.append(base36(low - last) + (f"-{base36(high - low)}" if high > low else ""))
        last = high
    return " ".join(entries)


def members(pattern: str) -> list[tuple[int, int]]:
    """Ranges of the code points that match, split where the surrogates are."""
    out = []
    for match in regex.finditer(f"(?V1){pattern}+", SCALARS):
        text = match.group()
        first, last = ord(text[0]), ord(text[-1])
        if first < 0xD800 and last > 0xDFFF:
            out += [(first, 0xD7FF), (0xE000, last)]
        else:
            out.append((first, last))
    return out


def value_names(kind: str) -> dict[int, list[str]]:
    names: dict[int, list[str]] = {}
    for name, value in _regex_core.PROPERTIES[kind][1].items():
        if name.isalnum():
            names.setdefault(value, []).append(name)
    return names


def collect() -> dict[str, str]:
    ranges: dict[str, str] = {}

    def add(column: str, names: list[str], packed: str) -> None:
        ranges[" ".join(f"{column}:{name.lower()}" for name in sorted(names, key=len))] = packed

    leaves = {}
    for value, names in value_names("GENERALCATEGORY").items():
        short = min(names, key=len).lower()
        if len(short) == 2 and short != "lc":
            leaves[value] = short
            add("gc", names, pack(members(rf"\p{{gc={short}}}")))
    for names in value_names("GENERALCATEGORY").values():
        short = min(names, key=len).lower()
        if len(short) == 1:
            add("gc", names, "+" + " ".join(leaf for leaf in leaves.values() if leaf[0] == short))
        elif short == "lc":
            add("gc", names, "+lu ll lt")
    for column in ("sc", "scx"):
        for names in value_names("SCRIPT").values():
            add(column, names, pack(members(rf"\p{{{column}={names[0]}}}")))
    by_id: dict[int, list[str]] = {}
    for name, (number, _) in _regex_core.PROPERTIES.items():
        by_id.setdefault(number, []).append(name)
    for names in by_id.values():
        if BINARY & set(names):
            add("bin", names, pack(members(rf"\p{{{names[0]}}}")))
    # Not in the package, but by definition (UAX 44) the union of three that are: a character that
    # case folding, removal of ignorables or compatibility composition changes.
    names = ["CHANGESWHENNFKCCASEFOLDED", "CWKCF"]
    add("bin", names, pack(members(r"[\p{CWCF}\p{DI}\p{NFKC_QC=No}]")))
    return ranges


def case_orbits() -> str:
    """Classes of simple case folding with two members or more, as gaps from the first member."""
    cased = "".join(regex.findall(r"(?V1)[\p{CWCM}\p{CWCF}]", SCALARS))
    seen: set[str] = set()
    out = []
    last = 0
    for char in cased:
        # The dotted and dotless i fold to i in Turkic text only.
        if char in seen or char in "\u0130\u0131":
            continue
        alike = regex.findall(regex.escape(char), cased, regex.IGNORECASE | regex.V0)
        orbit = sorted(ord(one) for one in alike if one not in "\u0130\u0131")
        seen.update(map(chr, orbit))
        if len(orbit) > 1:
            steps = [orbit[0] - last, *(one - orbit[0] for one in orbit[1:])]
            out.append(",".join(map(base36, steps)))
            last = orbit[0]
    return " ".join(out)


def main() -> None:
    ranges = collect()
    lines = [
        '"""Unicode property tables. Written by scripts/make_unicode_tables.py: do not edit.',
        "",
        f"Data: Unicode as in the regex package {regex.__version__}. Packed form: see `classes.unpack`;",
        "``+a b`` is the union of other values of the same property.",
        '"""',
        "# ruff: noqa: E501  (one property a line keeps the difference between two versions readable)",
        "",
        "from typing import Final",
        "",
        "#: All names of a property value (column:name, shortest first) to its packed ranges.",
        "RANGES: Final[dict[str, str]] = {",
        *(f'    "{key}": "{packed}",' for key, packed in ranges.items()),
        "}",
        "",
        "#: Characters that simple case folding equates: gap to the previous class, then offsets.",
        f'CASE_ORBITS: Final = "{case_orbits()}"',
        "",
    ]
    TARGET.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
