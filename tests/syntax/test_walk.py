"""Traversals over rules."""

from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.lexeme import literal
from maskwright.rules import NOTHING, Alt, Call, Lex, Never, Repeat, Rule, Seq
from maskwright.syntax.walk import alt, calls_of, components, fold, reachable_rules, repeat, seq

A = Lex(literal(b"a"))


def rules_of(edges: list[set[int]]) -> list[Rule]:
    rules = [Rule(str(number)) for number in range(len(edges))]
    for rule, targets in zip(rules, edges, strict=True):
        rule.define(Alt(tuple(Call(rules[target]) for target in sorted(targets))))
    return rules


@st.composite
def call_graphs(draw):
    n_rules = draw(st.integers(1, 7))
    return [draw(st.sets(st.integers(0, n_rules - 1), max_size=3)) for _ in range(n_rules)]


@settings(deadline=None, max_examples=200)
@given(edges=call_graphs())
def test_components_are_mutual_reachability_with_callees_first(edges):
    rules = rules_of(edges)
    reach = [{at} for at in range(len(edges))]
    for _ in edges:
        for at, targets in enumerate(edges):
            reach[at] = reach[at].union(*(reach[target] for target in targets))
    found = [{int(rule.name) for rule in part} for part in components(rules[0])]
    assert sorted(at for part in found for at in part) == sorted(reach[0])
    assert {int(rule.name) for rule in reachable_rules(rules[0])} == reach[0]
    done: set[int] = set()
    for part in found:
        one = min(part)
        assert part == {at for at in reach[0] if at in reach[one] and one in reach[at]}
        done |= part
        assert all(edges[at] <= done for at in part)


def test_long_chains_do_not_recurse():
    rules = rules_of([{at + 1} for at in range(20_000)] + [{0}])
    assert [len(part) for part in components(rules[0])] == [20_001]
    assert len(reachable_rules(rules[0])) == 20_001
    deep = A
    for _ in range(20_000):
        deep = Repeat(deep, 0, 1)
    assert fold(deep, lambda node, parts: 1 + sum(parts)) == 20_001
    assert calls_of(deep) == []


def test_lazy_rules_are_not_expanded():
    def explode():
        raise AssertionError("expanded")

    lazy = Rule("lazy", explode)
    root = Rule("root", Call(lazy))
    assert reachable_rules(root) == [root, lazy]
    assert components(root) == [[lazy], [root]]


def test_constructors_drop_trivial_nodes():
    assert seq([]) is NOTHING
    assert seq([A]) is A
    assert seq([A, NOTHING]) is A
    assert seq([A, Never]) is Never
    assert isinstance(made := seq([A, Seq((A, A))]), Seq)
    assert made.parts == (A, A, A)
    assert alt([]) is Never
    assert alt([A, Never]) is A
    assert repeat(A, 1, 1) is A
    assert repeat(A, 0, 0) is NOTHING
    assert repeat(Never, 0, None) is NOTHING
    assert repeat(Never, 1, None) is Never
