"""Many fits, wherever they run: their results in the order in which they finish."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from joblib import parallel_config
from threadpoolctl import threadpool_limits

from maskrank.interrupts import WorkLostError
from maskrank.parallel.payload import Payload

MOST_DEATHS = 3  # of workers during one fit, after which it is not tried again
_one_fit = threading.RLock()  # a fit may have fits of its own


class WorkerDiedError(WorkLostError, ChildProcessError):
    """Workers died during a fit, each time that it was tried."""


class ClusterLostError(WorkLostError, ConnectionError):
    """The scheduler of a cluster does not answer any more."""


class Fits(ABC):
    """Fits that are running; a context manager, at whose end those that still run are given up.

    Iterating gives the place of a task and its result, or a `WorkerDiedError` in the place of one. An error of a
    fit itself is raised.

    Parameters
    ----------
    tasks : sequence
        What the function is called with, one by one.
    """

    def __init__(self, tasks: Sequence[Any]) -> None:
        self._tasks = tasks
        self._open = set(range(len(tasks)))

    @property
    def n_done(self) -> int:
        """Tasks whose results were taken."""
        return len(self._tasks) - len(self._open)

    @property
    @abstractmethod
    def workers(self) -> int:
        """How many processes there are at the moment."""

    def take(self, *, wait: bool = False) -> list[tuple[int, Any]]:
        """The results that were not taken yet; with ``wait``, at least one as long as there are any to come."""
        if not self._open:
            return []
        found = [(place, result) for place, result in self._arrived(wait) if place in self._open]
        self._open.difference_update(place for place, _ in found)
        if not self._open:
            self._end()
        return found

    @abstractmethod
    def _arrived(self, wait: bool) -> list[tuple[int, Any]]:
        """Places and results that arrived since the last call."""

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        while self._open:
            yield from self.take(wait=True)

    def __enter__(self) -> Fits:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if self._open:
            self._stop(error)

    def _end(self) -> None:
        """Clean up after the last result."""
        return

    def _stop(self, error: BaseException | None) -> None:
        """Give up what still runs; in this process nothing does."""
        return


class Deaths:
    """How often workers died during each task.

    Who is to blame is not known where several tasks ran: after two deaths a task is run alone, after three given up.
    """

    def __init__(self) -> None:
        self._times: Counter[int] = Counter()

    def blame(self, places: Iterable[int], times: int = 1) -> None:
        """Count so many more deaths for these tasks."""
        for place in places:
            self._times[place] += times

    def divide(self, places: Iterable[int]) -> tuple[set[int], list[int], set[int]]:
        """Which of these tasks may run together, which have to run alone, and which are given up."""
        alone = sorted(place for place in places if self._times[place] == MOST_DEATHS - 1)
        given_up = {place for place in places if self._times[place] >= MOST_DEATHS}
        return set(places) - set(alone) - given_up, alone, given_up


def died() -> WorkerDiedError:
    return WorkerDiedError(
        f"a worker died {MOST_DEATHS} times during this fit: out of memory? Fewer fits at a time need less of it"
    )


class InThisProcess(Fits):
    """One fit after the other, each when its result is asked for."""

    def __init__(self, work: Callable[[Any], Any], tasks: Sequence[Any]) -> None:
        super().__init__(tasks)
        self._work = work

    @property
    def workers(self) -> int:
        return 1

    def _arrived(self, wait: bool) -> list[tuple[int, Any]]:
        place = min(self._open)
        return [(place, run_alone(self._work, self._tasks[place]))] if wait else []


def run_task(payload: Payload, task: Any) -> Any:
    """What a worker does."""
    return run_alone(payload.work, task)


def run_alone(work: Callable[[Any], Any], task: Any) -> Any:
    """Run a fit on one thread, and no other fit beside it in this process.

    Sums depend on the number of threads in their last bits, and the number of threads, as the global random state that
    a net of the user's own draws from, belongs to a whole process. What a fit would run in parallel is run in turn.
    """
    with _one_fit, _one_thread(), parallel_config(backend="sequential"):
        return work(task)


@contextmanager
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    try:
        with threadpool_limits(1):
            torch.set_num_threads(1)
            yield
    finally:
        torch.set_num_threads(before)
