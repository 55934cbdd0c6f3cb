"""The interface between the harness and one engine.

Small on purpose: whatever stands between the clock and the engine is counted against the engine.
`Stepper.fill` and `Stepper.accept` are therefore the engine's own bound calls (or partial objects of
them), not methods of ours.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..vocabularies import BenchVocabulary

__all__ = ["Batch", "Engine", "EngineMissing", "Refused", "SchemaOptions", "Stepper", "xgrammar_batch"]


class EngineMissing(RuntimeError):
    """The engine's package is not installed."""


class Refused(Exception):
    """The engine said that it does not compile this schema. The message is the engine's own.

    Attributes:
        unsatisfiable: The engine's reason is that no value can satisfy the schema, which is a verdict.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        text = message.lower()
        self.unsatisfiable = any(word in text for word in _UNSATISFIABLE)


# How the engines word it.
_UNSATISFIABLE = ("unsatisfiable", "cannot be satisfied", "can never be satisfied", "no value can")


@dataclass(frozen=True)
class SchemaOptions:
    """What a verdict on an instance should mean, for the engines that can be told.

    Attributes:
        any_order: Properties in any order.
        format_assertion: Whether `format` asserts.
        remotes: Documents that the schema may refer to, by URI.
        dialect: What those documents are where they do not say.
    """

    any_order: bool = False
    format_assertion: bool = True
    remotes: Mapping[str, Any] = field(default_factory=dict)
    dialect: str = "https://json-schema.org/draft/2020-12/schema"


@dataclass(slots=True)
class Stepper:
    """One sequence being generated.

    Attributes:
        fill: Writes the mask of the next token into `words`.
        accept: Takes a token id; False when the token is not legal.
        words: The mask row, int32, one bit for each token id, bit 1 = legal.
    """

    fill: Callable[[], object]
    accept: Callable[[int], object]
    words: NDArray[np.int32]

    def allows(self, token_id: int) -> bool:
        """Whether the mask filled last has the token."""
        return bool((int(self.words[token_id >> 5]) >> (token_id & 31)) & 1)


#: Sequences, and the call that fills the mask rows of all of them at once.
Batch = tuple[list[Stepper], Callable[[], object]]


class Engine(ABC):
    """One constrained-decoding library.

    The order of calls: `set_up` once for a process, `compile` for a schema, `start` for a sequence.
    """

    name: ClassVar[str]
    distribution: ClassVar[str]

    def __init__(self, variant: str = "") -> None:
        self.variant = variant

    @property
    def version(self) -> str:
        """Version of the installed package."""
        try:
            return version(self.distribution)
        except PackageNotFoundError:
            return "source tree"

    def set_up(self, vocabulary: BenchVocabulary) -> None:
        """`prepare`, and one trivial schema: what happens once for a process is no schema's time."""
        self.prepare(vocabulary)
        self.compile({"type": "boolean"}, SchemaOptions())

    @abstractmethod
    def prepare(self, vocabulary: BenchVocabulary) -> None:
        """Load the vocabulary."""

    @abstractmethod
    def compile(self, schema: Any, options: SchemaOptions) -> Any:
        """Compile a schema (a Python value).

        Raises:
            Refused: The engine does not take this schema.
        """

    def compile_again(self, schema: Any, options: SchemaOptions, compiled: Any) -> Any:
        """What a server does at the second request for a schema: by default, ask the engine again."""
        return self.compile(schema, options)

    @abstractmethod
    def start(self, compiled: Any, words: NDArray[np.int32] | None = None) -> Stepper:
        """A new sequence.

        Args:
            compiled: The grammar.
            words: The mask row to write. By default one that `prepare` made and all sequences share,
                as they do in a server: making a row is no part of starting a sequence.
        """

    def matches(self, compiled: Any, text: bytes, stop_id: int) -> bool:
        """Whether the text is a whole match. Needs the vocabulary of single bytes."""
        stepper = self.start(compiled)
        for byte in text:
            stepper.fill()
            if not stepper.allows(byte):
                return False
            stepper.accept(byte)
        stepper.fill()
        return stepper.allows(stop_id)

    def batch(self, compiled: Sequence[Any], threads: int) -> Batch | None:
        """One sequence for each grammar, and a native call that fills all rows; None if there is none."""
        return None

    def grammar_bytes(self, compiled: Any) -> int | None:
        """What the engine itself says that a compiled grammar holds; None where it does not say."""
        return None

    def shared_bytes(self) -> int | None:
        """What the engine itself says that all grammars of the vocabulary share; None as above."""
        return None

    def new_words(self, vocabulary: BenchVocabulary, rows: int = 1) -> NDArray[np.int32]:
        """Zeroed mask rows, shape (rows, words)."""
        words = np.empty((rows, vocabulary.n_words), dtype=np.int32)
        words[:] = 0  # touches the pages, which is nobody's time to first mask
        return words


def xgrammar_batch(matchers: Sequence[Any], filler: Any, words: NDArray[np.int32]) -> Batch:
    """A batch of an engine with XGrammar's names: `matchers` and a `BatchGrammarMatcher`, with a row each."""
    steppers = [
        Stepper(partial(matcher.fill_next_token_bitmask, words, row), matcher.accept_token, words[row])
        for row, matcher in enumerate(matchers)
    ]
    return steppers, partial(filler.batch_fill_next_token_bitmask, matchers, words)
