"""The kernel says what the slow reference engine says: masks, completion, forced text."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import maskwright
from maskwright import compiler
from maskwright.errors import GrammarError, MatcherError
from maskwright.lexeme import EPSILON, literal
from maskwright.rules import Alt, Lex, Repeat, Rule, Seq, Tokens
from tests.kernel.pairs import Case, cases, filled_row, kernel_matcher, legal, new_row, step, tokenizer_info
from tests.strategies import (
    NAMED_IDS,
    SPECIAL_IDS,
    STOP_ID,
    SmallVocabulary,
    _seq,
    any_grammars,
    texts,
    vocabularies,
)

SLOW = (HealthCheck.too_slow, HealthCheck.filter_too_much)


def compare(case: Case, forced_is_exact: bool = True) -> None:
    """Walk both and compare everything at each place."""
    reference, kernel = case.reference(), case.kernel()
    size = case.vocabulary.vocab_size
    for pick in [*case.picks, 0]:
        expected, row = new_row(size), new_row(size)
        need = reference.fill_next_token_bitmask(expected)
        assert bool(kernel.fill_next_token_bitmask(row)) == need
        assert legal(kernel, size) == reference.legal_token_ids()
        assert row.tolist() == expected.tolist()
        assert kernel.is_completed() == reference.is_completed()
        forced = reference.find_jump_forward_bytes()
        found = kernel.find_jump_forward_bytes()
        if forced_is_exact:
            assert found == forced
            assert kernel.find_jump_forward_string() == reference.find_jump_forward_string()
        else:
            # Beside what bytes allow, the reference knows what tokens can spell.
            assert forced.startswith(found)
        if not step(reference, kernel, pick):
            break
    assert kernel.is_terminated() == reference.is_terminated()


@settings(max_examples=150, suppress_health_check=SLOW)
@given(case=cases())
def test_with_bytes_missing(case):
    compare(case)


@settings(max_examples=100, suppress_health_check=SLOW)
@given(case=cases(single_bytes=False))
def test_with_bytes_that_occur_only_inside_longer_tokens(case):
    compare(case, forced_is_exact=False)


@settings(max_examples=60, suppress_health_check=SLOW)
@given(case=cases(named_ids=NAMED_IDS))
def test_text_tokens_can_be_named_too(case):
    """A named token is read whatever its text; the same token may be readable as text as well."""
    compare(case)


@settings(max_examples=12, suppress_health_check=SLOW)
@given(case=cases(complete=True, max_picks=3))
def test_with_every_byte(case):
    compare(case)


@settings(max_examples=60, suppress_health_check=SLOW)
@given(rule=any_grammars(SPECIAL_IDS), vocabulary=vocabularies(complete=False))
def test_what_nothing_can_satisfy_is_refused_or_has_no_legal_token(rule, vocabulary):
    case = Case(rule, vocabulary, [])
    if case.reference().legal_token_ids():
        return
    try:
        kernel = case.kernel()
    except GrammarError:
        return
    assert legal(kernel, vocabulary.vocab_size) == []


@settings(max_examples=60, suppress_health_check=SLOW)
@given(case=cases(max_picks=3), pieces=st.lists(texts(4), max_size=4))
def test_strings(case, pieces):
    """Any text, wherever it begins and ends, as long as the vocabulary has its bytes."""
    reference, kernel = case.reference(), case.kernel()
    size = case.vocabulary.vocab_size
    known = set(b"".join(case.vocabulary.decoded_vocab[STOP_ID + 1 :]))
    for piece in pieces:
        text = bytes(byte for byte in piece if byte in known)
        assert kernel.accept_string(text) == reference.accept_string(text)
        assert filled_row(kernel, size).tolist() == filled_row(reference, size).tolist()


@settings(max_examples=40, suppress_health_check=SLOW)
@given(case=cases(max_picks=4))
def test_termination_without_a_stop_token(case):
    reference = case.reference(terminate_without_stop_token=True)
    kernel = case.kernel(terminate_without_stop_token=True)
    size = case.vocabulary.vocab_size
    for pick in case.picks:
        assert kernel.is_terminated() == reference.is_terminated() == reference.is_completed()
        assert legal(kernel, size) == reference.legal_token_ids()
        if not step(reference, kernel, pick):
            break


@settings(max_examples=40, suppress_health_check=SLOW)
@given(case=cases(max_picks=4), data=st.data())
def test_other_stop_tokens(case, data):
    size = case.vocabulary.vocab_size
    stops = data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=2, unique=True))
    reference = case.reference(override_stop_tokens=stops)
    if not reference.legal_token_ids():
        return
    kernel = case.kernel(override_stop_tokens=stops)
    assert sorted(kernel.stop_token_ids) == sorted(stops)
    for pick in case.picks:
        assert legal(kernel, size) == reference.legal_token_ids()
        if not step(reference, kernel, pick):
            break


@pytest.mark.parametrize(
    ("rule", "pieces", "stops", "expected"),
    [
        # b is spelled by no other token, so nothing can follow the a.
        (Rule("pairs", Repeat(_seq(b"ab"), 0, None)), [b"ab", b"a", b"b"], [5], [3, 5]),
        # The twin of b can still spell it.
        (Rule("pairs", Repeat(_seq(b"ab"), 0, None)), [b"ab", b"a", b"b", b"b"], [5], [3, 4, 5]),
        # What a grammar names cannot end the output too, nor be an id that is not there.
        (Rule("named", Alt((_seq(b"a", Tokens((0,))), _seq(b"b")))), [b"a", b"b"], [0], [4]),
        (Rule("named", Alt((_seq(b"a", Tokens((99_999_999,))), _seq(b"b")))), [b"a", b"b"], [2], [4]),
    ],
)
def test_stop_tokens_that_take_something_away(rule, pieces, stops, expected):
    vocabulary = SmallVocabulary([b"", b"ab", b"a", *pieces], 3 + len(pieces), [STOP_ID], [*SPECIAL_IDS])
    case = Case(rule, vocabulary, [])
    assert case.reference(override_stop_tokens=stops).legal_token_ids() == expected
    assert legal(case.kernel(override_stop_tokens=stops), vocabulary.vocab_size) == expected


def test_forced_tokens_hold_no_stop_token():
    info = maskwright.TokenizerInfo(["ab", "ab", "a", "b", "</s>"])
    compiled = maskwright.GrammarCompiler(info).compile_regex("abab")
    assert maskwright.GrammarMatcher(compiled).find_jump_forward_tokens() == [0, 0]
    overridden = maskwright.GrammarMatcher(compiled, override_stop_tokens=0)
    assert overridden.find_jump_forward_tokens() == [1, 1]


@settings(max_examples=30, suppress_health_check=SLOW)
@given(case=cases(max_picks=4))
def test_after_a_stop_token_nothing_follows(case):
    reference, kernel = case.reference(), case.kernel()
    for pick in case.picks:
        if reference.is_completed() or not step(reference, kernel, pick):
            break
    if not reference.is_completed() or reference.is_terminated():
        return
    before = filled_row(kernel, case.vocabulary.vocab_size).tolist()
    assert kernel.accept_token(STOP_ID)
    assert kernel.is_terminated()
    assert not any(kernel.accept_token(token_id) for token_id in range(case.vocabulary.vocab_size))
    assert not kernel.accept_string(b"")
    with pytest.raises(MatcherError):
        kernel.fill_next_token_bitmask(new_row(case.vocabulary.vocab_size))
    kernel.rollback(1)
    assert not kernel.is_terminated()
    assert filled_row(kernel, case.vocabulary.vocab_size).tolist() == before


@settings(max_examples=50, suppress_health_check=SLOW)
@given(vocabulary=vocabularies(complete=False))
def test_the_vocabulary_is_read_alike(vocabulary):
    info = tokenizer_info(vocabulary)
    assert list(info.decoded_vocab) == vocabulary.decoded_vocab
    assert info.vocab_size == vocabulary.vocab_size
    assert list(info.stop_token_ids) == vocabulary.stop_token_ids
    assert sorted(info.special_token_ids) == sorted(vocabulary.special_token_ids)


@settings(max_examples=40, suppress_health_check=SLOW)
@given(data=st.data(), rule=any_grammars(SPECIAL_IDS))
def test_one_compiled_rule_object_serves_several_vocabularies(data, rule):
    """Nothing of one vocabulary (its alphabet, above all) may stay behind in a rule or a lexeme."""
    for _ in range(2):
        case = Case(rule, data.draw(vocabularies(complete=False, single_bytes=True)), [])
        reference = case.reference()
        if reference.legal_token_ids():
            kernel = kernel_matcher(rule, case.vocabulary)
            assert legal(kernel, case.vocabulary.vocab_size) == reference.legal_token_ids()


def test_other_stop_tokens_share_the_automaton_unless_they_spell_something():
    pieces = [bytes([byte]) for byte in range(256)]
    info = maskwright.TokenizerInfo([*pieces, "b", "ab", "<end>", "</s>"], special_token_ids=[258])
    compiled = maskwright.GrammarCompiler(info).compile_regex("(ab)*")

    def core_with(*stops: int) -> object:
        return maskwright.GrammarMatcher(compiled, override_stop_tokens=stops).core

    usual = maskwright.GrammarMatcher(compiled).core
    assert core_with(258) is usual  # a control token
    assert core_with(257, 258) is usual  # its text can be spelled otherwise
    assert core_with(ord("b")) is usual  # so can this byte
    alone = core_with(ord("b"), 256)
    assert alone is not usual
    assert core_with(256, ord("b")) is alone
    for byte in range(8):
        core_with(byte)
    assert core_with(256, ord("b")) is not alone  # only the last few sets are kept
    assert len(compiled._other_cores) == compiler.OTHER_CORES


def test_a_count_that_bytes_of_the_vocabulary_can_never_reach() -> None:
    """Two b's are wanted and there is none: the way there is cut before the first token, not after it."""
    body = Alt((Seq((Lex(literal(b"a")), Repeat(Lex(literal(b"b")), 2, None))), Lex(EPSILON)))
    vocabulary = SmallVocabulary([b"", b"ab", b"a", b"a", b"a"], 6, [2], [0, 1, 5])
    compare(Case(Rule("counted", body), vocabulary, []))
