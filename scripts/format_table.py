"""Run the official test suite's string formats and write the table into docs/formats.md.

Usage: python scripts/format_table.py [--check]

The suite is read from ``json-schema-test-suite.json.xz`` in the folder that MASKWRIGHT_DATA names, else in
``../shared/data`` beside the repository. With ``--check`` nothing is written, and a stale table is an error.
"""

from __future__ import annotations

import json
import lzma
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from maskwright.reference.lexemes import accepts
from maskwright.regex import UTF8
from maskwright.schema.formats import format_lexeme

ROOT = Path(__file__).parents[1]
DOC = ROOT / "docs" / "formats.md"
BEGIN, END = "<!-- table: scripts/format_table.py -->", "<!-- end of table -->"


def suite_path() -> Path:
    folder = os.environ.get("MASKWRIGHT_DATA")
    return (Path(folder) if folder else ROOT.parent / "shared" / "data") / "json-schema-test-suite.json.xz"


def cases() -> Iterator[tuple[str, str, str, bool]]:
    """(file, format, text, valid) of every string test of a format that is a language."""
    suites = json.loads(lzma.decompress(suite_path().read_bytes()))["suites"]
    for path, groups in sorted(suites.items()):
        if "/optional/format/" not in path:
            continue
        for group in groups:
            name = group["schema"].get("format")
            for test in group["tests"]:
                if name and isinstance(test["data"], str):
                    yield path, name, test["data"], test["valid"]


def judge() -> tuple[dict[str, list[int]], list[tuple[str, str, str, bool]]]:
    """Tests and misses for each file, and the misses."""
    counts: dict[str, list[int]] = {}
    misses = []
    for path, name, text, valid in cases():
        lexeme = format_lexeme(name, UTF8)
        counted = counts.setdefault(path, [0, 0, 0])
        if lexeme is None:
            counted[2] += 1
            continue
        right = accepts(lexeme, text.encode()) == valid
        counted[not right] += 1
        if not right:
            misses.append((path, name, text, valid))
    return counts, misses


def table() -> str:
    counts, misses = judge()
    lines = [BEGIN, "", "| file | ok | wrong | not a known format |", "|---|---:|---:|---:|"]
    lines += [f"| {path} | {ok} | {wrong} | {unknown} |" for path, (ok, wrong, unknown) in counts.items()]
    total = [sum(column) for column in zip(*counts.values(), strict=True)]
    lines += [f"| **all** | {total[0]} | {total[1]} | {total[2]} |", "", "Misses:", ""]
    seen: dict[tuple[str, str, bool], list[str]] = {}
    for path, name, text, valid in misses:
        seen.setdefault((name, text, valid), []).append(path.split("/")[0])
    for (name, text, valid), drafts in seen.items():
        verdict = "valid" if valid else "not valid"
        lines.append(
            f"- `{name}`: `{json.dumps(text, ensure_ascii=False)}` is {verdict} ({', '.join(drafts)})"
        )
    return "\n".join([*lines, "", END])


def main() -> int:
    if not suite_path().exists():
        print(f"no test suite at {suite_path()}: nothing done")
        return 0
    text = DOC.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    fresh = before + table() + rest.partition(END)[2]
    print(table())
    if "--check" in sys.argv:
        return int(fresh != text)
    DOC.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
