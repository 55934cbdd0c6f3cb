"""Memory figures: what held memory is, and the tables for engines that have no figure."""

import numpy as np

from maskwright.cli.bench.machine import held_mb
from maskwright.cli.bench.memory import _cell, _Job, _matcher, _set_up, _set_up_table
from maskwright.cli.bench.vocabularies import byte_vocabulary
from maskwright.cli.bench.workers import Failure
from tests.bench.support import EnumEngine


def test_held_memory_grows_with_what_is_held_and_shrinks_with_what_is_freed() -> None:
    before = held_mb()
    kept = np.ones(32 << 20, dtype=np.uint8)
    assert held_mb() - before > 24
    del kept
    assert held_mb() - before < 8


def test_set_up_says_what_the_engine_does_not_count() -> None:
    class Lenient(EnumEngine):
        def compile(self, schema: object, options: object) -> list[bytes]:
            return []

    job = _Job("set-up", "enum", "bytes")
    answer = _set_up(byte_vocabulary(), Lenient(), job)
    assert (answer["tokens"], answer["shared"]) == (257, None)
    table = _set_up_table(["bytes", "other"], ["enum"], {job: answer, _Job("set-up", "enum", "other"): None})
    assert "not installed" in table
    assert "257" in table


def test_a_sequence_that_stops_early_has_no_figure() -> None:
    class Stubborn(EnumEngine):
        def compile(self, schema: object, options: object) -> list[bytes]:
            return [b"[{"]

    engine = Stubborn()
    engine.prepare(byte_vocabulary())
    assert _matcher(byte_vocabulary(), engine, 1000, _Job("matcher", "enum", "bytes")) == {
        "refused": "stopped after 2 tokens"
    }
    assert _cell(Failure("timeout", 3.0), "first_kib") == "timeout"
    assert _cell({"first_kib": None}, "first_kib") == "-"
