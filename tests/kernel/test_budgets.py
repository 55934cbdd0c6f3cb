"""A grammar whose lexemes explode fails alone: the table that it shares with others is not filled."""

import random

import pytest

import maskwright
from maskwright.kernel import compiled
from maskwright.lexeme import byte_set, complement, concat, intersection, literal, repeat, star
from maskwright.rules import Lex, Rule

INFO = maskwright.TokenizerInfo([bytes([byte]) for byte in range(256)] + ["</s>"])


def exploding() -> maskwright.Grammar:
    """Texts over a and b in which the 40th letter from the end is an a, and no c follows: 2**40 states."""
    letters = star(byte_set(b"ab"))
    late = concat(letters, literal(b"a"), repeat(byte_set(b"ab"), 40, 40))
    return maskwright.Grammar(Rule("root", Lex(intersection(late, complement(literal(b"c"))))))


def test_others_go_on():
    compiler = maskwright.GrammarCompiler(INFO)
    before = maskwright.GrammarMatcher(compiler.compile_regex("[a-z]+!"))
    bad = maskwright.GrammarMatcher(compiler.compile_grammar(exploding()))
    n_nodes = compiler._engine.table.n_nodes
    assert bad.accept_string("ab")
    text = "".join(random.Random(1).choices("ab", k=1_200_000))
    with pytest.raises(maskwright.LimitExceeded):
        bad.accept_string(text)
    assert compiler._engine.table.n_nodes <= n_nodes + compiled.MAX_GRAMMAR_NODES + 10_000
    assert before.accept_string("abc!")
    assert before.is_completed()
    after = maskwright.GrammarMatcher(compiler.compile_json_schema({"type": "object"}))
    assert after.accept_string("{}")
    bad.rollback(bad.n_steps)
    assert bad.accept_string("ab")
