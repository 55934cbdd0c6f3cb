"""The registry of formats, and all formats against the official test suite and an independent validator."""

from __future__ import annotations

import json
import lzma
import os
import random
from collections import defaultdict
from pathlib import Path

import pytest

from maskwright.lexeme import Lexeme
from maskwright.reference.lexemes import DerivativeTable
from maskwright.regex import JSON_ANY_SPELLING, JSON_CANONICAL, UTF8
from maskwright.schema.formats import FORMATS, format_lexeme, format_note, format_number_range

ROOT = Path(__file__).parents[3]
DATA = Path(os.environ.get("MASKWRIGHT_DATA") or ROOT.parent / "shared" / "data")
SUITE = DATA / "json-schema-test-suite.json.xz"
STRINGS = sorted(name for name in FORMATS if format_lexeme(name, UTF8) is not None)

#: What the suite holds valid and we do not. Every other verdict must agree.
KNOWN_MISSES = {("regex", r"(?<n>a)\k<n>")}


class Walker:
    """Many texts through one lexeme; derivatives are shared between the texts."""

    def __init__(self, lexeme: Lexeme | None) -> None:
        assert lexeme is not None
        self.table = DerivativeTable()
        self.start = self.table.start(lexeme)

    def accepts(self, text: str, *, encoded: bytes | None = None) -> bool:
        state = self.start
        for byte in text.encode() if encoded is None else encoded:
            state = self.table.step(state, byte)
        return self.table.nullable(state)


def suite() -> dict[str, dict[str, bool]]:
    """Format to texts and verdicts, all drafts together."""
    if not SUITE.exists():
        pytest.skip(f"no official test suite at {SUITE}")
    found: dict[str, dict[str, bool]] = defaultdict(dict)
    for path, groups in json.loads(lzma.decompress(SUITE.read_bytes()))["suites"].items():
        for group in groups if "/optional/format/" in path else ():
            for test in group["tests"]:
                if isinstance(test["data"], str):
                    found[group["schema"]["format"]][test["data"]] = test["valid"]
    return found


def test_official_suite() -> None:
    """Every string of optional/format, in plain text."""
    wrong = set()
    for name, texts in suite().items():
        walker = Walker(format_lexeme(name, UTF8))
        wrong |= {(name, text) for text, valid in texts.items() if walker.accepts(text) != valid}
    assert wrong == KNOWN_MISSES


def test_official_suite_inside_json() -> None:
    """The same verdicts on JSON spellings, canonical and fully escaped."""
    for name, texts in suite().items():
        canonical = Walker(format_lexeme(name, JSON_CANONICAL))
        anyhow = Walker(format_lexeme(name, JSON_ANY_SPELLING))
        for text, valid in texts.items():
            if (name, text) in KNOWN_MISSES or len(text) > 60:
                continue
            raw = json.dumps(text, ensure_ascii=False)[1:-1].encode()
            escaped = "".join(
                f"\\u{unit:04X}" for unit in memoryview(text.encode("utf-16-le")).cast("H")
            ).encode()
            assert canonical.accepts(text, encoded=raw) == valid, (name, text)
            assert anyhow.accepts(text, encoded=raw) == valid, (name, text)
            assert anyhow.accepts(text, encoded=escaped) == valid, (name, text)


#: Formats in which the validator does exactly what the specification says.
SAME = [
    "date-time",
    "date",
    "duration",
    "time",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
    "json-pointer",
]


@pytest.mark.parametrize("name", [*SAME, "relative-json-pointer"])
def test_agrees_with_jsonschema_rs(name: str) -> None:
    """Mutations of the suite's texts get the same verdict from a validator with a different method."""
    jsonschema_rs = pytest.importorskip("jsonschema_rs")
    seeds = {**suite(), "json-pointer": {"/a/b~0~1": True, "": True}}
    texts = sorted(seeds["iri-reference" if name == "iri" else name])
    validator = jsonschema_rs.validator_for({"format": name}, validate_formats=True)
    walker = Walker(format_lexeme(name, UTF8))
    alphabet = sorted(set("".join(texts)))
    chance = random.Random(name)
    for _ in range(3000):
        text = chance.choice(texts)
        for _ in range(chance.randint(1, 3)):
            place = chance.randint(0, len(text))
            tail = text[place + chance.randint(0, 1) :]
            text = (
                text[:place]
                + chance.choice([chance.choice(alphabet), "", chance.choice(texts)[place:]])
                + tail
            )
        if len(text) <= 80:
            assert walker.accepts(text) == validator.is_valid(text), text


def test_registry() -> None:
    """Every "assert" format has a language; OpenAPI's formats, which JSON Schema lacks, assert nothing."""
    for name, kind in FORMATS.items():
        assert (kind == "assert") <= (format_lexeme(name, UTF8) is not None), name
    openapi = ("byte", "int32", "int64", "float", "double", "binary", "password")
    assert {FORMATS[name] for name in openapi} == {"annotation"}
    assert set(STRINGS) >= {
        "date-time",
        "date",
        "time",
        "duration",
        "email",
        "idn-email",
        "hostname",
        "idn-hostname",
        "ipv4",
    }


@pytest.mark.parametrize("name", ["", "color", "Date", "phone", "url", "datetime"])
def test_unknown_names_are_not_guessed(name: str) -> None:
    """No aliases are made up."""
    assert name not in FORMATS
    assert format_lexeme(name, UTF8) is None
    assert format_number_range(name) is None
    assert format_note(name) is None


def test_number_ranges() -> None:
    """OpenAPI's integers."""
    assert format_number_range("int32") == (-2147483648, 2147483647)
    assert format_number_range("int64") == (-9223372036854775808, 9223372036854775807)
    assert format_lexeme("int32", UTF8) is None


def test_compiled_once() -> None:
    """One lexeme for each name and encoding."""
    assert format_lexeme("uri", UTF8) is format_lexeme("uri", UTF8)
    assert format_lexeme("uri", UTF8) is not format_lexeme("uri", JSON_CANONICAL)


@pytest.mark.parametrize("name", STRINGS)
def test_none_is_empty(name: str) -> None:
    """Each format has members, and does not hold everything."""
    table = DerivativeTable()
    lexeme = format_lexeme(name, UTF8)
    assert lexeme is not None
    assert not table.is_empty(table.start(lexeme))
    assert not Walker(lexeme).accepts("\x00\uffff {")
