"""Plain schemas: what is read off their text is what their branches say."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from maskwright import GrammarCompiler, GrammarMatcher, SchemaError, TokenizerInfo, allocate_token_bitmask
from maskwright.kernel import lexemes as kernel
from maskwright.lexeme import difference
from maskwright.schema import builder as builder_module
from maskwright.schema.builder import Builder
from maskwright.schema.options import SchemaOptions

S: dict[str, Any] = {"type": "string"}
PLAIN: list[dict[str, Any]] = [
    {"properties": {"a": S, "b": {"type": "object", "properties": {"c": S}}}},
    {"properties": {"a": S, "b": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"title": "x", "items": S}}},
    {
        "properties": {"b": {}, "a": S},
        "required": ["c", "a", "d", "c"],
        "description": "all kinds of members",
    },
    {"properties": {"a": False, "b": True}, "required": ["b"], "additionalProperties": False},
    {"properties": {"a": S}, "required": ["a", "b"], "additionalProperties": False},
    {"properties": {"a": S}, "required": ["b"], "additionalProperties": {"type": "integer"}},
    {"properties": {"a": S, "ü\n": S}, "additionalProperties": True, "x-own": 1},
    {"required": ["a"]},
    {"properties": {}, "required": ["a"]},
    {
        "properties": {"a": S},
        "$schema": "http://json-schema.org/draft-04/schema#",
        "id": "https://example.com",
    },
]
OTHER: list[dict[str, Any]] = [
    {},
    {"type": ["object", "null"], "properties": {"a": S}},
    {"properties": {"a": S}, "maxProperties": 1},
    {"properties": {"a": S}, "patternProperties": {"a": S}},
    {"properties": {"a": S}, "anyOf": [{"required": ["a"]}, {}]},
    {"properties": {"a": S}, "required": True},
    {"properties": {"a": S}, "minLength": 2},
    {"$ref": "#/$defs/x", "properties": {"a": S}, "$defs": {"x": {}}},
]


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("schema", PLAIN, ids=str)
def test_as_the_branch_says(schema: dict[str, Any], strict: bool) -> None:
    builder = Builder({"type": "object", **schema}, SchemaOptions(strict_mode=strict))
    obligations = builder.obligations(builder.documents.root)
    read = builder.plain_object(obligations)
    assert read is not None
    (branch,) = builder.branches(obligations)
    made = builder.object_of(branch)
    assert made is not None
    for shape in (read, made):
        assert (shape.low, shape.high, shape.musts, shape.clauses) == (0, None, [], [])
    assert [(m.name, m.obligations, m.required, m.is_listed) for m in read.members] == [
        (m.name, m.obligations, m.required, m.is_listed) for m in made.members
    ]
    assert read.known == made.known
    assert [cell.obligations for cell in read.cells] == [cell.obligations for cell in made.cells]
    for one, other in zip(read.cells, made.cells, strict=True):
        assert kernel.is_empty(difference(one.key, other.key))
        assert kernel.is_empty(difference(other.key, one.key))


@pytest.mark.parametrize("schema", OTHER, ids=str)
def test_left_to_the_general_way(schema: dict[str, Any]) -> None:
    builder = Builder({"type": "object", **schema}, SchemaOptions())
    assert builder.plain_object(builder.obligations(builder.documents.root)) is None


@pytest.mark.parametrize("value", ["\ud800", ["\ud800"], {"a": "\ud800"}, {"\ud800": 1}])
def test_what_has_no_utf8_is_no_value(value: Any) -> None:
    """A property whose only value cannot be written is not begun, and must not be required."""
    schema = {"type": "object", "properties": {"a": {"const": value}, "b": {"enum": [value]}}}
    matcher = GrammarMatcher(_compiled(schema, {}))
    assert matcher.find_jump_forward_string() == "{"
    assert matcher.accept_string("{")
    assert not matcher.accept_string('"')
    assert _compiled({**schema, "required": ["b"]}, {})[1] == "#/properties/b"


def test_a_name_that_has_no_utf8_is_no_member() -> None:
    schema = {"type": "object", "properties": {"\ud800": {"type": "integer"}, "a": {"type": "integer"}}}
    matcher = GrammarMatcher(_compiled(schema, {}))
    assert matcher.accept_string('{"a": 1}')
    assert _compiled({**schema, "required": ["\ud800"]}, {})[1] == "#"


class _Maker:
    """Draws schemas of the plain kinds, and now and then what is just not plain."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def schema(self, depth: int = 3) -> Any:
        rng = self._rng
        kinds = ["scalar", "scalar", "types", "enum", "length", "format", "odd", "ref"]
        kinds += ["object", "object", "array", "union"] if depth else []
        made = getattr(self, f"_{rng.choice(kinds)}")(depth - 1)
        if isinstance(made, dict) and "$ref" not in made and rng.random() < 0.3:
            made = {"description": "a, {b}", **made, "x-unknown": 1}
        return made

    def _scalar(self, depth: int) -> Any:
        return {
            "type": self._rng.choice(["string", "integer", "number", "boolean", "null", "array", "object"])
        }

    def _types(self, depth: int) -> Any:
        return {"type": self._rng.sample(["string", "integer", "null", "boolean", "number"], 2)}

    def _enum(self, depth: int) -> Any:
        texts = self._rng.sample(["", "a", "ab", 'q"', "é", "\n", "\ud800"], self._rng.randint(1, 4))
        enum = self._rng.choice([texts, texts, [*texts, 1, None, True], [0, -1], [1.0, "a"], [[1]]])
        made = {"enum": enum} if self._rng.random() < 0.7 else {"const": enum[0]}
        return made if self._rng.random() < 0.5 else {"type": self._rng.choice(["string", "integer"]), **made}

    def _format(self, depth: int) -> Any:
        kind = self._rng.choice(["string", "string", "integer", ["string", "null"]])
        return {
            "type": kind,
            "format": self._rng.choice(["date", "ipv4", "uuid", "int64", "topic", "hostname"]),
        }

    def _length(self, depth: int) -> Any:
        bounds = {"minLength": self._rng.randint(0, 2), "maxLength": self._rng.randint(1, 3)}
        kept = self._rng.sample(sorted(bounds), self._rng.randint(1, 2))
        return {"type": "string", **{key: bounds[key] for key in kept}}

    def _odd(self, depth: int) -> Any:
        odd = [
            True,
            False,
            {},
            {"type": "string", "maxItems": 3},
            {"type": "integer", "minimum": 5, "maximum": 4},
        ]
        odd += [
            {"enum": [1, "a"]},
            {"const": "c"},
            {"type": "array", "maxItems": 0},
            {"type": ["string", "object"]},
        ]
        odd += [{"type": "string", "minLength": 2, "maxLength": 1}, {"type": "string", "maxLength": 2.0}]
        return self._rng.choice(odd)

    def _ref(self, depth: int) -> Any:
        return {"$ref": self._rng.choice(["#", "#/$defs/d", "#/$defs/e"])}

    def _object(self, depth: int) -> Any:
        rng = self._rng
        names = rng.sample(["a", "b", "ab", "é", 'c"d'], rng.randint(0, 3))
        made: dict[str, Any] = {"type": "object", "properties": {name: self.schema(depth) for name in names}}
        if rng.random() < 0.6:
            made["required"] = rng.sample([*names, "z"], rng.randint(0, len(names)))
        if rng.random() < 0.6:
            made["additionalProperties"] = rng.choice([True, False, self.schema(depth)])
        return made

    def _array(self, depth: int) -> Any:
        made = {"type": "array", "items": self.schema(depth)}
        for keyword in ("minItems", "maxItems"):
            if self._rng.random() < 0.3:
                made[keyword] = self._rng.randint(0, 3)
        return made

    def _union(self, depth: int) -> Any:
        keyword = self._rng.choice(["anyOf", "oneOf"])
        return {keyword: [self.schema(depth) for _ in range(self._rng.randint(1, 3))]}

    def whole(self) -> Any:
        """A schema with two definitions."""
        whole = self._object(3)
        return {**whole, "$defs": {"d": self.schema(2), "e": self.schema(1)}}


_INFO = TokenizerInfo([bytes([byte]) for byte in range(256)] + [b'"a', b'": ', b'":[', b"},", b"</s>"])


def _compiled(schema: Any, options: dict[str, Any]) -> Any:
    try:
        return GrammarCompiler(_INFO, cache_enabled=False).compile_json_schema(schema, **options)
    except SchemaError as error:
        return error.message, error.pointer


@pytest.mark.parametrize("seed", range(60))
def test_masks_are_those_of_the_general_way(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    schema = _Maker(rng).whole()
    choices: list[dict[str, Any]] = [{}, {"any_order": True}, {"any_whitespace": False, "indent": 1}]
    choices += [{"format_assertion": False}, {"any_spelling": True}, {"integer_spelling": "json"}]
    options = {"strict_mode": rng.random() < 0.5, **rng.choice(choices)}
    plain = _compiled(schema, options)
    with monkeypatch.context() as patch:
        patch.setattr(builder_module, "plain_expr", lambda *_: None)
        patch.setattr(builder_module, "inline_expr", lambda *_: None)
        general = _compiled(schema, options)
        if isinstance(plain, tuple) or isinstance(general, tuple):
            assert plain == general
            return
        # Where layout depends on depth there is no end; walks stay near the root.
        assert general.prepare(3000) or "indent" in options
    for _ in range(6):
        _walk(rng, GrammarMatcher(plain), GrammarMatcher(general))


def _walk(rng: random.Random, one: GrammarMatcher, other: GrammarMatcher) -> None:
    """Both go the same random way, and allow the same at each step."""
    masks = allocate_token_bitmask(2, _INFO.vocab_size)
    for _ in range(60):
        one.fill_next_token_bitmask(masks, 0)
        other.fill_next_token_bitmask(masks, 1)
        assert np.array_equal(masks[0], masks[1])
        legal = np.flatnonzero(np.unpackbits(masks[0].view(np.uint8), bitorder="little")).tolist()
        # White space is dull, and so are the characters of texts.
        telling = [token for token in legal if token > 0x20 and not 0x80 <= token < 0x100] or legal
        token = rng.choice(telling if rng.random() < 0.9 else legal)
        assert one.accept_token(token)
        assert other.accept_token(token)
        if one.is_terminated():
            return
