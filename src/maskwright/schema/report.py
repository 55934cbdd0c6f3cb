"""The report: what each keyword of a schema became.

Expansion only appends the nodes it visits (a list append on the way to the first mask); the entries
are made when somebody reads them. `Report.complete` expands everything that the root can reach.
Nothing is enforced here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from ..pointers import escape

if TYPE_CHECKING:
    from .nodes import Node

__all__ = ["Entry", "Report", "Status"]


class Status(StrEnum):
    """What happened to a keyword."""

    ENFORCED = "enforced"
    WIDENED = "widened"
    REFUSED = "refused"
    ANNOTATION = "annotation"


@dataclass(frozen=True, slots=True)
class Entry:
    """One keyword of the schema.

    Attributes:
        pointer: JSON pointer of the keyword (``#/properties/a/minLength``).
        keyword: Its name.
        status: What became of it.
        note: Why, when that is not plain.
    """

    pointer: str
    keyword: str
    status: Status
    note: str = ""


class Report:
    """What is enforced, widened, refused or a mere annotation.

    Attributes:
        n_branches: Alternatives that the visited places of the schema were split into.
        seen: Nodes that were expanded and are not among the entries yet, each with the way to a subschema of
            it that was written where its parent stands, without a node of its own.
    """

    def __init__(self) -> None:
        self.n_branches = 0
        self._nodes: dict[str, Node] = {}
        self.seen: list[tuple[Node, tuple[str | int, ...]]] = []
        self._noted: dict[str, Entry] = {}
        self._complete: Callable[[], None] | None = None

    @property
    def entries(self) -> list[Entry]:
        """The entries so far, in the order in which schemas were met."""
        for node, key in self.seen:
            node = node.child(*key) if key else node
            self._nodes.setdefault(node.pointer, node)
        self.seen.clear()
        found: dict[str, Entry] = {}
        for node in self._nodes.values():
            for keyword in node.schema if isinstance(node.schema, dict) else ():
                place = _place(node.pointer, keyword)
                enforced = node.resource.dialect.asserts(keyword, node.schema)
                status = Status.ENFORCED if enforced else Status.ANNOTATION
                found[place] = Entry(place, keyword, status)
        return list((found | self._noted).values())

    @property
    def is_exact(self) -> bool:
        """Whether everything met so far is enforced or an annotation."""
        return not any(e.status in (Status.WIDENED, Status.REFUSED) for e in self._noted.values())

    def complete(self) -> Report:
        """Expand every rule that the schema can reach, so that the report is whole.

        Raises:
            SchemaError: A part of the schema cannot be enforced.
            LimitExceeded: The schema is too large or splits into too many branches.
        """
        if self._complete is not None:
            work, self._complete = self._complete, None
            work()
        return self

    def saw(self, node: Node) -> None:
        """A node was expanded."""
        self.seen.append((node, ()))

    def note(self, pointer: str, keyword: str, status: Status, note: str) -> None:
        """Something else than the keyword's usual treatment happened."""
        place = _place(pointer, keyword)
        self._noted[place] = Entry(place, keyword, status, note)

    def when_completing(self, work: Callable[[], None]) -> None:
        """Set what `complete` does."""
        self._complete = work


def _place(pointer: str, keyword: str) -> str:
    return f"{pointer}/{escape(keyword)}"
