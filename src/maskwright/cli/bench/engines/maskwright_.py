"""maskwright through its public names, as any caller would use it. Variant: `strict`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import maskwright

from ..vocabularies import BenchVocabulary
from .base import Batch, Engine, Refused, SchemaOptions, Stepper, xgrammar_batch

__all__ = ["make"]


class Maskwright(Engine):
    """The compiler's cache on, as is its default."""

    name: ClassVar[str] = "maskwright"
    distribution: ClassVar[str] = "maskwright"

    @property
    def version(self) -> str:
        """Of the code that runs, installed or not."""
        return str(maskwright.__version__)

    def prepare(self, vocabulary: BenchVocabulary) -> None:
        self._vocabulary = vocabulary
        self._words = self.new_words(vocabulary)
        info = maskwright.TokenizerInfo(
            vocabulary.tokens,
            maskwright.VocabType.RAW,
            vocab_size=vocabulary.size,
            stop_token_ids=[vocabulary.stop_id],
        )
        self._compiler = maskwright.GrammarCompiler(info)

    def compile(self, schema: Any, options: SchemaOptions) -> Any:
        registry = {}
        if options.remotes:
            registry = {"registry": _registry(options.remotes, options.dialect)}
        try:
            compiled = self._compiler.compile_json_schema(
                schema,
                strict_mode="strict" in self.variant,
                any_order=options.any_order,
                # What is judged by verdicts and not by time is judged in every spelling of JSON.
                any_spelling=options.any_order,
                integer_spelling="json" if options.any_order else "plain",
                format_assertion=options.format_assertion,
                **registry,
            )
            if "prepared" in self.variant:
                compiled.prepare()
            return compiled
        except maskwright.GrammarError as error:
            raise Refused(str(error)) from error

    def start(self, compiled: Any, words: NDArray[np.int32] | None = None) -> Stepper:
        matcher = maskwright.GrammarMatcher(compiled)
        rows = self._words if words is None else words.reshape(1, -1)
        return Stepper(partial(matcher.fill_next_token_bitmask, rows, 0), matcher.accept_token, rows[0])

    def matches(self, compiled: Any, text: bytes, stop_id: int) -> bool:
        matcher = maskwright.GrammarMatcher(compiled)
        try:
            return bool(matcher.accept_string(text)) and bool(matcher.is_completed())
        except maskwright.GrammarError as error:  # a rule that was expanded only now
            raise Refused(f"while matching: {error}") from error

    def grammar_bytes(self, compiled: Any) -> int | None:
        return int(compiled.memory_size_bytes)

    def shared_bytes(self) -> int | None:
        # Not public: a caller can do nothing with it.
        return int(self._compiler._engine.memory_size_bytes)

    def batch(self, compiled: Sequence[Any], threads: int) -> Batch | None:
        matchers = [maskwright.GrammarMatcher(one) for one in compiled]
        filler = maskwright.BatchGrammarMatcher(max_threads=threads)
        return xgrammar_batch(matchers, filler, self.new_words(self._vocabulary, len(compiled)))


def _registry(remotes: Mapping[str, Any], dialect: str) -> Any:
    """The documents as the `referencing` library wants them; one without `$schema` is of the dialect."""
    from referencing import Registry, Resource
    from referencing.jsonschema import specification_with

    default = specification_with(dialect)
    pairs = (
        (uri, Resource.from_contents(document, default_specification=default))
        for uri, document in remotes.items()
    )
    return Registry().with_resources(pairs)


def make(variant: str) -> Engine:
    """The engine, with the variants `strict` and `prepared` (all rules are lowered when compiling)."""
    return Maskwright(variant)
