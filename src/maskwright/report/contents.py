"""What a report holds, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from .steps import Step

__all__ = ["DOUBTFUL", "PUSHED", "SURE", "Leaf", "Member", "Outside", "Push", "Report", "RunnerUp"]

#: Share of the probability that the mask must have taken away for a value to count as pushed.
PUSHED: Final = 0.5

#: Confidence from which a value is called sure, and below which it is called doubtful.
SURE: Final = 0.9
DOUBTFUL: Final = 0.5


@dataclass(frozen=True, slots=True)
class Push:
    """Where the mask turned the model away from what it wanted most.

    Attributes:
        wanted: The text of the token that the model held most likely, which was not legal.
        wanted_probability: What it gave that token.
        removed: Share of its probability that was on tokens that were not legal.
    """

    wanted: str
    wanted_probability: float
    removed: float


@dataclass(frozen=True, slots=True)
class RunnerUp:
    """The best other value.

    Attributes:
        text: Its text as in the answer (JSON for JSON answers), as far as it is known.
        value: The value; None if the text is not all of it.
        complete: Whether the text is all of it. If not, the model was never asked how it would go on.
        probability: Under the mask, of the branch that leads there.
    """

    text: str
    value: Any
    complete: bool
    probability: float


@dataclass(frozen=True, slots=True)
class Member:
    """One of the values that the grammar allows at a place where it allows few.

    Attributes:
        value: The value.
        text: Its text, as it would stand in the answer.
        at_least: Probability under the mask of the branches that lead to this value alone.
        at_most: The same, and of those that lead to this value or to others: where values begin alike,
            the model was not asked how it would have gone on.
    """

    value: Any
    text: str
    at_least: float
    at_most: float


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value that holds no others, and how far to trust it. See `docs/reports.md` for what is counted.

    Attributes:
        pointer: Where it is, as a JSON pointer; empty for the whole answer.
        value: The value; of an answer that was cut, or is not JSON, the text.
        text: Its text in the answer.
        kind: ``"string"``, ``"number"``, ``"boolean"``, ``"null"``, ``"empty"`` (an object or array with
            nothing in it), or ``"text"`` for an answer that is not JSON.
        complete: Whether the answer went on until the value was over.
        probability: Under the mask: the product over its tokens.
        confidence: The same, but for free text the geometric mean over the tokens that could have said
            something else, since a product of many factors is always small. To compare and to colour by.
        removed: Share of the probability that the mask took away at each of its tokens.
        n_tokens: Its tokens.
        n_forced: How many of them were the only legal one.
        runner_up: The best other value, where the grammar allows few or the value is a number.
        members: All values that the grammar allows here, likeliest first, if they are few.
        pushed: Where the mask turned the model away from what it wanted, if it did: the worst place.
    """

    pointer: str
    value: Any
    text: str
    kind: str
    complete: bool
    probability: float
    confidence: float
    removed: tuple[float, ...]
    n_tokens: int
    n_forced: int
    runner_up: RunnerUp | None = None
    members: tuple[Member, ...] = ()
    pushed: Push | None = None

    @property
    def level(self) -> str:
        """The confidence as a word: ``"sure"``, ``"likely"`` or ``"doubtful"``."""
        if self.confidence >= SURE:
            return "sure"
        return "likely" if self.confidence >= DOUBTFUL else "doubtful"


@dataclass(frozen=True, slots=True)
class Outside:
    """The tokens that belong to no value: punctuation, keys, white space and the end.

    Attributes:
        n_tokens: How many.
        n_forced: How many of them were the only legal one.
        removed: Share of the probability that the mask took away at each of them.
        pushed: The place where the mask turned the model away the most, if it did.
    """

    n_tokens: int
    n_forced: int
    removed: tuple[float, ...]
    pushed: Push | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """How far to trust an answer, value by value.

    Attributes:
        text: The answer.
        complete: Whether it is all that the grammar asks for.
        leaves: The values that hold no others, in the order of the text.
        outside: What is not in any of them.
        steps: One for each token, the stop token included if it came.
        pieces: The text of each token; a character that spans tokens is replaced in each.
        spans: Where each leaf is in the text, as (start, end) in characters.
        owners: For each token the numbers of the leaves that it belongs to.
    """

    text: str
    complete: bool
    leaves: tuple[Leaf, ...]
    outside: Outside
    steps: Sequence[Step]
    pieces: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    owners: tuple[tuple[int, ...], ...]

    def __getitem__(self, pointer: str) -> Leaf:
        """The leaf at a JSON pointer. Raises KeyError if there is none."""
        for leaf in self.leaves:
            if leaf.pointer == pointer:
                return leaf
        raise KeyError(pointer)

    def places(self) -> list[str]:
        """For each token the kind of the first leaf that it belongs to, ``"outside"`` for none."""
        return [self.leaves[owners[0]].kind if owners else "outside" for owners in self.owners]

    def as_text(self) -> str:
        """A table for a terminal."""
        from .text import render

        return render(self)

    def as_json(self) -> dict[str, Any]:
        """Plain values for `json.dumps`."""
        from .plain import render

        return render(self)

    def as_html(self, *, title: str = "", prompt: str = "") -> str:
        """A page in one file that needs nothing else.

        Args:
            title: What answered, for the head of the page.
            prompt: What was asked, likewise.
        """
        from .page import render

        return render(self, title=title, prompt=prompt)
