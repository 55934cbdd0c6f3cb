"""What is left of a terminal, as texts."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright import GrammarCompiler, GrammarMatcher, TokenizerInfo
from maskwright.explain.residues import ResidueReader
from maskwright.kernel.explaining import walk, ways_on

COMPILER = GrammarCompiler(TokenizerInfo([bytes([byte]) for byte in range(256)] + ["</s>"]))


def residue(regex: str, begun: bytes = b"", *, is_json: bool = False) -> tuple[ResidueReader, int]:
    """A reader, and what is left of a terminal after some bytes."""
    matcher = GrammarMatcher(COMPILER.compile_regex(regex))
    assert matcher.accept_string(begun)
    ((node, matched, token_ids, rules),) = walk(matcher.fork(), b"").items(9)
    assert (matched, token_ids, [(rule.name, start) for rule, start in rules]) == (begun, (), [("regex", 0)])
    return ResidueReader(matcher.core, is_json=is_json), node


@pytest.mark.parametrize(
    ("regex", "begun", "texts"),
    [
        ("(red|reddish|blue)", b"re", [b"d", b"ddish"]),
        ("[ab]{2}", b"", [b"aa", b"ab", b"ba", b"bb"]),
        ("a?", b"", [b"", b"a"]),
        ("a*", b"", None),
        ("[a-z]", b"", None),
        ("(a|b){6}", b"", None),
    ],
)
def test_texts(regex: str, begun: bytes, texts: list[bytes] | None) -> None:
    reader, node = residue(regex, begun)
    assert reader.texts(node, begun) == texts


@pytest.mark.parametrize(
    ("regex", "forced"),
    [
        ("abc[0-9x]+", (b"abc", b"0123456789x", False)),
        ("abc", (b"abc", b"", True)),
        ("ab?", (b"a", b"b", True)),
        ("[ab]c", (b"", b"ab", False)),
        ("a{200}", (b"a" * 120, b"a", False)),
    ],
)
def test_forced(regex: str, forced: Any) -> None:
    reader, node = residue(regex)
    assert reader.forced(node, b"") == forced


@pytest.mark.parametrize(
    ("regex", "shortest"),
    [
        ("x*[0-9]{2}z", b"11z"),
        ("a*", b""),
        ("[^a-z]", b"1"),
        ("(long text|[a-c]{3})", b"aaa"),
        ("a{1000}", None),
    ],
)
def test_shortest(regex: str, shortest: bytes | None) -> None:
    reader, node = residue(regex)
    assert reader.shortest(node, b"") == shortest


def test_white_space_of_json_is_left_out_between_tokens_only() -> None:
    reader, node = residue('[ \\n]*,[ \\n]*"a[ b]c?"', is_json=True)
    assert reader.texts(node, b"") == [b',"a "', b',"a c"', b',"ab"', b',"abc"']
    reader, node = residue('[ \\n]*,[ \\n]*"a[ b]c?"')
    assert reader.texts(node, b"") is None
    reader, node = residue('"\\\\" [ab]', b'"\\" ', is_json=True)
    assert reader.texts(node, b'"\\" ') == [b"a", b"b"]
    reader, node = residue(" ?", is_json=True)
    assert reader.texts(node, b"") == [b""]
    reader, node = residue(" [ ]", is_json=True)
    assert reader.texts(node, b"") == [b"  "]


def test_ways_on_name_every_byte_once() -> None:
    reader, node = residue("(a|[0-9]x|b)?")
    ends, ways = ways_on(COMPILER.compile_regex("(a|[0-9]x|b)?")._core, node)
    assert ends
    assert sorted(members for members, _ in ways) == [b"0123456789", b"ab"]
    assert reader.texts(node, b"") is not None
