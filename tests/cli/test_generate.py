"""`maskwright generate`: output, summary, prompt, exit codes; then the real thing on the real model."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jsonschema_rs
import numpy as np
import pytest
from click.testing import CliRunner, Result

import maskwright.cli.models
from maskwright.cli.app import app
from tests.cli.dice import DiceModel

ROOT = Path(__file__).parents[2]
SCHEMAS = sorted(ROOT.glob("examples/schemas/*.json"))


EIGHT = '{"type": "string", "minLength": 8}'


@pytest.fixture
def dice(monkeypatch: pytest.MonkeyPatch) -> DiceModel:
    """Stands in for every model."""
    model = DiceModel()
    monkeypatch.setattr(maskwright.cli.models, "load_model", lambda path: model)
    return model


def generate(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(app, ["generate", *arguments], input=text)


@pytest.fixture
def schema_file(tmp_path: Path) -> str:
    path = tmp_path / "schema.json"
    path.write_text(
        '{"type": "array", "items": {"enum": ["é", 7]}, "minItems": 2, "maxItems": 2}', encoding="utf-8"
    )
    return str(path)


def test_answer_on_stdout_summary_on_stderr(dice: DiceModel, schema_file: str) -> None:
    result = generate("Go", "--schema", schema_file)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) in ([a, b] for a in ("é", 7) for b in ("é", 7))
    assert "tokens (" in result.stderr
    assert "masks" in result.stderr


def test_schema_from_standard_input(dice: DiceModel) -> None:
    result = generate("Go", "--schema", "-", text='{"const": true}')
    assert (result.exit_code, result.stdout) == (0, "true\n")


@pytest.mark.parametrize(
    ("option", "value", "answers"),
    [
        ("--choices", "yes,no", {"yes", "no"}),
        ("--regex", "a[bc]", {"ab", "ac"}),
    ],
)
def test_other_constraints(dice: DiceModel, option: str, value: str, answers: set[str]) -> None:
    result = generate("Go", option, value)
    assert result.exit_code == 0, result.output
    assert result.stdout.removesuffix("\n") in answers


def test_ebnf(dice: DiceModel, tmp_path: Path) -> None:
    path = tmp_path / "g.ebnf"
    path.write_text('root ::= "<" word ">"\nword ::= "x" | "yy"\n')
    result = generate("Go", "--ebnf", str(path))
    assert result.exit_code == 0, result.output
    assert result.stdout in ("<x>\n", "<yy>\n")


def test_pydantic_model_from_the_current_folder(
    dice: DiceModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pydantic")
    (tmp_path / "shop_models.py").write_text(
        "import pydantic\nclass Item(pydantic.BaseModel):\n    size: int = pydantic.Field(ge=1, le=9)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    result = generate("Go", "--pydantic", "shop_models:Item")
    assert result.exit_code == 0, result.output
    assert 1 <= json.loads(result.stdout)["size"] <= 9
    assert "no_such" in generate("Go", "--pydantic", "no_such:Item").stderr
    assert generate("Go", "--pydantic", "shop_models:Nothing").exit_code == 2
    assert generate("Go", "--pydantic", "shop_models").exit_code == 2


def test_the_prompt_tells_what_is_asked_for_unless_told_not_to(dice: DiceModel, schema_file: str) -> None:
    result = generate("Go", "--schema", schema_file, "--show-prompt")
    assert 'array of one of "é", 7, 2 items' in result.stderr
    assert 'one of "é", 7' in bytes(dice.read).decode(errors="replace")
    generate("Go", "--schema", schema_file, "--no-schema-in-prompt")
    assert bytes(dice.read).startswith(b"Go")
    assert b"one of" not in bytes(dice.read)


def test_the_schema_is_told_in_another_style_and_in_what_the_context_leaves(
    dice: DiceModel, schema_file: str, tmp_path: Path
) -> None:
    result = generate("Go", "--schema", schema_file, "--show-prompt", "--schema-style", "form")
    assert '["é" | 7, ...]' in result.stderr
    long = {"properties": {f"a{number}": {"const": 0, "description": "x" * 99} for number in range(12)}}
    (tmp_path / "long.json").write_text(json.dumps(long))
    result = generate("Go", "--schema", str(tmp_path / "long.json"), "--show-prompt", "--max-tokens", "600")
    assert result.exit_code in (0, 5), result.output
    assert '"a11": 0' in result.stderr
    assert "x" * 60 not in result.stderr


def test_max_tokens_has_an_exit_code_of_its_own(dice: DiceModel, schema_file: str) -> None:
    result = generate("Go", "--schema", schema_file, "--max-tokens", "2", "--no-finish")
    assert result.exit_code == 5
    assert "not complete" in result.stderr
    assert result.stdout.startswith("[")


def test_an_answer_is_whole_within_max_tokens(dice: DiceModel) -> None:
    for budget in range(11, 16):
        result = generate("Go", "--schema", "-", "--max-tokens", str(budget), text=EIGHT)
        assert result.exit_code == 0, result.output
        assert len(json.loads(result.stdout)) >= 8
        assert len(result.stdout.encode()) <= budget  # one byte a token, and a stop token for the line's end


def test_too_few_tokens_are_refused_before_anything_is_generated(dice: DiceModel) -> None:
    result = generate("Go", "--schema", "-", "--max-tokens", "10", text=EIGHT)
    assert (result.exit_code, result.stdout, dice.evaluations) == (5, "", 0)
    assert "11 tokens are needed" in result.stderr


def test_a_prompt_that_does_not_fit_is_refused_before_anything_is_generated(dice: DiceModel) -> None:
    result = generate("x" * 1100, "--regex", "a", "--max-tokens", "200")
    assert (result.exit_code, result.stdout, dice.evaluations) == (2, "", 0)
    assert "1200" in result.stderr


def test_report_goes_to_stderr_and_the_answer_stays_alone(dice: DiceModel, schema_file: str) -> None:
    result = generate("--report", "Go", "--schema", schema_file)
    assert result.exit_code == 0, result.output
    first, second = json.loads(result.stdout)
    lines = [line.split() for line in result.stderr.splitlines()]
    assert [line[:2] for line in lines if line and line[0] in ("/0", "/1")] == [
        ["/0", json.dumps(first, ensure_ascii=False)],
        ["/1", json.dumps(second, ensure_ascii=False)],
    ]
    assert "confidence" in result.stderr


def test_report_as_json_in_the_place_of_the_answer(dice: DiceModel, schema_file: str) -> None:
    result = generate("Go", "--schema", schema_file, "--report=json", "--report-file", "-")
    report = json.loads(result.stdout)
    assert (report["prompt"], report["model"], report["complete"]) == ("Go", "dice", True)
    assert [leaf["value"] for leaf in report["leaves"]] == json.loads(report["text"])
    assert {member["value"] for member in report["leaves"][0]["members"]} == {"é", 7}


def test_report_as_a_page_in_a_file(dice: DiceModel, schema_file: str, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    result = generate("Go & see", "--schema", schema_file, "--report=html", "--report-file", str(path))
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)
    page = path.read_text(encoding="utf-8")
    assert "Go &amp; see" in page
    assert "dice" in page
    assert (
        generate("Go", "--regex", "a", "--report", "--report-file", str(tmp_path / "no" / "x")).exit_code == 2
    )


def test_report_of_an_answer_that_is_not_json_or_not_complete(dice: DiceModel, schema_file: str) -> None:
    result = generate("Go", "--choices", "12,13", "--report")
    assert f"(the answer)         {result.stdout.strip()}" in result.stderr
    result = generate("Go", "--schema", schema_file, "--max-tokens", "2", "--no-finish", "--report")
    assert result.exit_code == 5
    assert "the answer is not complete" in result.stderr


def test_a_report_changes_no_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Forced tokens are then asked for as well, and still take nothing from the sampler's random numbers."""
    schema = tmp_path / "schema.json"
    schema.write_text('{"enum": ["abc", "axe", "bcd"]}')
    answers = []
    for report in ([], ["--report"]):
        model = DiceModel()
        model.evaluate = lambda tokens: np.zeros(300, np.float32)  # type: ignore[method-assign]
        monkeypatch.setattr(maskwright.cli.models, "load_model", lambda path, model=model: model)
        runs = [
            generate("Go", "--schema", str(schema), "--temperature", "1", "--seed", str(seed), *report)
            for seed in range(8)
        ]
        answers.append([run.stdout for run in runs])
    assert answers[0] == answers[1]
    assert len(set(answers[0])) > 1


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--regex", "a", "--choices", "b"],
        ["--schema", "/no/such/file"],
        ["--regex", "a", "--max-tokens", "0"],
        ["--regex", "a", "--temperature", "-1"],
        ["--regex", "a", "--report=xml"],
        ["--regex", "a", "--report=json"],
        ["--regex", "a", "--report=html"],
        ["--regex", "a", "--report-file", "x.html"],
    ],
)
def test_wrong_usage(dice: DiceModel, arguments: list[str]) -> None:
    result = generate("Go", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ('{"type": "object",}', ["not JSON", "line 1"]),
        ('{"properties": {"a": {"type": "strin"}}}', ["#/properties/a", "strin"]),
        ('{"type": "string", "pattern": "a("}', ["#", "pattern"]),
        ('{"type": "integer", "minimum": 3, "maximum": 2}', ["#"]),
    ],
)
def test_bad_schemas_are_explained_without_a_traceback(
    dice: DiceModel, schema: str, words: list[str]
) -> None:
    result = generate("Go", "--schema", "-", text=schema)
    assert (result.exit_code, result.stdout) == (3, "")
    assert all(word in result.stderr for word in words), result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(("option", "value"), [("--regex", "a["), ("--regex", "(?<x"), ("--choices", ",")])
def test_bad_patterns_and_lists(dice: DiceModel, option: str, value: str) -> None:
    result = generate("Go", option, value)
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith("error: ")


def test_bad_grammar_shows_the_line(dice: DiceModel, tmp_path: Path) -> None:
    path = tmp_path / "g.ebnf"
    path.write_text('root ::= "a" nothing\n')
    result = generate("Go", "--ebnf", str(path))
    assert result.exit_code == 3
    assert "line 1" in result.stderr
    assert "nothing" in result.stderr


def test_missing_models(tmp_path: Path) -> None:
    result = generate("Go", "--regex", "a", "--model", str(tmp_path / "none.gguf"))
    assert (result.exit_code, result.stdout) == (4, "")
    (tmp_path / "bad.gguf").write_bytes(b"not a model")
    result = generate("Go", "--regex", "a", "--model", str(tmp_path / "bad.gguf"))
    assert (result.exit_code, result.stdout) == (4, "")
    assert result.stderr.startswith("error: ")


@pytest.mark.model
@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda path: path.stem)
def test_real_model_fits_every_example_schema(model_path: Path, schema: Path) -> None:
    prompts = json.loads((ROOT / "examples" / "prompts.json").read_text(encoding="utf-8"))
    result = generate(prompts[schema.stem], "--schema", str(schema), "--max-tokens", "400")
    assert result.exit_code == 0, result.output
    value = json.loads(result.stdout)
    jsonschema_rs.validator_for(json.loads(schema.read_text(encoding="utf-8"))).validate(value)


@pytest.mark.model
def test_real_model_understands_what_it_is_told(model_path: Path) -> None:
    """With its choices in the prompt, even a small model gets this one right."""
    result = generate("What is the capital of France?", "--choices", "Rome,London,Paris,Madrid")
    assert (result.exit_code, result.stdout) == (0, "Paris\n")


@pytest.mark.model
def test_real_model_is_repeatable(model_path: Path) -> None:
    arguments = ("Name a city.", "--regex", "[A-Z][a-z]{2,12}", "--temperature", "1")
    first, again, other = (generate(*arguments, "--seed", seed).stdout for seed in ("1", "1", "2"))
    assert first == again != other
