from ..rules import Rule
from .lexemes import LexemeTable

class Network:
    rules: list[Rule]
    root: int
    fragile: bool
    guards_checked: bool
    def __init__(
        self, table: LexemeTable, root: Rule, guards_checked: bool, refused_token_ids: frozenset[int]
    ) -> None: ...
    def is_expanded(self, rule: int) -> bool: ...
    def prune(self) -> bool: ...
    @property
    def memory_size_bytes(self) -> int: ...
