"""`Grammar` as XGrammar's programs use it: constructors, printing, joining, serializing."""

from __future__ import annotations

from typing import Any

import pytest

import maskwright
import maskwright.compat.xgrammar as xgr
from maskwright.compat.xgrammar.testing import _is_grammar_accept_string

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def grammars() -> list[tuple[xgr.Grammar, str, str]]:
    """A grammar of each kind, an output of it, and a text that is none."""
    ebnf = xgr.Grammar.from_ebnf('start ::= "a" b\nb ::= "b"*', root_rule_name="start")
    regex = xgr.Grammar.from_regex("[0-9]{2}")
    return [
        (ebnf, "abb", "b"),
        (regex, "12", "1"),
        (xgr.Grammar.from_json_schema(SCHEMA), '{"a" : 1}', '{"a": "x"}'),
        (
            xgr.Grammar.from_json_schema(SCHEMA, any_whitespace=False, separators=(",", ":")),
            '{"a":1}',
            '{"a": 1}',
        ),
        (xgr.Grammar.from_json_schema('{"type": "number", "minimum": 1.50}'), "1.5", "1.25"),
        (xgr.Grammar.builtin_json_grammar(), '{"x": [1]}', "1"),
        (xgr.Grammar.concat(ebnf, regex), "a12", "12"),
        (xgr.Grammar.union(ebnf, xgr.Grammar.concat(regex, regex)), "1234", "12"),
        (ebnf + regex, "ab12", "ab"),
        (ebnf | regex, "12", "ab12"),
    ]


@pytest.mark.parametrize(("grammar", "good", "bad"), grammars(), ids=[str(i) for i in range(10)])
def test_serialized_and_back(grammar: xgr.Grammar, good: str, bad: str) -> None:
    again = xgr.Grammar.deserialize_json(grammar.serialize_json())
    for each in (grammar, again):
        assert type(each) is xgr.Grammar
        assert isinstance(each, maskwright.Grammar)
        assert _is_grammar_accept_string(each, good)
        assert not _is_grammar_accept_string(each, bad)
    assert again.serialize_json() == grammar.serialize_json()


def test_a_schema_that_changes_later_does_not_change_its_grammar() -> None:
    schema: dict[str, Any] = {"const": 1}
    grammar = xgr.Grammar.from_json_schema(schema)
    schema["const"] = 2
    assert _is_grammar_accept_string(xgr.Grammar.deserialize_json(grammar.serialize_json()), "1")


def test_pydantic_models() -> None:
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
    model = pydantic.create_model("Model", a=(int, ...))
    grammar = xgr.Grammar.from_json_schema(model)
    assert _is_grammar_accept_string(xgr.Grammar.deserialize_json(grammar.serialize_json()), '{"a": 1}')


def test_printed_text_is_read_back(capsys: pytest.CaptureFixture[str]) -> None:
    grammar = xgr.Grammar.from_regex("a+b", print_converted_ebnf=True)
    assert capsys.readouterr().out == str(grammar) == 'root ::= "a"+ "b"\n'
    assert _is_grammar_accept_string(xgr.Grammar.from_ebnf(str(grammar)), "aab")
    pair = {"type": "object", "properties": {"a": {}, "b": {}}}
    xgr.Grammar.from_json_schema(pair, any_order=True, print_converted_ebnf=True)
    assert capsys.readouterr().out.startswith("# EBNF cannot say it")


def test_joined_with_what_has_no_source() -> None:
    joined = xgr.Grammar.concat(xgr.Grammar.from_regex("a"), maskwright.Grammar.from_choices(["b"]))
    assert _is_grammar_accept_string(joined, "ab")
    with pytest.raises(RuntimeError, match="not made from anything"):
        joined.serialize_json()


@pytest.mark.parametrize(
    "call",
    [
        lambda: xgr.Grammar.from_ebnf("root ::= x"),
        lambda: xgr.Grammar.from_ebnf('a ::= "x"'),
        lambda: xgr.Grammar.from_regex("("),
        lambda: xgr.Grammar.from_json_schema("{"),
        lambda: xgr.Grammar.from_json_schema({"type": "foo"}),
        lambda: xgr.Grammar.from_json_schema({}, max_whitespace_cnt=0),
        lambda: xgr.Grammar.union(),
    ],
)
def test_runtime_errors(call: Any) -> None:
    with pytest.raises(RuntimeError):
        call()


def test_other_errors() -> None:
    with pytest.raises(ValueError, match="not int"):
        xgr.Grammar.from_json_schema(5)
    for call in (xgr.Grammar.from_ebnf, xgr.Grammar.from_regex, xgr.Grammar.concat):
        with pytest.raises(TypeError):
            call(5)
    with pytest.raises(TypeError):
        xgr.Grammar.from_json_schema({}, format_assertion=False)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("{", xgr.InvalidJSONError),
        ("{}", xgr.DeserializeVersionError),
        ('{"type": "Grammar", "__VERSION__": "maskwright-1"}', xgr.DeserializeFormatError),
        ('{"type": "TokenizerInfo", "__VERSION__": "maskwright-1"}', xgr.DeserializeFormatError),
        (
            '{"type": "Grammar", "__VERSION__": "maskwright-1", "source": {"from": "os", "args": [], "options": {}}}',
            xgr.DeserializeFormatError,
        ),
        (
            '{"type": "Grammar", "__VERSION__": "maskwright-1", "source": {"from": "regex", "args": ["("], "options": {}}}',
            xgr.DeserializeFormatError,
        ),
    ],
)
def test_texts_that_are_no_grammar(text: str, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        xgr.Grammar.deserialize_json(text)
