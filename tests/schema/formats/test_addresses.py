"""IP addresses against `ipaddress`; names and mail addresses by example and by length."""

from __future__ import annotations

import ipaddress
import random

import pytest

from maskwright.regex import UTF8
from maskwright.schema.formats import format_lexeme

from .test_formats import Walker


def test_ipv4_agrees_with_the_standard_library() -> None:
    """All values of an octet up to 299, padded or not, and random texts."""
    walker = Walker(format_lexeme("ipv4", UTF8))
    chance = random.Random(4)
    texts = [f"1.{n}.3.{m}" for n in range(300) for m in ("4", "04")]
    texts += ["".join(chance.choices("0125.", k=chance.randint(5, 12))) for _ in range(2000)]
    for text in texts:
        try:
            valid = bool(ipaddress.IPv4Address(text))
        except ValueError:
            valid = False
        assert walker.accepts(text) == valid, text


def test_ipv6_agrees_with_the_standard_library() -> None:
    """Random groups with random gaps, with and without an IPv4 tail."""
    walker = Walker(format_lexeme("ipv6", UTF8))
    chance = random.Random(6)
    for _ in range(6000):
        groups = [
            chance.choice(["", "0", "1f", "abCD", "12345"][: chance.choice([4, 4, 4, 5])])
            for _ in range(chance.randint(1, 9))
        ]
        text = ":".join(groups) + chance.choice(["", "", "", ":", "::", ":1.2.3.4", "::1.2.3.256"])
        try:
            valid = bool(ipaddress.IPv6Address(text)) and "%" not in text
        except ValueError:
            valid = False
        assert walker.accepts(text) == valid, text


def test_hostname_lengths() -> None:
    """63 for a label, 253 in all."""
    walker = Walker(format_lexeme("hostname", UTF8))
    assert walker.accepts("a" * 63)
    assert not walker.accepts("a" * 64)
    name = ".".join(["a" * 49] * 5)
    assert walker.accepts(f"{name}.bcd")
    assert len(f"{name}.bcd") == 253
    assert not walker.accepts(f"{name}.bcde")


@pytest.mark.parametrize(
    ("text", "plain", "international"),
    [
        ("a@b", True, True),
        ("a.b+c@d-e.fg", True, True),
        ('"a b\\"c"@d', True, True),
        ('"a"b"@d', False, False),
        ('""@d', True, True),
        ("a@[1.2.3.4]", True, True),
        ("a@[IPv6:::1]", True, True),
        ("a@[tag:x]", False, False),
        ("a@-b", False, False),
        ("a@b..c", False, False),
        ("실례@실례.테스트", False, True),
        ("é@b", False, True),
        ("a@é", False, True),
        ("a\n@b", False, False),
        ("l" * 64 + "@b", True, True),
        ("l" * 65 + "@b", False, False),
    ],
)
def test_mail_addresses(text: str, plain: bool, international: bool) -> None:
    """RFC 5321 and RFC 6531."""
    assert Walker(format_lexeme("email", UTF8)).accepts(text) == plain
    assert Walker(format_lexeme("idn-email", UTF8)).accepts(text) == international
