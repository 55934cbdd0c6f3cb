"""Internationalised labels against the `idna` package."""

from __future__ import annotations

import random

import pytest

from maskwright.regex import UTF8
from maskwright.schema.formats import format_lexeme

from .test_formats import Walker

idna = pytest.importorskip("idna")

#: Characters that rules speak of, and ordinary ones of several scripts and directions.
SPECIAL = (
    "l·͵αβγ׳״אבג・ぁア漢٠١۰۱ابتد\u200c\u200d"  # context
    "क्षिमা্ক"  # viramas and vowel signs
    "\u0301\u0323\u0345\u0300éеéeoạ"  # marks, composed and not
    "-a1bxn"
    "AẞΑ〮\u302e™ﬀ"  # not allowed
)


def label_is_valid(label: str) -> bool:
    try:
        idna.check_label(label)
    except idna.IDNAError:
        return False
    return True


def test_random_labels() -> None:
    """Six thousand short labels of difficult characters get the verdict of `idna`."""
    walker = Walker(format_lexeme("idn-hostname", UTF8))
    chance = random.Random(5892)
    groups = [
        "l·a",
        "͵αβ",
        "אב׳״1",
        "・ぁア漢a",
        "٠١۰۱اب",
        "ابتد\u200cक्",
        "क्\u200dष",
        "e\u0301\u0323ọ́",
        "বা্ক",
        SPECIAL,
    ]
    n_valid = 0
    for _ in range(6000):
        label = "".join(chance.choices(chance.choice(groups), k=chance.randint(1, 6)))
        if label.isascii():
            continue
        valid = label_is_valid(label)
        n_valid += valid
        assert walker.accepts(label) == valid, ascii(label)
    assert n_valid > 500


@pytest.mark.parametrize(
    ("name", "valid"),
    [
        ("xn--nxasmq6b.example", True),
        ("ab--c", False),
        ("a-b.ＡＢ", False),
        ("UPPER.case", True),
        ("ä" * 59, True),
        ("ä" * 60, False),
        ("a" * 63, True),
        ("실〮례.테스트", False),
        ("example。com", True),
        ("", False),
    ],
)
def test_names(name: str, valid: bool) -> None:
    """Separators, lengths and plain labels."""
    assert Walker(format_lexeme("idn-hostname", UTF8)).accepts(name) == valid
