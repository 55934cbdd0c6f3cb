"""Probabilities, runners-up and pushes, against what can be worked out or counted by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from maskwright import CompiledGrammar, Grammar, GrammarCompiler
from maskwright.report import Report
from tests.report.models import STOP, Model, answer, byte_vocabulary, legal_shares, moody, wanting

ROOT = Path(__file__).parents[2]

WORDS = ['"red"', '"rose"', '"blue"', "12", "1", "true", "null"]


def compile_ebnf(text: str, *longer: bytes) -> CompiledGrammar:
    return GrammarCompiler(byte_vocabulary(*longer)).compile_grammar(Grammar.from_ebnf(text))


def compile_schema(schema: object, *longer: bytes) -> CompiledGrammar:
    return GrammarCompiler(byte_vocabulary(*longer)).compile_json_schema(schema)


def true_share(compiled: CompiledGrammar, model: Model, before: bytes, after: bytes) -> float:
    """The probability under the mask that a text goes on in a certain way, byte by byte."""
    share = 1.0
    for place, byte in enumerate(after):
        share *= legal_shares(compiled, model, before + after[:place])[byte]
    return share


@pytest.mark.parametrize("seed", range(20))
def test_members_of_an_enum_have_their_true_probabilities(seed: int) -> None:
    choices = " | ".join(json.dumps(word) for word in WORDS)
    compiled = compile_ebnf(f'root ::= "[" ({choices}) "]"')
    model = moody(257, seed)
    report = answer(compiled, model)
    (leaf,) = report.leaves
    assert leaf.pointer == "/0"
    assert {member.text for member in leaf.members} == set(WORDS)
    # A number is over when something else follows it, so its share holds the bracket that does.
    shares = {
        word: true_share(compiled, model, b"[", word.encode() + (b"]" if word[0] == "1" else b""))
        for word in WORDS
    }
    assert sum(shares.values()) == pytest.approx(1)
    assert leaf.probability == pytest.approx(shares[leaf.text])
    for member in leaf.members:
        assert member.at_least <= shares[member.text] + 1e-6
        assert member.at_most >= shares[member.text] - 1e-6
        n_common = next((n for n in range(9, 0, -1) if member.text[:n] == leaf.text[:n]), 0)
        n_alike = sum(word.startswith(member.text[: n_common + 1]) for word in WORDS)
        if member.text == leaf.text or n_alike == 1:
            assert member.at_least == pytest.approx(shares[member.text]) == member.at_most
    assert leaf.runner_up is not None
    if leaf.runner_up.complete:
        assert leaf.runner_up.probability <= shares[leaf.runner_up.text] + 1e-6
    assert leaf.value == json.loads(leaf.text)


@pytest.mark.parametrize("seed", range(10))
def test_layout_is_no_doubt_about_a_value(seed: int) -> None:
    """White space, and tokens that hold a comma or a bracket beside a quote, do not change the figures."""
    plain = compile_ebnf('root ::= "[" ("\\"yes\\"" | "\\"no\\"") "]"')
    spaced = compile_ebnf('root ::= "[" [ ]? ("\\"yes\\"" | "\\"no\\"") [ ]? "]"', b'["', b'"]', b'" ', b' "')
    model = moody(257, seed)

    def spread(text: bytes) -> np.ndarray:
        """The same model, which also cares about layout."""
        bare = text.replace(b" ", b"")
        logits = np.full(257 + 4, -5.0, np.float32)
        logits[:257] = model(bare)
        logits[32] = 1.0 if b'"' not in text else -3.0
        return logits

    one, other = answer(plain, model), answer(spaced, spread)
    assert json.loads(one.text) == json.loads(other.text)
    # What a longer token says about the value is what its quote says.
    assert other["/0"].probability == pytest.approx(one["/0"].probability, rel=0.05)


def test_a_number_is_over_with_the_token_after_it() -> None:
    compiled = compile_ebnf('root ::= "[" [0-9]+ "]"')
    model = wanting(
        257,
        {
            b"": {91: 1},
            b"[": {51: 0.8, 52: 0.2},
            b"[3": {48: 0.7, 93: 0.3},
            b"[30": {93: 0.6, 48: 0.4},
            b"[30]": {},
        },
    )
    (leaf,) = answer(compiled, model).leaves
    assert (leaf.value, leaf.n_tokens) == (30, 3)
    assert leaf.probability == pytest.approx(0.8 * 0.7 * 0.6, rel=1e-4)
    assert leaf.confidence == leaf.probability
    assert leaf.runner_up is not None
    # 3 with 0.8 * 0.3, against 4… with 0.2 and 300… with 0.8 * 0.7 * 0.4.
    assert (leaf.runner_up.text, leaf.runner_up.value, leaf.runner_up.complete) == ("3", 3, True)
    assert leaf.runner_up.probability == pytest.approx(0.8 * 0.3, rel=1e-4)


def test_a_runner_up_that_would_have_gone_on_is_told_as_far_as_it_is_known() -> None:
    compiled = compile_ebnf('root ::= "[" ("5" [0-9]+ | "1" | "77") "]"')
    model = wanting(257, {b"": {91: 1}, b"[": {49: 0.6, 53: 0.4}, b"[1": {93: 1}, b"[1]": {}})
    (leaf,) = answer(compiled, model).leaves
    assert leaf.runner_up is not None
    assert (leaf.runner_up.text, leaf.runner_up.value, leaf.runner_up.complete) == ("5", None, False)
    model = wanting(257, {b"": {91: 1}, b"[": {49: 0.6, 55: 0.3, 53: 0.1}, b"[1": {93: 1}, b"[1]": {}})
    (leaf,) = answer(compiled, model).leaves
    assert leaf.runner_up is not None
    assert (leaf.runner_up.text, leaf.runner_up.value, leaf.runner_up.complete) == ("77", 77, True)
    assert leaf.runner_up.probability == pytest.approx(0.3, rel=1e-4)


def test_another_spelling_of_the_same_number_is_no_runner_up() -> None:
    compiled = compile_ebnf('root ::= "[" ("1" | "1.0" | "1" [0-9]{1,9} | [2-9] [0-9]{0,9}) "]"')
    model = wanting(257, {b"": {91: 1}, b"[": {49: 0.9, 50: 0.1}, b"[1": {93: 0.6, 46: 0.4}, b"[1]": {}})
    (leaf,) = answer(compiled, model).leaves
    assert (leaf.value, leaf.members) == (1, ())
    assert leaf.runner_up is not None
    assert leaf.runner_up.text == "2"


def test_free_text_has_no_runner_up_and_a_mean_for_its_confidence() -> None:
    compiled = compile_schema({"type": "string", "maxLength": 3})
    quote = ord('"')
    model = wanting(
        257,
        {
            b"": {quote: 1},
            b'"': {97: 0.5, 98: 0.5},
            b'"a': {98: 0.25, quote: 0.2},
            b'"ab': {quote: 1},
            b'"ab"': {},
        },
    )
    (leaf,) = answer(compiled, model).leaves
    assert (leaf.value, leaf.runner_up, leaf.members) == ("ab", None, ())
    assert leaf.probability == pytest.approx(0.5 * (0.25 / 0.45), rel=1e-4)
    assert leaf.confidence == pytest.approx(leaf.probability ** (1 / 3), rel=1e-4)


def test_pointers_kinds_and_values() -> None:
    compiled = GrammarCompiler(byte_vocabulary()).compile_builtin_json_grammar()
    text = '{"a/b": [1, true, {"~": null}], "": "x\\"é", "e": {}, "f": [ ], "g": [[2.5]]}'
    tokens = [*text.encode(), STOP]
    report = answer(compiled, moody(257, 0), tokens=tokens)
    assert report.text == text
    assert report.complete
    assert [(leaf.pointer, leaf.kind, leaf.value) for leaf in report.leaves] == [
        ("/a~1b/0", "number", 1),
        ("/a~1b/1", "boolean", True),
        ("/a~1b/2/~0", "null", None),
        ("/", "string", 'x"é'),
        ("/e", "empty", {}),
        ("/f", "empty", []),
        ("/g/0/0", "number", 2.5),
    ]
    assert [text[start:end] for start, end in report.spans] == [leaf.text for leaf in report.leaves]
    assert report["/a~1b/1"].n_tokens == 4
    assert report["/a~1b/0"].n_tokens == 2
    with pytest.raises(KeyError):
        report["/nothing"]


def test_tokens_over_borders_belong_to_every_value_they_hold() -> None:
    compiled = compile_schema({"type": "array", "items": {"type": "integer"}}, b"[1", b",2", b"3]")
    info = compiled.tokenizer_info
    ids = {token: number for number, token in enumerate(info.decoded_vocab) if number >= 257}
    report = answer(compiled, moody(260, 1), tokens=[ids[b"[1"], ids[b",2"], ids[b"3]"], STOP])
    assert [(leaf.value, leaf.n_tokens) for leaf in report.leaves] == [(1, 2), (23, 2)]
    assert report.outside.n_tokens == 1


def test_forced_tokens_are_counted() -> None:
    compiled = compile_ebnf('root ::= "{\\"k\\":\\"" ("abc" | "xyz") "\\"}"')
    leaf = answer(compiled, moody(257, 3))["/k"]
    assert (leaf.n_tokens, leaf.n_forced) == (5, 4)
    assert len(leaf.removed) == 5


def test_a_push_is_a_value_that_the_model_did_not_want() -> None:
    compiled = compile_schema({"type": "integer", "maximum": 99})
    quote = ord('"')
    report = answer(compiled, wanting(257, {b"": {quote: 0.8, 55: 0.1}, b"7": {}}))
    (leaf,) = report.leaves
    assert leaf.value == 7
    assert leaf.pushed is not None
    assert (leaf.pushed.wanted, report.outside.pushed) == ('"', None)
    assert leaf.pushed.wanted_probability == pytest.approx(0.8, rel=1e-3)
    assert leaf.pushed.removed == pytest.approx(0.9, rel=1e-3)
    assert leaf.removed[0] == pytest.approx(0.9, rel=1e-3)
    # A first choice that is legal, or a mask that takes less than half, is no push.
    for first in ({55: 0.4, quote: 0.3, 65: 0.3}, {quote: 0.4, 55: 0.3, 56: 0.3}):
        assert answer(compiled, wanting(257, {b"": first, b"7": {}})).leaves[0].pushed is None


def test_a_wish_for_other_punctuation_is_not_a_push_of_the_value() -> None:
    compiled = compile_schema(
        {"type": "array", "items": {"enum": ["x"]}, "minItems": 1, "maxItems": 1}, b'",', b'"]'
    )
    comma, bracket = 257, 258
    model = wanting(
        259, {b"": {91: 1}, b"[": {34: 1}, b'["': {120: 1}, b'["x': {comma: 0.9, bracket: 0.1}, b'["x"]': {}}
    )
    report = answer(compiled, model)
    assert report["/0"].pushed is None
    assert report.outside.pushed is not None
    assert report.outside.pushed.wanted == '",'


def test_an_answer_that_was_cut() -> None:
    compiled = compile_schema({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]})
    report = answer(compiled, moody(257, 0), tokens=list(b'{"a": "xy'))
    assert not report.complete
    (leaf,) = report.leaves
    assert (leaf.pointer, leaf.value, leaf.complete) == ("/a", '"xy', False)
    empty = answer(compiled, moody(257, 0), tokens=[])
    assert (empty.leaves, empty.complete, empty.text) == ((), False, "")


@pytest.mark.parametrize("seed", range(8))
def test_an_answer_that_is_not_json_is_one_leaf(seed: int) -> None:
    words = ["yes", "no", "nobody", "maybe"]
    compiled = GrammarCompiler(byte_vocabulary()).compile_grammar(Grammar.from_choices(words))
    model = moody(257, seed)
    report = answer(compiled, model, is_json=False)
    (leaf,) = report.leaves
    assert (leaf.pointer, leaf.kind, leaf.value) == ("", "text", report.text)
    assert {member.value for member in leaf.members} == set(words)
    share = true_share(compiled, model, b"", leaf.text.encode())
    share *= legal_shares(compiled, model, leaf.text.encode())[STOP]
    assert leaf.probability == pytest.approx(share) == leaf.confidence


def test_total_divergence_is_what_the_grammar_cost_the_model() -> None:
    """Minus the logarithm of the probability of the answer, with the mask and without, differ by just that."""
    compiled = compile_schema({"enum": ["one", "two", 3]})
    model = moody(257, 5)
    report: Report = answer(compiled, model)
    free = masked = 0.0
    for place, step in enumerate(report.steps):
        before = report.text.encode()[:place]
        logits = model(before).astype(float)
        free -= math.log(np.exp(logits[step.token_id]) / np.exp(logits).sum())
        masked -= math.log(step.probability)
    assert sum(step.divergence for step in report.steps) == pytest.approx(free - masked, rel=1e-6)


@pytest.mark.parametrize("schema", sorted(ROOT.glob("examples/schemas/*.json")), ids=lambda path: path.stem)
@pytest.mark.parametrize("seed", range(4))
def test_reports_of_example_schemas_say_what_the_answers_hold(schema: Path, seed: int) -> None:
    tokens = (b'",', b'":', b'": "', b'"},', b'{"', b', "', b"12", b"true", b'["', b'"]', b"0,", b"1}")
    compiled = compile_schema(json.loads(schema.read_text(encoding="utf-8")), *tokens)
    report = answer(compiled, moody(257 + len(tokens), seed))
    if report.complete:
        expected = [(pointer, value) for pointer, value in scalars(json.loads(report.text))]
        assert [(leaf.pointer, leaf.value) for leaf in report.leaves] == expected
    for leaf, (start, end) in zip(report.leaves, report.spans, strict=True):
        assert report.text[start:end] == leaf.text
        assert 0 < leaf.probability <= leaf.confidence <= 1
        assert len(leaf.removed) == leaf.n_tokens >= leaf.n_forced
        assert sum(member.at_least for member in leaf.members) <= 1 + 1e-6
        assert all(member.at_least <= member.at_most for member in leaf.members)
        if leaf.members:
            assert leaf.value in [member.value for member in leaf.members]
        if leaf.runner_up is not None and leaf.runner_up.complete:
            assert leaf.runner_up.value != leaf.value
            assert leaf.runner_up.probability <= 1 - leaf.probability + 1e-6
            assert not leaf.members or leaf.runner_up.value in [member.value for member in leaf.members]
    owned = {number for owners in report.owners for number in owners}
    assert owned == set(range(len(report.leaves)))
    assert json.dumps(report.as_json())
    assert report.as_html()


def scalars(value: Any, pointer: str = "") -> list[tuple[str, Any]]:
    """The values that hold no others, by pointer; empty objects and arrays are such values."""
    if isinstance(value, dict) and value:
        return [
            found
            for key, item in value.items()
            for found in scalars(item, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
        ]
    if isinstance(value, list) and value:
        return [found for place, item in enumerate(value) for found in scalars(item, f"{pointer}/{place}")]
    return [(pointer, value)]
