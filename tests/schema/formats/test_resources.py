"""URIs, templates, pointers and base 64: the places where patterns usually slip."""

from __future__ import annotations

import base64
import random

import pytest

from maskwright.regex import UTF8
from maskwright.schema.formats import format_lexeme

from .test_formats import Walker


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        (
            "uri",
            "a: a:b a:/b a:// a://@:/ a://[v1.x]:80?#",
            "a :b 1:b a:[ a://[::1 a://[v.x] a:%4 a:é a://b:c",
        ),
        ("uri-reference", "b ./b:c ?a #b //c b/c:d", ":b b% b\\c ##"),
        ("iri", "a:é a://ü?\ue000 a:\U000e1000", "é:a a:\ue000 a:\ufffe a:\U000e0fff a:é#\ue000"),
        ("uri-template", "{a} {+a,b*} {a:9999} x{=r}y é %aa", "{ {a {a:0} {a:10000} {-a} { a} <a> %a {a:1*}"),
        ("json-pointer", "/ /~0~1 // /é", "a /~ /~2 /~01~ ~0"),
        ("relative-json-pointer", "0 12/a 0#", "00 -1 0#/a 1#1 #"),
        ("uuid", "00000000-0000-0000-0000-00000000000F", "00000000-0000-0000-0000-00000000000g {0} 0"),
    ],
)
def test_examples(name: str, good: str, bad: str) -> None:
    """Texts are separated by spaces."""
    walker = Walker(format_lexeme(name, UTF8))
    for text in good.split(" "):
        assert walker.accepts(text), text
    for text in bad.split(" "):
        assert not walker.accepts(text), text


def test_base64_is_what_the_standard_library_writes() -> None:
    """Every encoding is accepted, and nothing that does not round trip."""
    walker = Walker(format_lexeme("byte", UTF8))
    chance = random.Random(64)
    for _ in range(500):
        assert walker.accepts(base64.b64encode(chance.randbytes(chance.randint(0, 12))).decode())
        text = "".join(chance.choices("AQgwEcz/+=", k=chance.choice([1, 2, 3, 4, 4, 4, 4, 8])))
        try:
            round_trips = base64.b64encode(base64.b64decode(text, validate=True)).decode() == text
        except ValueError:
            round_trips = False
        assert walker.accepts(text) == round_trips, text
