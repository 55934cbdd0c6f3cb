"""Random JSON Schemas over all keywords, and random values near what they speak about.

A schema is drawn in groups (objects, arrays, strings, numbers), so that its keywords have something to do
with each other, and combinators are wrapped around. References go to `$defs`, or, below a keyword that
descends into the value, to the schema itself: "I hold if I fail" has no meaning that judges agree on.

Names, texts, patterns and numbers come from small pools: what is drawn twice by chance is what meets.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Sequence
from typing import Any, Final

__all__ = ["DRAFTS", "SchemaMaker", "mutated", "random_value"]

#: Drafts by name, with their `$schema` and how often they are drawn.
DRAFTS: Final = {
    "2020-12": ("https://json-schema.org/draft/2020-12/schema", 6),
    "2019-09": ("https://json-schema.org/draft/2019-09/schema", 1),
    "7": ("http://json-schema.org/draft-07/schema#", 1),
    "6": ("http://json-schema.org/draft-06/schema#", 1),
    "4": ("http://json-schema.org/draft-04/schema#", 1),
}

_TYPES: Final = ("null", "boolean", "string", "integer", "number", "array", "object")
_NAMES: Final = ("a", "b", "ab", "x_1", "c")
_TEXTS: Final = ("", "a", "b", "ab", "abc", "x_1", "é", "😀a", 'q"\\', "a\nb", "12")
_NUMBERS: Final = (0, 1, 2, 3, -1, 10, 7, 1.5, 0.5, -0.5, 0.3, 100, 12)
_PATTERNS: Final = (
    "^a",
    "b$",
    "^[ab]+$",
    ".",
    "^x_",
    "^.{2}$",
    "^(a|b)*$",
    "[0-9]+",
    "^(?!a)",
    "^\\S*$",
    "^a?b?$",
    "^$",
)
_SCALARS: Final = (None, True, False, *_NUMBERS, *_TEXTS)


def random_value(rng: random.Random, depth: int = 2) -> Any:
    """A JSON value with at most so many levels of containers."""
    kind = rng.random()
    if depth == 0 or kind < 0.45:
        return rng.choice(_SCALARS)
    if kind < 0.7:
        return [random_value(rng, depth - 1) for _ in range(rng.choice((0, 1, 1, 2, 2, 3)))]
    names = rng.sample(_NAMES, rng.choice((0, 1, 1, 2, 2, 3)))
    return {name: random_value(rng, depth - 1) for name in names}


def mutated(rng: random.Random, value: Any) -> Any:
    """A copy of a value with one place changed."""
    value = copy.deepcopy(value)
    if not isinstance(value, (dict, list)) or not value or rng.random() < 0.15:
        return _changed(rng, value)
    here = value
    while True:
        key = rng.choice(list(here) if isinstance(here, dict) else range(len(here)))
        if isinstance(here[key], (dict, list)) and here[key] and rng.random() < 0.7:
            here = here[key]
            continue
        if rng.random() < 0.3:
            del here[key]
        else:
            here[key] = _changed(rng, here[key])
        return value


def _changed(rng: random.Random, value: Any) -> Any:
    if isinstance(value, bool) or value is None or rng.random() < 0.3:
        return random_value(rng, 1)
    if isinstance(value, (int, float)):
        return rng.choice((value + 1, value - 1, -value, value * 2, value + 0.5))
    if isinstance(value, str):
        return rng.choice((value + "a", value[:-1], "b" + value, value * 2))
    if isinstance(value, list):
        return [*value, rng.choice(value) if value else 1]
    return {**value, rng.choice((*_NAMES, "new")): random_value(rng, 1)}


class SchemaMaker:
    """Draws the schemas of one draft.

    Args:
        rng: Where chance comes from.
        draft: A key of `DRAFTS`.
    """

    def __init__(self, rng: random.Random, draft: str) -> None:
        self.rng = rng
        self.draft = draft
        #: 4, 6, 7, 2019 or 2020: keywords came and went.
        self.year = int(draft[:4])
        self.place = "$defs" if self.year > 7 else "definitions"
        #: Of 2019-09, one keyword of these per schema: `contains` evaluates items only since 2020-12, but
        #: jsonschema-rs lets it do so before.
        self._not_drawn = rng.choice(("contains", "unevaluatedItems")) if self.year == 2019 else None

    def schema(self) -> dict[str, Any]:
        """A whole schema with its definitions."""
        whole = self._keywords(3, guarded=False)
        definitions = {}
        for name in ("d", "e"):
            definition = self._part(1, guarded=False, in_definition=True)
            definitions[name] = definition if isinstance(definition, dict) else {}
        if self.year <= 7:
            # Beside a reference the older drafts read nothing.
            whole = {"allOf": [whole]}
        return {"$schema": DRAFTS[self.draft][0], **whole, self.place: definitions}

    # ---- parts -----------------------------------------------------------------------------------

    def _part(self, depth: int, *, guarded: bool, in_definition: bool = False) -> Any:
        """A subschema.

        Args:
            depth: Levels of subschemas that it may have.
            guarded: Whether it speaks of a part of the value, so that it may refer to what it is in.
            in_definition: Whether a reference from here to a definition could be a circle.
        """
        rng = self.rng
        kind = rng.random()
        if kind < 0.08 and (guarded or not in_definition):
            targets = [f"#/{self.place}/d", f"#/{self.place}/e", *(["#"] if guarded else [])]
            return {"$ref": rng.choice(targets)}
        if kind < 0.14 and self.year > 4:
            return rng.random() < 0.8
        if kind < 0.3 or depth == 0:
            return self._leaf()
        return self._keywords(depth, guarded=guarded, in_definition=in_definition)

    def _leaf(self) -> dict[str, Any]:
        rng = self.rng
        kind = rng.random()
        if kind < 0.5:
            return {"type": rng.choice(_TYPES)}
        if kind < 0.6 and self.year > 4:
            return {"const": rng.choice(_SCALARS)}
        if kind < 0.75:
            return {"enum": rng.sample(_SCALARS, rng.choice((1, 2, 3)))}
        group = rng.choice((self._strings, self._numbers))
        return self._some(group(), 2)

    def _keywords(self, depth: int, *, guarded: bool, in_definition: bool = False) -> dict[str, Any]:
        rng = self.rng
        within = self._maker(depth - 1, guarded=True, in_definition=in_definition)
        beside = self._maker(depth - 1, guarded=guarded, in_definition=in_definition)
        groups = {
            "object": lambda: self._objects(within, beside),
            "array": lambda: self._arrays(within),
            "string": self._strings,
            "number": self._numbers,
        }
        chosen = rng.choices(list(groups), (5, 4, 2, 1))[0]
        schema = self._some(groups[chosen](), 4)
        if rng.random() < 0.4:
            schema["type"] = chosen
        elif rng.random() < 0.3:
            schema["type"] = rng.sample(_TYPES, rng.choice((1, 2, 3)))
        if rng.random() < 0.15:
            schema |= self._some(groups[rng.choice(list(groups))](), 1)
        if rng.random() < 0.45:
            schema |= self._combinators(beside)
        if rng.random() < 0.05:
            schema["enum"] = [random_value(rng) for _ in range(rng.choice((1, 2, 3)))]
        return schema

    def _maker(self, depth: int, *, guarded: bool, in_definition: bool) -> Callable[[], Any]:
        return lambda: self._part(depth, guarded=guarded, in_definition=in_definition)

    def _some(self, makers: dict[str, Callable[[], Any]], most: int) -> dict[str, Any]:
        count = min(len(makers), self.rng.randint(1, most))
        return {name: makers[name]() for name in self.rng.sample(list(makers), count)}

    # ---- groups of keywords ----------------------------------------------------------------------

    def _combinators(self, part: Callable[[], Any]) -> dict[str, Any]:
        rng = self.rng

        def several() -> list[Any]:
            return [part() for _ in range(rng.choice((1, 2, 2, 3)))]

        makers: dict[str, Callable[[], Any]] = dict.fromkeys(("allOf", "anyOf", "oneOf"), several)
        makers["not"] = part
        if self.year >= 7:
            makers["if"] = part
        found = self._some(makers, 2)
        if "if" in found:
            found |= self._some({"then": part, "else": part}, 2)
        return found

    def _strings(self) -> dict[str, Callable[[], Any]]:
        return {"minLength": self._small, "maxLength": self._small, "pattern": self._choice(_PATTERNS)}

    def _numbers(self) -> dict[str, Callable[[], Any]]:
        bound = self._choice(_NUMBERS)
        makers = {
            "minimum": bound,
            "maximum": bound,
            "multipleOf": self._choice((1, 2, 3, 0.5, 0.1, 1.5)),
        }
        exclusive = self._choice((True, False)) if self.year == 4 else bound
        # Draft 4 wants the bound beside the flag.
        if self.year > 4:
            makers |= {"exclusiveMinimum": exclusive, "exclusiveMaximum": exclusive}
        return makers

    def _arrays(self, part: Callable[[], Any]) -> dict[str, Callable[[], Any]]:
        rng = self.rng

        def tuple_() -> list[Any]:
            return [part() for _ in range(rng.choice((1, 2, 2, 3)))]

        makers: dict[str, Callable[[], Any]] = {
            "minItems": self._small,
            "maxItems": self._small,
            "uniqueItems": self._choice((True, True, False)),
        }
        if self.year >= 2020:
            makers |= {"items": part, "prefixItems": tuple_}
        else:
            makers |= {"items": lambda: tuple_() if rng.random() < 0.5 else part(), "additionalItems": part}
        if self.year >= 6:
            makers["contains"] = part
        if self.year >= 2019:
            makers |= {"minContains": self._small, "maxContains": self._small, "unevaluatedItems": part}
        if self._not_drawn is not None:
            del makers[self._not_drawn]
        return makers

    def _objects(self, part: Callable[[], Any], beside: Callable[[], Any]) -> dict[str, Callable[[], Any]]:
        rng = self.rng

        def by(pool: Sequence[str], make: Callable[[], Any]) -> dict[str, Any]:
            return {name: make() for name in rng.sample(pool, rng.choice((1, 2, 2, 3)))}

        def names() -> list[str]:
            return rng.sample(_NAMES, rng.choice((1, 1, 2)))

        makers: dict[str, Callable[[], Any]] = {
            "properties": lambda: by(_NAMES, part),
            "patternProperties": lambda: by(_PATTERNS, part),
            "additionalProperties": part,
            "required": names,
            "minProperties": self._small,
            "maxProperties": self._small,
        }
        if self.year == 4:
            makers["additionalProperties"] = lambda: False if rng.random() < 0.3 else part()
        if self.year >= 6:
            makers["propertyNames"] = part
        if self.year <= 7:
            makers["dependencies"] = lambda: by(_NAMES, lambda: names() if rng.random() < 0.5 else beside())
        else:
            makers |= {
                "dependentRequired": lambda: by(_NAMES, names),
                "dependentSchemas": lambda: by(_NAMES, beside),
                "unevaluatedProperties": part,
            }
        return makers

    def _small(self) -> int:
        return self.rng.choice((0, 1, 1, 2, 2, 3))

    def _choice(self, values: Sequence[Any]) -> Callable[[], Any]:
        return lambda: self.rng.choice(values)
