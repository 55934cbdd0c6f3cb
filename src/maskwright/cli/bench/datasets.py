"""The two public data sets: MaskBench and the official JSON Schema test suite.

Does: read them (plain, `.xz` or `.gz`) and draw samples. Does not: download; their paths are arguments.
"""

from __future__ import annotations

import gzip
import json
import lzma
import random
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

__all__ = ["Case", "DataError", "SchemaRecord", "draw_sample", "find_data", "read_maskbench", "read_suite"]

#: JSON Schema dialects of the suite's folders.
DIALECTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
#: The suite's remote documents live under this address.
REMOTES_BASE = "http://localhost:1234/"


class DataError(RuntimeError):
    """A data file is missing or is not what it should be."""


@dataclass(frozen=True)
class SchemaRecord:
    """One schema with its instances: (value, whether it is valid)."""

    name: str
    schema: Any
    tests: tuple[tuple[Any, bool], ...]

    @property
    def group(self) -> str:
        """The part of the collection it comes from (`Github_easy`, `Kubernetes`, ...)."""
        match = re.match(r"(Github_[a-z]+|[A-Za-z0-9]+)", self.name)
        return match.group(1) if match else self.name


@dataclass(frozen=True)
class Case:
    """One schema of the official suite with all its instances.

    Attributes:
        draft: Folder of the suite (`draft7`).
        file: File inside the draft, without `.json` (`optional/format/email`).
        description: The case's own description.
        schema: The schema; `$schema` is filled in where the suite leaves it out.
        tests: Instances: (description, value, whether it is valid).
    """

    draft: str
    file: str
    description: str
    schema: Any
    tests: tuple[tuple[str, Any, bool], ...] = field(repr=False)

    @property
    def optional(self) -> bool:
        """Whether the suite counts it as optional."""
        return self.file.startswith("optional/")

    @property
    def format_assertion(self) -> bool:
        """Whether `format` asserts in this file: only where the optional files say so."""
        return self.file.startswith("optional/format")


def _open(path: Path) -> IO[str]:
    if path.suffix == ".xz":
        return lzma.open(path, "rt", encoding="utf-8")
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


def find_data(path: Path, stem: str) -> Path:
    """The data file: `path` itself, or a file in the folder `path` whose name starts with `stem`.

    Raises:
        DataError: There is none.
    """
    if path.is_file():
        return path
    if path.is_dir():
        found = sorted(entry for entry in path.iterdir() if entry.name.startswith(stem))
        if found:
            return found[0]
    raise DataError(f"no {stem} data at {path}")


def read_maskbench(path: Path) -> list[SchemaRecord]:
    """All records of a MaskBench file of JSON lines (`name`, `schema`, `tests` of `data` and `valid`)."""
    records = []
    with _open(find_data(path, "maskbench")) as lines:
        for line in lines:
            entry = json.loads(line)
            tests = tuple((test["data"], bool(test["valid"])) for test in entry["tests"])
            records.append(SchemaRecord(entry["name"], entry["schema"], tests))
    return records


def draw_sample(records: Sequence[SchemaRecord], n: int, seed: int) -> list[SchemaRecord]:
    """`n` records, proportional to the groups (largest remainders), in shuffled order.

    The same arguments give the same sample on every machine. All records, shuffled, when `n` is 0.
    """
    rng = random.Random(seed)
    groups: dict[str, list[SchemaRecord]] = defaultdict(list)
    for record in sorted(records, key=lambda record: record.name):
        groups[record.group].append(record)
    if n <= 0 or n >= len(records):
        chosen = list(records)
    else:
        shares = {name: n * len(members) / len(records) for name, members in groups.items()}
        counts = {name: int(share) for name, share in shares.items()}
        by_remainder = sorted(shares, key=lambda name: (counts[name] - shares[name], name))
        for name in by_remainder[: n - sum(counts.values())]:
            counts[name] += 1
        chosen = [record for name in sorted(groups) for record in rng.sample(groups[name], counts[name])]
    rng.shuffle(chosen)
    return chosen


def read_suite(path: Path) -> tuple[list[Case], dict[str, Any]]:
    """The official suite, packed as one JSON file, and its remote documents by address.

    The packed form is `{"suites": {"draft7/allOf.json": [...]}, "remotes": {"integer.json": ...}}`.
    """
    with _open(find_data(path, "json-schema-test-suite")) as source:
        packed = json.load(source)
    cases = []
    for name, entries in packed["suites"].items():
        draft, _, file = name.removesuffix(".json").partition("/")
        for entry in entries:
            tests = tuple((test["description"], test["data"], bool(test["valid"])) for test in entry["tests"])
            schema = _with_dialect(entry["schema"], draft)
            cases.append(Case(draft, file, entry["description"], schema, tests))
    # `v1/` holds documents of a draft that is not finished.
    remotes = {REMOTES_BASE + n: document for n, document in packed["remotes"].items() if n[:3] != "v1/"}
    return cases, remotes


def _with_dialect(schema: Any, draft: str) -> Any:
    # A schema without `$schema` means its folder's draft; an engine sees only the schema.
    if isinstance(schema, dict) and "$schema" not in schema and draft in DIALECTS:
        return {"$schema": DIALECTS[draft], **schema}
    return schema
