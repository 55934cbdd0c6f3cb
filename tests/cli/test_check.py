"""`maskwright check`: the whole report, as a table and as JSON, and an exit code that can be trusted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from maskwright.cli.app import app

SCHEMA = {
    "title": "T",
    "type": "object",
    "properties": {"a": {"type": "string", "minLength": 2}, "b": {"$ref": "#/$defs/b"}},
    "required": ["a"],
    "$defs": {"b": {"type": "array", "items": {"maximum": 3}}},
}


def check(schema: Any, *arguments: str) -> Result:
    text = schema if isinstance(schema, str) else json.dumps(schema)
    return CliRunner().invoke(app, ["check", "--schema", "-", *arguments], input=text)


def test_every_keyword_has_a_row() -> None:
    result = check(SCHEMA)
    assert result.exit_code == 0, result.output
    status = {line.split()[0]: line.split()[1] for line in result.stdout.splitlines() if line.startswith("#")}
    assert status["#/properties/a/minLength"] == "enforced"
    assert status["#/$defs/b/items/maximum"] == "enforced"
    assert status["#/title"] == "annotation"
    assert "everything is enforced" in result.stdout


def test_json_for_programs() -> None:
    result = check(SCHEMA, "--json")
    report = json.loads(result.stdout)
    assert report["exact"] is True
    assert {"pointer": "#/required", "keyword": "required", "status": "enforced", "note": ""} in report[
        "entries"
    ]


def test_malformed_schemas_are_errors_not_reports() -> None:
    result = check({"properties": {"a": {"minLength": "two"}}})
    assert result.exit_code == 3
    assert "#/properties/a" in result.stderr
    assert check("{").exit_code == 3


def test_pydantic_and_schema_exclude_each_other() -> None:
    result = CliRunner().invoke(app, ["check"])
    assert result.exit_code == 2
    result = CliRunner().invoke(app, ["check", "--pydantic", "a:B", "--schema", "-"], input="{}")
    assert result.exit_code == 2


@pytest.mark.parametrize("schema", [True, {}])
def test_a_schema_that_says_nothing(schema: Any) -> None:
    assert check(schema).exit_code == 0
