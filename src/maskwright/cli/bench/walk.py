"""Timing one engine on one schema: what is measured, and nothing else between the clock readings.

The terms are MaskBench's. *Time to first mask* is compile + new sequence + first mask. *Time between
masks* is mask + accept of one token; both parts are kept. Single thread, wall time, garbage
collection off. The harness's own share is measured by walking an engine that does nothing.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np

from .engines import Engine, Refused, SchemaOptions, Stepper

__all__ = [
    "CLOCKS",
    "Instance",
    "PassResult",
    "Walk",
    "harness_overhead_ns",
    "quiet",
    "run_pass",
    "use_clock",
    "walk",
]

#: Nanosecond clocks: wall time, or the processor time of all threads (steadier on a busy machine, but
#: reading it costs a system call, which the harness's own share then shows).
CLOCKS = {"wall": time.perf_counter_ns, "cpu": time.process_time_ns}
_clock = CLOCKS["wall"]


def use_clock(name: str) -> None:
    """Choose the clock of this process, one of `CLOCKS`."""
    global _clock
    _clock = CLOCKS[name]


@dataclass(frozen=True)
class Instance:
    """A text, as tokens, with the verdict it should get (None: unknown)."""

    token_ids: Sequence[int]
    valid: bool | None


@dataclass
class Walk:
    """One instance stepped through one engine.

    Attributes:
        accepted: All tokens legal, and the stop token legal after the last.
        valid: What it should be.
        fill_ns: Time of each mask, up to the one in which the next token was not legal.
        accept_ns: Time of each accept.
        conflict: The mask allowed a token that `accept` then refused.
    """

    accepted: bool
    valid: bool | None
    fill_ns: list[int]
    accept_ns: list[int]
    conflict: bool = False


@dataclass
class PassResult:
    """One request for a schema: compile, then all its instances.

    Attributes:
        refused: The engine's message when it did not compile, else None.
        compile_ns: Time of the compile call, also when it refused.
        start_ns: Time to make the first sequence.
        first_mask_ns: Time of the first mask.
        walks: One for each instance.
    """

    refused: str | None = None
    compile_ns: int = 0
    start_ns: int = 0
    first_mask_ns: int = 0
    walks: list[Walk] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


@contextmanager
def quiet() -> Iterator[None]:
    """No garbage collection inside."""
    gc.collect()
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def walk(stepper: Stepper, instance: Instance, stop_id: int) -> Walk:
    """Step an instance's tokens through a sequence, and look whether it may stop after them."""
    fill, accept, words, clock = stepper.fill, stepper.accept, stepper.words, _clock
    fill_ns: list[int] = []
    accept_ns: list[int] = []
    for token_id in instance.token_ids:
        before = clock()
        fill()
        after = clock()
        fill_ns.append(after - before)
        # Read between the timed calls; the words are the row that the engine has just written.
        if not (int(words[token_id >> 5]) >> (token_id & 31)) & 1:
            return Walk(False, instance.valid, fill_ns, accept_ns)
        before = clock()
        answer = accept(token_id)
        after = clock()
        accept_ns.append(after - before)
        if answer is False:
            return Walk(False, instance.valid, fill_ns, accept_ns, conflict=True)
    fill()
    return Walk(stepper.allows(stop_id), instance.valid, fill_ns, accept_ns)


def run_pass(
    engine: Engine,
    schema: Any,
    instances: Sequence[Instance],
    options: SchemaOptions,
    stop_id: int,
    earlier: Any = None,
) -> tuple[PassResult, Any]:
    """One request for a schema, and the compiled grammar.

    Args:
        engine: A prepared engine.
        schema: The schema, as a Python value.
        instances: Texts to step through.
        options: What the schema should mean.
        stop_id: The stop token.
        earlier: The compiled grammar of an earlier request (a warm request), or None (a cold one).
    """
    result = PassResult()
    with quiet():
        before = _clock()
        try:
            if earlier is None:
                compiled = engine.compile(schema, options)
            else:
                compiled = engine.compile_again(schema, options, earlier)
        except Refused as error:
            result.compile_ns = _clock() - before
            result.refused = str(error)[:2000]
            return result, None
        result.compile_ns = _clock() - before
        before = _clock()
        stepper = engine.start(compiled)
        result.start_ns = _clock() - before
        if not instances:
            before = _clock()
            stepper.fill()
            result.first_mask_ns = _clock() - before
        for number, instance in enumerate(instances):
            if number:
                stepper = engine.start(compiled)
            result.walks.append(walk(stepper, instance, stop_id))
        if instances and result.walks[0].fill_ns:
            result.first_mask_ns = result.walks[0].fill_ns[0]
    return result, compiled


def harness_overhead_ns(n_tokens: int = 20_000) -> dict[str, float]:
    """What the harness itself adds to a mask and to an accept: nanoseconds, mean and p50.

    An engine that does nothing is walked: its `fill` and `accept` are builtins, called as engines' are.
    """
    words = np.full(4, -1, dtype=np.int32)
    idle = Stepper(partial(len, ()), abs, words)
    with quiet():
        result = walk(idle, Instance([7] * n_tokens, None), 7)
    fill, accept = np.array(result.fill_ns), np.array(result.accept_ns)
    return {
        "fill_mean_ns": float(fill.mean()),
        "fill_p50_ns": float(np.median(fill)),
        "accept_mean_ns": float(accept.mean()),
        "accept_p50_ns": float(np.median(accept)),
    }
