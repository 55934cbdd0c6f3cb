"""How likely each value of an answer was, what else it might have been, and what the mask did to it.

The probability of a value is the product over its tokens of their probabilities under the mask. At the
border of a value, where tokens also hold white space or commas, it is the probability that a token which
says anything about the value says the same as the one taken (see `reading`): whether a model prefers
``",`` or ``"`` and a line break is no doubt about the value before it.

What a value might have been is read from the tokens that were not taken. At each step of a value every
likely legal token that says something else opens a branch, with the probability of the tokens before it
times its own. The branch is followed as long as the grammar leaves one way to go on; where it leaves
several, the model would have to be asked, and is not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final, NamedTuple

from ..compiler import CompiledGrammar
from ..matcher import GrammarMatcher
from .contents import PUSHED, Leaf, Member, Push, RunnerUp
from .members import find_members, follow_forced
from .reading import Reading, Span

__all__ = ["LeafReader", "find_pushes"]

_TEXTS: Final = frozenset({"string", "text"})  #: kinds that are free text unless the values are few

_MAX_BRANCHES: Final = 8  # per step, of values that are many: each costs a walk through the grammar


@dataclass(frozen=True, slots=True)
class _Branch:
    """A token that was not taken: the value up to it and with it, and how likely it was to come here."""

    position: int
    token_id: int
    text: bytes
    ends: bool
    probability: float


class _Outcome(NamedTuple):
    """Where a branch leads: a value as far as it is known, whether that is all of it, and how likely."""

    text: bytes
    complete: bool
    probability: float


class LeafReader:
    """Makes the leaves of an answer."""

    def __init__(self, reading: Reading, compiled: CompiledGrammar) -> None:
        self._reading = reading
        self._matcher = GrammarMatcher(compiled)  # stands before token `_position`
        self._position = 0
        #: Places where some value was pushed.
        self.pushed: Final[set[int]] = set()

    def leaf(self, span: Span) -> Leaf:
        """What is to be said of a value."""
        reading = self._reading
        steps = [reading.steps[position] for position in span.tokens]
        shares = [self._share(span, position) for position in span.tokens]
        probability = math.prod(shares)
        text = reading.text[span.start : span.end]
        spelled = text.decode(errors="replace")
        members = self._members(span)
        runner_up, weighed = self._others(span, shares, members, text)
        pushes = find_pushes(reading, span.tokens, span)
        self.pushed.update(pushes)
        n_free = sum(share < 1.0 for share in shares)  # tokens that could have said something else
        is_free_text = members is None and span.kind in _TEXTS
        return Leaf(
            pointer=span.pointer,
            value=span.value(spelled) if span.complete else spelled,
            text=spelled,
            kind=span.kind,
            complete=span.complete,
            probability=probability,
            confidence=probability ** (1 / n_free) if is_free_text and n_free else probability,
            removed=tuple(step.removed for step in steps),
            n_tokens=len(steps),
            n_forced=sum(step.is_forced for step in steps),
            runner_up=runner_up,
            members=weighed,
            pushed=max(pushes.values(), key=lambda push: push.removed, default=None),
        )

    def is_complete(self) -> bool:
        """Whether the answer is all that the grammar asks for."""
        matcher = self._matcher_at(len(self._reading.steps))
        return matcher.is_terminated() or matcher.is_completed()

    def _share(self, span: Span, position: int) -> float:
        """Probability that a token which says anything about a value says what the one taken says."""
        step = self._reading.steps[position]
        taken = self._reading.said(span, position, step.token_id)
        begun = self._is_begun(span, position)
        if span.kind == "empty" or taken is None or (begun and not taken.ends):
            return step.probability
        same = other = 0.0
        for said, probability, _ in self._reading.all_said(span, position):
            if said == taken:
                same += probability
            elif said is not None:
                other += probability
        same = max(same, step.probability)  # the token may be beyond those that were kept
        return min(1.0, same if begun else same / (same + other))

    def _is_begun(self, span: Span, position: int) -> bool:
        """Whether every token says something here, also the unlikely ones that were not kept."""
        return span.kind == "text" or self._reading.starts[position] > span.start

    def _others(
        self, span: Span, shares: list[float], members: list[bytes] | None, text: bytes
    ) -> tuple[RunnerUp | None, tuple[Member, ...]]:
        """The best other value, and how likely all of them are where they are few."""
        if not span.complete or span.kind == "empty" or (members is None and span.kind in _TEXTS):
            return None, ()
        branches = list(self._branches(span, shares))
        if members is None:
            return _best(span, text, [self._follow(branch) for branch in _likely(branches)]), ()
        weighed = _weigh(span, members, branches, text, math.prod(shares))
        return _best(span, text, [_known(branch, members) for branch in branches]), weighed

    def _branches(self, span: Span, shares: list[float]) -> Iterator[_Branch]:
        before, text = 1.0, b""
        for position, share in zip(span.tokens, shares, strict=True):
            taken = self._reading.said(span, position, self._reading.steps[position].token_id)
            spoken = [each for each in self._reading.all_said(span, position) if each[0] is not None]
            total = sum(probability for _, probability, _ in spoken)
            scale = before if self._is_begun(span, position) or not total else before / total
            for said, probability, token in spoken:
                if said is not None and said != taken:
                    yield _Branch(position, token, text + said.text, said.ends, scale * probability)
            before *= share
            text += taken.text if taken is not None else b""

    def _members(self, span: Span) -> list[bytes] | None:
        """All values that the grammar allows here, if they are few."""
        if span.kind == "empty":
            return None
        first = span.tokens[0]
        n_before = span.start - self._reading.starts[first]
        matcher = self._matcher_at(first).fork()
        matcher.accept_string(self._reading.pieces[first][:n_before])
        return find_members(matcher, self._reading.scanner(first, n_before))

    def _follow(self, branch: _Branch) -> _Outcome:
        """The value that a branch leads to, as far as there is one way to go on."""
        text, ends = branch.text, branch.ends
        if not ends:
            matcher = self._matcher_at(branch.position).fork()
            matcher.accept_token(branch.token_id)
            scanner = self._reading.scanner(branch.position)
            if scanner is not None:
                for byte in self._reading.piece(branch.token_id):
                    scanner.feed(byte)
            text, ends, _ = follow_forced(matcher, scanner, text)
        return _Outcome(text, ends, branch.probability)

    def _matcher_at(self, position: int) -> GrammarMatcher:
        """The matcher before a token. It is shared: fork it."""
        if position < self._position:
            self._matcher.rollback(self._position - position)
            self._position = position
        for step in self._reading.steps[self._position : position]:
            self._matcher.accept_token(step.token_id)
        self._position = position
        return self._matcher


def find_pushes(reading: Reading, positions: Iterable[int], span: Span | None = None) -> dict[int, Push]:
    """The tokens at which the mask took what the model wanted most, and at least `PUSHED` of all it wanted.

    Args:
        reading: The answer.
        positions: The tokens to look at.
        span: The value that they belong to: what would have said the same about it, or nothing, does not
            count. None to count all.
    """
    found = {}
    for position in positions:
        step = reading.steps[position]
        if step.wanted_is_legal or step.removed < PUSHED:
            continue
        if span is not None and span.kind != "empty":
            wanted = reading.said(span, position, step.wanted_id)
            if wanted is None or wanted == reading.said(span, position, step.token_id):
                continue
        found[position] = Push(reading.name(step.wanted_id), step.wanted_probability, step.removed)
    return found


def _likely(branches: list[_Branch]) -> list[_Branch]:
    """The likeliest few branches of each step."""
    kept: list[_Branch] = []
    for position in sorted({branch.position for branch in branches}):
        here = [branch for branch in branches if branch.position == position]
        kept += sorted(here, key=lambda branch: -branch.probability)[:_MAX_BRANCHES]
    return kept


def _compatible(branch: _Branch, members: list[bytes]) -> list[bytes]:
    if branch.ends:
        return [member for member in members if member == branch.text]
    return [member for member in members if member.startswith(branch.text)]


def _known(branch: _Branch, members: list[bytes]) -> _Outcome:
    """The value of a branch among few: the member that it leads to, or what is common to several."""
    found = _compatible(branch, members)
    if len(found) == 1:
        return _Outcome(found[0], True, branch.probability)
    return _Outcome(branch.text, branch.ends, branch.probability)


def _weigh(
    span: Span, members: list[bytes], branches: list[_Branch], text: bytes, probability: float
) -> tuple[Member, ...]:
    """What the branches say of each of the members, of which `text` is the one in the answer."""
    sure = dict.fromkeys(members, 0.0)
    shared = dict.fromkeys(members, 0.0)
    sure[text] = probability
    for branch in branches:
        found = _compatible(branch, members)
        for member in found:
            (sure if len(found) == 1 else shared)[member] += branch.probability
    weighed = []
    for member, low in sure.items():
        spelled = member.decode(errors="replace")
        high = low + shared.get(member, 0.0)
        weighed.append(Member(span.value(spelled), spelled, min(1.0, low), min(1.0, high)))
    return tuple(sorted(weighed, key=lambda member: (-member.at_least, -member.at_most)))


def _best(span: Span, text: bytes, outcomes: list[_Outcome]) -> RunnerUp | None:
    """The likeliest value that is another than the one in the answer; branches to the same one add up."""
    weights: dict[tuple[bytes, bool], float] = {}
    for other, complete, probability in outcomes:
        if not _is_same(other, complete, text):
            weights[other, complete] = weights.get((other, complete), 0.0) + probability
    if not weights:
        return None
    (other, complete), probability = max(weights.items(), key=lambda item: item[1])
    spelled = other.decode(errors="replace")
    return RunnerUp(spelled, span.value(spelled) if complete else None, complete, min(1.0, probability))


def _is_same(other: bytes, complete: bool, text: bytes) -> bool:
    """Whether a branch leads to the value in the answer, or may."""
    if not complete:
        return text.startswith(other)
    return other == text or _is_same_number(other, text)


def _is_same_number(one: bytes, other: bytes) -> bool:
    try:
        return Decimal(one.decode()) == Decimal(other.decode())
    except (InvalidOperation, UnicodeDecodeError):
        return False
