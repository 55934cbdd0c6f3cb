from typing import Any

class TokenTrie:
    vocab_size: int
    byte_complete: bool
    spells_utf8: bool
    alphabet: frozenset[int]
    max_length: int
    def __init__(self, table: tuple[Any, Any, Any], vocab_size: int) -> None: ...
    @property
    def n_nodes(self) -> int: ...
    def token_bytes(self, token: int) -> bytes | None: ...
