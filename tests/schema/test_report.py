"""The report: every keyword with its pointer and what became of it."""

from __future__ import annotations

from typing import Any

from maskwright.schema import Status
from tests.schema.language import Language


def _statuses(schema: Any, **options: Any) -> dict[str, str]:
    report = Language(schema, **options).report.complete()
    return {entry.pointer: str(entry.status) for entry in report.entries}


def test_enforced_and_annotations() -> None:
    """Assertions are enforced, the rest is annotation."""
    found = _statuses(
        {
            "title": "A",
            "type": "object",
            "properties": {"a/b": {"type": "string", "description": "d", "x-own": 1}},
            "required": ["a/b"],
        }
    )
    assert found == {
        "#/title": "annotation",
        "#/type": "enforced",
        "#/properties": "enforced",
        "#/required": "enforced",
        "#/properties/a~1b/type": "enforced",
        "#/properties/a~1b/description": "annotation",
        "#/properties/a~1b/x-own": "annotation",
    }


def test_everything_reachable_is_in_a_complete_report() -> None:
    """Also what generation has not visited, and recursion ends."""
    schema = {
        "properties": {"next": {"$ref": "#/$defs/n"}},
        "$defs": {
            "n": {"type": "array", "items": {"anyOf": [{"$ref": "#"}, {"maxLength": 3}]}},
            "unused": {"type": "null"},
        },
    }
    found = _statuses(schema)
    assert found["#/$defs/n/items/anyOf/1/maxLength"] == "enforced"
    assert not any(pointer.startswith("#/$defs/unused") for pointer in found)
    assert _statuses(schema, any_whitespace=False, indent=2) == found


def test_formats() -> None:
    """Unknown formats, and all of them when formats are not asserted, are annotations with a reason."""
    schema = {"properties": {"a": {"format": "date"}, "b": {"format": "color"}}}
    found = _statuses(schema)
    assert found["#/properties/a/format"] == "enforced"
    assert found["#/properties/b/format"] == "annotation"
    off = Language(schema, format_assertion=False).report.complete()
    notes = {entry.pointer: entry for entry in off.entries}
    assert notes["#/properties/a/format"].status is Status.ANNOTATION
    assert "off" in notes["#/properties/a/format"].note


def test_dialects() -> None:
    """What a draft does not know is an annotation in it."""
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "const": 1, "minimum": 2}
    found = _statuses(schema)
    assert found["#/const"] == "annotation"
    assert found["#/minimum"] == "enforced"


def test_lenient_patterns() -> None:
    """A pattern that is not regular is widened on request, and said so."""
    language = Language({"type": "string", "pattern": "^(a+)\\1$"}, lenient=True)
    assert language.holds('"b"')
    (entry,) = [entry for entry in language.report.entries if entry.status is Status.WIDENED]
    assert entry.pointer == "#/pattern"
    assert not language.report.is_exact
