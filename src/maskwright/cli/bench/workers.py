"""Jobs in worker processes that can be killed: a time limit that holds whatever the job does.

An engine that loops inside native code cannot be interrupted from Python, so a job that overstays
its limit costs its worker; a fresh one takes over the remaining jobs. A job that takes the process
down (a segmentation fault, memory) is reported as a crash and costs its worker alike.

Not `concurrent.futures`: its pool breaks as a whole when one worker dies, and it cannot end one job.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

__all__ = ["Failure", "WorkerError", "run_jobs"]

JobT = TypeVar("JobT")

#: A worker that is not ready after this many seconds is given up.
START_LIMIT_S = 600.0


class WorkerError(RuntimeError):
    """The handler could not be made; the text is the worker's traceback."""


@dataclass(frozen=True)
class Failure:
    """A job without a result.

    Attributes:
        kind: `timeout`, `crash` (the process died) or `error` (an exception that nobody expected).
        seconds: How long the job had run.
        message: The traceback of an `error`.
    """

    kind: str
    seconds: float
    message: str = ""


@dataclass
class _Worker(Generic[JobT]):
    process: Any
    pipe: Connection
    job: JobT | None = None
    started: float = 0.0
    ready: bool = False

    def end(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


def _serve(pipe: Connection, make_handler: Callable[[], Callable[[Any], Any]]) -> None:
    import traceback

    try:
        handle = make_handler()
    except BaseException:
        pipe.send(("error", traceback.format_exc()))
        return
    pipe.send(("ready", None))
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        try:
            answer = ("result", handle(job))
        except MemoryError:
            raise
        except Exception:
            answer = ("error", traceback.format_exc())
        pipe.send(answer)


def run_jobs(
    jobs: Iterable[JobT],
    make_handler: Callable[[], Callable[[JobT], Any]],
    *,
    n_workers: int = 1,
    limit_s: float = 60.0,
) -> Iterator[tuple[JobT, Any]]:
    """Each job with its result or a `Failure`, in the order in which they end.

    Args:
        jobs: Anything that can be pickled. Taken one at a time as workers become free.
        make_handler: Called once in each worker; a module-level function or a partial object of one.
        n_workers: Number of processes.
        limit_s: Seconds a job may take; the making of the handler is not counted.

    Raises:
        WorkerError: The handler could not be made.
    """
    source = iter(jobs)
    waiting = list(_take(source, n_workers))
    workers: list[_Worker[JobT]] = [_start(make_handler) for _ in waiting]
    try:
        while workers:
            for worker in list(workers):
                if worker.ready and worker.job is None:
                    _give(worker, waiting, source, workers)
            if not workers:
                return
            wait([worker.pipe for worker in workers], timeout=_patience(workers, limit_s))
            for index, worker in enumerate(workers):
                outcome = _look(worker, limit_s)
                if outcome is None:
                    continue
                job, worker.job = worker.job, None
                if isinstance(outcome, Failure) and outcome.kind != "error":
                    worker.end()
                    workers[index] = _start(make_handler)
                assert job is not None
                yield job, outcome
    finally:
        for worker in workers:
            worker.end()


def _take(source: Iterator[JobT], n: int) -> Iterator[JobT]:
    for _, job in zip(range(n), source, strict=False):
        yield job


def _start(make_handler: Callable[[], Callable[[Any], Any]]) -> _Worker[Any]:
    # Spawn: a fork would copy the locks of whatever native threads the parent's libraries run.
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, make_handler), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours, started=time.monotonic())


def _give(
    worker: _Worker[JobT], waiting: list[JobT], source: Iterator[JobT], workers: list[_Worker[JobT]]
) -> None:
    job = waiting.pop(0) if waiting else next(source, None)
    if job is None:
        worker.end()
        workers.remove(worker)
        return
    worker.job, worker.started = job, time.monotonic()
    worker.pipe.send(job)


def _patience(workers: list[_Worker[Any]], limit_s: float) -> float:
    now = time.monotonic()
    limits = (worker.started + (limit_s if worker.ready else START_LIMIT_S) - now for worker in workers)
    return max(0.0, min(limits))


def _look(worker: _Worker[JobT], limit_s: float) -> Any:
    """The result or failure of the worker's job; None while it runs."""
    elapsed = time.monotonic() - worker.started
    try:
        if worker.pipe.poll():
            kind, value = worker.pipe.recv()
            if kind == "error" and worker.ready:
                return Failure("error", elapsed, value)
            if kind == "error":
                raise WorkerError(f"a benchmark worker could not prepare its engines:\n{value}")
            if kind == "ready":
                worker.ready = True
                return None
            return value
    except (EOFError, ConnectionError):
        if not worker.ready:
            raise WorkerError("a benchmark worker ended while it prepared its engines") from None
        return Failure("crash", elapsed)
    if worker.ready and worker.job is not None and elapsed > limit_s:
        return Failure("timeout", elapsed)
    if not worker.ready and elapsed > START_LIMIT_S:
        raise WorkerError(f"a benchmark worker was not ready after {START_LIMIT_S:g} s")
    return None
