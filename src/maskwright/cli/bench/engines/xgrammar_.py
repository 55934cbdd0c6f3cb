"""XGrammar, compiling as MaskBench's compliant configuration does.

`any_whitespace=True, strict_mode=False` gives the standard's meaning of a schema, which is what the
other engines are asked for. Variants: `strict` (the library's default), `nocache` (without the
compiler's cache, which also shares parts between different schemas).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
import xgrammar  # type: ignore[import-not-found,import-untyped,unused-ignore]
from numpy.typing import NDArray

from ..vocabularies import BenchVocabulary
from .base import Batch, Engine, Refused, SchemaOptions, Stepper, xgrammar_batch

__all__ = ["make"]


class Xgrammar(Engine):
    """One thread, the compiler's cache on."""

    name: ClassVar[str] = "xgrammar"
    distribution: ClassVar[str] = "xgrammar"

    def prepare(self, vocabulary: BenchVocabulary) -> None:
        self._vocabulary = vocabulary
        self._words = self.new_words(vocabulary)
        info = xgrammar.TokenizerInfo(
            vocabulary.tokens,
            xgrammar.VocabType.RAW,
            vocab_size=vocabulary.size,
            stop_token_ids=[vocabulary.stop_id],
        )
        self._compiler = xgrammar.GrammarCompiler(
            info, max_threads=1, cache_enabled="nocache" not in self.variant
        )

    def compile(self, schema: Any, options: SchemaOptions) -> Any:
        strict = "strict" in self.variant
        try:
            return self._compiler.compile_json_schema(
                json.dumps(schema), any_whitespace=True, strict_mode=strict, any_order=options.any_order
            )
        except Exception as error:  # the library raises several unrelated types
            raise Refused(str(error)) from error

    def start(self, compiled: Any, words: NDArray[np.int32] | None = None) -> Stepper:
        matcher = xgrammar.GrammarMatcher(compiled)
        rows = self._words if words is None else words.reshape(1, -1)
        fill = partial(matcher.fill_next_token_bitmask, rows, 0)
        return Stepper(fill, matcher.accept_token, rows[0])

    def matches(self, compiled: Any, text: bytes, stop_id: int) -> bool:
        matcher = xgrammar.GrammarMatcher(compiled)
        return bool(matcher.accept_string(text)) and bool(matcher.accept_token(stop_id))

    def grammar_bytes(self, compiled: Any) -> int | None:
        return int(compiled.memory_size_bytes)

    def batch(self, compiled: Sequence[Any], threads: int) -> Batch | None:
        matchers = [xgrammar.GrammarMatcher(one) for one in compiled]
        filler = xgrammar.BatchGrammarMatcher(max_threads=threads)
        return xgrammar_batch(matchers, filler, self.new_words(self._vocabulary, len(compiled)))


def make(variant: str) -> Engine:
    """The engine, with variants `strict` and `nocache`."""
    return Xgrammar(variant)
