"""What explanations must agree with whatever the grammar: masks, `accept_token` and `accept_string`."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

import maskwright
from maskwright.explain import Kind, Reason
from tests.kernel.pairs import cases, filled_row, legal, step
from tests.strategies import choices, texts

SCHEMAS = Path(__file__).parents[2] / "examples" / "schemas"
SLOW = (HealthCheck.too_slow, HealthCheck.filter_too_much)


def explained(matcher, token):
    """The explanation; examples in which the kernel gives up its search for a completion say nothing."""
    try:
        return matcher.explain(token)
    except maskwright.LimitExceeded:
        reject()


@settings(max_examples=60, suppress_health_check=SLOW)
@given(case=cases(max_picks=4))
def test_a_token_is_called_legal_iff_its_bit_is_set(case):
    reference, kernel = case.reference(), case.kernel()
    size = case.vocabulary.vocab_size
    for pick in [*case.picks, 0]:
        allowed, before = legal(kernel, size), filled_row(kernel, size).tolist()
        n_steps = kernel.n_steps
        for token_id in range(-2, size + 3):
            told = explained(kernel, token_id)
            assert told.legal == (token_id in allowed) == (told.reason is Reason.LEGAL)
            assert (told.reason is Reason.UNKNOWN_ID) == (not 0 <= token_id < size)
            assert told.n_legal == len(allowed)
            assert {each.token_id for each in told.examples} <= set(allowed)
            assert 0 <= told.n_bytes_legal <= len(told.text)
            assert str(told).startswith(told.headline)
        assert filled_row(kernel, size).tolist() == before
        assert kernel.n_steps == n_steps
        if not step(reference, kernel, pick):
            break


@settings(max_examples=100, suppress_health_check=SLOW)
@given(case=cases(complete=True, max_picks=3), text=texts(5).filter(len))
def test_legal_bytes_are_the_longest_beginning_that_is_accepted(case, text):
    """Where every byte is a token, so that no beginning is out of reach; beside the reference."""
    reference, kernel = case.reference(), case.kernel()
    for pick in case.picks:
        if not step(reference, kernel, pick):
            break
    if reference.is_terminated():
        assert explained(kernel, text).reason is Reason.AFTER_STOP
        return
    fits = [length for length in range(len(text) + 1) if reference.fork().accept_string(text[:length])]
    told = explained(kernel, text)
    assert told.n_bytes_legal == max(fits)
    assert told.legal == (max(fits) == len(text))
    if told.reason is Reason.COMPLETE:
        assert [each.kind for each in told.expected] == [Kind.END]


@settings(max_examples=60, suppress_health_check=SLOW)
@given(case=cases(complete=True, max_picks=3))
def test_examples_of_what_was_expected_go_on(case):
    """What is left of an example of a text, behind what has begun, is a beginning of legal output."""
    reference, kernel = case.reference(), case.kernel()
    for pick in case.picks:
        if not step(reference, kernel, pick):
            return
    told = explained(kernel, None)
    assert told.legal == kernel.is_completed()
    assert any(each.kind is Kind.END for each in told.expected) == kernel.is_completed()
    for each in told.expected:
        for example in each.examples:
            assert example.startswith(each.begun)
            rest = example[len(each.begun) :]
            # An automaton over a grammar with guards may hold items that no output ends with.
            if not kernel.core.network.fragile:
                assert reference.fork().accept_string(rest), (each, rest)


@settings(max_examples=60, suppress_health_check=SLOW)
@given(case=cases(), picks=choices(), data=st.data())
def test_only_the_output_counts(case, picks, data):
    """After a detour of accepted and undone tokens the explanation is the same."""
    kernel = case.kernel()
    token = data.draw(st.integers(-1, case.vocabulary.vocab_size))
    first = explained(kernel, token)
    n_steps = kernel.n_steps
    walk_some(kernel, picks, case.vocabulary.vocab_size)
    kernel.rollback(kernel.n_steps - n_steps)
    assert explained(kernel, token) == first
    kernel.reset()
    assert explained(kernel.fork(), token) == explained(kernel, token)


@pytest.mark.parametrize("any_whitespace", [True, False])
@pytest.mark.parametrize("path", sorted(SCHEMAS.glob("*.json")), ids=lambda path: path.stem)
def test_what_is_expected_in_a_document_is_legal_there(path, any_whitespace):
    """At every place of a document each example, behind what of it is there, is a beginning of legal output."""
    compiler = maskwright.GrammarCompiler(
        maskwright.TokenizerInfo([bytes([byte]) for byte in range(256)] + ["</s>"])
    )
    narrow, matcher = (
        maskwright.GrammarMatcher(compiler.compile_json_schema(path.read_text(), any_whitespace=free))
        for free in (False, any_whitespace)
    )
    for byte in narrow.find_shortest_completion():
        told = matcher.explain(b"\x01")
        assert told.pointer is not None
        assert told.expected
        assert all(each.kind in (Kind.MARK, Kind.SPACE, Kind.END) or each.schema for each in told.expected)
        for each in told.expected:
            for example in each.examples:
                assert example.startswith(each.begun)
                rest = example[len(each.begun) :]
                spaces = (b"", b" ") if not each.begun else (b"",)  # one may be required
                assert any(matcher.fork().accept_string(space + rest) for space in spaces), each
        assert matcher.accept_token(byte)
    assert [each.kind for each in matcher.explain("x").expected] == [Kind.END]


def walk_some(kernel, picks, size):
    for pick in picks:
        if kernel.is_terminated():
            return
        allowed = legal(kernel, size)
        if not allowed:
            return
        assert kernel.accept_token(allowed[pick % len(allowed)])


def test_a_full_generation_is_left_and_the_output_replayed():
    """The fork that is explained meets the limit; the matcher itself does not move."""
    info = maskwright.TokenizerInfo([bytes([byte]) for byte in range(256)] + ["</s>"])
    schema = {"type": "array", "items": {"type": "integer"}, "maxItems": 2000}
    output, other = "[1, 2, 3", "[" + "7  ,\n" * 200

    def visited(limit):
        compiler = maskwright.GrammarCompiler(info, cache_enabled=False, automaton_limit_bytes=limit)
        matcher = maskwright.GrammarMatcher(compiler.compile_json_schema(schema))
        assert matcher.accept_string(output)
        assert maskwright.GrammarMatcher(matcher.compiled_grammar).accept_string(other)
        return matcher

    roomy = visited(64 << 20)
    full = roomy.compiled_grammar.memory_size_bytes
    expected = roomy.explain(" \n , \t17, x")
    for limit in range(full, full // 2, -1000):
        matcher = visited(limit)
        generation = matcher.core.automaton
        told = matcher.explain(" \n , \t17, x")
        assert told == expected
        if matcher.core.automaton is not generation:
            break
    else:
        raise AssertionError("no limit was met")
    assert matcher.accept_string("]")
