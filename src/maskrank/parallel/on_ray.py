"""Fits on Ray, which ``ray.util.joblib.register_ray()`` makes known to joblib; it is imported when it is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from maskrank.parallel.fits import MOST_DEATHS, Fits, died, run_task
from maskrank.parallel.payload import Payload


class OnRay(Fits):
    """Fits as tasks of Ray, one on each of its processors.

    The data is put into Ray's store once. Ray itself does the fits of a worker that dies again.
    """

    def __init__(self, work: Callable[[Any], Any], tasks: Sequence[Any]) -> None:
        import ray

        super().__init__(tasks)
        if not ray.is_initialized():
            ray.init()
        data = ray.put(Payload(work, is_shared=lambda path: False))
        run = ray.remote(max_retries=MOST_DEATHS - 1)(run_task)
        self._running = {run.remote(data, task): place for place, task in enumerate(tasks)}

    @property
    def workers(self) -> int:
        import ray

        return int(ray.cluster_resources().get("CPU", 0))

    def _arrived(self, wait: bool) -> list[tuple[int, Any]]:
        import ray

        ready, _ = ray.wait(list(self._running), num_returns=1, timeout=None if wait else 0)
        return [(self._running.pop(one), _result(one)) for one in ready]

    def _stop(self, error: BaseException | None) -> None:
        import ray

        for one in self._running:
            ray.cancel(one, force=True)


def _result(one: Any) -> Any:
    import ray
    from ray.exceptions import OutOfMemoryError, RayTaskError, WorkerCrashedError

    try:
        return ray.get(one)
    except (OutOfMemoryError, WorkerCrashedError):
        return died()
    except RayTaskError as error:
        raise error.cause from None
