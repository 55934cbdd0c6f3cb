"""Instruction counts: the comparison, and the program that is counted."""

import json
import subprocess
import sys
from pathlib import Path

from maskwright.cli.bench.hotpaths import STAGES, Work, make_vocabulary
from maskwright.cli.bench.instructions import compare

ROOT = Path(__file__).parents[2]


def test_only_more_than_the_tolerance_is_worse() -> None:
    before = {"a": 100.0, "b": 100.0, "c": 100.0}
    rows, worse = compare({"a": 104.9, "b": 105.1, "c": 50.0, "new": 7.0}, before, 5.0)
    assert worse == ["b"]
    assert [row[-1] for row in rows] == ["+4.9 %", "+5.1 %", "-50.0 %", "-"]


def test_the_committed_counts_name_the_stages() -> None:
    known = json.loads((ROOT / "benchmarks/instructions.json").read_text())
    assert known
    assert all(set(counts) == set(STAGES) for counts in known.values())


def test_the_vocabulary_is_large_enough_to_be_warmed_up_and_has_no_token_twice() -> None:
    from maskwright.compiler import WARM_FROM_TOKENS

    tokens = make_vocabulary()
    assert len(tokens) == len(set(tokens)) > WARM_FROM_TOKENS
    assert tokens == make_vocabulary()


def test_every_stage_does_its_work_and_says_how_much() -> None:
    work = Work()
    done = {name: stage(work) for name, stage in STAGES.items()}
    assert all(count > 0 for count in done.values())
    # A walk that stopped early would raise; the warm one is longer than the cold one.
    assert done["fill + accept, warm, per token"] > done["fill + accept, cold, per token"] > 100


def test_the_program_prints_the_operations_of_the_stages_asked_for() -> None:
    command = [sys.executable, "-m", "maskwright.cli.bench.hotpaths", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    operations = json.loads(done.stdout.splitlines()[-1])["operations"]
    assert list(operations) == list(STAGES)[:1]
