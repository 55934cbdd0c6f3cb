"""Jobs in processes: results, time limits, crashes, errors."""

from functools import partial

import pytest

from maskwright.cli.bench.workers import Failure, WorkerError, run_jobs
from tests.bench.support import make_worker

MAKE = partial(make_worker, "echo")


def test_each_job_has_its_result_in_one_process() -> None:
    answers = list(run_jobs(range(5), MAKE))
    assert [job for job, _ in answers] == [0, 1, 2, 3, 4]
    assert [answer[:2] for _, answer in answers] == [("echo", job) for job in range(5)]
    assert len({answer[2] for _, answer in answers}) == 1


def test_two_processes_share_the_jobs() -> None:
    answers = list(run_jobs(range(6), MAKE, n_workers=2))
    assert sorted(job for job, _ in answers) == list(range(6))
    assert len({answer[2] for _, answer in answers}) <= 2


def test_a_job_over_the_limit_costs_only_itself() -> None:
    answers = dict(run_jobs(["a", "sleep", "b"], MAKE, limit_s=1.0))
    assert isinstance(answers["sleep"], Failure)
    assert answers["sleep"].kind == "timeout"
    assert answers["sleep"].seconds >= 1.0
    assert answers["a"][1] == "a"
    assert answers["b"][1] == "b"
    assert answers["a"][2] != answers["b"][2]


def test_a_job_that_ends_the_process_is_a_crash() -> None:
    answers = dict(run_jobs(["die", "b"], MAKE))
    assert answers["die"].kind == "crash"
    assert answers["b"][1] == "b"


def test_an_exception_in_a_job_comes_with_its_traceback_and_costs_no_process() -> None:
    answers = dict(run_jobs(["a", "raise", "b"], MAKE))
    assert answers["raise"].kind == "error"
    assert "nothing here" in answers["raise"].message
    assert answers["a"][2] == answers["b"][2]


def test_a_handler_that_cannot_be_made_is_an_error_and_not_a_loop() -> None:
    with pytest.raises(WorkerError, match="no such vocabulary"):
        list(run_jobs([1], partial(make_worker, "cannot start")))


def test_no_jobs_start_no_process() -> None:
    assert list(run_jobs([], partial(make_worker, "cannot start"))) == []
