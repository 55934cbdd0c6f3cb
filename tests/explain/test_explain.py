"""Explanations of single tokens and texts: reasons, places, what was expected, and how it is shown."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from maskwright import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from maskwright.explain import Explanation, Kind, Reason
from maskwright.lexeme import literal
from maskwright.rules import Alt, Call, Lex, Repeat, Rule, Seq, Tokens

MORE = [b'":x', b'"nane"', b'"name"', b"}x", "é".encode(), b"<call>", b"</s>"]
CALL, STOP = 261, 262
INFO = TokenizerInfo([bytes([byte]) for byte in range(256)] + MORE, vocab_size=264, special_token_ids=[CALL])
COMPILER = GrammarCompiler(INFO)
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 10, "description": "Full name"},
        "age": {"type": "integer", "minimum": 0},
        "born": {"type": "string", "format": "date"},
        "city": {"enum": ["Newark", "New York", 7]},
        "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}},
        "boss": {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/boss"}]},
    },
    "required": ["name"],
    "$defs": {"boss": {"type": "object", "properties": {"x/y": {"type": "number"}}, "required": ["x/y"]}},
}


def at(grammar: Any, output: str | bytes = "", **options: Any) -> GrammarMatcher:
    """A matcher that has accepted some output."""
    if isinstance(grammar, dict):
        compiled = COMPILER.compile_json_schema(grammar, **options)
    elif isinstance(grammar, Grammar):
        compiled = COMPILER.compile_grammar(grammar)
    else:
        compiled = COMPILER.compile_regex(grammar)
    matcher = GrammarMatcher(compiled)
    assert matcher.accept_string(output)
    return matcher


def kinds(told: Explanation) -> dict[Kind, list[str]]:
    """What was expected, by kind."""
    found: dict[Kind, list[str]] = {}
    for each in told.expected:
        found.setdefault(each.kind, []).append(each.text)
    return found


# -- reasons -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("regex", "output", "token", "reason", "n_bytes_legal"),
    [
        ("ab", "a", ord("b"), Reason.LEGAL, 1),
        ("ab", "a", ord("a"), Reason.WRONG_BYTE, 0),
        ("a}y", "a", 259, Reason.WRONG_BYTE, 1),
        ("è", "", 260, Reason.WRONG_BYTE, 1),
        ("a}", "a", 259, Reason.COMPLETE, 1),
        ("a", "a", ord("a"), Reason.COMPLETE, 0),
        ("ab", "a", STOP, Reason.NOT_COMPLETE, 0),
        ("ab", "ab", STOP, Reason.LEGAL, 4),
        ("ab", "a", None, Reason.NOT_COMPLETE, 0),
        ("ab?", "a", None, Reason.LEGAL, 0),
        (".*", "a", CALL, Reason.SPECIAL_TOKEN, 0),
        (".*", "a", 263, Reason.SPECIAL_TOKEN, 0),
        (".*", "a", 264, Reason.UNKNOWN_ID, 0),
        (".*", "a", -1, Reason.UNKNOWN_ID, 0),
        (".*", "a", 1 << 40, Reason.UNKNOWN_ID, 0),
        ("ab*c", "a", "bbbx", Reason.WRONG_BYTE, 3),
        ("ab*c", "a", b"bbbc", Reason.LEGAL, 4),
        ("ab*c", "a", "", Reason.NOT_COMPLETE, 0),
    ],
)
def test_reasons(regex: str, output: str, token: Any, reason: Reason, n_bytes_legal: int) -> None:
    told = at(regex, output).explain(token)
    assert (told.reason, told.n_bytes_legal) == (reason, n_bytes_legal)
    assert told.legal is (reason is Reason.LEGAL)
    assert told.output == output.encode()


def test_nothing_comes_after_a_stop_token() -> None:
    matcher = at("a", "a")
    assert matcher.accept_token(STOP)
    for token in (STOP, ord("a"), "a", None):
        told = matcher.explain(token)
        assert (told.reason, told.expected, told.n_legal) == (Reason.AFTER_STOP, (), 0)
    matcher.rollback()
    assert matcher.explain(STOP).legal


def test_a_vocabulary_that_cannot_complete_the_output() -> None:
    """No token is `c` alone, so that `b` must not be taken for the first half of `bc`."""
    compiler = GrammarCompiler(TokenizerInfo(["a", "ab", "b", "bc", "</s>"]))
    matcher = GrammarMatcher(compiler.compile_grammar(Grammar.from_ebnf('root ::= "abbc"')))
    assert matcher.accept_token(1)
    told = matcher.explain(2)
    assert (told.reason, told.n_bytes_legal) == (Reason.NO_COMPLETION, 1)
    assert told.examples == ((3, b"bc"),)
    assert "cannot complete" in told.headline


def test_overridden_stop_tokens_and_numpy_ids() -> None:
    compiled = COMPILER.compile_regex("ab")
    matcher = GrammarMatcher(compiled, override_stop_tokens=ord("z"))
    assert matcher.explain(np.int64(ord("z"))).reason is Reason.NOT_COMPLETE
    assert matcher.explain(STOP).reason is Reason.SPECIAL_TOKEN
    assert type(matcher.explain(np.int64(ord("a"))).token_id) is int
    with pytest.raises(TypeError):
        matcher.explain(1.5)  # type: ignore[arg-type]


def test_an_explanation_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        at("a").explain("a").legal = False  # type: ignore[misc]


# -- JSON Schema ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "token", "pointer", "expected"),
    [
        ("", "x", "", {Kind.MARK: ["{"]}),
        ("{", '"nane"', "", {Kind.KEY: ['the key "name": string of at most 10 characters']}),
        ('{"name"', "x", "/name", {Kind.MARK: [":"]}),
        ('{"name":', "1", "/name", {Kind.STRING: ["string of at most 10 characters"], Kind.SPACE: ["white space"]}),
        ('{"name": "Ann', "\n", "/name", {Kind.STRING: ["string of at most 10 characters"]}),
        ('{"name": "Ann"', "x", "", {Kind.MARK: [",", "}"]}),
        (
            '{"name": "Ann", ',
            "}",
            "",
            {
                Kind.KEY: [
                    'the key "age": integer (at least 0)',
                    'the key "born": string (date)',
                    'the key "city": one of "Newark", "New York", 7',
                    'the key "tags": array of string matching ^[a-z]+$',
                    'the key "boss": integer or object',
                ],
                Kind.SPACE: ["white space"],
            },
        ),
        ('{"name": "Ann", "age": ', "true", "/age", {Kind.NUMBER: ["integer (at least 0)"], Kind.SPACE: ["white space"]}),
        ('{"name": "Ann", "age": 4', "x", "/age", {Kind.NUMBER: ["integer (at least 0)"], Kind.MARK: [",", "}"]}),
        ('{"name": "Ann", "born": "19', "x", "/born", {Kind.STRING: ["string (date)"]}),
        ('{"name": "Ann", "city": "New', "x", "/city", {Kind.TEXT: ['"New York" or "Newark"']}),
        ('{"name": "Ann", "tags": ["a","b', "B", "/tags/1", {Kind.STRING: ["string matching ^[a-z]+$"]}),
        ('{"name": "Ann", "boss": ', '"', "/boss", {Kind.NUMBER: ["integer"], Kind.MARK: ["{"], Kind.SPACE: ["white space"]}),
        ('{"name": "Ann", "boss": {"x/y":', "x", "/boss/x~1y", {Kind.NUMBER: ["number"], Kind.SPACE: ["white space"]}),
        ('{"name": "Ann"}', "x", "", {Kind.END: ["the end of the output"]}),
    ],
)  # fmt: skip
def test_places_in_a_schema(output: str, token: str, pointer: str, expected: dict[Kind, list[str]]) -> None:
    told = at(PERSON, output).explain(token)
    assert told.pointer == pointer
    assert kinds(told) == expected


def test_the_schema_of_what_was_expected() -> None:
    told = at(PERSON, '{"name": "Ann", "boss": {"').explain("z")
    (key,) = told.expected
    assert (key.kind, key.begun, key.examples) == (Kind.KEY, b'"', (b'"x/y"',))
    assert key.schema == ("#/$defs/boss/properties/x~1y",)
    assert key.rules[-1] == key.rule == "$defs/boss"
    told = at(PERSON, '{"name": "Ann", "age": 4').explain("x")
    assert told.expected[0].schema == ("#/properties/age",)
    assert told.expected[0].begun == b"4"


def test_the_rest_of_a_token_is_explained_where_it_fails() -> None:
    told = at(PERSON, '{"name').explain(256)
    assert (told.n_bytes_legal, told.pointer) == (2, "/name")
    assert [each.kind for each in told.expected] == [Kind.STRING, Kind.SPACE]
    assert (told.n_legal, told.examples) == (1, ((34, b'"'),))


def test_legal_tokens_that_begin_alike_come_first() -> None:
    told = at(PERSON, '{"name": "Ann').explain(b"\xc3x")
    assert told.examples[0] == (260, "é".encode())
    assert told.examples[1].text == b"\xc3"
    assert told.examples[2].text == b"!"


@pytest.mark.parametrize("options", [{"any_whitespace": False}, {"any_whitespace": False, "indent": 2}])
def test_fixed_white_space(options: dict[str, Any]) -> None:
    """A key, its colon and its value may be one terminal then."""
    schema = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
    start = "{\n  " if "indent" in options else "{"
    told = at(schema, start + '"ag', **options).explain("x")
    assert kinds(told) == {Kind.KEY: ['the key "age": integer']}
    assert told.expected[0].begun == b'"ag'
    told = at(schema, start + '"age": 1', **options).explain("x")
    assert [each.text for each in told.expected] == ["integer", "}"]
    assert told.expected[0].begun == b"1"
    assert kinds(at(schema, **options).explain("x")) == {Kind.MARK: ["{"]}
    two = {"type": "array", "prefixItems": [{"const": "a"}, {"const": "b"}], "minItems": 2}
    for output in ('["a"', '[\n  "a"'):
        if ("\n" in output) is ("indent" in options):
            assert kinds(at(two, output, **options).explain("x")) == {Kind.MARK: [","]}


def test_a_document_that_is_one_terminal() -> None:
    schema = {"const": {"a": [1, "x,"], "b": 2}}
    assert kinds(at(schema, '{"a": [1, ').explain("y")) == {Kind.TEXT: ['"x,"],"b":2}']}
    (key,) = at(schema, '{"a": [1, "x,"], "').explain("y").expected
    assert (key.kind, key.begun, key.examples) == (Kind.KEY, b'"', (b'"b"',))


def test_open_keys_and_any_order() -> None:
    told = at(PERSON, '{"name": "Ann", "zz', strict_mode=False).explain("\n")
    assert kinds(told) == {Kind.KEY: ["a key that the schema does not name"]}
    told = at(PERSON, '{"age": 1, ', any_order=True).explain("x")
    keys = [each.examples[0] for each in told.expected if each.kind is Kind.KEY]
    assert keys == [b'"name"', b'"born"', b'"city"', b'"tags"', b'"boss"']


def test_keys_and_texts_with_many_spellings() -> None:
    told = at(PERSON, '{"name": "Ann", ', any_spelling=True).explain("x")
    assert [each.examples[0] for each in told.expected if each.kind is Kind.KEY] == [
        b'"age"', b'"born"', b'"city"', b'"tags"', b'"boss"'
    ]  # fmt: skip
    schema = {"type": "object", "properties": {"somewhat long": {"enum": ["yes", "no"]}}}
    told = at(schema, '{"some', any_spelling=True).explain("x")
    assert kinds(told) == {Kind.KEY: ['the key "somewhat long": one of "yes", "no"']}
    told = at(schema, '{"somewhat long": "', any_spelling=True).explain("x")
    assert kinds(told) == {Kind.TEXT: ['"no" or "yes"']}


def test_unique_items_leave_out_what_was_there() -> None:
    told = at({"type": "array", "items": {"enum": [1, 2, 3]}, "uniqueItems": True}, "[2, ").explain("2")
    assert kinds(told)[Kind.TEXT] == ["1", "3"]


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"minimum": 3}, {Kind.STRING: ["string"], Kind.NUMBER: ["number (at least 3)"]}),
        ({"anyOf": [{"type": "integer"}, {"type": "number", "maximum": 0}], "default": 1}, {Kind.NUMBER: ["integer or number (at most 0)"]}),
        ({"allOf": [{"type": "number"}, {"type": ["integer", "null"]}]}, {Kind.NUMBER: ["number and integer"]}),
        ({"type": ["string", "null"], "maxLength": 3}, {Kind.STRING: ["string of at most 3 characters"]}),
    ],
)  # fmt: skip
def test_the_words_of_a_schema(schema: Any, words: dict[Kind, list[str]]) -> None:
    found = kinds(at(schema).explain("x"))
    assert {kind: found.get(kind) for kind in words} == words


def test_any_json() -> None:
    matcher = GrammarMatcher(COMPILER.compile_builtin_json_grammar())
    assert matcher.accept_string('{"a": [1, {"b": tr')
    told = matcher.explain("x")
    assert told.pointer == "/a/1/b"
    assert kinds(told) == {Kind.TEXT: ["true"]}
    assert told.expected[0].rule == "any value"


def test_json_inside_other_text() -> None:
    grammar = Grammar.from_regex("<[a-z]+>") + Grammar.from_json_schema(PERSON) + Grammar.from_regex("</end>")
    told = at(grammar, '<call>{"name": "A", "tags": ["a", ').explain("x")
    assert told.pointer == "/tags/1"
    assert told.expected[0].schema == ("#/properties/tags/items",)
    told = at(grammar, "<ca").explain(" ")
    assert told.pointer is None
    assert kinds(told) == {Kind.PATTERN: ["[>a-z]"]}


def test_several_schemas_in_one_grammar() -> None:
    """As tool calls are: each schema is read from where its document begins, also inside other JSON."""
    one = {"type": "object", "properties": {"city": {"type": "string"}, "arguments": {"type": "null"}}}
    two = {"type": "object", "properties": {"size": {"type": "integer"}}}
    calls = [
        Grammar.concat(
            Grammar.from_regex(f'\\{{"name": "{name}", "arguments": '),
            Grammar.from_json_schema(schema),
            Grammar.from_regex("\\};?"),
        )
        for name, schema in (("one", one), ("two", two))
    ]
    grammar = Grammar(Rule("root", Repeat(Alt(tuple(Call(call.root) for call in calls)), 0, None)))
    output = '{"name": "one", "arguments": {"city": "x"}};{"name": "two", "arguments": {"size": '
    told = at(grammar, output).explain("x")
    assert told.pointer == "/size"
    (number, _) = told.expected
    assert (number.text, number.schema) == ("integer", ("#/properties/size",))
    told = at(grammar, '{"name": "one", "arguments": {"').explain("x")
    assert [each.schema for each in told.expected] == [("#/properties/city",), ("#/properties/arguments",)]
    told = at(grammar, '{"name": "').explain("x")
    assert {each.text for each in told.expected} == {'"one", "arguments":', '"two", "arguments":'}


def test_a_schema_of_anything_shares_its_rule_with_nobody() -> None:
    """The rule of any value is one for the process: it must not carry a schema with it."""
    assert at({}, "[1, ").explain("x").pointer == "/1"
    told = at({"type": "array"}, '[{"a": ').explain("x")
    assert told.pointer == "/0/a"
    assert all(not each.schema for each in told.expected)


# -- other grammars ------------------------------------------------------------------------------------


def test_rules_of_a_grammar() -> None:
    grammar = Grammar.from_ebnf(
        'root ::= expr\nexpr ::= term ("+" term)*\nterm ::= [0-9]+ | "(" expr ")" | "[" expr "]" expr'
    )
    told = at(grammar, "(1+").explain(")")
    assert told.pointer is None
    assert {each.text: each.rule for each in told.expected} == {"'('": "term", "'['": "term", "[0-9]": "term"}
    pattern = next(each for each in told.expected if each.kind is Kind.PATTERN)
    assert pattern.rules[0] in ("root", "expr")
    assert "term" in pattern.rules[:-1]
    assert pattern.examples == (b"1",)


def test_how_far_a_pattern_has_come() -> None:
    told = at("x[a-z]{3}-[0-9]+", "xab").explain("9")
    (pattern,) = told.expected
    assert (pattern.text, pattern.begun, pattern.examples) == ("[a-z]", b"xab", (b"xaba-1",))
    told = at("[^a]+b", "é").explain("a")
    assert told.expected[0].text == "[^a]"
    (forced,) = at("(yes|yesterday[a-z]{9})", "yes").explain("x").expected[:1]
    assert forced.begun == b"yes"


def test_an_empty_text_is_no_step() -> None:
    matcher = at("abc", "a")
    assert matcher.accept_string("")
    assert matcher.accept_string("b")
    assert matcher.explain("x").expected[0].begun == b"ab"


def test_few_texts_are_listed() -> None:
    told = at("(red|green|blue)", "").explain("x")
    assert told.expected[0].text == "'blue', 'green' or 'red'"
    assert told.expected[0].examples == (b"blue", b"green", b"red")


def test_what_may_have_ended_is_not_expected_again() -> None:
    (text, end) = at("(a|ab)", "a").explain("x").expected
    assert (text.text, text.begun, end.kind) == ("'ab'", b"a", Kind.END)
    told = at({"enum": [1, 10]}, "1").explain("x")
    assert kinds(told) == {Kind.TEXT: ["10"], Kind.END: ["the end of the output"]}


def test_white_space_counts_outside_json() -> None:
    assert at("a[ b]c", "a").explain("x").expected[0].text == "'a c' or 'abc'"


def test_tokens_by_id() -> None:
    rule = Rule("root", Seq((Lex(literal(b"a")), Tokens((CALL,)), Lex(literal(b"b")))))
    matcher = at(Grammar(rule), "a")
    told = matcher.explain("b")
    assert kinds(told) == {Kind.TOKEN: ["[261] '<call>'"]}
    assert matcher.explain(CALL).legal
    assert matcher.accept_token(CALL)
    told = matcher.explain("x")
    assert told.output == b"a"
    assert told.expected[0].text == "'b'"
    assert told.expected[0].begun == b""


# -- how it is shown -----------------------------------------------------------------------------------


def test_text_of_an_explanation() -> None:
    assert str(at(PERSON, '{"name": "A", "tags": ["a", ').explain(257)) == (
        "token 257 '\"nane\"' is legal\n"
        "line 1, column 35 (offset 34), JSON pointer '/tags'\n"
        '  {"name": "A", "tags": ["a", "nane"\n'
        "                              ~~~~~~\n"
        "expected next:\n"
        "  - ]  (rule properties/tags)\n"
        "  - ,  (rule properties/tags)\n"
        "legal in its place: 7 of 264 tokens, for example '\"nane\"', '\"', '\"name\"', '\\t', '\\n', '\\r', ' '"
    )
    assert str(at(PERSON, '{"name').explain(256)) == (
        "token 256 '\":x' is not legal: 'x' cannot come here; its first 2 of 3 bytes fit\n"
        "line 1, column 9 (offset 8), JSON pointer '/name'\n"
        '  {"name":x\n'
        "        ~~^\n"
        "expected instead:\n"
        '  - string of at most 10 characters, for example ""  (rule root, #/properties/name)\n'
        "  - white space  (rule root)\n"
        "legal in its place: 1 of 264 tokens, for example '\"'"
    )
    assert str(at("ab", "a").explain(300)) == (
        "token 300 is outside the vocabulary of 264 tokens\n"
        "expected instead:\n"
        "  - 'ab', begun: 'a'  (rule regex)\n"
        "legal in its place: 1 of 264 tokens, for example 'b'"
    )


def test_line_column_and_caret() -> None:
    told = at("[a-zé \n]*", "one\ntwo é").explain("xé\nyy!z")
    assert (told.line, told.column, told.offset) == (3, 3, 16)
    assert told.where() == "line 3, column 3 (offset 16)\n  yy!z\n  ~~^"
    told = at("[a-zé \n]*", "one\ntwo é").explain("!\nx")
    assert told.where() == "line 2, column 6 (offset 10)\n  two é!\u21b5\n       ^"


def test_inside_a_character() -> None:
    told = at("aè", "a").explain(260)
    assert (told.line, told.column, told.offset) == (1, 2, 2)
    assert "the byte a9 cannot come here; its first 1 of 2 bytes fit" in told.headline


def test_long_lines_are_cut() -> None:
    told = at("x*", "x" * 1000).explain("y" * 1000)
    _, shown, caret = told.where().splitlines()
    assert shown == "  " + "x" * 60 + "y" * 40
    assert caret == " " * 62 + "^"
    assert len(told.headline) < 200


def test_what_cannot_be_shown_is_replaced() -> None:
    assert at("[^b]*", "a\x00\tc").explain("b").where().splitlines()[1] == "  a··cb"


def test_many_expected_things_are_counted() -> None:
    schema = {"type": "object", "properties": {f"key {number}": {"type": "null"} for number in range(30)}}
    text = str(at(schema, "{").explain("x"))
    assert 'the key "key 0": null' in text
    assert "  - and 20 more" in text


def test_a_token_that_leaves_too_few_to_finish() -> None:
    info = TokenizerInfo([bytes([byte]) for byte in range(128)] + ["</s>"])
    compiled = GrammarCompiler(info).compile_json_schema({"type": "string"})
    matcher = GrammarMatcher(compiled, max_tokens=3)
    assert matcher.accept_token(ord('"'))
    explanation = matcher.explain(ord("a"))
    assert (explanation.legal, explanation.reason, explanation.n_bytes_legal) == (
        False,
        Reason.OVER_BUDGET,
        1,
    )
    assert "too few tokens to finish" in str(explanation)
    assert [each.text for each in explanation.examples] == [b'"']
