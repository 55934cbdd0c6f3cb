"""Judging an answer: JSON found in chatter, facts looked up, facts mentioned."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.cli.compare.verdicts import find_json, is_valid, n_mentioned, n_right, strict_json, validator


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('Sure! Here it is:\n```json\n{"a": [1, 2]}\n```\nAnything else?', {"a": [1, 2]}),
        ("A set {x} and then [1]", [1]),
        ("  42 ", 42),
        ('"word"', "word"),
    ],
)
def test_json_is_found(text: str, value: Any) -> None:
    assert find_json(text) == value


@pytest.mark.parametrize("text", ["", "no JSON", '{"a": ', "{'a': 1}"])
def test_no_json_is_found(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        find_json(text)


def test_strict_json_has_nothing_around_it() -> None:
    assert strict_json(' {"a": 1}\n') == {"a": 1}
    with pytest.raises(ValueError, match="Extra data"):
        strict_json('{"a": 1} as you wished')


def test_formats_count_for_validity() -> None:
    check = validator({"type": "string", "format": "date"})
    assert is_valid(check, "2026-02-28")
    assert not is_valid(check, "2026-02-30")


def test_facts_that_are_right() -> None:
    value = {"a": {"b/c": [1, "Rome "]}, "yes": True, "n": 24.5}
    right = {"/a/b~1c/1": "rome", "/a/b~1c/0": 1, "/yes": True, "/n": 24.50}
    assert n_right(value, right) == 4
    wrong = {"/a/b~1c/2": 1, "/a/x": 1, "/yes": 1, "/n": "24.5", "/a/b~1c/x": 1, "/a/b~1c/0": True, "": {}}
    assert n_right(value, wrong) == 0
    assert n_right([], {"/a": None}) == 0


def test_facts_that_are_mentioned_in_any_form() -> None:
    facts = {"/name": "Rosa Conti", "/age": 88, "/city": "Bari", "/ok": True, "/none": None}
    assert n_mentioned("ROSA CONTI, who is 88, lives in Bari.", facts) == 3
    assert n_mentioned("Rosa Conti, 188 barium", facts) == 1
