"""The Earley recogniser against languages that are enumerated by set algebra."""

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from maskwright import lexeme as lx
from maskwright.errors import GrammarError
from maskwright.reference import ReferenceRecogniser, accepts
from maskwright.rules import NOTHING, Act, Action, Alt, Call, Lex, Never, Repeat, Rule, Seq, Tokens
from tests.reference.brute_force import all_texts, rule_texts
from tests.strategies import any_grammars, grammars, shaped_grammars

LETTERS = b"ab"
UNIVERSE = all_texts(LETTERS, 5)


def text(value: bytes) -> Lex:
    return Lex(lx.literal(value))


def explore(recogniser: ReferenceRecogniser, length: int) -> tuple[set[bytes], set[bytes]]:
    """The complete and the alive ones among all texts over LETTERS up to a length."""
    complete, alive = set(), set()

    def visit(prefix: bytes) -> None:
        if recogniser.is_complete():
            complete.add(prefix)
        if recogniser.is_alive():
            alive.add(prefix)
        if len(prefix) < length:
            for letter in LETTERS:
                recogniser.advance(letter)
                visit(prefix + bytes([letter]))
                recogniser.truncate(len(prefix))

    visit(b"")
    return complete, alive


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(rule=grammars())
def test_random_grammars_accept_what_their_derivations_give(rule):
    complete, alive = explore(ReferenceRecogniser(rule), 5)
    expected = rule_texts(rule, UNIVERSE)
    assert complete == expected
    # Whatever begins a text of the language is alive.
    assert {member[:end] for member in expected for end in range(len(member) + 1)} <= alive


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(rule=shaped_grammars())
def test_recursive_shapes_accept_what_their_derivations_give(rule):
    complete, alive = explore(ReferenceRecogniser(rule), 5)
    expected = rule_texts(rule, UNIVERSE)
    assert complete == expected
    assert {member[:end] for member in expected for end in range(len(member) + 1)} <= alive


def shortest_end(recogniser: ReferenceRecogniser, n_tries: int) -> bytes | None:
    """A continuation that completes the text, by search in order of length; None if not found soon."""
    queue = [(b"", recogniser)]
    for suffix, here in queue:
        if here.is_complete():
            return suffix
        if len(queue) < n_tries:
            for byte in here.possible_bytes()[:3]:
                twin = here.copy()
                twin.advance(byte)
                queue.append((suffix + bytes([byte]), twin))
    return None


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(rule=any_grammars(), prefix=st.lists(st.sampled_from(LETTERS), max_size=3))
def test_alive_texts_can_be_finished_and_dead_ones_stay_dead(rule, prefix):
    recogniser = ReferenceRecogniser(rule)
    for byte in prefix:
        recogniser.advance(byte)
    # Alive iff complete, or alive after some byte.
    assert recogniser.is_alive() == (recogniser.is_complete() or bool(recogniser.possible_bytes()))
    if recogniser.is_alive():
        # Following the first bytes only may lead astray in a recursion, so not to find an end proves
        # nothing. Nearly always one is found:
        # `pytest --hypothesis-show-statistics` says how often.
        end = shortest_end(recogniser, 12)
        event("finished" if end is not None else "not finished in 12 tries")
        for byte in end or b"":
            assert recogniser.advance(byte)
        assert end is None or recogniser.is_complete()


def test_left_recursion_takes_long_texts():
    digits = Rule("digits")
    digits.define(Alt((text(b"1"), Seq((Call(digits), text(b"0"))))))
    assert accepts(digits, b"1" + b"0" * 300)
    assert not accepts(digits, b"0")


def test_counts_are_not_unrolled():
    items = Rule("items", Repeat(text(b"a"), 2, 20_000))
    assert accepts(items, b"a" * 500)
    assert not accepts(items, b"a")
    bounded = Rule("bounded", Repeat(text(b"a"), 0, 3))
    assert accepts(bounded, b"aaa")
    assert not accepts(bounded, b"aaaa")


def test_a_nullable_body_may_be_repeated_without_end():
    rule = Rule("rule", Repeat(Repeat(text(b"a"), 0, None), 3, None))
    assert accepts(rule, b"")
    assert accepts(rule, b"aaaaa")


def test_each_instance_of_a_rule_has_its_own_register():
    once = Act(Action.MARK, 7)
    inner = Rule("inner", Seq((once, text(b"x"))))
    outer = Rule("outer", Seq((once, Call(inner), Call(inner))))
    assert accepts(outer, b"xx")
    assert not accepts(Rule("twice", Seq((once, text(b"x"), once))), b"x")
    # After a call a rule goes on with its own register, and does not see the other one.
    own = Rule("own", Seq((once, Call(inner), Act(Action.HAS, 7))))
    assert accepts(own, b"x")
    other = Rule("other", Seq((Call(inner), Act(Action.LACKS, 7))))
    assert accepts(other, b"x")
    assert ReferenceRecogniser(other).is_alive()


def test_actions():
    def after(*acts: Act) -> bool:
        return accepts(Rule("acts", Seq(acts)), b"")

    count = Act(Action.COUNT, 0, 2, 2)
    assert after(count, count)
    assert not after(count, count, count)
    assert after(*[Act(Action.COUNT, 0, -1, 1)] * 5, Act(Action.AT_LEAST, 0, 1))
    assert not after(*[Act(Action.COUNT, 0, -1, 1)] * 5, Act(Action.AT_LEAST, 0, 2))
    assert not after(Act(Action.AT_LEAST, 1, 1))
    assert after(Act(Action.ADD, 3), Act(Action.ADD, 3), Act(Action.HAS, 3))
    assert not after(Act(Action.HAS, 3))
    assert after(Act(Action.LACKS, 3), Act(Action.MARK, 3), Act(Action.HAS, 3))
    assert not after(Act(Action.ADD, 3), Act(Action.LACKS, 3))
    assert not after(Act(Action.ADD, 3), Act(Action.MARK, 3))


def test_registers_decide_liveness():
    """Three items are needed, but a fourth byte can come only after two: nothing ever fits."""
    item = Seq((Act(Action.COUNT, 0, 2, 3), text(b"a")))
    dead = Rule("dead", Seq((item, Alt((item, NOTHING)), Act(Action.AT_LEAST, 0, 3))))
    assert not ReferenceRecogniser(dead).is_alive()
    live = Rule("live", Seq((item, Alt((item, NOTHING)), Act(Action.AT_LEAST, 0, 2))))
    recogniser = ReferenceRecogniser(live)
    assert recogniser.advance(ord("a"))
    assert not recogniser.is_complete()


def test_what_never_ends_is_dead():
    endless = Rule("endless")
    endless.define(Seq((text(b"a"), Call(endless))))
    assert not ReferenceRecogniser(endless).is_alive()
    left = Rule("left")
    left.define(Seq((Call(left), text(b"a"))))
    assert not ReferenceRecogniser(left).is_alive()
    either = Rule("either", Alt((Seq((text(b"b"), Call(endless))), text(b"ab"))))
    recogniser = ReferenceRecogniser(either)
    assert recogniser.is_alive()
    assert recogniser.possible_bytes() == [ord("a")]
    assert not ReferenceRecogniser(Rule("never", Never)).is_alive()


def test_lexemes_that_lead_nowhere_are_dead():
    conflict = lx.intersection(
        lx.concat(lx.any_byte, lx.literal(b"a")), lx.concat(lx.any_byte, lx.literal(b"b"))
    )
    recogniser = ReferenceRecogniser(Rule("rule", Alt((Lex(conflict), text(b"xy")))))
    assert recogniser.possible_bytes() == [ord("x")]


def test_tokens_have_no_text():
    rule = Rule("rule", Seq((text(b"a"), Tokens((5,)), text(b"b"))))
    recogniser = ReferenceRecogniser(rule)
    recogniser.advance(ord("a"))
    assert recogniser.awaits_token()
    assert recogniser.possible_bytes() == []
    twin = recogniser.copy()
    assert not twin.advance_token(6, b"")
    assert recogniser.advance_token(5, b"")
    recogniser.advance(ord("b"))
    assert recogniser.is_complete()
    assert not twin.is_complete()


def test_a_token_can_be_read_by_name_and_by_text_at_once():
    rule = Rule("rule", Alt((Seq((Tokens((5,)), text(b"x"))), Seq((text(b"ab"), text(b"y"))))))
    for last in b"xy":
        recogniser = ReferenceRecogniser(rule)
        assert recogniser.advance_token(5, b"ab")
        recogniser.advance(last)
        assert recogniser.is_complete()


def test_lazy_rules_are_made_once():
    made = []

    def body():
        made.append(1)
        return text(b"a")

    lazy = Rule("lazy", body)
    rule = Rule("rule", Seq((Call(lazy), Call(lazy))))
    assert accepts(rule, b"aa")
    assert made == [1]


def test_a_failing_lazy_rule_fails_again():
    """No half-made answer is left behind by the first failure."""
    attempts = []

    def body():
        attempts.append(1)
        raise GrammarError("cannot be made")

    rule = Rule("rule", Seq((text(b"a"), Call(Rule("broken", body)))))
    recogniser = ReferenceRecogniser(rule)
    for _ in range(2):
        with pytest.raises(GrammarError, match="cannot be made"):
            recogniser.is_alive()
    assert len(attempts) == 2


def test_acts_in_repetitions_are_refused():
    rule = Rule("rule", Repeat(Seq((Act(Action.MARK, 1), text(b"a"))), 0, 2))
    with pytest.raises(GrammarError, match="must not have an Act"):
        accepts(rule, b"a")
