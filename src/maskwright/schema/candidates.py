"""Candidate values against choices: each is tried, and nothing is split.

A branch with candidate values (``enum`` and ``const``) and choices beside them would split into one branch
per combination of alternatives, of which most hold the same candidates or none. A candidate meets a choice
or does not; so the candidates that do not are dropped, and the choice with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..errors import LimitExceeded
from .branches import (
    AnyOf,
    Branch,
    Choice,
    Excluded,
    Holds,
    Lacks,
    Requires,
    Task,
    Types,
    Unfinished,
    Values,
)
from .branches import apply as apply_task
from .groups import Unevaluated
from .values import json_key, type_bit

if TYPE_CHECKING:
    from .builder import Builder

__all__ = ["drop_candidates"]

#: More candidates than this are not tried one by one.
_MAX_CANDIDATES: Final = 64


def drop_candidates(builder: Builder, branch: Branch) -> None:
    """Drop the candidates that fail a choice, and the choices that all others meet."""
    if branch.values is None or len(branch.values) > _MAX_CANDIDATES:
        return
    left: list[Choice] = []
    for choice in branch.choices:
        verdicts = {key: _meets_choice(builder, choice, value) for key, value in branch.values.items()}
        branch.restrict_values(
            {key: value for key, value in branch.values.items() if verdicts[key] is not False}
        )
        if None in verdicts.values():
            left.append(choice)
    branch.choices = tuple(left)


def _meets_choice(builder: Builder, choice: Choice, value: Any) -> bool | None:
    verdicts = [_meets_all(builder, alternative, value) for alternative in choice.alternatives]
    if True in verdicts:
        return True
    return None if None in verdicts else False


def _meets_all(builder: Builder, tasks: list[Task], value: Any) -> bool | None:
    """Whether a value meets all tasks; None if that is not known."""
    verdict: bool | None = True
    for task in tasks:
        one = _meets(builder, task, value)
        if one is False:
            return False
        if one is None:
            verdict = None
    return verdict


def _meets(builder: Builder, task: Task, value: Any) -> bool | None:
    if isinstance(task, Types):
        return bool(type_bit(value) & task.mask)
    if isinstance(task, Values):
        return json_key(value) in task.values
    if isinstance(task, Excluded):
        return json_key(value) not in task.values
    if isinstance(task, (Requires, Lacks)):
        return not isinstance(value, dict) or (task.name in value) is isinstance(task, Requires)
    if isinstance(task, Choice):
        return _meets_choice(builder, task, value)
    if isinstance(task, Holds):
        return _holds(builder, task, value)
    return _meets_atom(builder, task, value)


def _holds(builder: Builder, task: Holds, value: Any) -> bool | None:
    if task.scopes or task.without:
        return None  # what is evaluated matters too
    if isinstance(task.node, AnyOf):
        options: list[list[Task]] = [[Holds(inner, sign)] for inner, sign in task.node.obligations]
        found = _meets_choice(builder, Choice(options), value)
        return found if task.positive or found is None else not found
    try:
        return builder.meets(builder.cleaned([(task.node, task.positive)]), value)
    except (LimitExceeded, Unfinished):
        return None


def _meets_atom(builder: Builder, task: Task, value: Any) -> bool | None:
    from .finite import value_meets

    if isinstance(getattr(task, "atom", None), Unevaluated):
        return None
    alone = Branch()
    apply_task(alone, task)
    try:
        return value_meets(builder, alone, value)
    except (LimitExceeded, Unfinished):
        return None
