"""From raw lines to tables: every number can be followed by hand here."""

import json
from pathlib import Path
from typing import Any

import pytest

from maskwright.cli.bench.report import Results, read, render, verdict
from maskwright.cli.bench.tables import markdown, number, summary


def _walk(valid: bool, accepted: bool, fill: list[int], accept: list[int]) -> dict[str, Any]:
    return {"valid": valid, "accepted": accepted, "fill_ns": fill, "accept_ns": accept, "conflict": False}


def _pass(*walks: dict[str, Any], refused: str | None = None) -> dict[str, Any]:
    times = {"compile_ns": 5000, "start_ns": 1000, "first_mask_ns": 2000}
    return {"refused": refused, **times, "walks": list(walks)}


def _line(engine: str, schema: str, **rest: Any) -> dict[str, Any]:
    return {"kind": "schema", "engine": engine, "schema": schema, **rest}


@pytest.fixture
def results(tmp_path: Path) -> Results:
    head = {
        "kind": "run",
        "machine": {"cores": "2"},
        "vocabulary": "llama3",
        "engines": ["a", "b"],
        "sample": 2,
        "seed": 1,
        "time_limit_s": 10,
        "clock": "cpu",
        "overhead": {"fill_mean_ns": 60, "fill_p50_ns": 55, "accept_mean_ns": 50, "accept_p50_ns": 45},
    }
    one = _walk(True, True, [1000, 3000], [500, 500])
    other = _walk(False, False, [9000], [])
    lines = [
        head,
        _line("a", "s1", cold=_pass(one, other), warm=_pass(one), memory_mb=1.5),
        _line("b", "s1", cold=_pass(_walk(True, False, [7000], [])), warm=_pass()),
        _line("a", "s2", failure="timeout", seconds=10.1),
        _line("b", "s2", cold=_pass(refused="unimplemented: not")),
    ]
    path = tmp_path / "raw.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return read(path)


def test_a_step_is_a_mask_and_its_accept(results: Results) -> None:
    assert results.engines["a"].tokens_us("both").tolist() == [1.5, 3.5]
    assert results.engines["a"].tokens_us("mask").tolist() == [1.0, 3.0, 9.0]
    assert results.engines["a"].tokens_us("accept").tolist() == [0.5, 0.5]
    assert results.engines["a"].tokens_us("both", "warm").tolist() == [1.5, 3.5]


def test_a_timeout_enters_the_first_mask_as_the_limit_and_a_refusal_does_not(results: Results) -> None:
    assert results.engines["a"].first_mask_us(10.0).tolist() == [8.0, 10_000_000.0]
    assert results.engines["b"].first_mask_us(10.0).tolist() == [8.0]


def test_verdicts(results: Results) -> None:
    assert results.engines["a"].verdicts() == {"passing": 1, "timeout": 1}
    assert results.engines["b"].verdicts() == {"valid refused": 1, "refused": 1}
    accepted = _line("a", "s", cold=_pass(_walk(False, True, [1], [1])))
    assert verdict(accepted) == "invalid accepted"
    assert verdict(_line("a", "s", failure="crash")) == "crash"


def test_the_report_has_the_ratio_to_the_first_engine(results: Results) -> None:
    text = render(results)
    assert "b / a" in text
    assert "seed 1" in text
    assert "processor time" in text
    assert "| s1       |       5.00 |        2 |       3.50 | instance 0, token 1 |" in text
    first_mask = text.split("### Time to first mask, cold")[1].split("###")[0]
    row = next(line for line in first_mask.splitlines() if line.startswith("| a "))
    assert "8.00" in row
    assert "10,000,000" in row


def test_quantiles_are_values_that_occurred() -> None:
    values = summary([1.0, 2.0, 10.0])
    assert (values["p50"], values["p99"], values["max"]) == (2.0, 10.0, 10.0)
    assert values["mean"] == pytest.approx(13 / 3)
    assert summary([]) == {}


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0.0, "0"), (0.123, "0.12"), (12.34, "12.3"), (123.4, "123"), (12345.6, "12,346")],
)
def test_numbers_have_three_digits(value: float | None, text: str) -> None:
    assert number(value) == text


def test_a_table_keeps_a_bar_inside_a_cell() -> None:
    lines = markdown(["a", "b"], [["x|y", "1"]]).splitlines()
    assert len(lines) == 3
    assert "x\\|y" in lines[2]
    assert markdown(["a", "b"], []).splitlines()[0].count("|") == 3
