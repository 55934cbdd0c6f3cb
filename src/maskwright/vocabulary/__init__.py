"""Vocabularies: the bytes of every token, from any tokenizer library.

`TokenizerInfo` is all that the rest of the library sees. Each loader (`huggingface`, `tiktoken_`,
`sentencepiece_`, `tekken`, `gguf`, `llama_cpp`) is imported when it is first used, and imports the
library it reads from only if it needs it.
"""

from maskwright.vocabulary.decoding import VocabType
from maskwright.vocabulary.info import TokenizerInfo

__all__ = ["TokenizerInfo", "VocabType"]
