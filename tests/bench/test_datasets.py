"""Reading the data sets and drawing samples."""

import json
import lzma
from collections import Counter
from pathlib import Path

import pytest

from maskwright.cli.bench.datasets import (
    DataError,
    SchemaRecord,
    draw_sample,
    find_data,
    read_maskbench,
    read_suite,
)


def _records(**sizes: int) -> list[SchemaRecord]:
    return [SchemaRecord(f"{group}---o{i}", {}, ()) for group, n in sizes.items() for i in range(n)]


def test_maskbench_lines_become_records(tmp_path: Path) -> None:
    line = {"name": "Github_easy---o1", "schema": {"type": "null"}, "tests": [{"data": None, "valid": True}]}
    path = tmp_path / "maskbench.jsonl.xz"
    path.write_bytes(lzma.compress(json.dumps(line).encode() + b"\n"))
    (record,) = read_maskbench(tmp_path)
    assert record == SchemaRecord("Github_easy---o1", {"type": "null"}, ((None, True),))
    assert record.group == "Github_easy"
    assert read_maskbench(path) == [record]


def test_missing_data_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="maskbench"):
        find_data(tmp_path, "maskbench")


@pytest.mark.parametrize("n", [1, 7, 50, 99])
def test_a_sample_has_the_size_asked_for_and_the_groups_shares(n: int) -> None:
    sample = draw_sample(_records(A=60, B=30, C=10), n, seed=1)
    counts = Counter(record.group for record in sample)
    assert len(sample) == len({record.name for record in sample}) == n
    for group, size in (("A", 60), ("B", 30), ("C", 10)):
        assert abs(counts[group] - n * size / 100) < 1


def test_a_sample_depends_on_the_seed_and_not_on_the_order_of_the_file() -> None:
    records = _records(A=60, B=30)
    sample = draw_sample(records, 20, seed=1)
    assert draw_sample(records[::-1], 20, seed=1) == sample
    assert draw_sample(records, 20, seed=2) != sample


def test_zero_means_all() -> None:
    assert len(draw_sample(_records(A=5, B=3), 0, seed=1)) == 8


def test_the_suite_gets_the_dialect_of_its_folder(tmp_path: Path) -> None:
    case = {"description": "d", "tests": [{"description": "t", "data": 1, "valid": False}]}
    packed = {
        "suites": {
            "draft7/type.json": [case | {"schema": {"type": "string"}}, case | {"schema": False}],
            "draft4/optional/format/email.json": [
                case | {"schema": {"$schema": "urn:own", "format": "email"}}
            ],
        },
        "remotes": {"nested/string.json": {"type": "string"}},
    }
    path = tmp_path / "json-schema-test-suite.json"
    path.write_text(json.dumps(packed))
    (first, boolean, email), remotes = read_suite(tmp_path)
    assert first.schema == {"$schema": "http://json-schema.org/draft-07/schema#", "type": "string"}
    assert first.tests == (("t", 1, False),)
    assert boolean.schema is False
    assert email.schema["$schema"] == "urn:own"
    assert (first.optional, first.format_assertion) == (False, False)
    assert (email.file, email.optional, email.format_assertion) == ("optional/format/email", True, True)
    assert remotes == {"http://localhost:1234/nested/string.json": {"type": "string"}}
