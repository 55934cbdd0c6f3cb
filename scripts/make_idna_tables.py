"""Write src/maskwright/schema/formats/idna_tables.py from the data of the `idna` and `regex` packages.

Usage: python scripts/make_idna_tables.py (needs both packages; takes seconds)

`idna` has the derived property of RFC 5892 and the joining types; `regex` has bidirectional and combining
classes. Which characters compose with which comes from Python's own Unicode data, and is stable by policy.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import idna
import regex
from idna import idnadata
from make_unicode_tables import pack

TARGET = Path(__file__).parents[1] / "src" / "maskwright" / "schema" / "formats" / "idna_tables.py"
HEAD = f'''"""Character classes of domain names, written by scripts/make_idna_tables.py: do not edit.

Data: idna {idna.__version__}, regex {regex.__version__}. Packed form: see `maskwright.regex.classes.unpack`.
"""
# ruff: noqa: E501  (one class a line keeps the difference between two versions readable)

from typing import Final

'''


def chars(packed: Iterable[int]) -> set[int]:
    return {char for entry in packed for char in range(entry >> 32, entry & 0xFFFFFFFF)}


def ranges(members: Iterable[int]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for char in sorted(members):
        if out and out[-1][1] == char - 1:
            out[-1] = (out[-1][0], char)
        else:
            out.append((char, char))
    return out


def having(members: Iterable[int], pattern: str) -> set[int]:
    wanted = regex.compile(pattern)
    return {char for char in members if wanted.match(chr(char))}


def composing(members: set[int]) -> dict[frozenset[int], set[int]]:
    """Characters that compose with a character before them, by the set of those."""
    before: dict[int, set[int]] = defaultdict(set)
    for char in range(0x110000):
        parts = unicodedata.decomposition(chr(char)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            first, second = (int(part, 16) for part in parts)
            if {first, second} <= members and unicodedata.normalize("NFC", chr(first) + chr(second)) == chr(
                char
            ):
                before[second].add(first)
    grouped: dict[frozenset[int], set[int]] = defaultdict(set)
    for second, firsts in before.items():
        grouped[frozenset(firsts)].add(second)
    return grouped


def main() -> None:
    valid = chars(idnadata.codepoint_classes["PVALID"])
    used = valid | {
        char for kind in ("CONTEXTJ", "CONTEXTO") for char in chars(idnadata.codepoint_classes[kind])
    }
    joining = {kind: chars(packed) & used for kind, packed in idnadata.joining_types.items()}
    classes = {
        "VALID": valid,
        "MARK": having(used, r"\p{M}"),
        "VIRAMA": having(used, r"\p{ccc=9}"),
        "JOINS_AFTER": joining["L"] | joining["D"],
        "JOINS_BEFORE": joining["R"] | joining["D"],
        "TRANSPARENT": joining["T"],
        "RIGHT_TO_LEFT": having(used, r"[\p{bc=R}\p{bc=AL}]"),
        "ARABIC_NUMBER": having(used, r"\p{bc=AN}"),
        "EUROPEAN_NUMBER": having(used, r"\p{bc=EN}"),
        "NONSPACING": having(used, r"\p{bc=NSM}"),
        "NEUTRAL": having(used, r"[\p{bc=ES}\p{bc=CS}\p{bc=ET}\p{bc=ON}\p{bc=BN}]"),
    }
    lines = [HEAD]
    lines += [f'{name}: Final = "{pack(ranges(members))}"\n' for name, members in classes.items()]
    lines.append("\n#: Combining class to its characters; class zero is left out.\nCOMBINING: Final = {\n")
    for number in range(1, 255):
        try:
            members = having(classes["MARK"], rf"\p{{ccc={number}}}")
        except regex.error:  # no character has this class
            continue
        if members:
            lines.append(f'    {number}: "{pack(ranges(members))}",\n')
    lines.append(
        "}\n\n#: Characters, and those directly before them with which they make one.\nCOMPOSING: Final = (\n"
    )
    for firsts, seconds in composing(used).items():
        lines.append(f'    ("{pack(ranges(seconds))}", "{pack(ranges(firsts))}"),\n')
    lines.append(")\n")
    TARGET.write_text("".join(lines), encoding="utf-8")
    print(TARGET, TARGET.stat().st_size)


if __name__ == "__main__":
    main()
