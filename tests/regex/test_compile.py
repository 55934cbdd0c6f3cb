"""The front door of the room, the official suite's pattern files, and the patterns of MaskBench."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from maskwright.errors import LimitExceeded, RegexError
from maskwright.lexeme import intersection
from maskwright.regex import (
    JSON_ANY_SPELLING,
    JSON_CANONICAL,
    UTF8,
    check_ecma,
    compile_regex,
    plain_lengths,
    string_of_length,
)
from maskwright.schema.emptiness import is_empty
from tests.lexeme_oracle import accepts
from tests.regex.patterns import EXAMPLES, patterns


def test_results_are_remembered() -> None:
    assert compile_regex("a+", search=True) is compile_regex("a+", search=True)
    assert compile_regex("a+", search=True) is not compile_regex("a+", search=False)


def test_search_and_whole() -> None:
    assert accepts(compile_regex("b+", search=True), b"abc")
    assert not accepts(compile_regex("b+"), b"abc")
    assert compile_regex("a*", search=True) is UTF8.any_text
    assert compile_regex("^|a", search=True, encoding=JSON_CANONICAL) is JSON_CANONICAL.any_text


def test_any_text_swallows_repetition_at_its_side() -> None:
    assert compile_regex("a{3,9}", search=True).args[1].args == compile_regex("a{3}").args
    assert compile_regex("x?ab*", search=True).args[1].args == (b"a",)


@settings(max_examples=EXAMPLES, deadline=None)
@given(patterns())
def test_plain_lengths_are_lengths_of_texts(pattern: str) -> None:
    try:
        plain = plain_lengths(pattern)
        lexeme = compile_regex(pattern, search=True)
    except (RegexError, LimitExceeded):
        return
    if plain is None:
        return
    shortest, longer = plain
    for length in range(shortest, shortest + (3 if longer else 1)):
        assert not is_empty(intersection(lexeme, string_of_length(length, length, UTF8)))


@pytest.mark.parametrize(
    ("pattern", "plain"),
    [
        ("^[A-Z]{2,4}-[0-9]+$", (4, True)),
        ("^[A-Z]{2,4}$", (2, False)),
        ("^$", (0, False)),
        ("^x^", None),
        ("^(a$)b|bc", (2, True)),
        ("[]", None),
        ("a(?=b)", None),
    ],
)
def test_plain_lengths(pattern: str, plain: tuple[int, bool] | None) -> None:
    assert plain_lengths(pattern) == plain


@pytest.mark.parametrize("flavour", ["pcre", ""])
def test_unknown_flavour(flavour: str) -> None:
    with pytest.raises(ValueError, match="flavour"):
        compile_regex("a", flavour=flavour)


def test_nul_and_newlines_are_characters() -> None:
    lexeme = compile_regex("a\x00\n", encoding=JSON_CANONICAL)
    assert accepts(lexeme, rb"a\u0000\n")


# -- data sets ------------------------------------------------------------------------------------

_SUITE_FILES = ("/pattern.json", "/patternProperties.json", "ecmascript-regex.json", "format/regex.json")


def suite_cases(folder: Path) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    suites = json.loads(lzma.decompress((folder / "json-schema-test-suite.json.xz").read_bytes()))["suites"]
    for name, groups in suites.items():
        if name.endswith(_SUITE_FILES):
            for group in groups:
                for test in group["tests"]:
                    if isinstance(group["schema"], dict):
                        yield name, group["schema"], test


def spellings(text: str) -> Iterator[tuple[Any, bytes]]:
    yield UTF8, text.encode()
    yield JSON_CANONICAL, json.dumps(text, ensure_ascii=False)[1:-1].encode()
    yield JSON_ANY_SPELLING, json.dumps(text)[1:-1].encode()


def found(pattern: str, text: str) -> bool:
    """Whether a pattern is found, in all encodings alike."""
    answers = {
        accepts(compile_regex(pattern, search=True, encoding=encoding), spelled)
        for encoding, spelled in spellings(text)
    }
    assert len(answers) == 1
    return answers.pop()


def test_official_suite(data_folder: Path) -> None:
    judged = 0
    for name, schema, test in suite_cases(data_folder):
        data = test["data"]
        if isinstance(data, str) and "pattern" in schema:
            answer = found(schema["pattern"], data)
        elif isinstance(data, str) and schema.get("format") == "regex":
            answer = is_valid(data)
        elif (
            isinstance(data, dict)
            and schema.get("additionalProperties") is False
            and "properties" not in schema
        ):
            if not all(value is True for value in schema.get("patternProperties", {"": 0}).values()):
                continue
            answer = all(any(found(pattern, key) for pattern in schema["patternProperties"]) for key in data)
        else:
            continue
        # Without the optional format files a format is an annotation, and all data is valid.
        if "format" not in schema or "/format/" in name:
            assert answer == test["valid"], (name, schema, test)
            judged += 1
    assert judged > 250


def is_valid(pattern: str) -> bool:
    try:
        check_ecma(pattern)
    except RegexError:
        return False
    return True


def test_patterns_in_use(data_folder: Path) -> None:
    patterns: set[str] = set()
    with lzma.open(data_folder / "maskbench.jsonl.xz", "rt") as lines:
        for line in lines:
            patterns.update(patterns_of(json.loads(line)["schema"]))
    assert len(patterns) > 2_000
    for pattern in patterns:
        compile_regex(pattern, search=True, encoding=JSON_CANONICAL)


def patterns_of(schema: Any) -> Iterator[str]:
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            if isinstance(node.get("pattern"), str):
                yield node["pattern"]
            if isinstance(node.get("patternProperties"), dict):
                yield from node["patternProperties"]
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
