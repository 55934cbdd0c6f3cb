"""The rules for a label of an internationalised domain name, each an automaton over characters.

A rule tells few kinds of characters apart and remembers little of them. All rules at once have 12,000 states,
of which a mask visits some hundred, so the kernel intersects them as it goes.

Which characters a label has is not said here but by `CHARACTERS` and `PLAIN`. What a rule does with others is
of no account, so they are taken for what their neighbours are: a rule then has few ranges.

Rejected: languages of bad labels and the complement of their union. Behind each byte is then another set of
patterns that may have begun, and one mask for 128,000 tokens made a million of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from typing import Final, TypeVar

from ...lexeme import Lexeme
from ...regex import Encoding
from ...regex.bytetrie import Interval
from ...regex.charset import Ranges, make, subtract, unite
from ...regex.classes import property_set, unpack
from . import idna_tables as tables

__all__ = ["CHARACTERS", "PLAIN", "label_rules"]

Name = TypeVar("Name", bound=Hashable)
State = TypeVar("State", bound=Hashable)


def _only(chars: str) -> Ranges:
    return make((ord(char), ord(char)) for char in chars)


def _script(*names: str) -> Ranges:
    return unite(*(property_set("sc", name) or () for name in names))


_MIDDLE_DOT, _KERAIA, _KATAKANA_DOT = _only("\u00b7"), _only("\u0375"), _only("\u30fb")
_GERESH, _NON_JOINER, _JOINER = _only("\u05f3\u05f4"), _only("\u200c"), _only("\u200d")
_DIGITS: Final[Ranges] = ((0x660, 0x669), (0x6F0, 0x6F9))
#: Letters, digits and the hyphen, of which plain and encoded labels consist.
PLAIN: Final[Ranges] = ((0x2D, 0x2D), (0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A))
#: PVALID, CONTEXTJ and CONTEXTO of RFC 5892, of which U-labels consist.
CHARACTERS: Final = unite(
    unpack(tables.VALID), _MIDDLE_DOT, _KERAIA, _KATAKANA_DOT, _GERESH, _NON_JOINER, _JOINER, _DIGITS
)


def label_rules(encoding: Encoding) -> list[Lexeme]:
    """What a label of `CHARACTERS`, or one of `PLAIN`, must all be."""
    return [
        _hyphens(encoding),
        _neighbours(encoding),
        _joiners(encoding),
        _direction_and_katakana_dot(encoding),
        _order_of_marks(encoding),
        *_compositions(encoding),
    ]


# ---- the rules -------------------------------------------------------------------------------------------


def _hyphens(encoding: Encoding) -> Lexeme:
    """RFC 5891 sections 4.2.3.1 and 4.2.3.2: hyphens, and a mark in front.

    No hyphen at either end, nor in both the third and the fourth place, unless ``xn`` stands before them and
    plain characters after them.
    """
    kinds = {"-": _only("-"), "x": _only("Xx"), "n": _only("Nn"), "mark": unpack(tables.MARK)}
    kinds["plain"] = subtract(PLAIN, unite(kinds["-"], kinds["x"], kinds["n"]))

    # States are named after what was read: "a" is any character, "A" three or more, "p" plain ones.
    def step(state: str, kind: str | None) -> str | None:
        last = "-" if kind == "-" else "a"
        if not state:
            return None if kind in ("-", "mark") else "x" if kind == "x" else "a"
        if state == "x" and kind == "n":
            return "xn"
        if state == "xn-" and kind == "-":
            return "xn--"
        if state.startswith("xn--"):
            return "xn--" if kind == "-" else "xn--p" if kind in ("x", "n", "plain") else None
        if state in ("x", "a"):
            return f"a{last}"
        if state in ("xn", "aa", "a-") and kind == "-":
            return "xn-" if state == "xn" else "aa-"
        if state in ("xn-", "aa-") and kind == "-":
            return None
        return f"A{last}"

    return _rule(encoding, kinds, "", step, lambda state: state != "" and not state.endswith("-"))


def _neighbours(encoding: Encoding) -> Lexeme:
    """RFC 5892 appendices A.3 to A.6: what stands beside a middle dot, a keraia, a geresh or gershayim."""
    kinds = {
        "l": _only("l"),
        "dot": _MIDDLE_DOT,
        "keraia": _KERAIA,
        "greek": subtract(_script("Greek"), _KERAIA),
        "geresh": _GERESH,
        "hebrew": subtract(_script("Hebrew"), _GERESH),
    }

    def step(state: str, kind: str | None) -> str | None:
        if (state == "dot" and kind != "l") or (state == "keraia" and kind not in ("greek", "keraia")):
            return None
        if (kind == "dot" and state != "l") or (kind == "geresh" and state != "hebrew"):
            return None
        # Geresh and gershayim are Hebrew letters, the keraia is a Greek one.
        return "hebrew" if kind == "geresh" else kind if kind in ("l", "dot", "keraia", "hebrew") else "other"

    return _rule(encoding, kinds, "other", step, lambda state: state not in ("dot", "keraia"))


def _joiners(encoding: Encoding) -> Lexeme:
    """RFC 5892 appendices A.1 and A.2: after a virama, or (the non-joiner) between joining letters."""
    kinds = _kinds(
        {
            "virama": unpack(tables.VIRAMA),
            "joins after": unpack(tables.JOINS_AFTER),
            "joins before": unpack(tables.JOINS_BEFORE),
            "transparent": unpack(tables.TRANSPARENT),
            "non-joiner": _NON_JOINER,
            "joiner": _JOINER,
        }
    )

    # Whether a virama was read last; whether a letter that joins was, apart from transparent characters;
    # whether one that joins must still come.
    def step(state: tuple[bool, bool, bool], kind: frozenset[str] | None) -> tuple[bool, bool, bool] | None:
        virama, joined, wanted = state
        kind = kind or frozenset()
        if wanted and not ("joins before" in kind or "transparent" in kind):
            return None
        wanted = wanted and "joins before" not in kind
        if "joiner" in kind and not virama:
            return None
        if "non-joiner" in kind and not virama:
            if not joined:
                return None
            wanted = True
        return "virama" in kind, "joins after" in kind or (joined and "transparent" in kind), wanted

    return _rule(encoding, kinds, (False, False, False), step, lambda state: not state[2])


def _direction_and_katakana_dot(encoding: Encoding) -> Lexeme:
    """RFC 5893 section 2, rules 1 to 4, for labels with a right-to-left character; RFC 5892 appendix A.7.

    With a katakana middle dot there is Hiragana, Katakana or Han, all of which run from left to right, so no
    right-to-left label has one. As rules of their own the two would leave that to be found out by a search
    through all other rules.

    That Arabic-Indic and extended digits do not mix (RFC 5892 appendices A.8 and A.9) is rule 4 here: the
    former are Arabic numbers, the latter European ones.
    """
    kinds = {
        "letter": unpack(tables.RIGHT_TO_LEFT),
        "arabic": unpack(tables.ARABIC_NUMBER),
        "european": unpack(tables.EUROPEAN_NUMBER),
        "mark": unpack(tables.NONSPACING),
        "neutral": subtract(unpack(tables.NEUTRAL), _KATAKANA_DOT),
        "dot": _KATAKANA_DOT,
        "japanese": _script("Hiragana", "Katakana", "Han"),
    }

    start = ("", "")
    ends = {("left to right", ""), ("left to right", "japanese")}
    ends |= {("right to left", numbers) for numbers in ("", "arabic", "european")}

    # Of a left-to-right label: whether there is a dot, or Japanese. Of a right-to-left one: whether it may
    # end here, marks apart, and the kind of its numbers.
    def step(state: tuple[str, str], kind: str | None) -> tuple[str, str] | None:
        direction, seen = state
        if state == start and kind == "letter":
            return "right to left", ""
        if direction in ("", "left to right"):
            if kind in ("letter", "arabic"):
                return None
            return "left to right", kind if kind in ("dot", "japanese") and seen != "japanese" else seen
        if kind in (None, "dot", "japanese"):
            return None
        if kind in ("arabic", "european"):
            return ("right to left", kind) if seen in ("", kind) else None
        if kind == "mark":
            return state
        return "right to left" if kind == "letter" else "unfinished", seen

    return _rule(encoding, kinds, start, step, lambda state: state in ends)


def _order_of_marks(encoding: Encoding) -> Lexeme:
    """RFC 5891 section 4.1, normal form C: combining classes do not fall, but to 0."""
    kinds = {number: unpack(packed) for number, packed in tables.COMBINING.items()}

    def step(state: int, kind: int | None) -> int | None:
        return None if kind is not None and kind < state else kind or 0

    return _rule(encoding, kinds, 0, step)


def _compositions(encoding: Encoding) -> list[Lexeme]:
    """RFC 5891 section 4.1, normal form C: no two characters that have a composed form.

    One automaton for the characters of each combining class that compose with one before them. Marks of lower
    classes may stand in between, and through them is remembered with which of these that one composes.
    """
    class_of = {
        char: number
        for number, packed in tables.COMBINING.items()
        for low, high in unpack(packed)
        for char in range(low, high + 1)
    }
    by_class: dict[int, dict[tuple[str, int], Ranges]] = defaultdict(dict)
    for index, (packed, firsts) in enumerate(tables.COMPOSING):
        for low, high in unpack(packed):
            for char in range(low, high + 1):
                sets = by_class[class_of.get(char, 0)]
                sets["second", index] = unite(sets.get(("second", index), ()), ((char, char),))
                sets["first", index] = unpack(firsts)

    start: frozenset[int] = frozenset()

    # The state is the indexes of what may not follow.
    def step(state: frozenset[int], kind: frozenset[tuple[str, int]] | None) -> frozenset[int] | None:
        named = kind or frozenset()
        if any(("second", index) in named for index in state):
            return None
        begun = frozenset(index for name, index in named if name == "first")
        return begun | state if ("lower", 0) in named else begun

    rules = []
    for number, sets in by_class.items():
        lower = [unpack(packed) for other, packed in tables.COMBINING.items() if other < number]
        if lower:
            sets["lower", 0] = unite(*lower)
        rules.append(_rule(encoding, _kinds(sets), start, step))
    return rules


# ---- making automata of them -----------------------------------------------------------------------------


def _rule(
    encoding: Encoding,
    kinds: Mapping[Name, Ranges],
    start: State,
    step: Callable[[State, Name | None], State | None],
    is_end: Callable[[State], bool] = lambda state: True,
) -> Lexeme:
    """The automaton of all states that can be reached.

    Args:
        encoding: How characters are spelled.
        kinds: Disjoint sets of characters; all others are of the kind None.
        start: The first state.
        step: From a state and the kind of the next character to the next state; None if that breaks the rule.
        is_end: Whether a label may end in a state.
    """
    names: list[Name | None] = [None, *kinds]
    number = {start: 0}
    states = [start]
    table = []
    for state in states:
        targets = []
        for name in names:
            target = step(state, name)
            if target is not None and target not in number:
                number[target] = len(states)
                states.append(target)
            targets.append(-1 if target is None else number[target])
        table.append(targets)
    ends = [place for place, state in enumerate(states) if is_end(state)]
    return encoding.automaton_of_kinds(_cover(list(kinds.values())), table, ends)


def _cover(sets: list[Ranges]) -> list[Interval]:
    """All code points as ranges of members of the same set, numbered from 1; 0 for members of none.

    A character that no label has goes to the range before it.
    """
    others = subtract(unite(CHARACTERS, PLAIN), unite((), *sets))
    cover: list[Interval] = []
    for low, high, which in sorted(
        (low, high, which) for which, ranges in enumerate([others, *sets]) for low, high in ranges
    ):
        if cover and cover[-1][2] == which:
            cover[-1] = (cover[-1][0], high, which)
        else:
            if cover:
                cover[-1] = (cover[-1][0], low - 1, cover[-1][2])
            cover.append((low if cover else 0, high, which))
    cover[-1] = (cover[-1][0], 0x10FFFF, cover[-1][2])
    return cover


def _kinds(sets: Mapping[Name, Ranges]) -> dict[frozenset[Name], Ranges]:
    """Characters by the names of all sets that they are in; those in none are left out."""
    edges = sorted(
        ((edge, name) for name, ranges in sets.items() for low, high in ranges for edge in (low, high + 1)),
        key=lambda entry: entry[0],
    )
    found: dict[frozenset[Name], list[tuple[int, int]]] = defaultdict(list)
    inside: frozenset[Name] = frozenset()
    begin = 0
    for edge, name in edges:
        if inside and edge > begin:
            found[inside].append((begin, edge - 1))
        inside ^= {name}
        begin = edge
    return {names: make(ranges) for names, ranges in found.items()}
