"""Whitespace, separators, and the spelling of values."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from maskwright import Grammar, GrammarMatcher
from maskwright.errors import SchemaError
from maskwright.schema import SchemaOptions, builtin_json_rules
from tests.schema.language import Language, _compiler

VALUES: list[Any] = [
    {},
    [],
    {"a": [], "b": {}},
    {"a": [1, [2, []], {"c": "x"}], "b": {"d": None, "e": {"f": [True]}}},
]


@pytest.mark.parametrize("indent", [None, 0, 1, 4])
@pytest.mark.parametrize("separators", [None, (",", ":"), (" , ", " : ")])
def test_exactly_as_json_dumps(indent: int | None, separators: tuple[str, str] | None) -> None:
    """Without free whitespace, the one text of a value is what ``json.dumps`` writes."""
    schemas: list[Any] = [True, *({"const": value} for value in VALUES)]
    layouts = itertools.product([None, 0, 1, 4], [None, (",", ":"), (" , ", " : ")])
    for schema in schemas:
        language = Language(
            schema, any_whitespace=False, indent=indent, separators=separators, strict_mode=False
        )
        for value in VALUES if schema is True else [schema["const"]]:
            written = json.dumps(value, indent=indent, separators=separators)
            assert language.holds(written), written
            for other_indent, other in layouts:
                text = json.dumps(value, indent=other_indent, separators=other)
                assert language.holds(text) is (text == written)


def test_typed_containers_are_indented_too() -> None:
    """Depth counts through properties, items and references."""
    schema = {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {
                    "v": {"type": "integer"},
                    "next": {"$ref": "#/$defs/node"},
                    "l": {"items": True},
                },
                "additionalProperties": False,
            }
        },
    }
    value = {"v": 1, "next": {"v": 2, "next": {}, "l": [1, {"k": []}]}, "l": []}
    language = Language(schema, any_whitespace=False, indent=2)
    assert language.holds(json.dumps(value, indent=2))
    assert not language.holds(json.dumps(value, indent=3))
    assert not language.holds(json.dumps(value))


def test_whitespace_is_inside_and_bounded() -> None:
    """Any run up to the bound inside containers, none around the root."""
    schema = {"type": "object", "properties": {"a": {"items": {"type": "null"}}}, "required": ["a"]}
    language = Language(schema, max_whitespace_cnt=3)
    assert language.holds('{ \n\t"a"   :\r\r\r[ null , null ] }')
    for text in (' {"a":[]}', '{"a":[]} ', '{    "a":[]}', '{"a":[]    }', '{"a"    :[]}', '{"a":    []}'):
        assert not language.holds(text), text
    assert not Language(schema, max_whitespace_cnt=0).holds('{"a": []}')
    default = Language(schema)
    assert default.holds('{"a":' + " " * 32 + "[]}")
    assert not default.holds('{"a":' + " " * 33 + "[]}")


def test_scalars_are_written_canonically() -> None:
    """Unless every spelling is asked for."""
    schema = {"enum": ["é/", 1, 1.5]}
    canonical, every = Language(schema), Language(schema, any_spelling=True)
    for text in ('"é/"', "1", "1.5"):
        assert canonical.holds(text)
        assert every.holds(text)
    for text in ('"\\u00e9\\/"', "1.0", "1.50"):
        assert not canonical.holds(text)
        assert every.holds(text)
    assert not every.holds("2")


def test_unconstrained_strings_take_every_escape() -> None:
    """Plain strings are whatever JSON allows; constrained ones are canonical."""
    assert Language({"type": "string"}).holds('"\\u0041\\/"')
    assert not Language({"type": "string", "minLength": 1}).holds('"\\u0041"')


def test_builtin_json() -> None:
    """The root is an object or an array."""
    compiled = _compiler().compile_grammar(Grammar(builtin_json_rules(SchemaOptions())))
    for text, good in (('{"a": [1, {}]}', True), ("[]", True), ("1", False), ('"a"', False), (" {}", False)):
        matcher = GrammarMatcher(compiled)
        assert (matcher.accept_string(text) and matcher.is_completed()) is good


@pytest.mark.parametrize(
    "options",
    [
        {"max_whitespace_cnt": -1},
        {"indent": -1},
        {"separators": (",",)},
        {"separators": (1, 2)},
        {"integer_spelling": "roman"},
    ],
)
def test_bad_options(options: dict[str, Any]) -> None:
    """Are told at once."""
    with pytest.raises(SchemaError):
        SchemaOptions(**options)


@pytest.mark.parametrize("any_spelling", [False, True])
def test_formats_beside_patterns_in_every_spelling(any_spelling: bool) -> None:
    """A format of thousands of states and a pattern that may be anywhere in it: decided, and written."""
    stamp = {"type": "string", "format": "date-time", "pattern": "\\d\\d-1[12]-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ"}
    schema = {
        "type": "object",
        "properties": {"at": stamp, "test": {"type": "string", "format": "regex", "pattern": "^/.+/$"}},
        "required": ["at", "test"],
    }
    language = Language(schema, any_spelling=any_spelling)
    assert language.takes({"at": "2024-11-05T10:00:00Z", "test": "/^[a-z]{2,3}(x|y)$/"})
    assert not language.takes({"at": "2024-10-05T10:00:00Z", "test": "/a/"})
    assert not language.takes({"at": "2024-11-05T10:00:00+01:00", "test": "/a/"})
    assert not language.takes({"at": "2024-12-05T10:00:00Z", "test": "/(a/"})
