"""Objects with clauses: choices about single members that are kept as state instead of split into branches.

"Fails S" for an object is "some property is missing, or there and wrong": a clause of literals, each about
one property. A dozen such clauses with nine literals each are 9^12 branches, but only 2^12 sets of clauses
that are still open, of which generation visits a few. So where a schema splits too often the expander
keeps clauses, and this module writes the object as an automaton over (members left, open clauses), as
lazy rules. A member is an alternative over the literals that its value is made to meet; a state is entered
only if it can be finished, which a search over the members that are left decides.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

from ..errors import LimitExceeded
from ..rules import Alt, Call, Expr, Lex, Rule, Seq
from .branches import Obligation
from .groups import Literal
from .shapes import ObjectShape, Obligations

if TYPE_CHECKING:
    from .builder import Builder

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
        self._clauses: list[list[Literal]] = [
            *shape.clauses,
            *([(name, True, next(iter(one.owed), None)) for name in one.named] for one in shape.asked),
        ]
        self._index = {member.name: index for index, member in enumerate(shape.members)}
        self._moves: dict[tuple[int, Open], list[tuple[Obligations, Open]]] = {}
        self._least: dict[tuple[Left, Open], int | None] = {}
        self._rules: dict[tuple[str, Left, Open, int], Rule] = {}
        extra_options = [
            Seq((Lex(cell.key), builder.layout.colon, builder.value(cell.obligations, self._inner)))
            for cell in shape.cells
        ]
        self._extra: Expr | None = Alt(tuple(extra_options)) if extra_options else None
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
        free: set[int] = set()
        choices: list[list[tuple[int, Obligation | None]]] = []
        for clause in sorted(still):
            literals = self._clauses[clause]
            owed = [lit[2] for lit in literals if lit[0] == member.name and lit[1]]
            if any(one is None or one in base or self._is_implied(base, one) for one in owed):
                free.add(clause)
            elif owed:
                choices.append([(clause, None), *((clause, one) for one in owed)])
        found: dict[Obligations, Open] = {}
        for n_ways, chosen in enumerate(itertools.product(*choices)):
            if n_ways > _MAX_MOVES:
                self._too_many()
            obligations = self._builder.cleaned([*base, *(one for _, one in chosen if one is not None)])
            if self._builder.satisfiable(obligations):
                met = free.union(clause for clause, one in chosen if one is not None)
                after = still - met
                # Equal obligations meet the same clauses; keep what closes most.
                found[obligations] = found.get(obligations, after) & after
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
        least = self._fewest(left, still)
        high = self._shape.high
        return least is not None and (high is None or n_members + least <= high)

    def _fewest(self, left: Left, still: Open) -> int | None:
        """The least number of further members with which the object can end; None if it cannot."""
        key = (left, still)
        if key in self._least:
            return self._least[key]
        if len(self._least) > _MAX_SEARCH:
            self._too_many()
        if not left:
            best = None if still else 0
        else:
            index, rest = left[0], left[1:]
            ways: list[int] = []
            if not self._shape.members[index].required:
                skipped = self._fewest(rest, self._absent(index, still))
                ways.extend([skipped] if skipped is not None else [])
            if not ways or min(ways) > 0:
                for _, after in self._present(index, still):
                    taken = self._fewest(rest, after)
                    ways.extend([taken + 1] if taken is not None else [])
            best = min(ways, default=None)
        self._least[key] = best
        return best

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
        if (
            self._extra is not None
            and (self._any_order or not left)
            and self._can(left, still, n_members + 1)
        ):
            options.append(Seq((self._extra, self._rule("after", left, still, n_members + 1))))
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

    def _without_first(self, left: Left, still: Open, n_members: int) -> list[Expr]:
        """A later member, the next candidate being left out."""
        if self._shape.members[left[0]].required:
            return []
        rest, after = left[1:], self._absent(left[0], still)
        if self._member(rest, after, n_members) is None:
            return []
        return [self._rule("member", rest, after, n_members)]
