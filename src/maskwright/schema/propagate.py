"""Pruning choices: which alternatives of a branch are already true or already impossible.

Splitting on every choice multiplies: eleven ``oneOf`` members that fail in nine ways each are 9^11
branches, of which almost all are empty, and nearly all choices are decided by one discriminating
property. So after every step the remaining choices are judged against the branch, as in unit propagation
(Davis, Logemann and Loveland 1962): a choice with a true alternative is dropped, impossible alternatives
are removed, a single one left is taken at once.

Judgements are one-sided: "unknown" is always allowed, and costs time only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..errors import SchemaError
from .branches import (
    AnyOf,
    Branch,
    Choice,
    Excluded,
    Holds,
    Lacks,
    Objects,
    Obligation,
    Requires,
    Task,
    Types,
    Values,
)
from .candidates import drop_candidates
from .groups import PropertyGroup
from .keywords import type_mask
from .values import ANY, ARRAY, BOOLEAN, NULL, OBJECT, json_key, type_bit

if TYPE_CHECKING:
    from .builder import Builder
    from .nodes import Node

__all__ = ["Judge", "same_node"]

#: What else a schema may say that lists its values.
_BOUNDED_KEYWORDS: Final = frozenset(
    [
        "pattern",
        "format",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
    ]
)
#: What names the values of a schema; all other scalar keywords are bounds or say nothing.
_NAMING_KEYWORDS: Final = frozenset(["type", "enum", "const"])
_SCALAR_KEYWORDS: Final = (
    _BOUNDED_KEYWORDS
    | _NAMING_KEYWORDS
    | {
        "title",
        "description",
        "default",
        "examples",
        "$comment",
        "deprecated",
        "readOnly",
        "writeOnly",
    }
)
#: The values of the types that have few, and their types, by `json_key`.
_WORDS: Final = {json_key(None): NULL, json_key(True): BOOLEAN, json_key(False): BOOLEAN}
_DEPTH: Final = 4


class _Domain(NamedTuple):
    """Scalars told apart by type and by value only.

    Attributes:
        mask: The types of the values.
        values: The values and their types by `json_key`, or None for all of the types.
        barred: Values, by `json_key`, that are not among them.
    """

    mask: int
    values: dict[Any, int] | None = None
    barred: frozenset[Any] = frozenset()

    def meet(self, other: _Domain, positive: bool) -> _Domain:
        """What is in this one and in another one that bars nothing, or in this one only."""
        mask, values, barred = self
        if positive:
            mask &= other.mask
            if values is None:
                values = other.values
            elif other.values is not None:
                values = {key: bit for key, bit in values.items() if key in other.values}
        elif other.values is not None:
            barred |= other.values.keys()
        else:
            mask &= ~other.mask
        return _Domain(mask, values, barred)

    def is_empty(self) -> bool:
        """Whether no value is left."""
        mask, values, barred = self
        if values is None:
            if mask & ~(NULL | BOOLEAN):
                return False
            values = _WORDS
        return not any(bit & mask and key not in barred for key, bit in values.items())


class _Said:
    """What a branch says of one property by name.

    Attributes:
        known: All of it.
        scalars: The part that is about scalars.
        domain: That part as one domain, if it is one.
    """

    __slots__ = ("domain", "known", "scalars")

    def __init__(self, known: list[Obligation], scalars: list[Obligation], domain: _Domain | None) -> None:
        self.known = known
        self.scalars = scalars
        self.domain = domain


class Judge:
    """Judges alternatives against branches, with the builder's knowledge of scalar schemas."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._domains: dict[Node, _Domain | None] = {}
        self._scalars: dict[Node, bool] = {}
        self._members: dict[tuple[Node, str], Obligation] = {}
        # What is said of properties, for the atoms looked at last: all alternatives of a branch ask the same.
        self._atoms: tuple[Any, ...] = ()
        self._said: dict[str, _Said] = {}

    def prune(self, branch: Branch) -> list[Task] | None:
        """Reduce the choices of a branch.

        Returns:
            The tasks of alternatives that are the last of their choice, to be settled; None if
            some choice has no alternative left.
        """
        if branch.values is not None:
            drop_candidates(self._builder, branch)
            if not branch.values:
                return None
        kept: list[Choice] = []
        forced: list[Task] = []
        for choice in branch.choices:
            if choice.failing is not None and self.conflicts(branch, choice.failing):
                continue
            left: list[list[Task]] = []
            for alternative in choice.alternatives:
                verdict = self._alternative(branch, alternative)
                if verdict is True:
                    break
                if verdict is None:
                    left.append(alternative)
            else:
                if not left:
                    return None
                if len(left) == 1:
                    forced.extend(left[0])
                else:
                    kept.append(choice if len(left) == len(choice.alternatives) else choice.only(left))
        branch.choices = tuple(kept)
        return forced

    def _alternative(self, branch: Branch, tasks: list[Task]) -> bool | None:
        """Whether all tasks are already met (True), one cannot be (False), or neither (None)."""
        verdict: bool | None = True
        mask = branch.types
        for task in tasks:
            if type(task) is Types:
                mask &= task.mask
                if not mask:
                    return False
                if branch.types & ~task.mask:
                    verdict = None
                continue
            one = self._task(branch, mask, task)
            if one is False:
                return False
            if one is None:
                verdict = None
        return verdict

    def _task(self, branch: Branch, mask: int, task: Task) -> bool | None:
        kind = type(task)
        if kind is Holds:
            assert isinstance(task, Holds)
            return self._holds(branch, task)
        if kind is Requires or kind is Lacks:
            assert isinstance(task, (Requires, Lacks))
            return _presence(branch, mask, task)
        if kind is Objects:
            assert isinstance(task, Objects)
            return self._named(branch, mask, task.atom)
        if kind is Values or kind is Excluded:
            assert isinstance(task, (Values, Excluded))
            return _finite(branch, mask, task)
        return None

    def _holds(self, branch: Branch, task: Holds) -> bool | None:
        if task.scopes or task.without:
            return None  # what is evaluated matters too
        if (task.node, task.positive) in branch.done:
            return True
        if (task.node, not task.positive) in branch.done:
            return False
        node = task.node
        if isinstance(node, AnyOf):
            return None
        if node.schema is True or node.schema is False:
            return node.schema is task.positive
        if self.conflicts(branch, node):
            return not task.positive
        return None

    def _named(self, branch: Branch, mask: int, atom: Any) -> bool | None:
        """A property that is present and meets an obligation, against what the branch says of it."""
        if mask != OBJECT or type(atom) is not tuple or atom[0] != "named":
            return None
        _, name, (node, positive) = atom
        said = self._said_of(branch, name)
        for one, sign in said.known:
            if same_node(one, node):
                if sign is not positive:
                    return False
                if branch.types == OBJECT:
                    return True
        if not said.scalars or not self._is_scalar((node, positive)):
            return None
        if not self._together(said, (node, positive)):
            return False
        if branch.types == OBJECT and not self._together(said, (node, not positive)):
            return True
        return None

    def _said_of(self, branch: Branch, name: str) -> _Said:
        """What a branch says about the value of a property, as far as it is said by name."""
        if branch.objects is not self._atoms:
            self._atoms, self._said = branch.objects, {}
        found = self._said.get(name)
        if found is None:
            known: list[Obligation] = []
            for atom in branch.objects:
                if type(atom) is PropertyGroup:
                    node = atom.named.get(name)
                    if node is not None:
                        known.append(self._builder.obligation((node, True)))
                elif type(atom) is tuple and atom[0] == "named" and atom[1] == name:
                    known.append(self._builder.obligation(atom[2]))
            scalars = [one for one in known if self._is_scalar(one)]
            found = self._said[name] = _Said(known, scalars, self._met(scalars))
        return found

    def _met(self, obligations: list[Obligation]) -> _Domain | None:
        """The scalars that meet all of these, if they are one domain."""
        found = _Domain(ANY)
        for node, positive in obligations:
            domain = None if isinstance(node, AnyOf) else self._domain(node)
            if domain is None:
                return None
            found = found.meet(domain, positive)
        return found

    def _together(self, said: _Said, more: Obligation) -> bool:
        """Whether a scalar meets what is said of a property and one more; as domains if they are some."""
        node, positive = more
        domain = None if isinstance(node, AnyOf) else self._domain(node)
        if domain is not None and said.domain is not None:
            return not said.domain.meet(domain, positive).is_empty()
        return self._builder.satisfiable(self._builder.cleaned([*said.scalars, more]))

    def _domain(self, node: Node) -> _Domain | None:
        """What a scalar schema names, if it says no more than that."""
        if node not in self._domains:
            self._domains[node] = _named_domain(node)
        return self._domains[node]

    def _is_scalar(self, obligation: Obligation) -> bool:
        """Whether an obligation is about scalars only, so that to decide it is cheap."""
        node = obligation[0]
        if isinstance(node, AnyOf):
            return False
        found = self._scalars.get(node)
        if found is None:
            found = self._scalars[node] = _is_scalar(node.schema)
        return found

    def _member(self, node: Node, name: str) -> Obligation:
        """What a schema says of a property that it lists."""
        key = (node, name)
        found = self._members.get(key)
        if found is None:
            found = self._builder.obligation((node.child("properties", name), True))
            self._members[key] = found
        return found

    def conflicts(self, branch: Branch, node: Node, depth: int = _DEPTH) -> bool:
        """Whether it is plain that no value of the branch meets the node."""
        schema = node.schema
        if not isinstance(schema, dict):
            return schema is False
        if depth < 0:
            return False
        try:
            if "$ref" in schema:
                target = node.documents.resolve(node, schema["$ref"])
                if self.conflicts(branch, target, depth - 1):
                    return True
                if node.resource.dialect.ref_overrides:
                    return False
            if _surface_conflict(branch, node, schema):
                return True
            if branch.types == OBJECT and self._members_conflict(branch, node, schema):
                return True
            inner = [node.child("allOf", i) for i in range(len(schema.get("allOf", ())))]
            if any(self.conflicts(branch, one, depth - 1) for one in inner):
                return True
            for keyword in ("anyOf", "oneOf"):
                options = [node.child(keyword, i) for i in range(len(schema.get(keyword, ())))]
                if options and all(self.conflicts(branch, one, depth - 1) for one in options):
                    return True
        except (SchemaError, TypeError, ValueError):
            return False  # malformed: expansion will say so
        return False

    def _members_conflict(self, branch: Branch, node: Node, schema: dict[str, Any]) -> bool:
        needed = schema.get("required", ())
        listed = schema.get("properties", {})
        closed = schema.get("additionalProperties") is False and not schema.get("patternProperties")
        if closed and any(name not in listed for name in branch.required):
            return True
        if not isinstance(needed, list):
            needed = ()
        for atom in branch.objects:
            if type(atom) is PropertyGroup and not atom.patterns:
                closed = atom.rest is not None and atom.rest.schema is False
                if closed and any(name not in atom.named for name in needed):
                    return True
        for name in listed:
            if name in branch.required or name in needed:
                own = self._member(node, name)
                if self._is_scalar(own):
                    said = self._said_of(branch, name)
                    if said.scalars and not self._together(said, own):
                        return True
        return False


def _named_domain(node: Node) -> _Domain | None:
    schema = node.schema
    if not _BOUNDED_KEYWORDS.isdisjoint(schema) or ("enum" in schema and "const" in schema):
        return None
    if not node.resource.dialect.keywords >= _NAMING_KEYWORDS & schema.keys():
        return None
    mask = type_mask(node, schema["type"]) if "type" in schema else ANY
    if "enum" in schema or "const" in schema:
        values = schema["enum"] if "enum" in schema else [schema["const"]]
        named = {json_key(value): bit for value in values if (bit := type_bit(value)) & mask}
        return _Domain(mask, named)
    return _Domain(mask, None)


def same_node(one: Node | AnyOf, other: Node | AnyOf) -> bool:
    """Whether two nodes plainly say the same: unions often repeat a property word for word."""
    if one is other:
        return True
    if isinstance(one, AnyOf) or isinstance(other, AnyOf):
        return False
    if one.resource is not other.resource or one.scope != other.scope or one.schema != other.schema:
        return False
    return bool(json_key(one.schema) == json_key(other.schema))  # to Python, True is 1


def _presence(branch: Branch, mask: int, task: Requires | Lacks) -> bool | None:
    """A property that has to be there, or must not be."""
    if not mask & OBJECT:
        return True
    holds, fails = (branch.required, branch.lacks)
    if type(task) is Lacks:
        holds, fails = fails, holds
    if task.name in holds:
        return True
    return False if task.name in fails and mask == OBJECT else None


def _finite(branch: Branch, mask: int, task: Values | Excluded) -> bool | None:
    """Candidate or excluded values."""
    wanted = type(task) is Values
    if branch.values is None:
        touched = any(type_bit(value) & mask for value in task.values.values())
        return None if touched else not wanted
    n_common = sum(key in task.values for key in branch.values)
    if n_common == 0:
        return not wanted
    return wanted if n_common == len(branch.values) else None


def _surface_conflict(branch: Branch, node: Node, schema: dict[str, Any]) -> bool:
    if "type" in schema and not branch.types & type_mask(node, schema["type"]):
        return True
    finite = schema.get("enum")
    if "const" in schema and "const" in node.resource.dialect.keywords:
        finite = [schema["const"]]
    if isinstance(finite, list):
        if not any(type_bit(value) & branch.types for value in finite):
            return True
        if branch.values is not None and not any(json_key(value) in branch.values for value in finite):
            return True
    if branch.types == OBJECT and branch.lacks and isinstance(schema.get("required"), list):
        return any(name in branch.lacks for name in schema["required"])
    return False


def _is_scalar(schema: Any) -> bool:
    if not isinstance(schema, dict) or not schema.keys() <= _SCALAR_KEYWORDS:
        return False
    values = schema["enum"] if "enum" in schema else [schema["const"]] if "const" in schema else None
    if isinstance(values, list):
        return len(values) <= 64 and not any(type_bit(value) & (ARRAY | OBJECT) for value in values)
    kind = schema.get("type")
    return isinstance(kind, str) and kind not in ("array", "object")
