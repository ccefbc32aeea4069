from __future__ import annotations

import math
import os
import pickle
import re
import time
from collections.abc import Iterator
from functools import partial

import pytest

from maskrank.parallel.time_limit import TimeLimit, close_workers
from tests.parallel import tasks


@pytest.fixture(autouse=True)
def _no_worker_is_left() -> Iterator[None]:
    yield
    close_workers()


def test_compiled_code_that_hangs_is_ended_and_the_next_call_is_answered() -> None:
    match = TimeLimit(partial(re.fullmatch, "(a+)+b"), 1.0)
    assert match("c") is None
    started = time.monotonic()
    with pytest.raises(TimeoutError, match="timed out after 1 s"):
        match("a" * 60)  # longer than the universe, in one call that looks at no signal
    assert time.monotonic() - started < 5
    assert match("c") is None


def test_results_and_errors_come_back() -> None:
    root = TimeLimit(math.sqrt, 60.0)
    assert root(9.0) == 3.0
    with pytest.raises(ValueError, match=r"math domain error|nonnegative"):
        root(-1.0)
    assert root(16.0) == 4.0


def test_a_process_that_dies_is_an_error() -> None:
    end = TimeLimit(os._exit, 60.0)
    with pytest.raises(RuntimeError, match=r"ended before the fit did \(exit code 7\)"):
        end(7)


def test_one_process_answers_all_calls_of_a_limit_and_of_its_copies() -> None:
    limit = TimeLimit(eval, 60.0)
    first, second = (some("__import__('os').getpid()") for some in (limit, pickle.loads(pickle.dumps(limit))))
    assert first == second != os.getpid()


def test_a_fit_with_a_limit_has_one_thread_as_any_other() -> None:
    assert TimeLimit(tasks.threads, 60.0)(0) == (1, 1)
