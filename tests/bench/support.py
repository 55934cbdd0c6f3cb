"""A tiny engine of our own for the harness's tests, and handlers that worker processes can import."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from maskwright.cli.bench.engines import Engine, Refused, SchemaOptions, Stepper
from maskwright.cli.bench.vocabularies import BenchVocabulary


class EnumEngine(Engine):
    """Knows one keyword, `enum` of strings, and writes the members without quotes."""

    name: ClassVar[str] = "enum"
    distribution: ClassVar[str] = "not-installed"

    def prepare(self, vocabulary: BenchVocabulary) -> None:
        self.vocabulary = vocabulary

    def compile(self, schema: Any, options: SchemaOptions) -> Any:
        if set(schema) != {"enum"}:
            raise Refused(f"unimplemented: {sorted(schema)}")
        return [member.encode() for member in schema["enum"]]

    def start(self, compiled: Any, words: NDArray[np.int32] | None = None) -> Stepper:
        written = bytearray()
        words = self.new_words(self.vocabulary)[0] if words is None else words

        def legal(token_id: int) -> bool:
            if token_id == self.vocabulary.stop_id:
                return bytes(written) in compiled
            grown = bytes(written) + self.vocabulary.tokens[token_id]
            return len(grown) > len(written) and any(text.startswith(grown) for text in compiled)

        def fill() -> None:
            words[:] = 0
            for token_id in filter(legal, range(self.vocabulary.size)):
                bit = 1 << (token_id & 31)
                words[token_id >> 5] |= bit - (1 << 32) if bit >> 31 else bit

        def accept(token_id: int) -> bool:
            if not legal(token_id):
                return False
            written.extend(self.vocabulary.tokens[token_id])
            return True

        return Stepper(fill, accept, words)


def make_worker(mode: str) -> Callable[[Any], Any]:
    """A handler for `run_jobs`: what it does with a job depends on the mode and the job."""
    if mode == "cannot start":
        raise ValueError("no such vocabulary")
    return partial(_work, mode)


def _work(mode: str, job: Any) -> Any:
    if job == "sleep":
        time.sleep(600)
    if job == "die":
        os._exit(3)
    if job == "raise":
        raise KeyError("nothing here")
    return mode, job, os.getpid()
