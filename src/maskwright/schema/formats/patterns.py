"""The language of valid ECMA-262 patterns (Unicode mode), as far as it is regular.

Groups nest, and balanced brackets are not regular; a back-reference must name a group that exists, and two
groups must not share a name. So this is a subset, every member of which is a valid pattern: groups at most
`_DEPTH` deep, at most one group with a name, no back-references, ``{m,n}`` with m below 100 (``{3,2}`` is an
error), ranges in classes with an ASCII character in front (``[z-a]`` is one), the properties listed below.
It follows the standard's grammar (section 22.2.1), one rule a line.

Rejected: to accept any text with brackets that balance up to a depth. It would be a short pattern, and half
of what a model then writes would not compile.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import digits
from typing import Final

from ...lexeme import Lexeme, concat, intersection, optional, star, union
from ...regex import Encoding, compile_regex
from ...regex.bytetrie import Interval
from ...regex.charset import ALL, intersect, make, subtract

__all__ = ["regex"]

_DEPTH: Final = 4
#: Characters that start a range, taken together: see `_character_class`.
_BLOCK: Final = 10
_CATEGORIES: Final = (
    "L|Lu|Ll|Lt|LC|Lm|Lo|M|Mn|Mc|Me|N|Nd|Nl|No|P|Pc|Pd|Ps|Pe|Pi|Pf|Po|S|Sm|Sc|Sk|So|Z|Zs|Zl|Zp|C|Cc|Cf"
)
# Those that models and people write; the standard's list is longer.
_PROPERTIES: Final = (
    "Any|ASCII|Alphabetic|Alpha|Assigned|ASCII_Hex_Digit|Cased|Dash|Diacritic|Emoji|Hex_Digit|ID_Continue"
    "|ID_Start|Ideographic|Lowercase|Lower|Math|Uppercase|Upper|White_Space|XID_Continue|XID_Start"
)
_SCRIPTS: Final = (
    "Arabic|Armenian|Bengali|Cyrillic|Devanagari|Ethiopic|Georgian|Greek|Gujarati|Gurmukhi|Han|Hangul|Hebrew"
    "|Hiragana|Kannada|Katakana|Khmer|Lao|Latin|Malayalam|Mongolian|Myanmar|Sinhala|Tamil|Telugu|Thai|Tibetan"
)

_HEX: Final = "[0-9A-Fa-f]"
#: Escapes that may stand anywhere but for one character: classes.
_CLASS_ESCAPE: Final = (
    rf"\\(?:[dDsSwW]|[pP]\{{(?:(?:(?:General_Category|gc)=)?(?:{_CATEGORIES})|{_PROPERTIES}"
    rf"|(?:Script|sc|Script_Extensions|scx)=(?:{_SCRIPTS}))\}})"
)
#: Escapes for one character.
_CHARACTER_ESCAPE: Final = (
    rf"\\(?:[fnrtv]|c[A-Za-z]|0|x{_HEX}{{2}}|u{_HEX}{{4}}|u\{{0*(?:10{_HEX}{{4}}|{_HEX}{{1,5}})\}}"
    r"|[\^$\\.*+?()\[\]\{\}\|/])"
)
_CHARACTER: Final = r"[^\^$\\.*+?()\[\]\{\}\|]"
_GROUP_NAME: Final = r"[$A-Z_a-z][$A-Z_a-z0-9]*"


def regex(encoding: Encoding) -> Lexeme:
    """Patterns that are valid in Unicode mode, within the bounds of this module."""

    def compiled(pattern: str) -> Lexeme:
        return compile_regex(pattern, encoding=encoding)

    simple = union(
        compiled(rf"\.|{_CHARACTER}|{_CLASS_ESCAPE}|{_CHARACTER_ESCAPE}"), _character_class(encoding)
    )
    boundary = compiled(r"[\^$]|\\[bB]")
    quantifier = _quantifier(encoding)
    close, bar = encoding.text(")"), encoding.text("|")
    disjunction = star(union(boundary, concat(simple, optional(quantifier)), bar))
    for _ in range(_DEPTH):
        group = concat(compiled(rf"\((?:\?:|\?<{_GROUP_NAME}>)?"), disjunction, close)
        look = concat(compiled(r"\(\?<?[=!]"), disjunction, close)
        atom = concat(union(simple, group), optional(quantifier))
        disjunction = star(union(boundary, look, atom, bar))
    return intersection(disjunction, _without_octals(encoding), _with_one_name(encoding))


def _without_octals(encoding: Encoding) -> Lexeme:
    r"""Texts without ``\0`` before a digit. This also refuses an escaped backslash before such digits.

    Not the complement of those with one: that a complement can no longer end shows only when all that the
    pattern may go on with has been tried. An automaton has no transition there.
    """
    backslash = {"\\": 1}
    rows = [
        _row(backslash, 0),
        _row({"0": 2, **backslash}, 0),
        _row({**dict.fromkeys(digits), **backslash}, 0),
    ]
    return encoding.automaton(rows, range(len(rows)))


def _with_one_name(encoding: Encoding) -> Lexeme:
    """Texts in which ``(?<``, and then neither ``=`` nor ``!``, stands at most once. No complement either."""
    rows: list[list[Interval]] = []
    for none, named in ((0, 4), (4, None)):
        opening = {"(": none + 1}
        rows += [
            _row(opening, none),
            _row({"?": none + 2, **opening}, none),
            _row({"<": none + 3, **opening}, none),
            _row({"=": none, "!": none}, named),
        ]
    return encoding.automaton(rows, range(len(rows)))


def _row(targets: Mapping[str, int | None], other: int | None) -> list[Interval]:
    """Transitions by some characters and by all others; None for none."""
    ends = {(ord(char), ord(char)): target for char, target in targets.items()}
    ends |= dict.fromkeys(subtract(ALL, make(ends)), other)
    return sorted((low, high, target) for (low, high), target in ends.items() if target is not None)


def _quantifier(encoding: Encoding) -> Lexeme:
    """``*``, ``+``, ``?`` and counts, lazy or not."""
    # ``{low,high}`` by the lengths of both, then by the first digit that differs; high has no leading zeros.
    options = ["[0-9]+,?", "[1-9]?[0-9],[1-9][0-9]{2,}", "[0-9],[1-9][0-9]", *_ordered_digits("")]
    for tens in range(1, 10):
        same_tens = "|".join(_ordered_digits(str(tens)))
        greater = f"|[0-9],[{tens + 1}-9][0-9]" if tens < 9 else ""
        options.append(f"{tens}(?:{same_tens}{greater})")
    return compile_regex(rf"(?:[*+?]|\{{(?:{'|'.join(options)})\}})\??", encoding=encoding)


def _ordered_digits(lead: str) -> list[str]:
    """Patterns of two digits in order, with a comma and ``lead`` between them."""
    return [f"{low},{lead}[{low}-9]" for low in range(10)]


def _character_class(encoding: Encoding) -> Lexeme:
    """``[...]``: members, ranges with their ends in order, and a hyphen first or last."""
    special = tuple((ord(char), ord(char)) for char in "-\\]^")
    member = subtract(ALL, special)
    starts = [char for low, high in intersect(member, ((0x20, 0x7E),)) for char in range(low, high + 1)]
    hyphen = encoding.text("-")
    # In blocks: pairs within one are listed, and whatever is beyond a block is an end for all of it.
    ranges: list[Lexeme] = []
    for first in range(0, len(starts), _BLOCK):
        block = starts[first : first + _BLOCK]
        near = [f"{chr(start)}-{chr(end)}" for start in block for end in block if start <= end]
        beyond = encoding.chars(subtract(member, ((0, block[-1]),)))
        block_chars = encoding.chars((char, char) for char in block)
        ranges += [encoding.texts(near), concat(block_chars, hyphen, beyond)]
    escape = compile_regex(rf"{_CLASS_ESCAPE}|{_CHARACTER_ESCAPE}|\\[b\-]", encoding=encoding)
    items = star(union(encoding.chars(member), *ranges, escape))
    opening = compile_regex(r"\[\^?-?", encoding=encoding)
    return concat(opening, items, optional(hyphen), encoding.text("]"))
