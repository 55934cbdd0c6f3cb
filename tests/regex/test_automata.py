"""Partition of characters, minimisation and trimming."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.lexeme import EMPTY, Op
from maskwright.regex import UTF8, charset
from maskwright.regex.automata import Automaton, partition
from tests.lexeme_oracle import accepts

_KINDS = partition([((0x61, 0x61),), ((0x61, 0x62),)])


@st.composite
def automata(draw: st.DrawFn) -> Automaton:
    n_states = draw(st.integers(1, 6))
    state = st.integers(0, n_states - 1)
    row = st.lists(state, min_size=len(_KINDS), max_size=len(_KINDS))
    rows = draw(st.lists(row, min_size=n_states, max_size=n_states))
    return Automaton(_KINDS, rows, draw(st.lists(st.booleans(), min_size=n_states, max_size=n_states)))


def run(automaton: Automaton, text: str, state: int = 0) -> bool:
    for char in text:
        (kind,) = [n for n, kind in enumerate(automaton.kinds) if charset.contains(kind, ord(char))]
        state = automaton.rows[state][kind]
    return automaton.accepting[state]


@settings(max_examples=150)
@given(automata(), st.lists(st.text("abé", max_size=7), min_size=6, max_size=6))
def test_the_lexeme_accepts_what_the_automaton_does(automaton: Automaton, texts: list[str]) -> None:
    lexeme = automaton.lexeme(UTF8)
    for text in texts:
        assert accepts(lexeme, text.encode()) == run(automaton, text)


@settings(max_examples=40)
@given(automata())
def test_minimal_has_no_equal_states(automaton: Automaton) -> None:
    small = automaton._minimal()
    texts = ["".join(chars) for size in range(6) for chars in product("abé", repeat=size)]
    signatures = set()
    for state in range(len(small.rows)):
        signatures.add(tuple(run(small, text, state) for text in texts))
    assert len(signatures) == len(small.rows)


def test_nothing_and_everything() -> None:
    assert Automaton(_KINDS, [[0, 0, 0]], [False]).lexeme(UTF8) is EMPTY
    assert Automaton(_KINDS, [[0, 0, 0]], [True]).lexeme(UTF8) is UTF8.any_text
    assert Automaton(_KINDS, [[1, 1, 1], [1, 1, 1]], [True, False]).lexeme(UTF8).op is Op.AUTOMATON


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)).map(sorted).map(tuple), max_size=3),
        max_size=4,
    )
)
def test_partition_tells_the_sets_apart(raw: list[list[tuple[int, int]]]) -> None:
    sets = [charset.make(one) for one in raw]
    kinds = partition(sets)
    assert charset.unite(*kinds) == charset.ALL
    assert sum(map(charset.size, kinds)) == charset.size(charset.ALL)
    for kind in kinds:
        for one in sets:
            assert charset.intersect(kind, one) in ((), kind)
