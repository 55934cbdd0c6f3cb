"""Random patterns on which ECMA-262 and the `regex` package agree, and texts to try them on."""

from __future__ import annotations

import os

import pytest
from hypothesis import strategies as st

regex = pytest.importorskip("regex", reason="the oracle for patterns is the regex package")

#: Patterns per property. Each is tried on eight texts: 1,300 and more make over 10,000 cases.
EXAMPLES = int(os.environ.get("MASKWRIGHT_EXAMPLES", "120"))

_CHARS = "ab-é\n"
_ATOMS = ["a", "b", "-", "é", r"\n", ".", "[ab]", "[^a]", r"\w", r"\W", r"\s", r"[^\n]", r"[\w-]"]
_ASSERTIONS = ["^", "$", r"\b", r"\B"]
_LOOKS = ["(?=", "(?!", "(?<=", "(?<!"]
_QUANTIFIERS = ["*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}", "*?", "+?", "{1,2}?"]


def texts() -> st.SearchStrategy[list[str]]:
    """Eight short texts over the alphabet of the patterns."""
    return st.lists(st.text(_CHARS, max_size=6), min_size=8, max_size=8)


def patterns(*, look: bool = True, max_leaves: int = 10) -> st.SearchStrategy[str]:
    """Patterns, with look-around or without."""
    quantifier = st.sampled_from(_QUANTIFIERS)
    atom = st.sampled_from(_ATOMS)
    base = st.one_of(atom, st.builds(str.__add__, atom, quantifier))
    if look:
        base = st.one_of(base, base, st.sampled_from(_ASSERTIONS))

    def bigger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        sequence = st.lists(inner, min_size=1, max_size=4).map("".join)
        choice = st.lists(sequence, min_size=1, max_size=3).map("|".join)
        options = [
            sequence,
            choice.map("(?:{})".format),
            st.builds("(?:{}){}".format, choice, quantifier),
            st.builds("(?<n{}>{})".format, st.uuids().map(lambda one: one.hex), sequence),
        ]
        if look:
            options.append(st.builds("{}{})".format, st.sampled_from(_LOOKS), choice))
        return st.one_of(options)

    whole = st.recursive(base, bigger, max_leaves=max_leaves)
    return st.lists(st.lists(whole, max_size=3).map("".join), min_size=1, max_size=2).map("|".join)


def expected(pattern: str, text: str, *, search: bool) -> bool | None:
    """What the oracle says; None when it gives up."""
    # ECMA's `$` is the very end, which Python spells \Z; ECMA's named groups need other names there.
    compiled = regex.compile(pattern.replace("$", r"\Z"), regex.ASCII | regex.VERSION0)
    try:
        return bool((compiled.search if search else compiled.fullmatch)(text, timeout=1))
    except TimeoutError:
        return None
