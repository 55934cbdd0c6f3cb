"""Outlines (`outlines_core`): a schema becomes one regex, which becomes an index over the vocabulary.

Two limits of the approach show in the results: recursion is cut at a depth, and the index holds a
transition for each (state, token), so that compiling takes seconds to minutes on a large vocabulary.
"""

from __future__ import annotations

import json
from functools import partial
from typing import Any, ClassVar

import numpy as np
import outlines_core  # type: ignore[import-not-found,import-untyped,unused-ignore]
from numpy.typing import NDArray
from outlines_core.json_schema import build_regex_from_schema  # type: ignore[import-not-found,unused-ignore]

from ..vocabularies import BenchVocabulary
from .base import Engine, Refused, SchemaOptions, Stepper

__all__ = ["make"]


class Outlines(Engine):
    """White space as the library's default: `[ ]?` at each place."""

    name: ClassVar[str] = "outlines"
    distribution: ClassVar[str] = "outlines_core"

    def prepare(self, vocabulary: BenchVocabulary) -> None:
        self._words = self.new_words(vocabulary)
        ids: dict[bytes, list[int]] = {}
        for token_id, token in enumerate(vocabulary.tokens):
            if token and token_id != vocabulary.stop_id:
                ids.setdefault(token, []).append(token_id)
        self._vocab = outlines_core.Vocabulary(vocabulary.stop_id, ids)

    def compile(self, schema: Any, options: SchemaOptions) -> Any:
        try:
            return outlines_core.Index(build_regex_from_schema(json.dumps(schema)), self._vocab)
        except Exception as error:  # ValueError, TypeError and others, by what goes wrong
            raise Refused(str(error)) from error

    def compile_again(self, schema: Any, options: SchemaOptions, compiled: Any) -> Any:
        return compiled  # a server keeps the index

    def start(self, compiled: Any, words: NDArray[np.int32] | None = None) -> Stepper:
        guide = outlines_core.Guide(compiled)
        words = self._words[0] if words is None else words
        fill = partial(guide.write_mask_into, words.ctypes.data, words.size, words.itemsize)
        return Stepper(fill, partial(guide.advance, return_tokens=False), words)


def make(variant: str) -> Engine:
    """The engine; it has no variants."""
    return Outlines(variant)
