"""llguidance: `LLMatcher` as servers drive it, masks written straight into the row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

import llguidance  # type: ignore[import-not-found,import-untyped,unused-ignore]
import numpy as np
from numpy.typing import NDArray

from ..vocabularies import BenchVocabulary
from .base import Batch, Engine, Refused, SchemaOptions, Stepper

__all__ = ["make"]


class Llguidance(Engine):
    """Default options: standard meaning of the schema, flexible white space, default slices."""

    name: ClassVar[str] = "llguidance"
    distribution: ClassVar[str] = "llguidance"

    def prepare(self, vocabulary: BenchVocabulary) -> None:
        self._vocabulary = vocabulary
        self._words = self.new_words(vocabulary)
        if vocabulary.huggingface is not None:
            self._tokenizer = llguidance.LLTokenizer(vocabulary.huggingface, eos_token=vocabulary.stop_id)
        else:
            self._tokenizer = llguidance.LLTokenizer.from_tiktoken(
                encoder=dict(vocabulary.ranks),
                special_tokens=dict(vocabulary.special),
                pattern=vocabulary.pattern,
                eos_token=vocabulary.stop_id,
                n_vocab=vocabulary.size,
            )

    def compile(self, schema: Any, options: SchemaOptions) -> Any:
        try:
            grammar = llguidance.LLMatcher.grammar_from_json_schema(json.dumps(schema))
        except ValueError as error:
            raise Refused(str(error)) from error
        # log_level 0: warnings of the library would be printed inside the measured time.
        matcher = llguidance.LLMatcher(self._tokenizer, grammar, log_level=0)
        if matcher.is_error():
            raise Refused(matcher.get_error())
        return matcher

    def compile_again(self, schema: Any, options: SchemaOptions, compiled: Any) -> Any:
        # A copy shares the lexer's tables with the first request: the best that the library offers.
        return compiled.deep_copy()

    def start(self, compiled: Any, words: NDArray[np.int32] | None = None) -> Stepper:
        matcher = compiled.deep_copy()
        words = self._words[0] if words is None else words
        fill = partial(matcher.unsafe_compute_mask_ptr, words.ctypes.data, words.nbytes)
        return Stepper(fill, matcher.consume_token, words)

    def batch(self, compiled: Sequence[Any], threads: int) -> Batch | None:
        executor = llguidance.LLExecutor(num_threads=threads)
        words = self.new_words(self._vocabulary, len(compiled))
        matchers = [one.deep_copy() for one in compiled]
        steppers = [
            Stepper(partial(m.unsafe_compute_mask_ptr, row.ctypes.data, row.nbytes), m.consume_token, row)
            for m, row in zip(matchers, words, strict=True)
        ]
        rows = list(zip(matchers, range(len(matchers)), strict=True))
        row_bytes = words.shape[1] * 4
        return steppers, partial(
            executor.unsafe_compute_mask_ptr, rows, words.ctypes.data, row_bytes, len(compiled)
        )


def make(variant: str) -> Engine:
    """The engine; it has no variants."""
    return Llguidance(variant)
