"""Which backend runs many fits: the one of joblib's context, else processes of this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from joblib import effective_n_jobs, parallel_config
from joblib.parallel import ParallelBackendBase, SequentialBackend, get_active_backend

from maskrank.parallel.fits import Fits, InThisProcess
from maskrank.parallel.processes import InProcesses


def start_fits(work: Callable[[Any], Any], tasks: Sequence[Any], *, n_jobs: int | None) -> Fits:
    """Start fits on the backend that ``joblib.parallel_config`` names.

    "dask" and "ray" use as many workers as the cluster has; "sequential" runs the fits in this process, which also
    holds inside a fit of many. Any other backend becomes "loky", with ``n_jobs`` processes: threads can't be used, for
    torch's number of threads and the global random state belong to a whole process.

    Parameters
    ----------
    work : function
        From a task to its result; it is packed together with its data, and sent once.
    tasks : sequence
        Small things that can be pickled.
    n_jobs : int or None
        As joblib counts them; None takes what the context says, or 1.
    """
    backend, of_context = get_active_backend()
    if _is_dask(backend):
        from maskrank.parallel.on_dask import OnDask, is_worker

        return InThisProcess(work, tasks) if is_worker() else OnDask(backend.client, work, tasks)
    if _is_ray(backend):
        from maskrank.parallel.on_ray import OnRay

        return OnRay(work, tasks)
    wanted = of_context if n_jobs is None else n_jobs
    with parallel_config(backend="loky"):
        processes = min(effective_n_jobs(wanted), len(tasks))
    if processes < 2 or isinstance(backend, SequentialBackend):
        return InThisProcess(work, tasks)
    return InProcesses(work, tasks, processes)


def has_cluster() -> bool:
    """Whether fits that are started here would run on a cluster."""
    backend, _ = get_active_backend()
    if _is_dask(backend):
        from maskrank.parallel.on_dask import is_worker

        return not is_worker()
    return _is_ray(backend)


def _is_dask(backend: ParallelBackendBase) -> bool:
    """Whether it is a Dask cluster whose workers are processes."""
    if type(backend).__module__ != "joblib._dask":
        return False
    from maskrank.parallel.on_dask import workers_are_threads

    return not workers_are_threads(backend.client)


def _is_ray(backend: ParallelBackendBase) -> bool:
    return type(backend).__module__.startswith("ray.")
