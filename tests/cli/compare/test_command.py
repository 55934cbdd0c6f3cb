"""`maskwright compare` on a model whose every step can be worked out, and on the real one."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from click.testing import CliRunner, Result

import maskwright.cli.models
from maskwright.cli.app import app
from tests.cli.dice import STOP, DiceModel

ROOT = Path(__file__).parents[3]


class SteadyModel(DiceModel):
    """The same distribution after the same text, and a wish to write what is in the prompt behind a colon."""

    def evaluate(self, tokens: Sequence[int]) -> npt.NDArray[np.float32]:
        self.read.extend(tokens)
        text = bytes(token for token in self.read if token < STOP)
        prompt, _, answer = text.partition(b"\n")
        wish = prompt.partition(b":")[2]
        logits = np.random.default_rng(zlib.crc32(text)).normal(size=300).astype(np.float32)
        logits[wish[len(answer)] if wish.startswith(answer) and len(answer) < len(wish) else STOP] += 20
        return logits

    def encode_chat(self, prompt: str) -> list[int]:
        return [*prompt.replace("\n", " ").encode(), 10]


@pytest.fixture
def steady(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maskwright.cli.models, "load_model", lambda path: SteadyModel())


def compare(
    folder: Path, *lines: dict[str, Any], options: Sequence[str] = ()
) -> tuple[Result, list[dict[str, Any]]]:
    prompts, found = folder / "prompts.jsonl", folder / "found.json"
    prompts.write_text("\n".join(map(json.dumps, lines)))
    result = CliRunner().invoke(
        app,
        ["compare", "--prompts", str(prompts), "--json", str(found), "--no-schema-in-prompt", *options],
        catch_exceptions=False,
    )
    return result, json.loads(found.read_text()) if found.exists() else []


@pytest.mark.usefixtures("steady")
def test_a_model_that_keeps_to_the_schema_is_not_changed(tmp_path: Path) -> None:
    line = {
        "prompt": 'Say:{"a":7}',
        "schema": {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
        "facts": {"/a": 7},
    }
    result, (entry,) = compare(tmp_path, line)
    assert result.exit_code == 0, result.output
    assert entry["masked"]["text"] == entry["free"]["text"] == '{"a":7}'
    assert (entry["parted"], entry["left"]) == (None, None)
    assert entry["masked"]["n_right"] == entry["free"]["n_right"] == 1
    assert entry["masked"]["valid"]
    assert entry["free"]["valid"]
    assert max(entry["removed"]) < 0.01
    assert entry["places"] == ["outside"] * 5 + ["number"] * 2 + ["outside"]
    assert (entry["n_pushed"], entry["n_leaves"]) == (0, 1)
    assert [(value["pointer"], value["level"], value["right"]) for value in entry["trusted"]] == [
        ("/a", "sure", True)
    ]
    assert "| same answer" in result.stdout
    assert "100 %" in result.stdout


@pytest.mark.usefixtures("steady")
def test_a_model_that_does_not_keep_to_it_is_turned_where_it_leaves(tmp_path: Path) -> None:
    schema = {"properties": {"a": {"enum": ["red", "rose"]}}, "required": ["a"]}
    lines = [
        {"prompt": 'Say:{"a":"rust"}', "schema": schema, "facts": {"/a": "rose"}, "task": "one"},
        {"prompt": 'Say:Well, {"a":"red"}', "schema": schema, "facts": {"/a": "red"}, "task": "two"},
    ]
    result, (first, second) = compare(tmp_path, *lines)
    assert first["free"]["text"] == '{"a":"rust"}'
    assert first["masked"]["text"] in ('{"a":"red"}', '{"a":"rose"}')
    assert (first["parted"], first["left"]) == (7, 7)
    assert first["removed"][7] > 0.9
    assert first["n_pushed"] == 1
    (value,) = first["trusted"]
    assert (value["pushed"], value["right"]) == (True, first["masked"]["text"] == '{"a":"rose"}')
    assert (first["free"]["valid"], first["free"]["found_valid"]) == (False, False)
    assert (second["free"]["valid"], second["free"]["found_valid"], second["free"]["n_right"]) == (
        False,
        True,
        1,
    )
    assert second["parted"] == second["left"] == 0
    for entry in (first, second):
        assert entry["divergence"] == pytest.approx(
            [-np.log(1 - share) for share in entry["removed"]], rel=1e-3
        )
    header = result.stdout.splitlines()[2]
    assert [part.strip() for part in header.split("|")[2:-1]] == [
        "one (1), mask",
        "free",
        "two (1), mask",
        "free",
        "all (2), mask",
        "free",
    ]


@pytest.mark.usefixtures("steady")
def test_samples_part_only_where_the_mask_says_so(tmp_path: Path) -> None:
    """Forced tokens take no random numbers from those that follow."""
    line = {"prompt": "x", "schema": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 3}}
    for seed in range(5):
        options = ["--temperature", "9", "--seed", str(seed), "--max-tokens", "30"]
        _, (entry,) = compare(tmp_path, line, options=options)
        assert entry["parted"] is not None
        assert entry["left"] is not None
        assert entry["parted"] <= entry["left"]
    copy = {"prompt": 'Say:["a","b","b"]', "schema": line["schema"]}
    _, (entry,) = compare(tmp_path, copy, options=["--temperature", "0.5", "--seed", "3"])
    assert (entry["parted"], entry["free"]["text"]) == (None, '["a","b","b"]')


@pytest.mark.usefixtures("steady")
def test_an_answer_that_runs_out_of_tokens(tmp_path: Path) -> None:
    result, (entry,) = compare(
        tmp_path, {"prompt": "Say:" + "x" * 50, "schema": {"type": "string"}}, options=["--max-tokens", "5"]
    )
    assert result.exit_code == 0
    assert (entry["free"]["text"], entry["free"]["finished"], entry["free"]["n_tokens"]) == (
        "xxxxx",
        False,
        5,
    )
    assert not entry["masked"]["valid"]
    assert not entry["masked"]["finished"]


@pytest.mark.usefixtures("steady")
def test_a_schema_for_all_lines_and_a_limit(tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text('{"const": 3}')
    options = ["--schema", str(tmp_path / "schema.json"), "--limit", "2", "--temperature", "1", "--seed", "4"]
    result, entries = compare(tmp_path, *({"prompt": f"{number}:3"} for number in range(4)), options=options)
    assert [entry["masked"]["text"] for entry in entries] == ["3", "3"]
    assert "2 prompts, seed 4, temperature 1" in result.stdout


@pytest.mark.usefixtures("steady")
def test_a_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    line = {
        "prompt": 'Say:{"a":7}',
        "schema": {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
        "facts": {"/a": 7},
    }
    path = tmp_path / "plot.svg"
    result, _ = compare(tmp_path, line, options=["--plot", str(path)])
    assert result.exit_code == 0, result.output
    assert path.read_text().lstrip().startswith("<?xml")
    again = tmp_path / "again.svg"
    compare(tmp_path, line, options=["--plot", str(again)])
    assert again.read_bytes() == path.read_bytes()
    assert compare(tmp_path, line, options=["--plot", str(tmp_path / "plot.nothing")])[0].exit_code == 2


@pytest.mark.usefixtures("steady")
def test_what_cannot_be_done_is_said(tmp_path: Path) -> None:
    long = {"prompt": "x" * 1300, "schema": True}
    result, _ = compare(tmp_path, long)
    assert result.exit_code == 5
    assert "line 1" in result.stderr
    result, _ = compare(tmp_path, {"prompt": "a", "schema": {"type": "strin"}})
    assert result.exit_code == 3
    assert CliRunner().invoke(app, ["compare"]).exit_code == 2


@pytest.mark.model
def test_real_model(model_path: Path, tmp_path: Path) -> None:
    lines = (ROOT / "benchmarks" / "prompts" / "prompts.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in (lines[0], lines[-1])]
    for entry in entries:
        entry["schema"] = json.loads((ROOT / "benchmarks" / "prompts" / entry["schema"]).read_text())
    prompts, found = tmp_path / "prompts.jsonl", tmp_path / "found.json"
    prompts.write_text("\n".join(map(json.dumps, entries)))
    options = ["--prompts", str(prompts), "--json", str(found), "--max-tokens", "100"]
    result = CliRunner().invoke(app, ["compare", *options], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    for entry in json.loads(found.read_text()):
        assert entry["masked"]["valid"]
        # Greedy: the answers part where the mask first forbids the free one, and nowhere else.
        assert entry["parted"] == entry["left"]
