"""Whole ranges written down as blocks hold exactly what the general construction holds."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.kernel.lexemes import accepts, is_empty
from maskwright.lexeme import EMPTY, difference
from maskwright.schema.numbers import number_language
from maskwright.schema.numbers.whole import whole_range

BOUNDS = st.none() | st.integers(-1200, 1200).map(Fraction) | st.fractions(-50, 50, max_denominator=4)


@settings(max_examples=150)
@given(minimum=BOUNDS, above=BOUNDS, maximum=BOUNDS, below=BOUNDS)
def test_blocks_are_the_numbers_in_range(minimum, above, maximum, below):
    found = whole_range(minimum, above, maximum, below)
    for number in range(-1250, 1251, 7):
        inside = (
            (minimum is None or number >= minimum)
            and (above is None or number > above)
            and (maximum is None or number <= maximum)
            and (below is None or number < below)
        )
        assert accepts(found, str(number).encode()) == inside, number
    for text in (b"", b"-", b"00", b"01", b"-01", b"1.0", b"+1"):
        assert not accepts(found, text)


@settings(max_examples=40)
@given(low=st.none() | st.integers(-3000, 3000), high=st.none() | st.integers(-3000, 3000))
def test_the_general_construction_says_the_same(low, high):
    """Excluding a number that is out of range changes nothing but the way the lexeme is made."""
    bounds = {"minimum": low, "maximum": high}
    if low is None and high is None:
        return
    outside = (low - 1) if low is not None else (high + 1)
    options = {"integer": True, "integer_spelling": "plain", "exponents": False}
    blocks = number_language(**bounds, **options).lexeme
    general = number_language(**bounds, **options, excluded=[outside]).lexeme
    if general is EMPTY or blocks is EMPTY:
        assert blocks is general
        return
    assert is_empty(difference(blocks, general))
    assert is_empty(difference(general, blocks))
