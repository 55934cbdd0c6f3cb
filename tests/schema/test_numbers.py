"""Numbers: the lexeme of every set of constraints against exact fractions."""

from __future__ import annotations

import json
import lzma
import os
import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maskwright.errors import LimitExceeded
from maskwright.kernel import lexemes as kernel
from maskwright.lexeme import EMPTY, Lexeme, Op, difference
from maskwright.schema import numbers
from maskwright.schema.emptiness import holds_text
from maskwright.schema.numbers import Exact, number_language, number_lexeme
from tests.lexeme_oracle import accepts, is_empty

JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
FEW = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])


def satisfies(text: str, kw: dict[str, Any]) -> bool:
    """The same question asked of exact fractions."""
    if not JSON_NUMBER.fullmatch(text):
        return False
    value = Fraction(Decimal(text))
    whole = value.denominator == 1
    return (
        (not kw.get("integer") or whole)
        and (not kw.get("not_integer") or not whole)
        and ("minimum" not in kw or value >= kw["minimum"])
        and ("maximum" not in kw or value <= kw["maximum"])
        and ("exclusive_minimum" not in kw or value > kw["exclusive_minimum"])
        and ("exclusive_maximum" not in kw or value < kw["exclusive_maximum"])
        and all((value / Fraction(m)).denominator == 1 for m in kw.get("multiple_of", ()))
        and all((value / Fraction(m)).denominator != 1 for m in kw.get("not_multiple_of", ()))
        and all(value != Fraction(v) for v in kw.get("excluded", ()))
    )


def must_be_held(text: str, language_left_out: str | None) -> bool:
    """Whether a spelling is outside everything that `left_out` may name."""
    mantissa, mark, _ = text.lower().lstrip("-").partition("e")
    if not mark or language_left_out is None:
        return True
    whole, point, decimals = mantissa.partition(".")
    if "unless" not in language_left_out:
        return False
    n_whole = 3 if "3 digits" in language_left_out else 1
    if not point:
        return len(whole) <= n_whole
    if len(whole) > 1:
        return False
    limit = re.search(r"up to (\d+) decimals", language_left_out)
    if not limit:
        zeros = int(re.search(r"more than (\d+) zeros", language_left_out)[1])  # type: ignore[index]
        return whole != "0" or len(decimals) - len(decimals.lstrip("0")) <= zeros
    return not decimals.strip("0") or (len(decimals) <= int(limit[1]) and decimals[-1] != "0")


def check(text: str, kw: dict[str, Any]) -> None:
    language = number_language(**kw)
    held = accepts(language.lexeme, text.encode())
    good = satisfies(text, kw)
    if kw.get("integer_spelling") == "plain" and kw.get("integer"):
        good = good and "." not in text and "e" not in text.lower()
    elif not kw.get("exponents", True):
        good = good and "e" not in text.lower()
    elif good and not held:
        good = must_be_held(text, language.left_out)
    assert held == good, (text, kw, language.left_out)


digits = st.text("0123456789", min_size=1, max_size=6)
plain_texts = st.builds(
    lambda sign, whole, decimals, zeros: (
        sign + (whole.lstrip("0") or "0") + (f".{decimals}{'0' * zeros}" if decimals else "")
    ),
    st.sampled_from(["", "-"]),
    st.text("0123456789", min_size=1, max_size=5),
    st.one_of(st.just(""), st.text("0123456789", min_size=1, max_size=4)),
    st.sampled_from([0, 0, 0, 1, 3, 20]),
)
science_texts = st.builds(
    lambda mantissa, mark, sign, zeros, exponent: f"{mantissa}{mark}{sign}{zeros}{exponent}",
    st.one_of(
        plain_texts,
        st.builds(lambda d, f: f"{d}.{f}", st.integers(0, 9), digits),
        st.integers(-120, 1200).map(str),
    ),
    st.sampled_from("eE"),
    st.sampled_from(["", "+", "-"]),
    st.sampled_from(["", "0", "00"]),
    st.integers(0, 25),
)
texts = st.one_of(plain_texts, science_texts)

bounds = st.one_of(
    st.integers(-200, 2000),
    st.builds(lambda n, p: Decimal(n).scaleb(-p), st.integers(-30000, 30000), st.integers(0, 5)),
    st.builds(lambda n, p: Decimal(n).scaleb(p), st.integers(-12, 12), st.integers(0, 22)),
)
multiples = st.sampled_from(
    [
        1,
        2,
        3,
        5,
        7,
        10,
        12,
        16,
        100,
        250,
        *map(Decimal, ["0.01", "0.5", "0.25", "0.1", "0.3", "1.5", "0.125", "1e-8", "1e20", "2.5e-3", "1e1"]),
    ]
)


@st.composite
def constraints(draw: st.DrawFn) -> dict[str, Any]:
    """Any mix of constraints."""
    kw: dict[str, Any] = {}
    for name in ("minimum", "maximum", "exclusive_minimum", "exclusive_maximum"):
        if draw(st.integers(0, 3)) == 0:
            kw[name] = draw(bounds)
    kind = draw(st.integers(0, 5))
    if kind == 0:
        kw["integer"] = True
        kw["integer_spelling"] = draw(st.sampled_from(["plain", "json"]))
    elif kind == 1:
        kw["not_integer"] = True
    if draw(st.booleans()):
        kw["multiple_of"] = draw(st.lists(multiples, min_size=1, max_size=2))
    if draw(st.integers(0, 4)) == 0:
        kw["not_multiple_of"] = [draw(multiples)]
    if draw(st.integers(0, 3)) == 0:
        kw["excluded"] = draw(st.lists(bounds, min_size=1, max_size=4))
    if draw(st.integers(0, 5)) == 0:
        kw["exponents"] = False
    return kw


def near(value: Exact) -> list[str]:
    """Spellings of a value and of its neighbours."""
    exact = Decimal(Fraction(value).numerator) / Decimal(Fraction(value).denominator)
    found = []
    for shift in ("0", "1", "-1", "0.1", "-0.1", "1e-7", "-1e-7"):
        moved = exact + Decimal(shift)
        found += [f"{moved:f}", f"{moved:E}".replace("E", "e"), f"{moved:f}".split(".")[0]]
    return found


@given(constraints(), st.lists(texts, min_size=10, max_size=25))
@FEW
def test_agrees_with_fractions(kw: dict[str, Any], samples: list[str]) -> None:
    """Random constraints, random spellings, and spellings next to every number in the constraints."""
    try:
        number_language(**kw)
    except LimitExceeded:
        return
    for name in ("minimum", "maximum", "exclusive_minimum", "exclusive_maximum"):
        if name in kw:
            samples = samples + near(kw[name])
    for value in [*kw.get("excluded", ()), *kw.get("multiple_of", ())]:
        samples = samples + near(value)
    for text in samples:
        if JSON_NUMBER.fullmatch(text):
            check(text, kw)


@given(st.text("0123456789.eE+-", max_size=8), constraints())
@FEW
def test_only_json_numbers(text: str, kw: dict[str, Any]) -> None:
    """Whatever the constraints, what is accepted is a JSON number that satisfies them."""
    try:
        lexeme = number_lexeme(**kw)
    except LimitExceeded:
        return
    if accepts(lexeme, text.encode()):
        assert satisfies(text, kw)


@given(st.floats(allow_nan=False, allow_infinity=False), bounds, bounds)
@FEW
def test_every_float_as_python_writes_it(value: float, low: Exact, high: Exact) -> None:
    """`json.dumps` spellings of floats are never left out for want of a notation."""
    kw = {"minimum": low, "maximum": high, "excluded": [5]}
    text = json.dumps(value)
    assert accepts(number_lexeme(**kw), text.encode()) == satisfies(text, kw)
    whole = {"integer": True}
    assert accepts(number_lexeme(integer=True), text.encode()) == satisfies(text, whole)
    cents = {"multiple_of": [Decimal("0.01")]}
    assert accepts(number_lexeme(**cents), text.encode()) == satisfies(text, cents)


@given(constraints())
@FEW
def test_empty_iff_no_number_fits(kw: dict[str, Any]) -> None:
    """EMPTY is returned exactly when a search over candidates finds nothing."""
    try:
        lexeme = number_lexeme(**kw)
    except LimitExceeded:
        return
    assert (lexeme is EMPTY) == is_empty(lexeme)
    steps = [Decimal(1), Decimal("0.25"), Decimal("0.01"), Decimal(10)]
    found = any(
        satisfies(
            f"{Decimal(Fraction(kw[name]).numerator) / Decimal(Fraction(kw[name]).denominator) + step * k:f}",
            kw,
        )
        for name in ("minimum", "maximum", "exclusive_minimum", "exclusive_maximum")
        if name in kw
        for step in steps
        for k in (-2, -1, 0, 1, 2)
    )
    if found:
        assert lexeme is not EMPTY


@pytest.mark.parametrize(
    "kw",
    [
        {"exclusive_minimum": Decimal("0.1"), "exclusive_maximum": Decimal("0.2"), "multiple_of": [1]},
        {"minimum": 1, "maximum": 0},
        {"minimum": 3, "maximum": 3, "excluded": [3]},
        {"exclusive_minimum": 3, "maximum": 3},
        {"integer": True, "exclusive_minimum": 1, "exclusive_maximum": 2},
        {"integer": True, "not_integer": True},
        {"multiple_of": [6], "not_multiple_of": [2]},
        {"multiple_of": [Decimal("0.123456789")], "exclusive_minimum": 0, "maximum": Decimal("0.1")},
        {"multiple_of": [10], "minimum": 1, "maximum": 25, "excluded": [10, 20]},
    ],
)
def test_unsatisfiable(kw: dict[str, Any]) -> None:
    """Contradictions are found, whatever their kind."""
    assert number_lexeme(**kw) is EMPTY


def texts_held(lexeme: Lexeme, *candidates: str) -> str:
    return " ".join(text for text in candidates if accepts(lexeme, text.encode()))


def test_integer_spellings() -> None:
    """Both spellings of integers, minus zero included."""
    plain = number_lexeme(integer=True, integer_spelling="plain")
    assert texts_held(plain, "0", "-0", "7", "-12", "01", "1.0", "1e2", "", "-", "+1") == "0 -0 7 -12"
    full = number_lexeme(integer=True)
    assert texts_held(
        full, "1.0", "1.00", "1e2", "10e-1", "1.5", "1.5e1", "15e-1", "0e-9", "1e-1", "0.50e1"
    ) == ("1.0 1.00 1e2 10e-1 1.5e1 0e-9")


def test_bounds_in_scientific_notation() -> None:
    """Large and small floats as Python and JavaScript write them."""
    lexeme = number_lexeme(minimum=Decimal("1e-7"), maximum=Decimal("1.5e300"))
    held = texts_held(
        lexeme, "1e-07", "1e-7", "9.99e-8", "1.5e+300", "1.50000001e300", "1e22", "1E+0016", "-1e0"
    )
    assert held == "1e-07 1e-7 1.5e+300 1e22 1E+0016"


def test_left_out_is_said() -> None:
    """No constraint leaves nothing out; what is left out is in the report."""
    assert number_language().left_out is None
    assert number_language(minimum=0).left_out is None
    assert number_language(excluded=[0]).left_out is None
    assert "exponent" in (number_language(minimum=1).left_out or "")
    assert "exponent" in (number_language(exponents=False).left_out or "")
    assert "point" in (number_language(integer=True, integer_spelling="plain").left_out or "")


def test_many_excluded_values_cost_their_digits() -> None:
    """A thousand excluded values are one automaton, not a product of a thousand."""
    lexeme = number_lexeme(integer=True, integer_spelling="plain", excluded=range(0, 4000, 4))
    assert lexeme.op is Op.AUTOMATON
    assert texts_held(lexeme, "3", "4", "3996", "3997", "4000", "-4") == "3 3997 4000 -4"


def test_multiples_of_large_powers_of_ten() -> None:
    """Zeros are counted, not carried in residues."""
    lexeme = number_lexeme(multiple_of=[Decimal("1e308")])
    assert (
        texts_held(lexeme, "1e308", "1" + "0" * 308, "1" + "0" * 307, "5e307", "0")
        == "1e308 1" + "0" * 308 + " 0"
    )


def test_limits_are_refused_not_hung() -> None:
    """What is too large for 64 bits is a typed error; a bounded range of few multiples is a list."""
    with pytest.raises(LimitExceeded, match="2305843009213693951"):
        number_lexeme(multiple_of=[2**61 - 1])
    with pytest.raises(LimitExceeded, match="2305843009213693951"):
        number_lexeme(not_multiple_of=[2**61 - 1, 7907])
    assert (
        texts_held(
            number_lexeme(multiple_of=[2**61 - 1], minimum=-(2**62), maximum=2**62), "0", str(2**61 - 1), "1"
        )
        == f"0 {2**61 - 1}"
    )
    bounded = number_lexeme(multiple_of=[Decimal("0.123456789")], minimum=-1, maximum=1)
    assert texts_held(bounded, "0.123456789", "-0.2469135780", "0.12345678", "0", "-0.0") == (
        "0.123456789 -0.2469135780 0 -0.0"
    )
    with pytest.raises(LimitExceeded, match="digits"):
        number_lexeme(minimum=Decimal("1e999999999"))


def test_what_is_no_multiple_of_many() -> None:
    """Whole numbers of the finest unit are counted; what lies between two units is no multiple of any."""
    barred = [Decimal("2.5"), Decimal(7), Decimal(11), Decimal("0.65"), Decimal(101)]
    found = number_language(
        not_multiple_of=barred, minimum=-300, exclusive_maximum=1_000, excluded=[Decimal("0.2")]
    )
    assert "up to 2 decimals" in (found.left_out or "")
    for number in (Decimal(units) / 100 for units in range(-30_100, 100_100, 3)):
        valid = -300 <= number < 1_000 and number != Decimal("0.2")
        valid = valid and not any(number % value == 0 for value in barred)
        for text in (f"{number:f}", f"{number:f}00" if "." in f"{number:f}" else f"{number:f}.0"):
            assert holds_text(found.lexeme, text.encode()) is valid, text
    assert texts_held(found.lexeme, "7.001", "0.6500001", "0.650", "-300.001", "999.9999", "1000.0001") == (
        "7.001 0.6500001 999.9999"
    )
    assert number_lexeme(not_multiple_of=[Decimal("0.01"), 7919], minimum=1, maximum=1) is EMPTY


def test_multiples_with_many_residues() -> None:
    """Neither residues nor states are written out; bounds, excluded values and signs hold as ever."""
    fine = number_lexeme(multiple_of=[Decimal("0.123456789")])
    assert texts_held(
        fine, "0.123456789", "-12.3456789000", "1.5", "123456789", "-0.0", "0.1234567890001"
    ) == ("0.123456789 -12.3456789000 123456789 -0.0")
    both = number_lexeme(multiple_of=[4999, 4993], integer=True, integer_spelling="plain", minimum=1)
    assert texts_held(both, "24960007", "0", "-24960007", "24960008", "49920014.0", "49920014") == (
        "24960007 49920014"
    )
    odd = number_lexeme(
        multiple_of=[8721],
        not_multiple_of=[2, 5, Decimal("6.5"), 7, 11, 37],
        minimum=Decimal("-1e9"),
        excluded=[8721 * 3],
    )
    held = texts_held(
        odd, *(str(8721 * factor) for factor in (-3, 1, 2, 3, 5, 7, 9, 13, 17, 22, 37, 10**9 + 1))
    )
    assert held == " ".join(str(8721 * factor) for factor in (-3, 1, 9, 17))
    assert not accepts(odd, b"-8721000000003")


@given(
    multiple=st.sampled_from([8, 11, 12, 33, 60, 70, Decimal("2.5"), Decimal("0.75"), Decimal("1.1")]),
    others=st.lists(st.sampled_from([7, 16, 20, 22, 30, 40]), max_size=2),
    low=st.none() | st.sampled_from([0, 3, 15, 100, 1000, -5, Decimal("0.5")]),
    excluded=st.lists(st.sampled_from([0, 33, 60, Decimal("2.5"), -20]), max_size=2),
    whole=st.booleans(),
)
@FEW
def test_states_made_when_visited_are_those_of_the_automaton(
    multiple: Exact, others: list[Exact], low: Exact | None, excluded: list[Exact], whole: bool
) -> None:
    """Which of the two is made is a matter of time only."""
    kw: dict[str, Any] = {"multiple_of": [multiple], "not_multiple_of": others, "excluded": excluded}
    kw |= {"minimum": low, "integer": whole, "integer_spelling": "plain", "exponents": False}
    found: list[Lexeme] = []
    for few in (0, 200):
        with mock.patch.object(numbers, "_FEW_IN_ENDLESS", few):
            numbers._language.cache_clear()
            found.append(number_lexeme(**kw))
    assert kernel.is_empty(difference(found[0], found[1]))
    assert kernel.is_empty(difference(found[1], found[0]))


def test_what_is_no_multiple_of_a_factor_is_none_of_the_number() -> None:
    """Contradictions between multiples need no automaton, nor do those that say the same twice."""
    assert number_lexeme(multiple_of=[33], not_multiple_of=[6, 7, 8, 11, 12, 13, 44, 77]) is EMPTY
    twice = number_lexeme(multiple_of=[9973], not_multiple_of=[2, 4, 6, 8, 10])
    assert texts_held(twice, "9973", "19946", "29919", "0") == "9973 29919"


@pytest.mark.parametrize("bad", [0, -1, Decimal("NaN"), Decimal("Infinity"), Fraction(1, 3)])
def test_bad_multiples(bad: Exact) -> None:
    """Multiples are positive finite decimals."""
    with pytest.raises(ValueError, match=r"multiple|number|decimal"):
        number_lexeme(multiple_of=[bad])


@pytest.mark.parametrize("bad", [1.5, True, "1"])
def test_only_exact_numbers_are_taken(bad: Any) -> None:
    """A float has been rounded already."""
    with pytest.raises(TypeError):
        number_lexeme(minimum=bad)


#: Schema keyword to argument, for the official suite.
KEYWORDS = {
    "minimum": "minimum",
    "maximum": "maximum",
    "exclusiveMinimum": "exclusive_minimum",
    "exclusiveMaximum": "exclusive_maximum",
}


def suite_cases() -> Iterator[tuple[str, dict[str, Any], str, bool]]:
    """(file, arguments, JSON text of the instance, verdict) of every purely numeric schema of the suite."""
    folder = Path(os.environ.get("MASKWRIGHT_DATA") or Path(__file__).parents[3] / "shared" / "data")
    path = folder / "json-schema-test-suite.json.xz"
    if not path.exists():
        pytest.skip(f"no official test suite at {path}")
    text = lzma.decompress(path.read_bytes())
    exact, rounded = json.loads(text, parse_float=Decimal)["suites"], json.loads(text)["suites"]
    for name, groups in exact.items():
        for group, twin in zip(groups, rounded[name], strict=True):
            kw = suite_arguments(group["schema"], draft4="draft4" in name)
            for test, same in zip(group["tests"], twin["tests"], strict=True):
                if kw and isinstance(test["data"], int | Decimal) and not isinstance(test["data"], bool):
                    yield name, kw, json.dumps(same["data"]), test["valid"]


def suite_arguments(schema: Any, *, draft4: bool) -> dict[str, Any]:
    """Arguments for a schema, or none if it has keywords that are not about numbers."""
    if not isinstance(schema, dict) or not set(schema) <= {*KEYWORDS, "$schema", "multipleOf", "type"}:
        return {}
    if schema.get("type", "number") not in ("integer", "number"):
        return {}
    kw = {
        KEYWORDS[key]: value
        for key, value in schema.items()
        if key in KEYWORDS and not isinstance(value, bool)
    }
    for end in ("minimum", "maximum"):
        if schema.get(f"exclusive{end.title()}") is True:
            kw[f"exclusive_{end}"] = kw.pop(end)
    if "multipleOf" in schema:
        kw["multiple_of"] = [schema["multipleOf"]]
    if schema.get("type") == "integer":
        kw.update(integer=True, integer_spelling="plain" if draft4 else "json")
    return kw


def test_official_suite() -> None:
    """No wrong verdict, and nothing is refused."""
    n_right = 0
    for name, kw, text, valid in suite_cases():
        assert accepts(number_lexeme(**kw), text.encode()) == valid, (name, kw, text)
        n_right += 1
    assert n_right > 150
