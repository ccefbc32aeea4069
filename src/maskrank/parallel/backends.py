"""Which backend runs many fits: the one of joblib's context, else processes of this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from joblib import effective_n_jobs, parallel_config
from joblib.parallel import SequentialBackend, get_active_backend

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
    home = type(backend).__module__
    if home == "joblib._dask":
        from maskrank.parallel.on_dask import OnDask, is_worker, workers_are_threads

        if not workers_are_threads(backend.client):
            return InThisProcess(work, tasks) if is_worker() else OnDask(backend.client, work, tasks)
    if home.startswith("ray."):
        from maskrank.parallel.on_ray import OnRay

        return OnRay(work, tasks)
    wanted = of_context if n_jobs is None else n_jobs
    with parallel_config(backend="loky"):
        processes = min(effective_n_jobs(wanted), len(tasks))
    if processes < 2 or isinstance(backend, SequentialBackend):
        return InThisProcess(work, tasks)
    return InProcesses(work, tasks, processes)
