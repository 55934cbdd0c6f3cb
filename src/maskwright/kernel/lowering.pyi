from typing import Any

from ..rules import Rule

class Fragment:
    n_nodes: int
    @staticmethod
    def of(rule: Rule) -> Fragment: ...
    def list_edges(self) -> list[tuple[int, str, int, Any]]: ...
