"""The reference engine: a slow, plain-Python twin of the kernel, written to be obviously right.

Does: the same questions as the kernel-backed matcher, on the same rules and vocabularies. Tests hold
the kernel to it; a surprising mask can be looked into with it.
Does not: compile, cache masks, or explain. A mask costs one parse per token of the vocabulary.
"""

from .matcher import ReferenceMatcher, Vocabulary
from .recogniser import ReferenceRecogniser, accepts

__all__ = ["ReferenceMatcher", "ReferenceRecogniser", "Vocabulary", "accepts"]
