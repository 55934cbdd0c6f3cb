"""The Grammar facade."""

import pytest

from maskwright import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from maskwright.errors import GrammarError, GrammarSyntaxError, RegexError, SchemaError
from maskwright.lexeme import Op, literal
from maskwright.reference import accepts
from maskwright.rules import Lex, Rule
from tests.syntax.samples import SAMPLES


def takes(grammar: Grammar, text: str) -> bool:
    return accepts(grammar.root, text.encode())


def test_from_ebnf():
    grammar = Grammar.from_ebnf('start ::= "a" [0-9]+', root_rule_name="start")
    assert takes(grammar, "a12")
    assert not takes(grammar, "a")
    assert repr(grammar) == "<Grammar start>"
    assert grammar.report is None
    with pytest.raises(GrammarSyntaxError, match="line 1, column 10"):
        Grammar.from_ebnf("root ::= missing")


def test_from_gbnf():
    grammar = Grammar.from_gbnf('root ::= .* ("yes"|"no")')
    assert takes(grammar, "well, yes")
    assert not takes(grammar, "well")
    assert takes(Grammar.from_gbnf('x ::= "a"', root_rule_name="x"), "a")


def test_from_regex_matches_the_whole_output():
    grammar = Grammar.from_regex(r"\d{2}|é+")
    assert takes(grammar, "12")
    assert takes(grammar, "éé")
    assert not takes(grammar, "123")
    with pytest.raises(RegexError) as caught:
        Grammar.from_regex("a(b")
    assert caught.value.offset == 1


def test_from_choices():
    grammar = Grammar.from_choices(["yes", "no", "naïve", "yes"])
    lexeme = grammar.root.expand().lexeme
    assert lexeme.op is Op.LITERALS
    assert [takes(grammar, text) for text in ("yes", "no", "naïve", "ye", "", "yesno")] == [True] * 3 + [
        False
    ] * 3
    assert takes(Grammar.from_choices([""]), "")
    assert len(Grammar.from_choices(map(str, range(10_000))).root.expand().lexeme.args) == 10_000
    with pytest.raises(GrammarError, match="no choices"):
        Grammar.from_choices([])
    with pytest.raises(GrammarError, match="surrogate"):
        Grammar.from_choices(["\ud800"])
    with pytest.raises(TypeError, match="not one string"):
        Grammar.from_choices("yes")
    with pytest.raises(TypeError, match="int"):
        Grammar.from_choices(["yes", 1])


def test_from_json_schema():
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    for given in (
        schema,
        '{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}',
    ):
        grammar = Grammar.from_json_schema(given, any_whitespace=False)
        assert takes(grammar, '{"a": 12}')
        assert not takes(grammar, '{"a":12}')
        assert not takes(grammar, "{}")
        assert grammar.report is not None
    assert takes(Grammar.from_json_schema(schema, any_whitespace=False, separators=(",", ":")), '{"a":12}')
    assert takes(Grammar.from_json_schema(schema, any_whitespace=False, indent=1), '{\n "a": 12\n}')
    with pytest.raises(SchemaError):
        Grammar.from_json_schema({"type": "integre"}).root.expand()
    with pytest.raises(TypeError):
        Grammar.from_json_schema(schema, no_such_option=1)


def test_a_schema_is_not_expanded_at_construction():
    grammar = Grammar.from_json_schema(
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}}}
    )
    assert not isinstance(grammar.root._body, Lex)
    assert takes(grammar, "[[], [[]]]")
    assert not takes(grammar, "[1]")


def test_builtin_json_grammar():
    grammar = Grammar.builtin_json_grammar()
    assert takes(grammar, '{"a": [1, -2.5e3, "x", null, true]}')
    assert takes(grammar, "[]")
    assert not takes(grammar, "1")
    assert not takes(grammar, '{"a": }')
    again = Grammar.from_ebnf(str(grammar))
    assert takes(again, '{"a": [1, -2.5e3, "x\\n", null, true]}')
    assert not takes(again, '{"a": }')


def test_concat_and_union():
    word, number = Grammar.from_regex("[a-z]+"), Grammar.from_ebnf('root ::= "(" root ")" | [0-9]')
    both = Grammar.concat(word, number, word)
    assert takes(both, "ab((1))c")
    assert not takes(both, "ab((1)c")
    assert takes(word + number, "a1")
    assert not takes(word + number, "1a")
    either = word | number
    assert takes(either, "a")
    assert takes(either, "((2))")
    assert not takes(either, "a2")
    assert Grammar.concat(word) is word
    assert Grammar.union(number) is number
    assert takes(Grammar.concat(), "")
    with pytest.raises(GrammarError, match="matches nothing"):
        Grammar.union()
    with pytest.raises(TypeError, match="str"):
        Grammar.concat(word, "b")
    with pytest.raises(TypeError):
        word + "b"
    with pytest.raises(TypeError):
        word | None


def test_joined_grammars_print_and_read_back():
    grammar = Grammar.from_choices(["a", "b"]) + (
        Grammar.from_regex("x*") | Grammar.from_ebnf('root ::= "(" root? ")"')
    )
    again = Grammar.from_ebnf(str(grammar))
    for text in ("a", "bxx", "a(())", "b()"):
        assert takes(grammar, text)
        assert takes(again, text)
    for text in ("", "x", "a(", "ax()"):
        assert not takes(grammar, text)
        assert not takes(again, text)


def test_the_report_of_joined_grammars():
    schema, text = Grammar.from_json_schema({"type": "integer"}), Grammar.from_regex("a")
    assert (schema + text).report is schema.report
    assert (text | text).report is None
    assert (schema + schema).report is None


def test_grammars_are_immutable():
    grammar = Grammar.from_regex("a")
    with pytest.raises(AttributeError):
        grammar.root = Rule("root")
    with pytest.raises(AttributeError):
        del grammar.report
    with pytest.raises(TypeError):
        Grammar("root")


def test_what_cannot_be_printed_still_has_a_repr():
    grammar = Grammar(Rule("bytes", Lex(literal(b"\xff"))))
    assert repr(grammar) == "<Grammar bytes>"
    with pytest.raises(GrammarError, match="UTF-8"):
        str(grammar)


@pytest.mark.parametrize("make", [Grammar.from_ebnf, Grammar.from_gbnf, Grammar.from_regex])
def test_text_is_a_string(make):
    with pytest.raises(TypeError, match="bytes"):
        make(b"root")


def test_case_67_tokens_outside_the_grammar_are_refused_and_nothing_breaks():
    info = TokenizerInfo(['{"', '"}', "a", "```json", "<unused49>", "</s>"], stop_token_ids=[5])
    grammar = Grammar.from_gbnf('root ::= "{\\"" [a-z]* "\\"}"')
    matcher = GrammarMatcher(GrammarCompiler(info).compile_grammar(grammar))
    steps = [
        (3, False),
        (4, False),
        (0, True),
        (5, False),
        (4, False),
        (2, True),
        (3, False),
        (1, True),
        (2, False),
        (5, True),
    ]
    assert [(token, matcher.accept_token(token)) for token, _ in steps] == steps
    assert matcher.is_terminated()


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_samples_in_the_kernel(sample):
    """Read by both dialects, and printed and read again: the compiled grammar takes the same texts."""
    compiler = GrammarCompiler(
        TokenizerInfo([bytes([byte]) for byte in range(256)] + [b"</s>"], stop_token_ids=[256])
    )
    read = Grammar.from_ebnf(sample.grammar)
    for grammar in (read, Grammar.from_gbnf(sample.grammar), Grammar.from_ebnf(str(read))):
        compiled = compiler.compile_grammar(grammar)
        for text in sample.accepted + sample.refused:
            matcher = GrammarMatcher(compiled)
            assert (matcher.accept_string(text) and matcher.is_completed()) is (text in sample.accepted), text


def test_case_65_deep_groups_in_the_kernel():
    compiler = GrammarCompiler(TokenizerInfo(["a", "b", "</s>"], stop_token_ids=[2]))
    compiled = compiler.compile_grammar("root ::= " + '("a" ' * 5_000 + ")?" * 5_000)
    matcher = GrammarMatcher(compiled)
    assert matcher.accept_string("a" * 5_000)
    assert matcher.is_completed()
    assert not matcher.accept_string("a")
