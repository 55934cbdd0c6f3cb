from ..rules import Rule
from .compiled import CompiledCore
from .matcher import MatcherCore

class Walk:
    output: bytes
    n_fit: int
    accepting: bool
    has_stopped: bool
    def items(self, max_items: int) -> list[tuple[int, bytes, tuple[int, ...], list[tuple[Rule, int]]]]: ...

def walk(matcher: MatcherCore, text: bytes) -> Walk: ...
def ways_on(core: CompiledCore, node: int) -> tuple[bool, list[tuple[bytes, int]]]: ...
