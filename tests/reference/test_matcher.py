"""The matcher over tokens on the reference engine."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from maskwright import lexeme as lx
from maskwright.errors import BitmaskError, MatcherError, VocabularyError
from maskwright.reference import ReferenceMatcher
from maskwright.rules import NOTHING, Alt, Call, Lex, Repeat, Rule, Seq, Tokens
from tests.strategies import NAMED_IDS, SmallVocabulary, any_grammars, choices, vocabularies, walk

SPECIAL, STOP = 0, 1


def vocabulary(*tokens: bytes, padding: int = 0) -> SmallVocabulary:
    """Id 0 is special, 1 stops, the text tokens begin at 2."""
    decoded = [b"<special>", b"<stop>", *tokens]
    size = len(decoded) + padding
    return SmallVocabulary(decoded, size, [STOP], [SPECIAL, *range(len(decoded), size)])


def text(value: bytes) -> Lex:
    return Lex(lx.literal(value))


def matcher(expr, *tokens: bytes, **options) -> ReferenceMatcher:
    return ReferenceMatcher(Rule("rule", expr), vocabulary(*tokens), **options)


def test_stop_tokens_are_legal_iff_complete():
    one = matcher(Repeat(text(b"ab"), 1, 2), b"a", b"b")
    assert one.legal_token_ids() == [2]
    assert not one.accept_token(STOP)
    assert one.accept_token(2)
    assert one.accept_token(3)
    assert one.is_completed()
    assert not one.is_terminated()
    assert one.legal_token_ids() == [STOP, 2]
    assert one.accept_token(STOP)
    assert one.is_terminated()
    assert one.is_completed()
    assert not one.accept_token(2)
    assert not one.accept_string(b"a")
    with pytest.raises(MatcherError):
        one.fill_next_token_bitmask(np.zeros(1, np.int32))
    with pytest.raises(MatcherError):
        one.find_jump_forward_bytes()
    one.rollback()
    assert not one.is_terminated()
    assert one.legal_token_ids() == [STOP, 2]


def test_special_and_stop_tokens_never_match_text():
    one = matcher(Lex(lx.star(lx.any_byte)), b"x")
    assert one.legal_token_ids() == [STOP, 2]
    named = matcher(Alt((Tokens((SPECIAL,)), text(b"x"))), b"x")
    assert named.legal_token_ids() == [SPECIAL, 2]
    # A stop token stops; it cannot be named as anything else.
    assert matcher(Seq((Tokens((STOP,)), text(b"x"))), b"x").legal_token_ids() == []


def test_override_stop_tokens():
    one = matcher(Alt((text(b"x"), text(b"<stop>"))), b"x", b"</s>", override_stop_tokens=3)
    assert one.stop_token_ids == [3]
    assert one.accept_token(2)
    assert one.legal_token_ids() == [3]
    assert matcher(text(b"x"), b"x", override_stop_tokens=[0, 1]).stop_token_ids == [0, 1]
    for bad in ([], -1, [99]):
        with pytest.raises(VocabularyError):
            matcher(text(b"x"), b"x", override_stop_tokens=bad)


def test_terminate_without_stop_token():
    one = matcher(Repeat(text(b"x"), 1, 3), b"x", terminate_without_stop_token=True)
    assert not one.is_terminated()
    one.accept_token(2)
    assert one.is_terminated()
    assert one.legal_token_ids() == [STOP, 2]
    assert one.accept_token(2)


def test_ids_out_of_range_are_not_legal():
    one = ReferenceMatcher(Rule("rule", text(b"x")), vocabulary(b"x", padding=40))
    for bad in (-1, 43, 10**9, 5):
        assert not one.accept_token(bad)
    row = np.full(3, -1, np.int32)
    assert one.fill_next_token_bitmask(row)
    assert row.tolist() == [0b100, 0, 0]


def test_bitmask_layout_and_errors():
    many = ReferenceMatcher(
        Rule("rule", Lex(lx.any_byte)), SmallVocabulary([bytes([b]) for b in range(70)], 70, [], [])
    )
    mask = np.zeros((2, 3), np.int32)
    assert not many.fill_next_token_bitmask(mask, 1)
    assert mask.tolist() == [[0, 0, 0], [-1, -1, 0b111111]]
    for bad, index in (
        (np.zeros((2, 2), np.int32), 0),
        (np.zeros((2, 3), np.int64), 0),
        (np.zeros((1, 2, 3), np.int32), 0),
        (np.zeros((2, 3), np.int32), 2),
        (np.zeros((2, 3), np.int32), -1),
        (np.zeros(3, np.int32), 1),
    ):
        with pytest.raises(BitmaskError):
            many.fill_next_token_bitmask(bad, index)


def test_accept_string_is_one_step_or_none():
    one = matcher(text("é!".encode()), "é".encode(), b"!", b"\xc3", b"\xa9")
    assert not one.accept_string("éx")
    assert one.legal_token_ids() == [2, 4]
    assert one.accept_string(b"\xc3")
    assert one.legal_token_ids() == [5]
    assert one.accept_string(b"\xa9!")
    assert one.is_completed()
    one.rollback(1)
    assert one.legal_token_ids() == [5]
    one.reset()
    assert one.legal_token_ids() == [2, 4]
    assert one.accept_string("é!")


def test_rollback_limits():
    one = matcher(Lex(lx.star(lx.any_byte)), b"x")
    one.accept_token(2)
    for bad in (2, -1):
        with pytest.raises(MatcherError):
            one.rollback(bad)
    one.rollback(0)
    one.rollback()
    with pytest.raises(MatcherError):
        one.rollback()


def test_no_token_leads_to_a_dead_end():
    """With aa alone, aaa is out of reach: no token is legal where only it could follow."""
    one = matcher(Alt((text(b"aab"), text(b"aaaac"), text(b"aaaa"))), b"aa", b"b")
    assert one.legal_token_ids() == [2]
    one.accept_token(2)
    assert one.legal_token_ids() == [2, 3]
    two = matcher(Alt((text(b"aac"), text(b"b"))), b"aa", b"b")
    assert two.legal_token_ids() == [3]
    assert not two.accept_string(b"aa")


def test_an_empty_vocabulary():
    empty = SmallVocabulary([], 0, [], [])
    one = ReferenceMatcher(Rule("rule", NOTHING), empty)
    assert one.is_completed()
    assert one.legal_token_ids() == []
    assert one.find_jump_forward_bytes() == b""


def test_jump_forward():
    one = matcher(Seq((text(b'{"k'), Alt((text(b'ey":'), text(b"ind"))))), *(bytes([b]) for b in range(256)))
    assert one.find_jump_forward_bytes() == b'{"k'
    assert one.accept_string('{"ke')
    assert one.find_jump_forward_string() == 'y":'
    assert one.accept_string('y":')
    assert one.find_jump_forward_bytes() == b""


def test_jump_forward_stops_at_what_is_complete_and_at_named_tokens():
    every = [bytes([byte]) for byte in range(256)]
    assert matcher(Seq((text(b"ab"), Repeat(text(b"c"), 0, 1))), *every).find_jump_forward_bytes() == b"ab"
    named = Seq((text(b"ab"), Alt((Tokens((SPECIAL,)), text(b"c")))))
    assert matcher(named, *every).find_jump_forward_bytes() == b"ab"


def test_jump_forward_strings_end_with_whole_characters():
    every = [bytes([byte]) for byte in range(256)]
    one = matcher(Alt((text("xé".encode()), text("xè".encode()))), *every)
    assert one.find_jump_forward_bytes() == b"x\xc3"
    assert one.find_jump_forward_string() == "x"


def test_jump_forward_knows_what_can_be_spelled():
    one = matcher(Alt((text(b"abc"), text(b"abd"), text(b"b"))), b"abc", b"a", b"d")
    # b alone and abd cannot be spelled.
    assert one.find_jump_forward_bytes() == b"abc"


def test_validate_tokens_counts_and_changes_nothing():
    one = matcher(text(b"ab"), b"a", b"b")
    assert one.validate_tokens([2, 3, STOP]) == 3
    assert one.validate_tokens([2, 2]) == 1
    assert one.validate_tokens([]) == 0
    assert one.legal_token_ids() == [2]


def test_draft_tree():
    one = matcher(Seq((text(b"a"), Alt((text(b"b"), text(b"cd"))))), b"a", b"b", b"c", b"d")
    one.accept_token(2)
    #  0 (a, accepted already): children 1 (b) and 3 (c); 1 has the stop token 2; 3 has d 4 and, wrong, a 5
    first_child = np.array([1, 2, -1, 4, -1, -1])
    next_sibling = np.array([-1, 3, -1, -1, 5, -1])
    tokens = np.array([2, 3, STOP, 4, 5, 2])
    mask = np.full((7, 1), -1, np.int32)
    assert one.traverse_draft_tree(first_child, next_sibling, tokens, mask)
    stop_only = 1 << STOP
    assert mask[:, 0].tolist() == [0b11000, stop_only, 0, 1 << 5, stop_only, 0, -1]
    assert one.legal_token_ids() == [3, 4]
    with pytest.raises(BitmaskError):
        one.traverse_draft_tree(first_child, next_sibling, tokens, mask[:5])


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(rule=any_grammars(NAMED_IDS), vocab=vocabularies(complete=False), picks=choices())
def test_walks_never_reach_a_dead_end(rule, vocab, picks):
    one = ReferenceMatcher(rule, vocab)
    starts_alive = bool(one.legal_token_ids())
    walk(one, picks)
    assert one.is_terminated() or bool(one.legal_token_ids()) == starts_alive


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(rule=any_grammars(NAMED_IDS), vocab=vocabularies(complete=False), picks=choices())
def test_rollback_then_replay_is_identity(rule, vocab, picks):
    one = ReferenceMatcher(rule, vocab)
    taken = walk(one, picks)
    after = None if one.is_terminated() else one.legal_token_ids()
    twin = one.fork()
    for back in range(1, len(taken) + 1):
        one.rollback(back)
        assert one.validate_tokens(taken[-back:]) == back
        for token_id in taken[-back:]:
            assert one.accept_token(token_id)
        assert one.is_terminated() == twin.is_terminated()
    assert (None if twin.is_terminated() else twin.legal_token_ids()) == after


def test_a_rule_is_followed_through_calls():
    nested = Rule("nested")
    nested.define(Seq((text(b"("), Repeat(Call(nested), 0, None), text(b")"))))
    one = ReferenceMatcher(nested, vocabulary(b"(", b")", b"()", b"))", b")("))
    assert one.legal_token_ids() == [2, 4]
    one.accept_token(2)
    assert one.legal_token_ids() == [2, 3, 4]
    one.accept_token(2)
    assert one.legal_token_ids() == [2, 3, 4, 5, 6]
