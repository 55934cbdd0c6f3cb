from ..rules import Rule
from .automaton import Automaton
from .lexemes import LexemeTable
from .masks import MaskBuilder
from .network import Network
from .trie import TokenTrie

MAX_GRAMMAR_NODES: int
MAX_PRUNED_RULES: int

class CompiledCore:
    vocabulary: TokenTrie
    table: LexemeTable
    masks: MaskBuilder
    network: Network
    automaton: Automaton
    def __init__(
        self,
        vocabulary: TokenTrie,
        table: LexemeTable,
        masks: MaskBuilder,
        root: Rule,
        guards_checked: bool,
        refused_token_ids: frozenset[int],
        max_bytes: int,
    ) -> None: ...
    def expand(self, rule_id: int) -> None: ...
    @property
    def is_worn(self) -> bool: ...
    def prepare(self, max_rules: int) -> bool: ...
    def renew(self, old: Automaton) -> bool: ...
    @property
    def memory_size_bytes(self) -> int: ...
    @property
    def n_states(self) -> int: ...
