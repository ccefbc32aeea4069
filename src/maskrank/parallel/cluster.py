"""A Dask cluster by its address, as the command line takes it: ``tcp://host:8786``, or ``local:N``."""

from __future__ import annotations

import logging
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from joblib import parallel_config

if TYPE_CHECKING:
    from distributed import Client

_PATIENCE = 4  # seconds for the scheduler to answer
_STARTING = 30  # seconds for its first worker to be there
_SOON = 2  # seconds after which it is said that one is waited for
_LAST_PORT = 65_535


@contextmanager
def on_cluster(address: str, told: Callable[[str], None] = lambda line: None) -> Iterator[list[str]]:
    """Many fits run on a cluster, as long as the context lasts; hands out warnings about its workers.

    Parameters
    ----------
    address : str
        Of a Dask scheduler; ``local:N`` starts N workers on this machine, and ends them with the context.
    told : callable
        Told what is waited for, where that takes longer.

    Raises
    ------
    ImportError
        Dask is not installed; or a worker has another version of Python, maskrank or torch.
    ConnectionError
        No scheduler answers, or it has no workers.
    """
    n_local = _local_workers(address)
    if n_local is None:
        _check_reachable(address)
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ImportError('a cluster needs Dask: pip install "maskrank[cluster]"') from None
    from maskrank.parallel.on_dask import check_workers, warm_up

    with ExitStack() as stack:
        stack.enter_context(_without_log())
        where: str | LocalCluster = address
        if n_local is not None:
            where = stack.enter_context(
                LocalCluster(
                    n_workers=n_local, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
                )
            )
        try:
            client = Client(where, timeout=_PATIENCE, set_as_default=False)
        except OSError as error:
            raise _unreachable(address) from error
        stack.enter_context(client)
        _await_workers(client, address, told)
        check_workers(client)
        stack.enter_context(warm_up(client))
        stack.enter_context(parallel_config(backend="dask", client=client))
        yield _warnings(client)


def _local_workers(address: str) -> int | None:
    """N of ``local:N``; None for the address of a scheduler."""
    if re.fullmatch(r"local:[1-9]\d*", address):
        return int(address.removeprefix("local:"))
    named = re.fullmatch(r"(tcp|tls)://([^/:\[\]]+|\[[\da-fA-F:.]+\]):(\d{1,5})", address)  # in [] an address of IPv6
    if named is None or int(named[3]) > _LAST_PORT:
        raise ValueError(
            f"cluster {address}: tcp://HOST:PORT of a Dask scheduler, or local:N for N processes, is needed"
        )
    return None


def _check_reachable(address: str) -> None:
    """A look at the port alone: Dask would try again and again, or wait for ever for the greeting of a scheduler."""
    place = urlsplit(address)
    try:
        with socket.create_connection((place.hostname, place.port), timeout=_PATIENCE) as connection:
            if place.scheme == "tcp" and not connection.recv(1):  # with TLS the client has the first word
                raise ConnectionResetError
    except OSError as error:
        raise _unreachable(address) from error


def _unreachable(address: str) -> ConnectionError:
    return ConnectionError(f"no Dask scheduler answers at {address}: is `dask scheduler` running there?")


@contextmanager
def _without_log() -> Iterator[None]:
    """A scheduler that is lost is told in one line; Dask's own log would hold many."""
    log = logging.getLogger("distributed.client")
    before = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(before)


def _await_workers(client: Client, address: str, told: Callable[[str], None]) -> None:
    with suppress(TimeoutError):
        client.wait_for_workers(1, timeout=_SOON)
        return
    told(f"the scheduler at {address} has no workers yet: waiting up to {_STARTING} s for the first")
    try:
        client.wait_for_workers(1, timeout=_STARTING - _SOON)
    except TimeoutError:
        raise ConnectionError(
            f"the scheduler at {address} has no workers: `dask worker {address}` starts one"
        ) from None


def _warnings(client: Client) -> list[str]:
    several = [worker for worker, threads in client.nthreads().items() if threads > 1]
    if not several:
        return []
    more = f" and {len(several) - 1} more" if len(several) > 1 else ""
    return [
        f"the worker {several[0]}{more} has several threads, and fits take one process each: "
        "`dask worker --nworkers auto --nthreads 1` uses all cores"
    ]
