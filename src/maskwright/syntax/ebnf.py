"""EBNF text to rules: the dialect that XGrammar reads, a superset of GBNF's core.

What it does: scan, parse, prune, fuse. The notation is described in ``docs/ebnf.md``; whatever
of it cannot be enforced is refused by name, with line and column.
"""

from __future__ import annotations

from ..rules import Rule
from .fuse import fuse
from .parser import parse
from .prune import prune
from .scanner import EBNF, Source

__all__ = ["rules_from_ebnf"]


def rules_from_ebnf(text: str, *, root_rule_name: str = "root") -> Rule:
    """The root rule of an EBNF grammar, with regular parts fused into lexemes.

    Args:
        text: The grammar. Characters stand for their UTF-8 bytes.
        root_rule_name: The rule that whole outputs must match.

    Raises:
        GrammarSyntaxError: The text is malformed, or uses something that is not supported.
        GrammarError: The root can never finish.

    >>> rules_from_ebnf('root ::= "a" [0-9]+').name
    'root'
    """
    return fuse(prune(parse(Source(text, EBNF), root_rule_name)))
