"""Fits on the workers of a Dask cluster."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from distributed import KilledWorker, as_completed, get_worker

from maskrank.parallel.fits import MOST_DEATHS, ClusterLostError, Deaths, Fits, died, run_task
from maskrank.parallel.payload import PACKAGES, Payload, check_versions, stamp, versions
from maskrank.parallel.worker_memory import memory_kept

if TYPE_CHECKING:
    from distributed import Client

_RETURN = 120  # seconds within which workers that died have to come back, where none is left


class OnDask(Fits):
    """Fits on the workers of a Dask cluster, as many at a time as it has.

    The data goes to every worker once. The scheduler gives the fits of a worker that dies to others.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Client, work: Callable[[Any], Any], tasks: Sequence[Any]) -> None:
        super().__init__(tasks)
        self._client = client
        self._deaths = Deaths()
        self._alone: set[int] = set()  # tasks that are to run alone, after the others
        with scheduler_needed(client):
            check_workers(client)
            self._payload = Payload(work, is_shared=self._is_shared)
            self._submit(self._open)

    def _is_shared(self, path: Path) -> bool:
        here = stamp(path)
        return all(there == here for there in self._client.run(stamp, path, on_error="return").values())

    def _submit(self, places: Iterable[int]) -> None:
        self._n_workers = self.workers
        data = self._client.scatter(self._payload, broadcast=True, hash=False, timeout=_RETURN)
        name = f"maskrank-fit-{uuid4().hex}"
        self._futures = {
            self._client.submit(run_on_worker, data, self._tasks[place], key=f"{name}-{place}", pure=False): place
            for place in sorted(places)
        }
        self._arriving = as_completed(self._futures, loop=self._client.loop, with_results=True, raise_errors=False)

    @property
    def workers(self) -> int:
        return len(self._client.nthreads())

    def _arrived(self, wait: bool) -> list[tuple[int, Any]]:
        with scheduler_needed(self._client):
            return self._next(wait)

    def _next(self, wait: bool) -> list[tuple[int, Any]]:
        if not self._futures:
            self._submit([self._alone.pop()])
        if not wait and not self._arriving.has_ready():
            return []
        found: list[tuple[int, Any]] = []
        killed, lost = set(), set()
        for future, result in self._arriving.next_batch():
            place = self._futures.pop(future)
            if future.status == "finished":
                found.append((place, result))
            elif future.status != "error":
                lost.add(place)  # with the last worker that had the data
            elif isinstance(result[1], KilledWorker):
                killed.add(place)
            else:
                raise result[1].with_traceback(result[2])
        return found + self._again(killed, lost)

    def _again(self, killed: set[int], lost: set[int]) -> list[tuple[int, Any]]:
        """Submit tasks again whose worker died; the errors of those that are given up.

        The scheduler gives a task up after several deaths, and so does it with those that only waited on that worker.
        """
        if lost:
            lost.update(self._futures.values())
        self._deaths.blame(killed, MOST_DEATHS - 1)
        self._deaths.blame(sorted(lost)[: self._n_workers])  # tasks are begun in their order
        together, alone, given_up = self._deaths.divide(killed | lost)
        self._alone.update(alone)
        if lost:
            self._futures.clear()
        if together:
            self._submit(together)
        return [(place, died()) for place in sorted(given_up)]

    def _stop(self, error: BaseException | None) -> None:
        _cancel(self._client, list(self._futures))


def run_on_worker(payload: Payload, task: Any) -> Any:
    """What a worker does."""
    with memory_kept():
        return run_task(payload, task)


@contextmanager
def scheduler_needed(client: Client) -> Iterator[None]:
    """Inside the block, any error behind the loss of the scheduler is a `ClusterLostError`."""
    address = _address(client)
    try:
        yield
    except Exception as error:
        if isinstance(error, ClusterLostError) or not _is_lost(client):
            raise
        raise ClusterLostError(f"the Dask scheduler{address} does not answer any more") from error


def _is_lost(client: Client) -> bool:
    """Whether the scheduler has left; a client tries for a while to find it again."""
    return bool(client.status != "running")


def _address(client: Client) -> str:
    return "" if client.scheduler is None else f" at {client.scheduler.address}"


def _cancel(client: Client, futures: list[Any]) -> None:
    """Give up what still runs, if there is anybody to tell."""
    if not _is_lost(client):
        client.cancel(futures)


def workers_are_threads(client: Client) -> bool:
    """Whether the workers are threads of this process."""
    with scheduler_needed(client):
        address: str = client.scheduler.address
    return address.startswith("inproc://")


def is_worker() -> bool:
    """Whether this is a task of a worker already."""
    try:
        get_worker()
    except ValueError:
        return False
    return True


def check_workers(client: Client) -> None:
    """Refuse workers whose results might differ from those here.

    Raises
    ------
    ImportError
        A worker has another version of Python, maskrank or torch, or none.
    """
    ours = {"Python": _minor(platform.python_version()), **versions()}
    answers = {"Python": client.run(platform.python_version, on_error="return")}
    answers |= {name: client.run(version, name, on_error="return") for name in PACKAGES}
    for name, of_workers in answers.items():
        for worker, found in of_workers.items():
            if isinstance(found, PackageNotFoundError):
                raise ImportError(f"the worker {worker} has no {name}, and {ours[name]} is needed, as here")
            if isinstance(found, str):  # any other error is that of a worker that is ending
                there = _minor(found) if name == "Python" else found.partition("+")[0]
                check_versions({name: there}, {name: ours[name]}, f"the worker {worker}")


@contextmanager
def warm_up(client: Client) -> Iterator[None]:
    """Let every worker import what fits need, while the block goes on: here the table is read meanwhile."""
    name = f"maskrank-import-{uuid4().hex}"
    importing = [
        client.submit(import_module, "maskrank.estimators", workers=[worker], key=f"{name}-{place}", pure=False)
        for place, worker in enumerate(client.nthreads())
    ]
    try:
        yield
    finally:
        _cancel(client, importing)


def _minor(python: str) -> str:
    return ".".join(python.split(".")[:2])
