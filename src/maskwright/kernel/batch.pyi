from collections.abc import Sequence
from typing import Any

from .matcher import MatcherCore

def fill_tree(
    matcher: MatcherCore,
    order: list[int],
    parents: list[int],
    tokens: list[int],
    bitmask: Any,
    deadline: float,
) -> bool: ...
def fill_rows(matchers: list[Any], bitmask: Any, indices: Sequence[int] | range) -> list[tuple[Any, int]]: ...
