"""GBNF text to rules: the grammar notation of llama.cpp.

What it does: the same passes as `ebnf` with the other dialect: ``.`` is any character, names may
start with a digit, ``\\x`` takes two digits, a rule ends with its line unless a parenthesis is
open, and ``<[id]>`` is one token. Unlike llama.cpp, left recursion and repetition counts of any
size work, and a bound is never dropped.

What it does not: ``<text>`` and ``!<...>``, which need a vocabulary; they are refused by name.
"""

from __future__ import annotations

from ..rules import Rule
from .fuse import fuse
from .parser import parse
from .prune import prune
from .scanner import GBNF, Source

__all__ = ["rules_from_gbnf"]


def rules_from_gbnf(text: str, root_rule_name: str = "root") -> Rule:
    """The root rule of a GBNF grammar, with regular parts fused into lexemes.

    Args:
        text: The grammar. Characters stand for their UTF-8 bytes.
        root_rule_name: The rule that whole outputs must match.

    Raises:
        GrammarSyntaxError: The text is malformed, or uses something that is not supported.
        GrammarError: The root can never finish.

    >>> rules_from_gbnf('root ::= .* ("yes" | "no")').name
    'root'
    """
    return fuse(prune(parse(Source(text, GBNF), root_rule_name)))
