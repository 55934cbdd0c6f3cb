"""Unique items whose members come in any order: each order of a value is taken, and no second one after it."""

from __future__ import annotations

import json
import random
from itertools import permutations
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright import GrammarMatcher
from maskwright.errors import SchemaError
from tests.schema.language import STANDARD, Language

INTEGER = {"type": "integer"}
FLAG = {"type": "boolean"}
DEFINE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "expression": {"type": "string"}},
    "required": ["name", "expression"],
}
PAIR = {
    "type": "object",
    "properties": {"a": FLAG, "b": FLAG},
    "required": ["a", "b"],
    "additionalProperties": False,
}
NESTED = {
    "type": "object",
    "properties": {"in": PAIR, "list": {"type": "array", "items": PAIR, "maxItems": 2}},
    "additionalProperties": INTEGER,
    "maxProperties": 3,
}
ITEMS: dict[str, Any] = {
    "anything": True,
    "open": DEFINE,
    "closed": PAIR,
    "nested": NESTED,
    "given": {"enum": [{"a": 1, "b": [{"x": 1, "y": 2}]}, {"a": 1}, 1, [{"x": 1, "y": 2}]]},
    "either": {"anyOf": [PAIR, DEFINE, INTEGER, {"type": "array", "items": PAIR}]},
    "bounded": {"type": "object", "additionalProperties": INTEGER, "minProperties": 2, "maxProperties": 3},
    "needed": {"type": "object", "required": ["x"], "minProperties": 2},
}


def unique(items: Any, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, "uniqueItems": True, **more}


def standard(schema: dict[str, Any]) -> Language:
    return Language(schema, **STANDARD)


# -- instances: no two names start alike, and no array of unique items is inside -------------------------

SCALARS = st.one_of(st.booleans(), st.integers(0, 2), st.sampled_from(["", "x"]))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(
            st.sampled_from(["a", "b", "in", "list", "name", "expression", "x"]), inner, max_size=3
        ),
        st.fixed_dictionaries({"name": st.just("n"), "expression": st.sampled_from(["", "e"])}),
        st.fixed_dictionaries({"a": st.booleans(), "b": st.booleans()}),
    ),
    max_leaves=6,
)


def shuffled(value: Any, rng: random.Random) -> Any:
    """An equal value with the members of its objects in another order."""
    if isinstance(value, dict):
        members = [(name, shuffled(item, rng)) for name, item in value.items()]
        rng.shuffle(members)
        return dict(members)
    return [shuffled(item, rng) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("items", ITEMS.values(), ids=ITEMS)
def test_arrays_are_judged_as_the_standard_says(items: Any) -> None:
    """Also where an item comes twice, in two orders."""
    schema = unique(items)
    validator = jsonschema_rs.Draft202012Validator(schema)
    language = standard(schema)

    @settings(max_examples=60)
    @given(st.lists(VALUES, max_size=3), st.booleans(), st.randoms(use_true_random=False))
    def judge(array: list[Any], again: bool, rng: random.Random) -> None:
        if again and array:
            array = [*array, rng.choice(array)]
        array = shuffled(array, rng)
        assert language.takes(array) is validator.is_valid(array), array

    judge()


@pytest.mark.parametrize("items", ITEMS.values(), ids=ITEMS)
def test_all_orders_of_an_item_are_one_value(items: Any) -> None:
    """Whatever is written twice in different orders is taken once."""
    language = standard(unique(items))
    rng = random.Random(3)
    n_orders = 0
    for value in ({"a": True, "b": False}, {"name": "n", "expression": "e", "x": 2}, {"x": 1, "b": 2}):
        orders = [dict(order) for order in permutations(value.items())]
        if language.takes([value]):
            n_orders += len(orders)
            assert all(language.takes([order]) for order in orders)
            assert not any(language.takes([rng.choice(orders), order]) for order in orders)
    assert n_orders or items == ITEMS["nested"] or items == ITEMS["given"]


@pytest.mark.parametrize("items", ITEMS.values(), ids=ITEMS)
@pytest.mark.parametrize("any_order", [True, False])
def test_walks_have_no_dead_end_and_end_valid(items: Any, any_order: bool) -> None:
    schema = unique(items, minItems=1)
    validator = jsonschema_rs.Draft202012Validator(schema)
    language = Language(schema, strict_mode=False, any_order=any_order, max_whitespace_cnt=1)
    rng = random.Random(8)
    texts = [text for _ in range(10) if (text := language.walk(rng, 200)) is not None]
    assert all(validator.is_valid(json.loads(text)) for text in texts), texts


@pytest.mark.parametrize("items", ITEMS.values(), ids=ITEMS)
def test_shortest_completions_are_valid(items: Any) -> None:
    """From wherever a valid array that holds an item in two orders has to stop."""
    schema = unique(items, minItems=2)
    validator = jsonschema_rs.Draft202012Validator(schema)
    language = standard(schema)
    for order in ([("a", True), ("b", False)], [("name", "n"), ("expression", "e")], [("x", 1), ("b", 2)]):
        text = json.dumps([dict(order), dict(reversed(order))]).encode()
        matcher = GrammarMatcher(language._compiled)
        for place, byte in enumerate(text):
            completion = matcher.find_shortest_completion()
            assert completion is not None
            assert validator.is_valid(json.loads(text[:place] + completion)), (text[:place], completion)
            if not matcher.accept_token(byte):
                break


def test_rollback_and_forks_take_the_orders_along() -> None:
    language = standard(unique(DEFINE))
    matcher = GrammarMatcher(language._compiled)
    first, swapped = '{"name": "n", "expression": ""}', '{"expression": "", "name": "n"}'
    assert matcher.accept_string(f"[{first}, ")
    fork = matcher.fork()
    assert not matcher.accept_string(swapped)
    assert matcher.accept_string(swapped[:-1])  # another member may still come
    assert not matcher.accept_string("}")
    assert matcher.accept_string(', "x": 1}')
    assert fork.accept_string('{"expression": "new", "name": "n"}')
    assert not fork.accept_string(", " + swapped)
    matcher.rollback(3)
    assert matcher.accept_string("[" + swapped)
    assert not matcher.fork().accept_string(", " + first)
    assert matcher.accept_string("]")
    assert fork.accept_string(', {"x": 1, "name": "n", "expression": ""}]')
    assert matcher.is_completed()
    assert fork.is_completed()


def test_values_are_counted_not_texts() -> None:
    """No comma is written once all values are used up, however many orders each has."""
    compact = {"any_whitespace": False, "separators": (",", ":"), "strict_mode": False, "any_order": True}
    language = Language(unique(PAIR, minItems=4), **compact)
    pairs = ['{"a":false,"b":false}', '{"b":true,"a":false}', '{"a":true,"b":false}', '{"b":true,"a":true}']
    assert language.next_bytes("[" + ",".join(pairs[:3])) == {","}
    assert language.next_bytes("[" + ",".join(pairs)) == {"]"}
    with pytest.raises(SchemaError, match="no value can meet"):
        Language(unique(PAIR, minItems=5), **compact)
    names = "abcdefghijkl"
    one = {name: {"const": 0} for name in names}
    fixed = {"type": "object", "properties": one, "required": list(names), "additionalProperties": False}
    language = Language(unique(fixed), **compact)
    assert language.next_bytes("[{" + ",".join(f'"{name}":0' for name in reversed(names)) + "}") == {"]"}


def test_a_position_that_may_use_up_another_in_any_order_is_refused() -> None:
    given = {"const": {"a": 1, "b": 2}}
    with pytest.raises(SchemaError, match="used up before it"):
        standard({"type": "array", "prefixItems": [{"type": "object"}, given], "uniqueItems": True})


def test_what_is_never_written_is_said() -> None:
    language = standard(unique({"type": "object", "additionalProperties": INTEGER}))
    assert language.takes([{"b": 1, "a": 2}, {"a": 1, "b": 2}])
    assert not language.takes([{"aa": 1, "ab": 2}])
    (note,) = [e.note for e in language.report.complete().entries if e.keyword == "uniqueItems"]
    assert note.endswith("objects in which two open names start alike")
    # Listed names may start as they like.
    assert standard(unique(DEFINE)).takes([{"names": 1, "expression": "", "name": ""}])


def test_unique_arrays_inside_items() -> None:
    """Their values in any order; what is endless starts differently."""
    inside = {"type": "array", "uniqueItems": True}
    listed = standard(unique({**inside, "items": {"enum": [f"v{n}" for n in range(30)]}}))
    assert listed.takes([["v9", "v10"], ["v10", "v9"]])
    assert not listed.takes([["v9", "v9"]])
    assert not listed.takes([["v9"], ["v9"]])
    endless = standard(unique({**inside, "items": {"type": "string"}}))
    assert endless.takes([["b", "a"], ["a", "b"]])
    assert not endless.takes([["aa", "ab"]])


# -- as declared -----------------------------------------------------------------------------------------


def test_listed_members_come_as_declared_and_before_others() -> None:
    """Where the order is not free: as in all other objects."""
    schema = unique(
        {"type": "object", "properties": {"z": INTEGER, "a": {"type": "object"}}, "required": ["z"]}
    )
    language = Language(schema, strict_mode=False)
    assert language.takes([{"z": 1, "a": {"d": 1, "c": 2}, "y": 3, "b": 4}, {"z": 1}])
    assert language.takes([{"z": 1, "y": 3, "b": 4}])
    for refused in ({"a": {}, "z": 1}, {"y": 3, "z": 1}, {"z": 1, "y": 3, "a": {}}, {"a": {}}):
        assert not language.takes([refused])
    assert not language.takes([{"z": 1, "y": 3, "b": 4}, {"z": 1, "b": 4, "y": 3}])


def test_two_declared_orders_of_one_value() -> None:
    """The branches declare their members differently; the value comes once."""
    other = {**PAIR, "properties": {"b": FLAG, "a": FLAG}}
    language = Language(unique({"anyOf": [PAIR, other]}), strict_mode=False)
    first, second = {"a": True, "b": False}, {"b": False, "a": True}
    assert language.takes([first])
    assert language.takes([second])
    assert not language.takes([first, second])
    assert not language.takes([second, first])
    given = {"type": "array", "prefixItems": [PAIR, {"const": second}], "uniqueItems": True}
    with pytest.raises(SchemaError, match="used up before it"):
        Language(given, strict_mode=False)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (1, 2), (2, 3), (3, 3), (0, 4)])
def test_bounds_on_members(low: int, high: int) -> None:
    """Of listed and open members together."""
    listed = {"type": "object", "properties": {"a": INTEGER, "b": INTEGER}, "required": ["b"]}
    schema = unique({**listed, "minProperties": low, "maxProperties": high})
    validator = jsonschema_rs.Draft202012Validator(schema)
    languages = [Language(schema, strict_mode=False, any_order=any_order) for any_order in (True, False)]
    for names in ("b", "ab", "abx", "bx", "bxy", "abxy", "a", "ax", ""):
        for language in languages:
            array = [dict.fromkeys(names, 1)]
            assert language.takes(array) is validator.is_valid(array), (names, low, high)
