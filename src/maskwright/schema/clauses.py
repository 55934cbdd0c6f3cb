"""Objects with clauses: choices about single members that are kept as state instead of split into branches.

"Fails S" for an object is "some property is missing, or there and wrong": a clause of literals, each about
one property. A dozen such clauses with nine literals each are 9^12 branches, but only 2^12 sets of clauses
that are still open, of which generation visits a few. So where a schema splits too often the expander
keeps clauses, and this module writes the object as an automaton over (members left, open clauses), as
lazy rules. A member is an alternative over the literals that its value is made to meet; a state is entered
only if it can be finished, which a search over the members that are left decides.

"Some name that no property lists" is a literal too, of every known member that fits and of open ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ..errors import LimitExceeded
from ..lexeme import Lexeme
from ..rules import Alt, Call, Expr, Lex, Rule, Seq
from .asking import open_ways
from .branches import AnyOf, Obligation
from .groups import Literal
from .members import Asked
from .propagate import same_node
from .shapes import ObjectShape, Obligations

if TYPE_CHECKING:
    from .builder import Builder
    from .nodes import Node

__all__ = ["Clauses"]

#: Ways in which one member may meet the open clauses.
_MAX_MOVES: Final = 2048
#: States that a search for the end of the object may visit.
_MAX_SEARCH: Final = 50_000

Open = frozenset[int]
Left = tuple[int, ...]


class Clauses:
    """The states of one object; also says whether there is such an object at all."""

    def __init__(self, builder: Builder, shape: ObjectShape, depth: int) -> None:
        self._builder = builder
        self._shape = shape
        self._depth = depth
        self._inner = builder.layout.below(depth)
        self._any_order = builder.options.any_order
        clauses = [*shape.clauses, *map(_alone, shape.asked)]
        self._clauses = _with_shared_nodes([_named_literals(clause) for clause in clauses])
        self._opened = [[one for one in clause if isinstance(one, Asked)] for clause in clauses]
        self._names = [{literal[0] for literal in literals} for literals in self._clauses]
        self._index = {member.name: index for index, member in enumerate(shape.members)}
        self._moves: dict[tuple[int, Open], list[tuple[Obligations, Open]]] = {}
        self._least: dict[tuple[Left, Open], int | None] = {}
        self._ends: dict[Left, list[Open]] = {}  # clauses that can be met by the members that are left
        self._rules: dict[tuple[str, Left, Open, int], Rule] = {}
        self._extras: dict[Open, list[tuple[Open, Lexeme, Obligations]]] = {}
        if shape.musts or shape.low > 1:
            raise LimitExceeded(
                "an object splits into too many alternatives",
                resource="schema branches",
                limit=builder.options.max_branches,
                hint="simplify nested anyOf/oneOf/not beside minProperties or patternProperties",
            )

    def _start(self) -> tuple[Left, Open]:
        clauses = self._clauses
        # Names that can never occur are missing from the start.
        still = (c for c in range(len(clauses)) if not any(self._never(literal) for literal in clauses[c]))
        return tuple(range(len(self._shape.members))), frozenset(still)

    def _never(self, literal: Literal) -> bool:
        name, is_there, _ = literal
        return not is_there and name not in self._index and name in self._shape.known

    def is_possible(self) -> bool:
        """Whether some object meets all clauses."""
        return self._can(*self._start(), 0)

    def expr(self) -> Expr:
        """The whole object."""
        left, still = self._start()
        full = self._member(left, still, 0)
        empty = self._shape.low == 0 and self._may_close(left, still)
        return self._builder.layout.container(b"{}", self._depth, full, empty)

    # -- what members do to clauses ------------------------------------------------------------------

    def _absent(self, index: int, still: Open) -> Open:
        """The clauses still open when a member is known to be missing."""
        name = self._shape.members[index].name
        return frozenset(c for c in still if (name, False, None) not in self._clauses[c])

    def _present(self, index: int, still: Open) -> list[tuple[Obligations, Open]]:
        """What the value of a member may owe, and the clauses still open after it."""
        key = (index, still)
        found = self._moves.get(key)
        if found is None:
            found = self._moves[key] = list(self._ways(index, still).items())
        return found

    def _ways(self, index: int, still: Open) -> dict[Obligations, Open]:
        member = self._shape.members[index]
        base = member.obligations
        choices: list[tuple[int, list[Obligation]]] = []
        for clause in sorted(still):
            owed = [lit[2] for lit in self._clauses[clause] if lit[0] == member.name and lit[1]]
            needed = [one for one in owed if one is not None]
            if len(needed) < len(owed) or any(one in base or self._is_implied(base, one) for one in needed):
                still -= {clause}
            elif needed:
                choices.append((clause, needed))
        found: dict[Obligations, Open] = {}
        for n_ways, (obligations, met) in enumerate(self._subsets(base, choices)):
            if n_ways > _MAX_MOVES:
                self._too_many()
            # Equal obligations meet the same clauses; keep what closes most.
            found[obligations] = found.get(obligations, still) - met
        return found

    def _subsets(
        self, base: Obligations, choices: list[tuple[int, list[Obligation]]]
    ) -> Iterator[tuple[Obligations, Open]]:
        """What a value may owe beside the base so that it exists, and the clauses that it meets then."""

        def can(*more: Obligation) -> bool:
            return self._builder.satisfiable(self._builder.cleaned([*base, *more]))

        possible = ((clause, list(filter(can, needed))) for clause, needed in choices)
        choices = [(clause, needed) for clause, needed in possible if needed]
        # What can be met all at once needs no look at its parts.
        if can(*(one for _, needed in choices for one in needed)):
            options = [[None, *((clause, one) for one in needed)] for clause, needed in choices]
            for chosen in itertools.product(*options):
                met = [one for one in chosen if one is not None]
                owed = self._builder.cleaned([*base, *(one for _, one in met)])
                yield owed, frozenset(clause for clause, _ in met)
            return
        (clause, needed), rest = choices[0], choices[1:]
        yield from self._subsets(base, rest)
        for one in needed:
            for owed, met_later in self._subsets(self._builder.cleaned([*base, one]), rest):
                yield owed, met_later | {clause}

    def _open_members(self, still: Open) -> list[tuple[Open, Lexeme, Obligations]]:
        """Open members: the clauses still open after them, their names, and what their values owe."""
        found = self._extras.get(still)
        if found is None:
            asked = [(clause, one) for clause in sorted(still) for one in self._opened[clause]]
            found = self._extras[still] = [
                (still - met, key, owed)
                for cell in self._shape.cells
                for met, key, owed in open_ways(self._builder, cell, asked)
            ]
        return found

    def _is_implied(self, base: Obligations, one: Obligation) -> bool:
        node, positive = one
        return not self._builder.satisfiable(self._builder.cleaned([*base, (node, not positive)]))

    # -- the end ---------------------------------------------------------------------------------------

    def _may_close(self, left: Left, still: Open) -> bool:
        for index in left:
            if self._shape.members[index].required:
                return False
            still = self._absent(index, still)
        return not still

    def _can(self, left: Left, still: Open, n_members: int) -> bool:
        high = self._shape.high
        if high is not None:
            least = self._fewest(left, still)
            return least is not None and n_members + least <= high
        # Who can meet some clauses can meet fewer.
        known = self._ends.setdefault(left, [])
        if any(still <= one for one in known):
            return True
        if self._fewest(left, still) is None:
            return False
        known.append(still)
        return True

    def _fewest(self, left: Left, still: Open) -> int | None:
        """The least number of further members with which the object can end; None if it cannot.

        Where the number is not bounded: a number with which it can end.
        """
        named = set().union(*(self._names[clause] for clause in still))
        members = self._shape.members
        n_others = sum(members[index].required for index in left if members[index].name not in named)
        best = self._search(tuple(index for index in left if members[index].name in named), still)
        return None if best is None else best + n_others

    def _search(self, left: Left, still: Open) -> int | None:
        """The same where all members that are left are about the clauses."""
        key = (left, still)
        if key not in self._least:
            if len(self._least) > _MAX_SEARCH:
                self._too_many()
            self._least[key] = (
                self._search_from(left[0], left[1:], still) if left else self._fewest_open(still)
            )
        return self._least[key]

    def _search_from(self, index: int, rest: Left, still: Open) -> int | None:
        best: int | None = None
        if not self._shape.members[index].required:
            best = self._fewest(rest, self._absent(index, still))
        # What meets most comes last, and is most likely to lead to an end.
        if best is not None and (best == 0 or self._shape.high is None):
            return best
        for _, after in reversed(self._present(index, still)):
            taken = self._fewest(rest, after)
            if taken is not None and (best is None or taken + 1 < best):
                best = taken + 1
            if best is not None and self._shape.high is None:
                break
        return best

    def _fewest_open(self, still: Open) -> int | None:
        """How many open members meet all clauses, breadth first."""
        seen = {still}
        level = [still]
        n_members = 0
        while level:
            if any(not one for one in level):
                return n_members
            after = {after for one in level for after, _, _ in self._open_members(one)}
            level = list(after - seen)
            seen |= after
            n_members += 1
        return None

    def _too_many(self) -> None:
        raise LimitExceeded(
            "an object splits into too many alternatives",
            resource="schema branches",
            limit=_MAX_SEARCH,
            hint="simplify nested anyOf/oneOf/not",
        )

    # -- rules -----------------------------------------------------------------------------------------

    def _rule(self, kind: str, left: Left, still: Open, n_members: int) -> Expr:
        if self._shape.high is None:
            n_members = min(n_members, 1)
        key = (kind, left, still, n_members)
        rule = self._rules.get(key)
        if rule is None:
            body = self._after_body if kind == "after" else self._member_body
            rule = self._rules[key] = Rule("members", lambda: body(left, still, n_members))
        return Call(rule)

    def _after_body(self, left: Left, still: Open, n_members: int) -> Expr:
        """Behind a member: another one, or the end."""
        options: list[Expr] = []
        layout = self._builder.layout
        member = self._member(left, still, n_members)
        if member is not None:
            options.append(Seq((layout.separator(self._depth), member)))
        if self._may_close(left, still):
            options.append(layout.closing(b"}", self._depth))
        return options[0] if len(options) == 1 else Alt(tuple(options))

    def _member_body(self, left: Left, still: Open, n_members: int) -> Expr:
        found = self._member(left, still, n_members)
        assert found is not None
        return found

    def _member(self, left: Left, still: Open, n_members: int) -> Expr | None:
        """One more member and all that follows; None if none can come."""
        options: list[Expr] = []
        candidates = left if self._any_order else left[:1]
        for index in candidates:
            rest = tuple(other for other in left if other != index)
            options.extend(self._with(index, rest, still, n_members))
        if left and not self._any_order:
            options.extend(self._without_first(left, still, n_members))
        if self._any_order or not left:
            options.extend(self._with_open(left, still, n_members))
        if not options:
            return None
        return options[0] if len(options) == 1 else Alt(tuple(options))

    def _with(self, index: int, rest: Left, still: Open, n_members: int) -> list[Expr]:
        layout = self._builder.layout
        member = self._shape.members[index]
        return [
            Seq(
                (
                    *layout.key(member.name),
                    self._builder.value(obligations, self._inner),
                    self._rule("after", rest, after, n_members + 1),
                )
            )
            for obligations, after in self._present(index, still)
            if self._can(rest, after, n_members + 1)
        ]

    def _with_open(self, left: Left, still: Open, n_members: int) -> list[Expr]:
        colon = self._builder.layout.colon
        return [
            Seq(
                (
                    Lex(key),
                    colon,
                    self._builder.value(owed, self._inner),
                    self._rule("after", left, after, n_members + 1),
                )
            )
            for after, key, owed in self._open_members(still)
            if self._can(left, after, n_members + 1)
        ]

    def _without_first(self, left: Left, still: Open, n_members: int) -> list[Expr]:
        """A later member, the next candidate being left out."""
        if self._shape.members[left[0]].required:
            return []
        rest, after = left[1:], self._absent(left[0], still)
        if self._member(rest, after, n_members) is None:
            return []
        return [self._rule("member", rest, after, n_members)]


def _named_literals(clause: list[Literal | Asked]) -> list[Literal]:
    """The literals of known members."""
    found: list[Literal] = []
    for one in clause:
        if isinstance(one, Asked):
            found.extend((name, True, next(iter(one.owed), None)) for name in one.named)
        else:
            found.append(one)
    return found


def _alone(one: Asked) -> list[Literal | Asked]:
    return [one]


def _with_shared_nodes(clauses: list[list[Literal]]) -> list[list[Literal]]:
    """The same with one node for those that say the same of a member, so that one value owes less."""
    nodes: dict[str, list[Node | AnyOf]] = {}

    def shared(literal: Literal) -> Literal:
        name, is_there, owed = literal
        if owed is None:
            return literal
        known = nodes.setdefault(name, [])
        node = next((one for one in known if same_node(one, owed[0])), None)
        if node is None:
            node = owed[0]
            known.append(node)
        return name, is_there, (node, owed[1])

    return [list(map(shared, clause)) for clause in clauses]
