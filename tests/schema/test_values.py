"""Equality, types and texts of JSON values."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from maskwright.errors import SchemaError
from maskwright.schema.load import Number
from maskwright.schema.values import (
    ARRAY,
    BOOLEAN,
    FRACTION,
    INTEGER,
    NULL,
    OBJECT,
    STRING,
    json_key,
    number_text,
    string_text,
    type_bit,
)
from tests.schema.language import Language

EQUAL: list[tuple[Any, Any]] = [
    (1, 1.0),
    (1, Number("1.00")),
    (100, Number("1e2")),
    (0, -0.0),
    (0.1, Decimal("0.10")),
    ([1, {"a": 2}], [1.0, {"a": 2.0}]),
    ({"a": 1, "b": [None]}, {"b": [None], "a": 1}),
    (10**400, Number("1e400")),
]
DIFFERENT: list[tuple[Any, Any]] = [
    (1, True),
    (0, False),
    (0, None),
    (0, ""),
    ("1", 1),
    ([], {}),
    ([1, 2], [2, 1]),
    ({"a": 1}, {"a": True}),
    ({"a": [0]}, {"a": [False]}),
    (["a"], "a"),
    ([["a"]], ["a"]),
    ([True], True),
    (9007199254740993, 9007199254740992),
    (Number("0.1"), Number("0.1000000000000000000000000001")),
]


def test_keys() -> None:
    """Equal exactly for equal JSON values."""
    for one, other in EQUAL:
        assert json_key(one) == json_key(other)
        assert hash(json_key(one)) == hash(json_key(other))
    for one, other in DIFFERENT:
        assert json_key(one) != json_key(other)


def test_types() -> None:
    """Whole numbers are integers however they are spelled."""
    kinds = [
        (None, NULL),
        (True, BOOLEAN),
        ("", STRING),
        (3, INTEGER),
        (3.0, INTEGER),
        (Number("30e-1"), INTEGER),
    ]
    kinds += [(0.5, FRACTION), (Number("1e-1"), FRACTION), ([], ARRAY), ({}, OBJECT)]
    for value, bit in kinds:
        assert type_bit(value) == bit


def test_texts() -> None:
    """Strings in UTF-8 with the shortest escapes, numbers as they were spelled."""
    assert string_text('é"\n\x01/') == '"é\\"\\n\\u0001/"'.encode()
    assert number_text(1.0) == b"1.0"
    assert number_text(Number("1.50e+3")) == b"1.50e+3"
    assert number_text(12) == b"12"
    with pytest.raises(ValueError, match="nan"):
        number_text(float("nan"))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, object()])
def test_what_is_no_json_value(value: object) -> None:
    """Is told as such, in a schema too."""
    with pytest.raises(SchemaError, match="not a JSON"):
        Language({"enum": [value]})


@pytest.mark.parametrize("options", [{}, {"any_spelling": True, "integer_spelling": "json"}])
def test_listed_integers_of_draft_4(options: dict[str, Any]) -> None:
    """1.0 is no integer there, so a listed one is written with digits alone."""
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "enum": [-1, 2.0, 0.5], "type": "integer"}
    language = Language(schema, **options)
    assert language.holds("-1")
    assert language.holds("2")
    assert not any(language.holds(text) for text in ("-1.0", "2.0", "2e0", "0.5"))


def test_whole_numbers_without_their_point() -> None:
    """The schema's spelling, and the plain one."""
    language = Language({"enum": [2.0, Number("1e2"), 0.5]})
    assert all(language.holds(text) for text in ("2.0", "2", "1e2", "100", "0.5"))
    assert not any(language.holds(text) for text in ("2.00", "1.0e2", "5e-1", "1"))
