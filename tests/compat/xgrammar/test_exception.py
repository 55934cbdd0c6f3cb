"""Twins: both families of errors, nothing lost."""

from __future__ import annotations

import inspect

import pytest

import maskwright
from maskwright import errors
from maskwright.compat.xgrammar import exception


def own_classes() -> list[type[errors.MaskwrightError]]:
    return [
        kind for _, kind in inspect.getmembers(errors, inspect.isclass) if kind.__module__ == errors.__name__
    ]


@pytest.mark.parametrize("kind", own_classes(), ids=lambda kind: kind.__name__)
def test_every_class_has_a_twin(kind: type[errors.MaskwrightError]) -> None:
    bare = kind.__new__(kind, "what")
    bare.__dict__.update(
        message="what", hint="do that", pointer="#/a", pattern="x", offset=0, source="x", line=1, column=1
    )
    twin = exception.as_runtime_error(bare)
    assert isinstance(twin, kind)
    assert isinstance(twin, RuntimeError)
    assert type(twin).__name__ == kind.__name__
    assert str(twin) == str(bare)


def test_place_and_traceback_survive() -> None:
    @exception.raises_runtime_errors
    def parse() -> None:
        maskwright.Grammar.from_json_schema({"properties": {"a": {"type": "odd"}}})

    with pytest.raises(RuntimeError) as caught:
        parse()
    assert isinstance(caught.value, maskwright.SchemaError)
    assert caught.value.pointer == "#/properties/a/type"
    assert "from_json_schema" in [entry.name for entry in caught.traceback]


def test_a_subclass_of_elsewhere_gets_the_twin_of_its_base() -> None:
    class Special(errors.SchemaError):
        pass

    twin = exception.as_runtime_error(Special("what", pointer="#/x"))
    assert type(twin) is exception.SchemaError
    assert str(twin) == "#/x: what"
    assert exception.as_runtime_error(twin) is twin


def test_other_errors_pass() -> None:
    @exception.raises_runtime_errors
    def fail() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        fail()


@pytest.mark.parametrize(
    "name",
    ["DeserializeFormatError", "DeserializeVersionError", "InvalidJSONError", "InvalidStructuralTagError"],
)
def test_names_of_xgrammar(name: str) -> None:
    assert issubclass(getattr(exception, name), RuntimeError)
