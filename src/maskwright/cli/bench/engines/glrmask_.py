"""GLRMask with its default strategy.

Its separators are fixed at `", "` and `": "`, which is how the texts of the benchmarks are written.
"""

from __future__ import annotations

import json
import os
from functools import partial
from typing import Any, ClassVar

# The library's thread pool reads this when it starts; every engine here compiles on one thread.
os.environ.setdefault("RAYON_NUM_THREADS", "1")

import glrmask  # type: ignore[import-not-found,import-untyped,unused-ignore]
import numpy as np
from numpy.typing import NDArray

from ..vocabularies import BenchVocabulary
from .base import Engine, Refused, SchemaOptions, Stepper

__all__ = ["make"]


class Glrmask(Engine):
    """The grammar is followed by a token set with the stop token, which is how the library spells an end."""

    name: ClassVar[str] = "glrmask"
    distribution: ClassVar[str] = "glrmask"

    def prepare(self, vocabulary: BenchVocabulary) -> None:
        self._words = self.new_words(vocabulary)
        self._vocab = glrmask.Vocab.from_id_to_bytes({i: t for i, t in enumerate(vocabulary.tokens) if t})
        self._stop = glrmask.TokenSet([vocabulary.stop_id])

    def compile(self, schema: Any, options: SchemaOptions) -> Any:
        try:
            grammar = glrmask.Grammar.from_json_schema(json.dumps(schema))
            whole = glrmask.Grammar.from_expr(glrmask.Expr.sequence(grammar, self._stop))
            return whole.compile(self._vocab)
        except ValueError as error:
            raise Refused(str(error)) from error

    def compile_again(self, schema: Any, options: SchemaOptions, compiled: Any) -> Any:
        # The library has no cache of its own; a server keeps the compiled constraint.
        return compiled

    def start(self, compiled: Any, words: NDArray[np.int32] | None = None) -> Stepper:
        state = compiled.start()
        words = self._words[0] if words is None else words
        return Stepper(partial(state.fill_mask, words), state.commit_token, words)


def make(variant: str) -> Engine:
    """The engine; it has no variants."""
    return Glrmask(variant)
