"""What was expected at a place: the items of an automaton state, as a person would say them.

In JSON an item is a key, a value of some kind or punctuation, and the schema says in words what kind. In
other grammars it is a text, or a class of characters and a shortest text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from ..errors import GrammarError
from ..kernel.compiled import CompiledCore
from ..kernel.explaining import Walk
from ..prompt import describe
from ..rules import Rule
from .json_place import Due, Place, embedded_place, json_place
from .residues import ResidueReader, is_in_string

if TYPE_CHECKING:
    from ..schema.nodes import Node

__all__ = ["Expected", "Kind", "Surroundings", "expected_at", "quoted", "spelled"]


class Kind(StrEnum):
    """What kind of thing is expected."""

    KEY = "key"  #: a key of a JSON object
    STRING = "string"  #: a JSON string, or the rest of one
    NUMBER = "number"  #: a JSON number, or the rest of one
    TEXT = "text"  #: one of a few texts
    PATTERN = "pattern"  #: one of many texts
    TOKEN = "token"  #: a token that the grammar names by id
    MARK = "mark"  #: a bracket, comma or colon of JSON
    SPACE = "space"  #: white space
    END = "end"  #: the end of the output


@dataclass(frozen=True, slots=True)
class Expected:
    """One thing that would have been legal.

    Attributes:
        kind: What kind of thing.
        text: It in words: a literal as it is spelled, a key, what the schema says of a value, a class.
        begun: The bytes of it that are there already.
        examples: Whole texts of it, `begun` included; all of them if there are few. White space before them
            is left out.
        rules: Names of the rules that it stands in, outermost first, as far as they are known.
        schema: JSON pointers of the subschemas that speak about it.
    """

    kind: Kind
    text: str
    begun: bytes = b""
    examples: tuple[bytes, ...] = ()
    rules: tuple[str, ...] = ()
    schema: tuple[str, ...] = ()

    @property
    def rule(self) -> str:
        """Name of the innermost rule; empty if there is none."""
        return self.rules[-1] if self.rules else ""

    def __str__(self) -> str:
        return self.text


#: An item as `Walk.items` gives it.
Item = tuple[int, bytes, tuple[int, ...], list[tuple[Rule, int]]]

_SPACE: Final = b" \t\n\r"
_MARKS: Final = b"{}[],:"
_NUMERIC: Final = [bytes([byte]) for byte in b"-0123456789"]
_KEY: Final = re.compile(rb'\s*("(?:[^"\\]|\\.)*")\s*:', re.DOTALL)
#: A string, whole or cut, or a bracket, comma or colon.
_PIECE: Final = re.compile(rb'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}\[\],:]', re.DOTALL)
#: What is said of a value elsewhere, or is not about it alone.
_NOT_SAID: Final = frozenset(
    ["description", "title", "$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else"]
)
#: Characters of a text that are shown.
_SHOWN: Final = 60
#: Kinds in the order in which they help a reader.
_ORDER: Final = list(Kind)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The place in JSON, and the schema's words about it.

    Attributes:
        place: Where in the document; None if the output is no JSON.
        root: The schema of the document, if there is one.
    """

    place: Place | None
    root: Node | None

    @classmethod
    def of(cls, items: Iterable[Item], rules: Sequence[Rule], root: Rule, output: bytes) -> Surroundings:
        """Found from the rules that items stand in; where these are not known, from what a text looks like.

        Args:
            items: What may come.
            rules: All rules of the grammar.
            root: Its root.
            output: Everything up to the place.
        """
        from ..schema.nodes import Node

        documents = {
            (id(rule.origin), start): rule.origin
            for _, _, _, around in items
            # The outermost rule of a document is where it begins: a schema may call itself.
            for rule, start in [each for each in around if each[0].origin is not None][-1:]
        }
        if root.origin is not None:
            documents = {(id(root.origin), 0): root.origin}
        start, origin = -1, None
        if len(documents) == 1:
            (((_, start), origin),) = documents.items()
        if start >= 0:
            place = json_place(output[start:])
        else:
            known = list({id(rule.origin): rule.origin for rule in rules if rule.origin is not None}.values())
            place = embedded_place(output) if known else None
            origin = known[0] if len(known) == 1 else origin
        return cls(place, origin if isinstance(origin, Node) else None)

    def subschemas(self, *more: str) -> list[Node]:
        """The subschemas that speak about the place, or a member of it."""
        if self.root is None or self.place is None:
            return []
        from ..schema.places import subschemas_at

        try:
            return subschemas_at(self.root, (*self.place.path, *more))
        except GrammarError:  # part of the schema cannot be read; what was enforced of it was read
            return []


def expected_at(
    walk: Walk,
    items: Iterable[Item],
    core: CompiledCore,
    around: Surroundings,
    name_token: Callable[[int], str],
) -> list[Expected]:
    """What may come at the end of a walk, the most telling first; only so much of it as a person can use.

    Args:
        walk: Leads to the place.
        items: What may come there.
        core: The grammar.
        around: The place.
        name_token: How a token that is named by id is shown.
    """
    writer = _Writer(core, around, name_token)
    found: dict[tuple[Kind, str, tuple[str, ...]], Expected] = {}
    for node, begun, token_ids, rules in items:
        names = tuple(rule.name for rule, _ in reversed(rules) if not rule.name.endswith("#"))
        for each in writer.expected(node, begun, token_ids, names):
            # Alternatives in several rules of which one part of a schema says the same are one to a reader.
            found.setdefault((each.kind, each.text, each.schema or each.rules[-1:]), each)
    if walk.accepting:
        end = Expected(Kind.END, "the end of the output")
        found[end.kind, end.text, ()] = end
    return sorted(found.values(), key=lambda each: _ORDER.index(each.kind))


class _Writer:
    """Items to what is expected, at one place."""

    def __init__(self, core: CompiledCore, around: Surroundings, name_token: Callable[[int], str]) -> None:
        self._around = around
        self._is_json = around.place is not None
        self._due = around.place and around.place.due
        self._subschemas = around.subschemas()
        self._reader = ResidueReader(core, is_json=self._is_json)
        self._name_token = name_token

    def expected(
        self, node: int, begun: bytes, token_ids: tuple[int, ...], rules: tuple[str, ...]
    ) -> Iterable[Expected]:
        if token_ids:
            return [Expected(Kind.TOKEN, _any_of(map(self._name_token, token_ids)), rules=rules)]
        rests = self._reader.texts(node, begun)
        if rests is not None:
            # Where it may end already, what follows it is expected for itself.
            rests = [rest for rest in rests if rest] or rests
        if not self._is_json:
            return [self._pattern(node, begun, rules) if rests is None else _one_of(begun, rests, rules)]
        inside = is_in_string(begun)
        begun = _current(begun)
        if rests is not None:
            return self._listed(begun, rests, rules, inside=inside)
        forced, members, _ = self._reader.forced(node, begun)
        if not inside and (mark := _mark(forced)):
            return [Expected(Kind.MARK, mark.decode(), examples=(mark,), rules=rules)]
        if key := _KEY.match(begun + forced):
            return [self._key(key[1], begun, rules)]
        pattern = self._pattern(node, begun, rules)
        return [self._value(pattern, (begun + forced).lstrip(_SPACE) or members)]

    def _listed(
        self, begun: bytes, rests: list[bytes], rules: tuple[str, ...], *, inside: bool
    ) -> list[Expected]:
        """One of a few texts of JSON."""
        found: list[Expected] = []
        values: dict[str | bytes, bytes] = {}
        for rest in rests:
            text = (begun + rest).strip(_SPACE)
            if not rest.strip(_SPACE) and not inside:
                found.append(Expected(Kind.SPACE, "white space", rules=rules))
            elif not inside and (mark := _mark(rest)):
                found.append(Expected(Kind.MARK, mark.decode(), examples=(mark,), rules=rules))
            elif key := _KEY.match(text):
                found.append(self._key(key[1], begun, rules))
            else:
                # Of several spellings of a string the shortest will do.
                name = next(iter(_decoded(text)), text)
                values[name] = min(text, values.get(name, text), key=len)
        if self._due is Due.KEY:
            found += [self._key(spelling, begun, rules) for spelling in values.values()]
        elif values:
            words, schema = _any_of(map(spelled, values.values())), _pointers(self._subschemas)
            examples = tuple(values.values())
            found.append(Expected(Kind.TEXT, words, begun, examples, rules, schema))
        return found

    def _value(self, pattern: Expected, lead: bytes) -> Expected:
        """One of many texts of JSON that begin like this: a key, a string or a number."""
        if lead[:1] == b'"' and self._due is Due.KEY:
            return self._open_key(pattern)
        if lead[:1] == b'"':
            return self._scalar(pattern, Kind.STRING, ("string",))
        if lead[:1] in _NUMERIC:
            return self._scalar(pattern, Kind.NUMBER, ("integer", "number"))
        return pattern

    def _pattern(self, node: int, begun: bytes, rules: tuple[str, ...]) -> Expected:
        """One of many texts: what must come, a class of what may come then, and a shortest one."""
        forced, members, ends = self._reader.forced(node, begun)
        shortest = self._reader.shortest(node, begun)
        examples = () if shortest is None else (begun + shortest,)
        parts = [quoted(forced)] * bool(forced) + [_class(members)] * bool(members)
        text = " then ".join(parts) + ", or nothing more" * ends
        return Expected(Kind.PATTERN, text, begun, examples, rules)

    def _key(self, key: bytes, begun: bytes, rules: tuple[str, ...]) -> Expected:
        nodes = self._around.subschemas(*_decoded(key))
        words = _words(nodes, ())
        text = f"the key {spelled(key)}" + (f": {words}" if words else "")
        return Expected(Kind.KEY, text, begun, (key,), rules, _pointers(nodes))

    def _open_key(self, pattern: Expected) -> Expected:
        """A key of many: one that the schema does not name, or one with many spellings."""
        schemas = [node.schema for node in self._subschemas if isinstance(node.schema, dict)]
        for example in pattern.examples:
            for name in _decoded(example):
                if any(name in schema.get("properties", ()) for schema in schemas):
                    return self._key(example, pattern.begun, pattern.rules)
        words = "a key that the schema does not name" if schemas else "a key"
        return replace(pattern, kind=Kind.KEY, text=words)

    def _scalar(self, pattern: Expected, kind: Kind, types: tuple[str, ...]) -> Expected:
        nodes = [each for each in self._subschemas if _is_about(each.schema, types)]
        return replace(pattern, kind=kind, text=_words(nodes, types) or kind.value, schema=_pointers(nodes))


def _current(begun: bytes) -> bytes:
    """What of the last key or value of a piece of JSON is there: a terminal may span several."""
    cut = 0
    for piece in _PIECE.finditer(begun):
        if piece[0][:1] != b'"':
            cut = piece.end()
    return begun[cut:].lstrip(_SPACE)


def _one_of(begun: bytes, rests: list[bytes], rules: tuple[str, ...]) -> Expected:
    """One of a few texts of a grammar that is not JSON."""
    texts = tuple(begun + rest for rest in rests)
    return Expected(Kind.TEXT, _any_of(map(quoted, texts)), begun, texts, rules)


def _mark(rest: bytes) -> bytes:
    """The bracket, comma or colon that comes first, if one does."""
    first = rest.lstrip(_SPACE)[:1]
    return first if first in _MARKS else b""


def _is_about(schema: Any, types: tuple[str, ...]) -> bool:
    """Whether a subschema says something of values of these types."""
    if not isinstance(schema, dict):
        return False
    return "type" not in schema or bool(_types_of(schema).intersection(types))


def _types_of(schema: dict[str, Any]) -> set[str]:
    own = schema.get("type", [])
    return {own} if isinstance(own, str) else set(own)


def _words(nodes: Iterable[Node], types: tuple[str, ...]) -> str:
    """What subschemas say of a value, or of a value of some types, in the words that a prompt would use."""
    found: dict[str, None] = {}
    joint = " and "
    for node in nodes:
        schema = node.schema
        if not isinstance(schema, dict):
            continue
        if "anyOf" in schema or "oneOf" in schema:
            joint = " or "
        about = {key: value for key, value in schema.items() if key not in _NOT_SAID}
        if types:
            about["type"] = next((each for each in types if each in _types_of(schema)), types[-1])
        if about.keys() & {"type", "enum", "const"}:
            words = describe(about).partition("\n")[0].rstrip(":")
            if "type" in schema or words not in types:
                found[words] = None
    return joint.join(found)


def _pointers(nodes: Iterable[Node]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(node.pointer for node in nodes))


def _decoded(key: bytes) -> list[str]:
    """The text that a JSON string spells, or nothing if it is no string."""
    try:
        text = json.loads(key)
    except ValueError:
        return []
    return [text] if isinstance(text, str) else []


def _any_of(texts: Iterable[str]) -> str:
    shown = list(texts)
    return ", ".join(shown[:-1]) + " or " * (len(shown) > 1) + shown[-1]


def spelled(text: bytes) -> str:
    """JSON text as it is, cut if it is long."""
    shown = text.decode(errors="replace")
    return shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "..."


def quoted(text: bytes) -> str:
    """Any text in quotes, cut if it is long."""
    try:
        shown = repr(text.decode())
    except UnicodeDecodeError:
        shown = repr(text)
    return shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "..."


def _class(members: bytes) -> str:
    """Bytes as a class of characters; those beyond ASCII are not told apart."""
    from ..regex import charset
    from ..syntax.printer import class_text

    ranges = charset.make((byte, byte) for byte in members if byte < 0x80)
    beyond = any(byte >= 0x80 for byte in members)
    if not ranges:
        return "a character beyond ASCII"
    if not beyond:
        return class_text(ranges)
    return class_text(charset.unite(ranges, ((0x80, 0x10FFFF),)))
