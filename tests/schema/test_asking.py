"""Objects that ask for some member: every small object is judged as jsonschema-rs judges it, in both orders."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import jsonschema_rs
import pytest

from maskwright.errors import SchemaError
from maskwright.schema import members
from tests.schema.language import Language, is_rounded

N: dict[str, Any] = {"type": "integer"}
S: dict[str, Any] = {"type": "string"}
OBJECTS: list[dict[str, Any]] = [
    dict(zip(names, values, strict=True))
    for size in range(4)
    for names in itertools.permutations(["a", "b", "c", "xy"], size)
    for values in itertools.product([1, "s", None], repeat=size)
]
#: Listed names, and what no single one of them may be for all.
KNOWN: dict[str, Any] = {"properties": {"a": {}, "b": {}, "c": {}}, "additionalProperties": False}


def no(**properties: Any) -> dict[str, Any]:
    """Some name is not among these: one of the others has to be there."""
    return {"not": {"properties": properties, "additionalProperties": False}}


def fails(pattern: str, schema: Any) -> dict[str, Any]:
    """Some member whose name matches is not what the schema says."""
    return {"not": {"patternProperties": {pattern: schema}}}


SCHEMAS: list[dict[str, Any]] = [
    {**KNOWN, "allOf": [no(a={}), no(b={}), no(c={})]},
    {**KNOWN, "allOf": [no(a={}), no(b={})], "minProperties": 2},
    {**KNOWN, "allOf": [no(a={}), no(b={})], "maxProperties": 1},
    {**KNOWN, "allOf": [fails("^[ab]$", N), fails("^[bc]$", S)]},
    # b can meet one of the two only.
    {**KNOWN, "allOf": [fails("^[ab]$", {"not": N}), fails("^[bc]$", {"not": S})]},
    {**KNOWN, "allOf": [fails("^[ab]$", {"not": N}), fails("^[bc]$", {"not": S})], "required": ["b"]},
    {**KNOWN, "allOf": [fails("^[ab]$", {"not": N}), fails("^[ab]$", {"not": S})], "maxProperties": 2},
    {**KNOWN, "allOf": [fails("^[abc]$", {"not": N}), fails("^[abc]$", {"not": S}), fails(".", N)]},
    {"properties": {"a": N}, "allOf": [fails("^x", N), fails("y$", S)]},
    {"properties": {"a": N}, "allOf": [fails("^x", N), fails("y$", S)], "minProperties": 2},
    {"properties": {"a": N}, "required": ["a"], "allOf": [no(a={}), fails("^[abx]", N)]},
    {"propertyNames": {"maxLength": 1}, "allOf": [fails("^[ab]$", N), fails("^[bc]$", N)]},
    {"propertyNames": {"enum": ["a", "b"]}, "allOf": [fails("a", N), fails("b", S)], "minProperties": 2},
    # Three of four names, in pairs that overlap.
    {"allOf": [{"not": {"propertyNames": {"not": {"enum": pair}}}} for pair in (["a", "b"], ["b", "c"])]},
    {
        "allOf": [{"not": {"propertyNames": {"not": {"enum": pair}}}} for pair in (["a", "b"], ["b", "c"])],
        "maxProperties": 1,
    },
    {
        "allOf": [{"not": {"propertyNames": {"not": {"enum": pair}}}} for pair in (["a", "b"], ["c", "b"])],
        "minProperties": 3,
    },
]


@pytest.fixture(params=[True, False], ids=["few names listed", "few names counted"])
def lists_few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Classes of few names as those of many, which are counted instead of being listed."""
    if not request.param:
        monkeypatch.setattr(members, "_FEW", 0)


@pytest.mark.usefixtures("lists_few")
@pytest.mark.parametrize("any_order", [False, True])
@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_all_small_objects(schema: dict[str, Any], any_order: bool) -> None:
    """In any order: exactly the valid ones. In declared order: listed names come first, as they are listed."""
    schema = {"type": "object", **schema}
    validator = jsonschema_rs.Draft202012Validator(schema)
    language = Language(schema, strict_mode=False, any_order=any_order)
    listed = list(schema.get("properties", {}))
    for instance in OBJECTS:
        places = [listed.index(name) if name in listed else len(listed) for name in instance]
        in_order = any_order or places == sorted(places)
        assert language.takes(instance) is (in_order and validator.is_valid(instance)), instance


@pytest.mark.usefixtures("lists_few")
@pytest.mark.parametrize("any_order", [False, True])
@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_walks_have_no_dead_end_and_end_valid(schema: dict[str, Any], any_order: bool) -> None:
    """Whatever is written first, what is asked for can still be met."""
    schema = {"type": "object", "additionalProperties": {"type": ["integer", "string"]}, **schema}
    validator = jsonschema_rs.Draft202012Validator(schema)
    language = Language(schema, strict_mode=False, max_whitespace_cnt=1, any_order=any_order)
    rng = random.Random(4)
    for _ in range(20):
        text = language.walk(rng)
        assert text is None or is_rounded(text) or validator.is_valid(json.loads(text)), text


def test_what_only_known_members_can_meet_is_not_passed_by() -> None:
    """The last member that can meet it is neither skipped nor written without meeting it."""
    schema = {"type": "object", **KNOWN, "allOf": [fails("^[ab]$", {"type": "null"}), no(c={})]}
    options: dict[str, Any] = {"any_whitespace": False, "separators": (",", ":")}
    declared = Language(schema, **options)
    assert declared.next_bytes('{"') == {"a", "b"}
    assert declared.next_bytes('{"a":null') == {","}
    assert declared.next_bytes('{"a":null,"') == {"b"}
    assert "n" not in declared.next_bytes('{"a":null,"b":')
    assert declared.next_bytes('{"a":1,"') == {"b", "c"}
    free = Language(schema, any_order=True, **options)
    assert free.next_bytes('{"b":null,"c":1,"') == {"a"}
    assert "n" not in free.next_bytes('{"b":null,"c":1,"a":')
    assert free.holds('{"c":1,"a":2,"b":null}')


def test_many_unions_of_closed_objects() -> None:
    """Eight kinds of parts, each closed, of which exactly one holds: thousands of ways to fail the others."""
    kinds = [
        {
            "type": "object",
            "properties": {"kind": {"enum": [f"k{n}"]}, **{f"p{n + m}": N for m in range(4)}},
            "required": ["kind"],
            "additionalProperties": False,
        }
        for n in range(8)
    ]
    # Without a discriminator each of the others fails for one of several names.
    loose = [{**kind, "properties": {**kind["properties"], "kind": S}} for kind in kinds]
    schema = {"oneOf": loose}
    validator = jsonschema_rs.Draft202012Validator(schema)
    language = Language(schema, any_order=True)
    for names in itertools.chain.from_iterable(itertools.combinations(range(11), size) for size in range(4)):
        value: dict[str, Any] = {"kind": "x", **{f"p{n}": 1 for n in names}}
        assert language.takes(value) is validator.is_valid(value), value


def test_a_class_of_many_names_that_several_things_are_asked_of() -> None:
    """Texts by two-letter language, of one of three kinds: 676 names are counted, not listed."""
    kinds = [{"patternProperties": {"^[a-z]{2}$": one}, "additionalProperties": False} for one in (S, N, {})]
    schema = {"type": "object", "oneOf": kinds, "minProperties": 1}
    validator = jsonschema_rs.Draft202012Validator(schema)
    language = Language(schema, strict_mode=False, any_whitespace=False)
    for value in (
        {"en": "s"},
        {"en": None},
        {"en": "s", "de": 1},
        {"de": 1},
        {"eng": None},
        {"en": 1, "de": None},
    ):
        assert language.takes(value) is validator.is_valid(value), value
    names = [
        f"{one}{other}" for one in "abcdefghijklmnopqrstuvwxyz" for other in "abcdefghijklmnopqrstuvwxyz"
    ]
    begun = json.dumps(dict.fromkeys(names[:-1], "s"))[:-1]
    assert language.next_bytes(begun) == {","}
    assert language.next_bytes(begun + ', "') == {"z"}
    assert '"' not in language.next_bytes(begun + ', "zz": ')


def test_contradictory_things_asked_of_one_member() -> None:
    """No value is both, and there is no second member to share them."""
    schema = {
        "type": "object",
        "properties": {"a": {}},
        "additionalProperties": False,
        "allOf": [fails("a", {"not": N}), fails("a", {"not": S})],
    }
    with pytest.raises(SchemaError, match="no value can meet"):
        Language(schema)


def test_given_values_are_judged_by_what_is_asked_for() -> None:
    """A const that stands beside it is kept or dropped."""
    asked = {"allOf": [fails("^[ab]$", N), fails("^x", S)]}
    values = [{"a": "s", "xy": 1}, {"a": 1, "xy": 1}, {"b": None, "xz": None}, {"a": "s", "xy": "s"}]
    language = Language({"enum": values, **asked}, strict_mode=False)
    validator = jsonschema_rs.Draft202012Validator(asked)
    assert [language.takes(value) for value in values] == [validator.is_valid(value) for value in values]
