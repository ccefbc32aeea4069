from __future__ import annotations

import os
import pickle
import re
from collections.abc import Iterator
from functools import partial

import pytest

from maskrank.parallel.time_limit import TimeLimit, close_workers


@pytest.fixture(scope="module")
def limit() -> Iterator[TimeLimit]:
    """One process for the tests that do not end it."""
    yield TimeLimit(eval, 60.0)
    close_workers()


def test_results_and_errors_come_back(limit: TimeLimit) -> None:
    assert limit("9.0 ** 0.5") == 3.0
    with pytest.raises(ValueError, match=r"math domain error|nonnegative"):
        limit("__import__('math').sqrt(-1.0)")
    assert limit("16.0 ** 0.5") == 4.0


def test_one_process_answers_all_calls_of_a_limit_and_of_its_copies(limit: TimeLimit) -> None:
    first, second = (some("__import__('os').getpid()") for some in (limit, pickle.loads(pickle.dumps(limit))))
    assert first == second != os.getpid()


def test_a_fit_with_a_limit_has_one_thread_as_any_other(limit: TimeLimit) -> None:
    assert limit("__import__('tests.parallel.tasks', fromlist=['tasks']).threads(0)") == (1, 1)


def test_a_process_that_dies_is_an_error(limit: TimeLimit) -> None:
    with pytest.raises(RuntimeError, match=r"ended before the fit did \(exit code 7\)"):
        limit("__import__('os')._exit(7)")


def test_compiled_code_that_hangs_is_ended_and_the_next_call_is_answered() -> None:
    match = TimeLimit(partial(re.fullmatch, "(a+)+b"), 2.0)
    try:
        with pytest.raises(TimeoutError, match="timed out after 2 s"):
            match("a" * 60)  # longer than the universe, in one call that looks at no signal
        assert match("c") is None
    finally:
        close_workers()
