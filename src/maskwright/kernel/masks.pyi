from .lexemes import LexemeTable
from .trie import TokenTrie

class MaskBuilder:
    vocabulary: TokenTrie
    def __init__(self, vocabulary: TokenTrie, table: LexemeTable) -> None: ...
    @property
    def memory_size_bytes(self) -> int: ...
