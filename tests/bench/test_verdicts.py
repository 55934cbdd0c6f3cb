"""Counting verdicts and writing the document."""

from typing import Any

import pytest

from maskwright.cli.bench.engines import Refused
from maskwright.cli.bench.verdicts import CaseOutcome, render


def _outcome(**rest: Any) -> CaseOutcome:
    base: dict[str, Any] = {"engine": "a", "draft": "draft7", "file": "not", "case": "forbidden"}
    return CaseOutcome(**(base | {"tests": ("one", "two"), "valid": (True, False)} | rest))


@pytest.mark.parametrize(
    ("rest", "kinds", "schema_kind"),
    [
        ({"accepted": (True, False)}, ["right", "right"], "passing"),
        ({"accepted": (True, True)}, ["right", "false accept"], "invalid accepted"),
        ({"accepted": (False, False)}, ["false reject", "right"], "valid refused"),
        ({"accepted": (False, True)}, ["false reject", "false accept"], "invalid accepted"),
        ({"refused": "unimplemented"}, ["refused", "refused"], "refused"),
        ({"failure": "timeout"}, ["failed", "failed"], "timeout"),
        ({"refused": "unsatisfiable", "unsatisfiable": True}, ["false reject", "right"], "valid refused"),
    ],
)
def test_kinds(rest: dict[str, Any], kinds: list[str], schema_kind: str) -> None:
    outcome = _outcome(**rest)
    assert outcome.kinds() == kinds
    assert outcome.schema_kind() == schema_kind


@pytest.mark.parametrize(
    ("message", "unsatisfiable"),
    [
        ("#/allOf: the schema is unsatisfiable: minimum 5 and maximum 3", True),
        ("Unsatisfiable schema: false", True),
        ("cannot be enforced: not", False),
    ],
)
def test_unsatisfiable_is_read_from_the_engines_words(message: str, unsatisfiable: bool) -> None:
    assert Refused(message).unsatisfiable is unsatisfiable


def test_the_document_counts_by_draft_file_and_engine() -> None:
    outcomes = [
        _outcome(accepted=(True, True)),
        _outcome(file="optional/format/email", accepted=(True, False)),
        _outcome(engine="b", refused="#/not: unimplemented keyword\n  hint: none"),
        _outcome(engine="b", file="optional/format/email", failure="crash"),
        _outcome(draft="maskbench", file="Github", case="o1", accepted=(True, False)),
        _outcome(
            engine="b", draft="maskbench", file="Github", case="o1", refused="#/x: unimplemented keyword"
        ),
    ]
    text = render(outcomes, ["a", "b"], {"a": "1.0", "b": "2.0"}, "the command")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if "|" in line]
    assert ["draft7 required", "a", "2", "1", "1", "0", "0", "0", "50.0 %"] in rows
    assert ["draft7 optional", "b", "2", "0", "0", "0", "0", "2", "0.0 %"] in rows
    assert ["not", "1/1", "0/0/0/2"] in rows
    assert ["a", "1", "0", "0", "0", "0", "0", "0", "2", "0", "0", "0", "0"] in rows
    assert "Written by `the command`. Engines: a 1.0, b 2.0." in text
    assert "- draft7/not: forbidden: two: **false accept**" in text


def test_refusals_are_grouped_without_their_place() -> None:
    outcomes = [
        _outcome(case=str(i), refused=f"#/properties/p{i}: keyword 'not' cannot be enforced\n  hint")
        for i in range(3)
    ]
    text = render(outcomes, ["a"], {"a": "1.0"}, "the command")
    assert "Refused, a (3 schemas)" in text
    assert "| keyword 'not' cannot be enforced |         3 |" in text
