"""Laws that a matcher keeps whatever the grammar: mask = accept, rollback, forks, transactions."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.kernel.pairs import cases, filled_row, legal, step
from tests.strategies import texts

SLOW = (HealthCheck.too_slow, HealthCheck.filter_too_much)


def place(matcher, size):
    """All that can be seen of a matcher."""
    if matcher.is_terminated():
        return "terminated"
    forced = matcher.find_jump_forward_bytes()
    return filled_row(matcher, size).tolist(), matcher.is_completed(), forced


@settings(max_examples=60, suppress_health_check=SLOW)
@given(case=cases(max_picks=4))
def test_a_bit_is_set_iff_the_token_is_accepted(case):
    reference, kernel = case.reference(), case.kernel()
    size = case.vocabulary.vocab_size
    for pick in [*case.picks, 0]:
        allowed = legal(kernel, size)
        accepted = []
        for token_id in range(-2, size + 3):
            if kernel.accept_token(token_id):
                accepted.append(token_id)
                kernel.rollback(1)
            assert legal(kernel, size) == allowed
        assert accepted == allowed
        if not step(reference, kernel, pick):
            break


@settings(max_examples=60, suppress_health_check=SLOW)
@given(case=cases(), data=st.data())
def test_rollback_then_replay_is_identity(case, data):
    reference, kernel = case.reference(), case.kernel()
    size = case.vocabulary.vocab_size
    places, taken = [place(kernel, size)], []
    for pick in case.picks:
        allowed = reference.legal_token_ids()
        token_id = allowed[pick % len(allowed)]
        assert kernel.accept_token(token_id)
        assert reference.accept_token(token_id)
        taken.append(token_id)
        places.append(place(kernel, size))
        if kernel.is_terminated():
            break
    for _ in range(3):
        back = data.draw(st.integers(0, len(taken)))
        kernel.rollback(back)
        here = len(taken) - back
        assert place(kernel, size) == places[here]
        for number, token_id in enumerate(taken[here:], start=here + 1):
            assert kernel.accept_token(token_id)
            assert place(kernel, size) == places[number]
    kernel.reset()
    assert place(kernel, size) == places[0]


@settings(max_examples=60, suppress_health_check=SLOW)
@given(case=cases(), other=st.lists(st.integers(0, 999), max_size=4))
def test_forks_are_independent(case, other):
    reference, kernel = case.reference(), case.kernel()
    size = case.vocabulary.vocab_size
    for pick in case.picks:
        if not step(reference, kernel, pick):
            break
    before = place(kernel, size)
    twin = kernel.fork()
    assert place(twin, size) == before
    twin_reference = reference.fork()
    if not reference.is_terminated():
        for pick in other:
            if not step(twin_reference, twin, pick):
                break
        assert place(kernel, size) == before
    after = place(twin, size)
    kernel.reset()
    assert place(twin, size) == after
    # A fork has its history too.
    twin.reset()
    assert place(twin, size) == place(kernel, size)


@settings(max_examples=60, suppress_health_check=SLOW)
@given(case=cases(max_picks=3), data=st.data())
def test_validation_changes_nothing(case, data):
    reference, kernel = case.reference(), case.kernel()
    size = case.vocabulary.vocab_size
    for pick in case.picks:
        if not step(reference, kernel, pick):
            break
    before = place(kernel, size)
    for _ in range(3):
        tokens = data.draw(st.lists(st.integers(-1, size), max_size=5))
        assert kernel.validate_tokens(tokens) == reference.validate_tokens(tokens)
        assert place(kernel, size) == before


@settings(max_examples=60, suppress_health_check=SLOW)
@given(case=cases(max_picks=3), text=texts(4), junk=st.binary(min_size=1, max_size=2))
def test_strings_are_taken_whole_or_not_at_all(case, text, junk):
    reference, kernel = case.reference(), case.kernel()
    size = case.vocabulary.vocab_size
    for pick in case.picks:
        if reference.is_completed() or not step(reference, kernel, pick):
            break
    before = place(kernel, size)
    for piece in (text, text + junk, junk):
        if kernel.accept_string(piece):
            kernel.rollback(1)
        assert place(kernel, size) == before
