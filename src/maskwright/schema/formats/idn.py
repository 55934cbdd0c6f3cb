"""Internationalised domain names (IDNA 2008: RFC 5890 to 5893), as far as they are regular.

A label is plain letters, digits and hyphens, or an ``xn--`` label, or a U-label. What is checked of a
U-label: the characters (RFC 5892), hyphens and leading marks (RFC 5891 section 4.2.3), all contextual rules
(RFC 5892 appendix A), the direction rule (RFC 5893) in labels with right-to-left characters, and normal form
C: marks in order, and no two characters that have a composed form. Each rule is a language of *bad* labels,
and a label is good if it is in none.

Not regular, and so not checked: that an ``xn--`` label decodes to a U-label, and that a U-label has at most
63 characters once it is encoded (it may have 59 before). Rejected: one explicit automaton for a label; with a
thousand ranges in each of some hundred states it is far larger than the expression.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from ...lexeme import (
    EPSILON,
    Lexeme,
    complement,
    concat,
    difference,
    intersection,
    optional,
    repeat,
    star,
    union,
)
from ...regex import Encoding, compile_regex
from ...regex.charset import Ranges, intersect, invert, unite
from ...regex.classes import property_set, unpack
from . import idna_tables as tables

__all__ = ["idn_name"]

_ASCII: Final[Ranges] = ((0, 0x7F),)
_MIDDLE_DOT, _KERAIA, _KATAKANA_DOT = "\u00b7", "\u0375", "\u30fb"
_GERESH: Final[Ranges] = ((0x5F3, 0x5F4),)
_NON_JOINER, _JOINER = "\u200c", "\u200d"
_ARABIC_DIGITS: Final[Ranges] = ((0x660, 0x669),)
_EXTENDED_DIGITS: Final[Ranges] = ((0x6F0, 0x6F9),)
#: CONTEXTJ and CONTEXTO of RFC 5892.
_CONTEXTUAL: Final = unite(
    *(((ord(char), ord(char)),) for char in (_MIDDLE_DOT, _KERAIA, _KATAKANA_DOT, _NON_JOINER, _JOINER)),
    _GERESH,
    _ARABIC_DIGITS,
    _EXTENDED_DIGITS,
)
_MOST_CHARS: Final = 59  # 63 less "xn--"


def idn_name(encoding: Encoding, separator: Lexeme) -> Lexeme:
    """Labels between separators.

    Args:
        encoding: How characters are spelled.
        separator: What stands between two labels.
    """
    label = _label(encoding)
    return concat(label, star(concat(separator, label)))


@lru_cache(maxsize=8)
def _label(encoding: Encoding) -> Lexeme:
    # Kept, because host names and mail addresses share it and its thousand ranges take a while.
    # RFC 5891 section 4.2.3.1: two hyphens in the third and fourth place are kept for encoded labels.
    plain = difference(
        compile_regex(r"[A-Za-z0-9](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?", encoding=encoding),
        compile_regex(r"..--[^]*", encoding=encoding),
    )
    encoded = compile_regex(r"[Xx][Nn]--[A-Za-z0-9\-]{0,58}[A-Za-z0-9]", encoding=encoding)
    return union(plain, encoded, _u_label(encoding))


def _u_label(encoding: Encoding) -> Lexeme:
    used = encoding.chars(unite(unpack(tables.VALID), _CONTEXTUAL))
    beyond_ascii = encoding.chars(invert(_ASCII))
    text = encoding.any_text
    return intersection(
        repeat(used, 1, _MOST_CHARS),
        concat(text, beyond_ascii, text),
        complement(union(*_bad_shape(encoding), *_bad_context(encoding), *_bad_joiners(encoding))),
        complement(union(*_bad_direction(encoding), *_bad_normal_form(encoding))),
    )


def _bad_shape(encoding: Encoding) -> list[Lexeme]:
    """RFC 5891 sections 4.2.3.1 and 4.2.3.2."""
    text, hyphen = encoding.any_text, encoding.text("-")
    return [
        concat(hyphen, text),
        concat(text, hyphen),
        concat(encoding.any_char, encoding.any_char, hyphen, hyphen, text),
        concat(encoding.chars(unpack(tables.MARK)), text),
    ]


def _script(*names: str) -> Ranges:
    found = [property_set("sc", name) for name in names]
    return unite(*(ranges for ranges in found if ranges is not None))


def _bad_context(encoding: Encoding) -> list[Lexeme]:
    """RFC 5892 appendices A.3 to A.9."""
    text, chars = encoding.any_text, encoding.chars
    not_l = chars(invert(((ord("l"), ord("l")),)))
    not_greek = chars(invert(_script("Greek")))
    not_hebrew = chars(invert(_script("Hebrew")))
    dot, keraia = encoding.text(_MIDDLE_DOT), encoding.text(_KERAIA)
    not_japanese = star(chars(invert(_script("Hiragana", "Katakana", "Han"))))
    arabic, extended = chars(_ARABIC_DIGITS), chars(_EXTENDED_DIGITS)
    return [
        concat(_ending(text, not_l), dot, text),
        concat(text, dot, _beginning(not_l, text)),
        concat(text, keraia, _beginning(not_greek, text)),
        concat(_ending(text, not_hebrew), chars(_GERESH), text),
        concat(not_japanese, encoding.text(_KATAKANA_DOT), not_japanese),
        concat(text, arabic, text, extended, text),
        concat(text, extended, text, arabic, text),
    ]


def _ending(text: Lexeme, last: Lexeme) -> Lexeme:
    return optional(concat(text, last))


def _beginning(first: Lexeme, text: Lexeme) -> Lexeme:
    return optional(concat(first, text))


def _bad_joiners(encoding: Encoding) -> list[Lexeme]:
    """RFC 5892 appendices A.1 and A.2: after a virama, or (the non-joiner) between joining letters."""
    text, chars = encoding.any_text, encoding.chars
    transparent = star(chars(unpack(tables.TRANSPARENT)))
    no_virama = _ending(text, chars(invert(unpack(tables.VIRAMA))))
    joined_before = concat(text, chars(unpack(tables.JOINS_AFTER)), transparent)
    joined_after = concat(transparent, chars(unpack(tables.JOINS_BEFORE)), text)
    non_joiner = encoding.text(_NON_JOINER)
    return [
        concat(no_virama, encoding.text(_JOINER), text),
        concat(difference(no_virama, joined_before), non_joiner, text),
        concat(no_virama, non_joiner, difference(text, joined_after)),
    ]


def _bad_direction(encoding: Encoding) -> list[Lexeme]:
    """RFC 5893 section 2, rules 1 to 4, for labels with a right-to-left character."""
    text, chars = encoding.any_text, encoding.chars
    letters, arabic = unpack(tables.RIGHT_TO_LEFT), unpack(tables.ARABIC_NUMBER)
    european, marks = unpack(tables.EUROPEAN_NUMBER), unpack(tables.NONSPACING)
    inside = star(chars(unite(letters, arabic, european, marks, unpack(tables.NEUTRAL))))
    good = concat(
        chars(letters),
        optional(concat(inside, chars(unite(letters, arabic, european)))),
        star(chars(marks)),
    )
    both = union(
        concat(text, chars(arabic), text, chars(european), text),
        concat(text, chars(european), text, chars(arabic), text),
    )
    concerned = concat(text, chars(unite(letters, arabic)), text)
    return [difference(concerned, difference(good, both))]


def _bad_normal_form(encoding: Encoding) -> list[Lexeme]:
    """RFC 5891 section 4.1: marks out of order, or characters with a composed form."""
    text, chars = encoding.any_text, encoding.chars
    by_class = {number: unpack(packed) for number, packed in sorted(tables.COMBINING.items())}
    bad: list[Lexeme] = []
    for number, members in by_class.items():
        higher = unite(*(others for other, others in by_class.items() if other > number))
        if higher:
            bad.append(concat(chars(higher), chars(members)))
    for seconds, firsts in tables.COMPOSING:
        for number, class_members in [(0, invert(unite(*by_class.values()))), *by_class.items()]:
            here = intersect(unpack(seconds), class_members)
            if here:
                lower = unite(*(members for other, members in by_class.items() if other < number))
                between = star(chars(lower)) if lower else EPSILON
                bad.append(concat(chars(unpack(firsts)), between, chars(here)))
    return [concat(text, union(*bad), text)]
