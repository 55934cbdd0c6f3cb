"""Branches: a set of obligations as a disjunction of plain conjunctions.

An **obligation** is a schema node that must hold, or must fail. Expanding a set of them resolves
references, flattens the combinators, and turns each failing keyword into its dual, until nothing
but **atoms** is left: a type mask, finite candidate values, and per type a list of constraints.
Each `Branch` is such a conjunction; the value language of the set is the union of its branches,
which may overlap (a grammar is a union, so overlap costs nothing and proofs of disjointness are
only ever an optimisation).

The work is a depth-first search over choices with pruning on type masks, candidate values and
required names, metered by ``max_branches``. Rejected: a full normal form up front. It is
exponential in parts of the schema that generation never visits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ..errors import LimitExceeded
from .groups import Clause, HasMember, Literal
from .values import ANY, OBJECT, STRING, json_key, type_bit

if TYPE_CHECKING:
    from .nodes import Node
    from .options import SchemaOptions
    from .propagate import Judge
    from .report import Report

#: A place that splits more often keeps choices among single properties as clauses.
SPLITS_BEFORE_CLAUSES = 256

__all__ = [
    "AnyOf",
    "Arrays",
    "Branch",
    "Choice",
    "Excluded",
    "Expander",
    "Holds",
    "Lacks",
    "Numbers",
    "Objects",
    "Obligation",
    "Requires",
    "Scope",
    "Strings",
    "Task",
    "Types",
    "Unfinished",
    "Values",
    "apply",
]


class Unfinished(Exception):
    """The branches of a set were asked for while they are being worked out."""


class Scope:
    """One ``unevaluated*`` keyword at work: what is evaluated below its schema is recorded for it.

    Attributes:
        node: The schema that has the keyword.
        exact: Whether subschemas that are not known to hold must be known to fail (needed where
            the keyword fails, since then *fewer* evaluated names would accept more).
    """

    __slots__ = ("exact", "node")

    def __init__(self, node: Node, exact: bool) -> None:
        self.node = node
        self.exact = exact


class AnyOf:
    """A disjunction of obligations that no schema node spells."""

    __slots__ = ("obligations",)

    def __init__(self, obligations: frozenset[Obligation]) -> None:
        self.obligations = obligations


Obligation = tuple["Node | AnyOf", bool]


@dataclass(slots=True, eq=False)
class Holds:
    """A node that must hold (or fail), seen by some ``unevaluated*`` scopes."""

    node: Node | AnyOf
    positive: bool
    scopes: tuple[Scope, ...] = ()
    without: str | None = None  # a keyword to leave out


@dataclass(slots=True, eq=False)
class Types:
    """The value is of one of these types."""

    mask: int


@dataclass(slots=True, eq=False)
class Values:
    """The value is one of these (by `json_key`)."""

    values: dict[Any, Any]


@dataclass(slots=True, eq=False)
class Excluded:
    """The value is none of these (by `json_key`)."""

    values: dict[Any, Any]


@dataclass(slots=True, eq=False)
class Strings:
    """A constraint on the value if it is a string."""

    atom: Any


@dataclass(slots=True, eq=False)
class Numbers:
    """A constraint on the value if it is a number."""

    atom: Any


@dataclass(slots=True, eq=False)
class Arrays:
    """A constraint on the value if it is an array."""

    atom: Any


@dataclass(slots=True, eq=False)
class Objects:
    """A constraint on the value if it is an object."""

    atom: Any


@dataclass(slots=True, eq=False)
class Requires:
    """If the value is an object, it has this property."""

    name: str


@dataclass(slots=True, eq=False)
class Lacks:
    """If the value is an object, it does not have this property."""

    name: str


@dataclass(slots=True, eq=False)
class Choice:
    """One of several lists of tasks.

    Attributes:
        alternatives: The lists.
        failing: The node whose failing the choice spells out, if that is what it is about.
    """

    alternatives: list[list[Task]]
    failing: Node | None = None

    def only(self, alternatives: list[list[Task]]) -> Choice:
        """The same choice with fewer alternatives."""
        return Choice(alternatives, self.failing)


Task = Holds | Types | Values | Excluded | Strings | Numbers | Arrays | Objects | Requires | Lacks | Choice


class Branch:
    """A conjunction of atoms.

    Attributes:
        types: Mask of the types that are left.
        values: Candidate values by `json_key`, or None for no such bound.
        excluded: Values that are not allowed, by `json_key`.
        strings, numbers, arrays, objects: Constraints that apply if the value has that type.
        required: Names an object must have, in order of appearance.
        lacks: Names an object must not have.
        evaluated: For each scope what was evaluated: the groups seen below its node.
    """

    __slots__ = (
        "arrays",
        "choices",
        "done",
        "evaluated",
        "excluded",
        "lacks",
        "numbers",
        "objects",
        "required",
        "strings",
        "types",
        "values",
    )

    def __init__(self) -> None:
        self.types = ANY
        self.values: dict[Any, Any] | None = None
        self.excluded: dict[Any, Any] = {}
        self.strings: tuple[Any, ...] = ()
        self.numbers: tuple[Any, ...] = ()
        self.arrays: tuple[Any, ...] = ()
        self.objects: tuple[Any, ...] = ()
        self.required: dict[str, None] = {}
        self.lacks: dict[str, None] = {}
        self.evaluated: dict[Scope, tuple[Any, ...]] = {}
        self.choices: tuple[Choice, ...] = ()
        self.done: dict[Any, tuple[Any, ...]] = {}

    def copy(self) -> Branch:
        """An independent copy: the containers are replaced, never changed, except ``done``."""
        new = Branch.__new__(Branch)
        new.types, new.values, new.excluded = self.types, self.values, self.excluded
        new.strings, new.numbers = self.strings, self.numbers
        new.arrays, new.objects = self.arrays, self.objects
        new.required, new.lacks = self.required, self.lacks
        new.evaluated, new.choices = self.evaluated, self.choices
        new.done = dict(self.done)
        return new

    def is_free(self) -> bool:
        """Whether nothing but the types is constrained."""
        scalars = self.strings or self.numbers or self.excluded or self.values is not None
        return not (scalars or self.arrays or self.objects or self.required or self.lacks)

    def restrict_values(self, values: dict[Any, Any]) -> None:
        """Keep only candidates that are also among ``values``."""
        if self.values is not None:
            values = {key: value for key, value in self.values.items() if key in values}
        self.values = values
        mask = 0
        for value in values.values():
            mask |= type_bit(value)
        self.types &= mask

    def require(self, name: str) -> None:
        """Objects must have the name."""
        if name in self.lacks:
            self.types &= ~OBJECT
        elif name not in self.required:
            self.required = {**self.required, name: None}

    def lack(self, name: str) -> None:
        """Objects must not have the name."""
        if name in self.required:
            self.types &= ~OBJECT
        else:
            self.lacks = {**self.lacks, name: None}

    def record(self, scopes: tuple[Scope, ...], group: Any) -> None:
        """Note for each scope what this group evaluates."""
        if scopes:
            merged = dict(self.evaluated)
            for scope in scopes:
                merged[scope] = (*merged.get(scope, ()), group)
            self.evaluated = merged


class Expander:
    """Turns sets of obligations into branches.

    Args:
        options: How schemas are read.
        report: What became of each keyword.
        judge: Prunes choices.
        assert_node: Adds what it means that a node holds (see `keywords`).
        negate: The alternatives that it means that a node fails (see `duals`).
    """

    def __init__(
        self,
        options: SchemaOptions,
        report: Report,
        judge: Judge,
        assert_node: Callable[..., None],
        negate: Callable[[Expander, Node], list[list[Task]]],
    ) -> None:
        self.options: Final = options
        self.report: Final = report
        self._judge: Final = judge
        self._assert: Final = assert_node
        self._negate: Final = negate

    def expand(self, obligations: frozenset[Obligation]) -> list[Branch]:
        """The branches of a conjunction of obligations.

        They are taken in the order of the document: a set has none, and the properties follow it.

        Raises:
            LimitExceeded: There are more than ``max_branches``.
            SchemaError: A keyword is malformed or cannot be enforced.
        """
        ordered = sorted(obligations, key=_reading_order) if len(obligations) > 1 else obligations
        return self.expand_tasks([Holds(node, positive) for node, positive in ordered])

    def expand_tasks(self, tasks: list[Task], base: Branch | None = None) -> list[Branch]:
        """The branches of a conjunction of tasks, on top of a branch."""
        found = self._expand_with(tasks, base, keep_clauses=False)
        if found is None:
            found = self._expand_with(tasks, base, keep_clauses=True)
        assert found is not None
        self.report.n_branches += len(found)
        return found

    def _expand_with(
        self, tasks: list[Task], base: Branch | None, *, keep_clauses: bool
    ) -> list[Branch] | None:
        """The branches; None if there are so many splits that clauses should be kept."""
        results: list[Branch] = []
        stack: list[tuple[Branch, list[Task]]] = [
            (base.copy() if base is not None else Branch(), list(tasks))
        ]
        n_splits = 0
        while stack:
            branch, agenda = stack.pop()
            self._settle(branch, agenda)
            while branch.types and branch.choices:
                forced = self._judge.prune(branch)
                if forced is None:
                    branch.types = 0
                elif forced:
                    self._settle(branch, forced)
                else:
                    break
            if not branch.types:
                continue
            if keep_clauses and branch.types == OBJECT:
                _keep_clauses(branch)
            elif keep_clauses and branch.types == STRING and branch.choices:
                self._join_choices(branch)
            if not branch.choices:
                results.append(branch)
                continue
            choice = min(branch.choices, key=lambda c: len(c.alternatives))
            branch.choices = tuple(c for c in branch.choices if c is not choice)
            n_splits += len(choice.alternatives)
            if not keep_clauses and n_splits > min(SPLITS_BEFORE_CLAUSES, self.options.max_branches):
                return None
            if n_splits > 8 * self.options.max_branches or len(results) > self.options.max_branches:
                self._too_many(tasks)
            for alternative in reversed(choice.alternatives):
                stack.append((branch.copy(), list(alternative)))
        return results

    def _join_choices(self, branch: Branch) -> None:
        """Turn all choices of a branch of strings into constraints: a union of lexemes is a lexeme."""
        choices, branch.choices = branch.choices, ()
        for choice in choices:
            options: list[Branch] = []
            for alternative in choice.alternatives:
                alone = branch.copy()  # for what is known to hold
                alone.strings, alone.excluded, alone.values = (), {}, None
                options.extend(self._expand_with(alternative, alone, keep_clauses=True) or ())
            if not options:
                branch.types = 0
            branch.strings = (*branch.strings, ("either", options, False))

    def _too_many(self, tasks: list[Task]) -> None:
        places = [t.node.pointer for t in tasks if isinstance(t, Holds) and not isinstance(t.node, AnyOf)]
        limit = self.options.max_branches
        raise LimitExceeded(
            f"{' and '.join(places) or 'a part of the schema'} splits into more than {limit} alternatives",
            resource="schema branches",
            limit=limit,
            hint="simplify nested anyOf/oneOf/not, or raise max_branches",
        )

    def _settle(self, branch: Branch, agenda: list[Task]) -> None:
        """Do everything on the agenda that needs no choice."""
        position = 0
        while position < len(agenda) and branch.types:
            task = agenda[position]
            position += 1
            if type(task) is Holds:
                self._hold(branch, task, agenda)
            else:
                apply(branch, task)

    def _hold(self, branch: Branch, task: Holds, agenda: list[Task]) -> None:
        node, positive = task.node, task.positive
        if (node, not positive) in branch.done and task.without is None:
            branch.types = 0
            return
        seen = branch.done.get((node, positive))
        mark = (task.scopes, task.without)
        if seen is not None:
            if mark in seen:
                return
            branch.done[(node, positive)] = (*seen, mark)
        elif task.without is None:
            branch.done[(node, positive)] = (mark,)
        if task.without is None and any(scope.node is node for scope in task.scopes):
            return  # its own scope is open: a reference in place has come back to it
        if isinstance(node, AnyOf):
            _hold_any(branch, node, positive, agenda)
            return
        self.report.saw(node)
        schema = node.schema
        if schema is True or schema is False:
            if schema is not positive:
                branch.types = 0
        elif positive:
            self._assert(self, branch, node, task.scopes, agenda, task.without)
        else:
            alternatives = self._negate(self, node)
            if not alternatives:
                branch.types = 0
            elif len(alternatives) == 1:
                agenda.extend(alternatives[0])
            else:
                branch.choices = (*branch.choices, Choice(alternatives, node))


def _keep_clauses(branch: Branch) -> None:
    """Turn choices among single properties into clauses of the object."""
    kept: list[Choice] = []
    for choice in branch.choices:
        literals = [_literal(alternative) for alternative in choice.alternatives]
        if None in literals:
            kept.append(choice)
        else:
            clause = Clause([literal for literal in literals if literal is not None])
            branch.objects = (*branch.objects, clause)
    branch.choices = tuple(kept)


def _literal(tasks: list[Task]) -> Literal | HasMember | None:
    """An alternative that is about one property of an object only, or asks for some name."""
    has = [task.atom for task in tasks if isinstance(task, Objects) and type(task.atom) is HasMember]
    if has:
        alone = len(tasks) == 1 + sum(isinstance(task, Types) and bool(task.mask & OBJECT) for task in tasks)
        return has[0] if alone and _is_about_names(has[0]) else None
    names: set[str] = set()
    is_there: set[bool] = set()
    owed: list[Obligation] = []
    for task in tasks:
        if isinstance(task, Types) and task.mask & OBJECT:
            continue
        if isinstance(task, (Requires, Lacks)):
            names.add(task.name)
            is_there.add(isinstance(task, Requires))
        elif isinstance(task, Objects) and type(task.atom) is tuple and task.atom[0] == "named":
            names.add(task.atom[1])
            owed.append(task.atom[2])
        else:
            return None
    if len(names) != 1 or len(is_there) != 1 or len(owed) > 1 or (owed and False in is_there):
        return None
    return (names.pop(), is_there.pop(), owed[0] if owed else None)


def _is_about_names(has: HasMember) -> bool:
    """Whether any value does."""
    if has.value is None:
        return True
    node, positive = has.value
    return not isinstance(node, AnyOf) and node.schema is positive


def _hold_any(branch: Branch, node: AnyOf, positive: bool, agenda: list[Task]) -> None:
    if positive:
        ordered = sorted(node.obligations, key=_reading_order)
        options: list[list[Task]] = [[Holds(inner, sign)] for inner, sign in ordered]
        branch.choices = (*branch.choices, Choice(options))
    else:
        ordered = sorted(node.obligations, key=_reading_order)
        agenda.extend(Holds(inner, not sign) for inner, sign in ordered)


def _reading_order(obligation: Obligation) -> tuple[Any, ...]:
    """Sorts obligations by the place of their nodes; disjunctions come last, by those of their parts."""
    node, positive = obligation
    if isinstance(node, AnyOf):
        return (1, positive, *sorted(map(_reading_order, node.obligations)))
    return (0, node.place, positive)


def apply(branch: Branch, task: Task) -> None:
    """Do a task that needs no other."""
    kind = type(task)
    if kind is Types:
        branch.types &= task.mask  # type: ignore[union-attr]
    elif kind is Requires:
        branch.require(task.name)  # type: ignore[union-attr]
    elif kind is Lacks:
        branch.lack(task.name)  # type: ignore[union-attr]
    elif kind is Values:
        branch.restrict_values(task.values)  # type: ignore[union-attr]
    elif kind is Excluded:
        branch.excluded = {**branch.excluded, **task.values}  # type: ignore[union-attr]
    elif kind is Choice:
        branch.choices = (*branch.choices, task)  # type: ignore[arg-type]
    else:
        field = _FIELDS[kind]
        setattr(branch, field, (*getattr(branch, field), task.atom))  # type: ignore[union-attr]


_FIELDS: Final[dict[type, str]] = {
    Strings: "strings",
    Numbers: "numbers",
    Arrays: "arrays",
    Objects: "objects",
}


def values_of(values: Iterable[Any]) -> dict[Any, Any]:
    """Values by their keys, first spelling first."""
    found: dict[Any, Any] = {}
    for value in values:
        found.setdefault(json_key(value), value)
    return found
