"""Internationalised labels against the `idna` package."""

from __future__ import annotations

import json
import random

import pytest

import maskwright
from maskwright.kernel.lexemes import LexemeTable
from maskwright.regex import UTF8
from maskwright.schema.formats import format_lexeme
from tests.vocabulary import real

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


#: Names in many scripts, and some that use up the 59 characters of a label or the 253 of a name.
NAMES = (
    "bücher.example",
    "السعودية.مثال123",
    "דוגמה.ישראל",
    "क्षेत्र.भारत",
    "क्\u200dष.नाम",
    "例子。测试．日本語｡中国",
    "カタカナ・テスト.ひらがな",
    "실례.테스트",
    "παράδειγμα͵α.gr",
    "paral·lel.cat",
    "việtnam-nguyễn.vn",
    "q\u0327\u0301.xn--bcher-kva.Plain-1",
    "ä" * 59 + ".de",
    "日本語中国" * 11 + "日本語中.jp",
    "السعودية" * 7 + "مثا",
    ".".join(["日本語中国人大年"] * 28) + ".a",
)


@pytest.mark.parametrize("vocabulary", ["llama3", "qwen", "deepseek"])
@pytest.mark.parametrize("format_", ["idn-hostname", "idn-email"])
def test_masks_of_real_vocabularies(format_: str, vocabulary: str) -> None:
    """Every token of every name is in the mask before it, and no mask needs too many states."""
    info = real.real_vocabulary(vocabulary)
    assert info.encoder is not None
    compiled = maskwright.GrammarCompiler(info).compile_json_schema({"type": "string", "format": format_})
    bitmask = maskwright.allocate_token_bitmask(1, info.vocab_size)
    for name in NAMES:
        # Only a full stop separates the labels of an address.
        value = (
            name
            if format_ == "idn-hostname"
            else "jürgen@" + name.translate(dict.fromkeys(map(ord, "。．｡"), "."))
        )
        matcher = maskwright.GrammarMatcher(compiled)
        for token in info.encoder(json.dumps(value, ensure_ascii=False)):
            matcher.fill_next_token_bitmask(bitmask)
            assert bitmask[0, token >> 5] >> (token & 31) & 1, (value, token)
            assert matcher.accept_token(token)
        assert matcher.is_completed()


@pytest.mark.parametrize(
    ("text", "goes_on"),
    [("a・", True), ("a・ア", True), ("א", True), ("א・", False), ("ア・א", False), ("e\u0301", False)],
)
def test_dead_ends(text: str, goes_on: bool) -> None:
    """What can no longer become a good label is told at the character that spoils it."""
    lexeme = format_lexeme("idn-hostname", UTF8)
    assert lexeme is not None
    table = LexemeTable()
    assert table.is_node_empty(table.walk(table.node_of(lexeme), text.encode())) != goes_on
