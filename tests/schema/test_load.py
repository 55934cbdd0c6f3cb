"""Reading schemas from text and from Python types."""

from __future__ import annotations

import dataclasses
import json
from decimal import Decimal
from typing import Any

import pytest
from typing_extensions import TypedDict

from maskwright.errors import SchemaError
from maskwright.schema.load import load_schema
from tests.schema.language import Language


@dataclasses.dataclass
class Point:
    """Two coordinates."""

    x: int
    y: int = 0


class Entry(TypedDict):
    """A name."""

    name: str


def test_values_are_returned_as_they_are() -> None:
    """No copy is made."""
    schema: dict[str, Any] = {"type": "null"}
    assert load_schema(schema) is schema
    assert load_schema(True) is True


def test_numbers_keep_their_spelling() -> None:
    """A constant is written back as the schema wrote it, however large or long."""
    for text in ("1.0", "1e400", "0.1000", "-2.50E+3", "123456789012345678901234567890"):
        schema = load_schema(f'{{"const": {text}}}')
        assert Decimal(schema["const"]) == Decimal(text)
        language = Language(schema)
        assert language.holds(text)


def test_malformed_text_tells_line_and_column() -> None:
    """As an editor counts them."""
    with pytest.raises(SchemaError, match="line 2, column 11"):
        load_schema('{\n  "type": object\n}')
    with pytest.raises(SchemaError, match="twice"):
        load_schema('{"type": "null", "type": "string"}')
    with pytest.raises(SchemaError, match="NaN"):
        load_schema('{"const": NaN}')
    with pytest.raises(SchemaError, match="list"):
        load_schema("[]")
    with pytest.raises(SchemaError, match="UTF-8"):
        load_schema(b'{"const": "\xff"}')
    with pytest.raises(SchemaError, match="deeply"):
        load_schema('{"not":' * 100_000)


@pytest.mark.parametrize("value", [3, None, ["a"], object()])
def test_other_values_are_refused(value: object) -> None:
    """With what they are."""
    with pytest.raises(SchemaError, match=type(value).__name__):
        load_schema(value)


def test_python_types() -> None:
    """Through pydantic: models, dataclasses, typed dicts."""
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Model", name=(str, ...), tags=(list[str], []))
    for kind, good, bad in (
        (model, {"name": "a", "tags": []}, {"tags": []}),
        (Point, {"x": 1, "y": 2}, {"y": 2}),
        (Entry, {"name": "a"}, {}),
    ):
        language = Language(load_schema(kind))
        assert language.takes(good)
        assert not language.holds(json.dumps(bad))
