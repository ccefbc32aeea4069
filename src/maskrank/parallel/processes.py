"""Fits in processes of this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import Any

from joblib import Parallel, delayed

from maskrank import interrupts
from maskrank.parallel.fits import Deaths, Fits, died, run_task
from maskrank.parallel.payload import Payload


class InProcesses(Fits):
    """Fits in joblib's pool of processes; where one dies, a new pool does the open fits again."""

    def __init__(self, work: Callable[[Any], Any], tasks: Sequence[Any], n_processes: int) -> None:
        super().__init__(tasks)
        self._n_processes = n_processes
        self._payload = Payload(work, is_shared=lambda path: True)
        self._deaths = Deaths()
        self._start(self._open)

    @property
    def workers(self) -> int:
        return self._n_processes

    def _start(self, places: set[int]) -> list[tuple[int, Any]]:
        """Run these tasks; those that may be to blame for several deaths alone, after the others.

        Returns the errors of those that are given up.
        """
        together, alone, given_up = self._deaths.divide(places)
        self._rounds = [[place] for place in reversed(alone)]  # the next one last
        if together:
            self._rounds.append(sorted(together))
        if self._rounds:
            self._next_round()
        return [(place, died()) for place in sorted(given_up)]

    def _next_round(self) -> None:
        places = self._rounds.pop()
        self._begun: set[int] = set()
        self._n_arrived = 0
        self._parallel = Parallel(
            self._n_processes, backend="loky", batch_size=1, pre_dispatch="n_jobs", return_as="generator_unordered"
        )
        self._running = self._parallel(self._calls(places))

    def _calls(self, places: list[int]) -> Iterator[Any]:
        for place in places:
            self._begun.add(place)
            yield delayed(_placed)(self._payload, place, self._tasks[place])

    def _arrived(self, wait: bool) -> list[tuple[int, Any]]:
        found: list[tuple[int, Any]] = []
        try:
            while self._parallel.n_completed_tasks > self._n_arrived or (wait and not found):
                result = next(self._running, None)
                if result is None:
                    self._next_round()
                    continue
                found.append(result)
                self._n_arrived += 1
        except BrokenProcessPool:
            if interrupts.stopping():  # a stop has killed them
                raise KeyboardInterrupt from None
            still_open = self._open - {place for place, _ in found}
            self._deaths.blame(self._begun & still_open)
            found += self._start(still_open)
        return found

    def _end(self) -> None:
        for _ in self._running:  # joblib warns of a generator that is not used up
            pass

    def _stop(self, error: BaseException | None) -> None:
        with suppress(BaseException):  # closing the generator would warn of unused results
            self._running.throw(error or KeyboardInterrupt())


def _placed(payload: Payload, place: int, task: Any) -> tuple[int, Any]:
    return place, run_task(payload, task)
