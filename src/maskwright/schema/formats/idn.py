"""Internationalised domain names (IDNA 2008: RFC 5890 to 5893), as far as they are regular.

A label is plain letters, digits and hyphens, or an ``xn--`` label, or a U-label. What is checked of a
U-label: the characters (RFC 5892), hyphens and leading marks (RFC 5891 section 4.2.3), all contextual rules
(RFC 5892 appendix A), the direction rule (RFC 5893) in labels with right-to-left characters, and normal form
C: marks in order, and no two characters that have a composed form. The rules are in `idn_rules`; of ASCII
labels they say what is required of plain and ``xn--`` labels, so that one conjunction serves all three.

Not regular, and so not checked: that an ``xn--`` label decodes to a U-label, and that a U-label has at most
63 characters once it is encoded (it may have 59 before).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from ...lexeme import Lexeme, concat, intersection, repeat, star, union
from ...regex import Encoding
from .idn_rules import CHARACTERS, PLAIN, label_rules

__all__ = ["idn_name"]

_MOST_PLAIN: Final = 63  # RFC 1034 section 3.1
_MOST_CHARS: Final = _MOST_PLAIN - len("xn--")


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
    # Kept, because host names and mail addresses share it and its automata take a while.
    characters = union(
        repeat(encoding.chars(CHARACTERS), 1, _MOST_CHARS), repeat(encoding.chars(PLAIN), 1, _MOST_PLAIN)
    )
    return intersection(characters, *label_rules(encoding))
