"""The file of prompts: what is read, what is refused with its line; the one that comes with the project."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import jsonschema_rs
import pytest

from maskwright import GrammarCompiler, GrammarMatcher
from maskwright.cli.compare.prompts import read_questions
from maskwright.cli.exits import Failure
from tests.report.models import byte_vocabulary

ROOT = Path(__file__).parents[3]


def write(folder: Path, *lines: object) -> Path:
    path = folder / "prompts.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return path


def test_lines_may_name_a_schema_have_one_or_take_the_default(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"type": "null"}')
    path = write(
        tmp_path,
        {"prompt": "a", "schema": "s.json", "task": "x", "facts": {"": None}},
        "",
        {"prompt": "b", "schema": {"const": 1}},
        {"prompt": "c"},
    )
    questions = read_questions(path, True)
    assert [question.schema for question in questions] == [{"type": "null"}, {"const": 1}, True]
    assert [question.line for question in questions] == [1, 3, 4]
    assert [question.task for question in questions] == ["x", "all", "all"]
    assert questions[0].facts == {"": None}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "line 1"),
        ([1], "object"),
        ({"schema": True}, "prompt"),
        ({"prompt": 1}, "'prompt' is a int"),
        ({"prompt": "a"}, "schema"),
        ({"prompt": "a", "schema": "missing.json"}, "missing.json"),
        ({"prompt": "a", "fact": {}}, "'fact'"),
        ({"prompt": "a", "schema": True, "facts": {"x": 1}}, "no JSON pointer"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(tmp_path: Path, line: object, words: str) -> None:
    with pytest.raises(Failure, match="line 1") as caught:
        read_questions(write(tmp_path, line))
    assert words in str(caught.value.message)


def test_no_file_and_no_prompts(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="no prompts"):
        read_questions(write(tmp_path, ""))
    with pytest.raises(Failure, match="nothing"):
        read_questions(tmp_path / "nothing")


def test_the_prompts_of_the_project_can_be_answered_right() -> None:
    """A reference that the schema forbids, or that the prompt does not hold, would be a trap for any model."""
    questions = read_questions(ROOT / "benchmarks" / "prompts" / "prompts.jsonl")
    assert len(questions) >= 100
    assert set(Counter(question.task for question in questions)) == {"extraction", "classification", "tools"}
    assert len({question.prompt for question in questions}) == len(questions)
    compiler = GrammarCompiler(byte_vocabulary())
    for question in questions:
        assert question.facts, question.line
        value = build(question.schema, question.facts)
        jsonschema_rs.validator_for(question.schema, validate_formats=True).validate(value)
        matcher = GrammarMatcher(compiler.compile_json_schema(question.schema))
        assert matcher.accept_string(json.dumps(value, ensure_ascii=False)), question.line
        assert matcher.is_completed()
        if question.task == "extraction":
            texts = [
                fact
                for fact in question.facts.values()
                if isinstance(fact, str) and fact not in ("EUR", "USD", "GBP")
            ]
            assert all(text in question.prompt for text in texts), question.line


def build(schema: dict[str, object], facts: dict[str, object]) -> object:
    """The answer that the facts describe; what they leave open is filled in."""
    branches = schema.get("anyOf", [schema])
    assert isinstance(branches, list)
    (branch,) = [
        each
        for each in branches
        if "/tool" not in facts or each["properties"]["tool"]["const"] == facts["/tool"]
    ]

    def fill(part: dict[str, object], pointer: str) -> object:
        if pointer in facts:
            return facts[pointer]
        properties = part.get("properties")
        if isinstance(properties, dict):
            return {name: fill(inner, f"{pointer}/{name}") for name, inner in properties.items()}
        examples = {"string": "x", "integer": 5, "number": 5, "boolean": True}
        choices = part.get("enum")
        return choices[0] if isinstance(choices, list) else examples[str(part["type"])]

    return fill(branch, "")
