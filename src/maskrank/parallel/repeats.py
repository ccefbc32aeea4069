"""Independent fits in processes of this machine, beside the fit of this process."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from numpy.random import SeedSequence
from numpy.typing import NDArray

from maskrank.core.recorder import Callback, Progress

if TYPE_CHECKING:
    from maskrank.terminal.progress_bar import FitsBar

Array = NDArray[Any]


class Repeats(Callback):
    """Fits in other processes, started on entry, while this process runs one of its own; a context manager.

    It is also a callback of that fit: each call updates the progress bar, where one is shown.

    Parameters
    ----------
    rank : function
        From a seed to the ranks and the scores of a fit; it is pickled.
    n : int
        Number of fits.
    seed : int
        The seeds of the fits are spawned from it, so they do not depend on ``n_jobs``.
    n_jobs : int or None
        Processes, as joblib counts them; with None or 1 the fits run in this process, in `results`.
    verbose : int
        1 shows a progress bar over all fits on standard error.
    """

    def __init__(
        self, rank: Callable[[SeedSequence], tuple[Array, Array]], n: int, *, seed: int, n_jobs: Any, verbose: int
    ) -> None:
        # Processes whatever the user's joblib context says: torch's number of threads, and the global random state
        # that a net of the user's own draws from, belong to a whole process.
        self._parallel = Parallel(n_jobs=n_jobs, backend="loky", batch_size=1, return_as="generator")
        self._tasks = [delayed(rank)(child) for child in SeedSequence(seed).spawn(n)]
        self._verbose = verbose
        self._bar: FitsBar | None = None
        self.found: list[tuple[Array, Array]] = []  # ranks and scores of the fits that are done, while they arrive

    def __enter__(self) -> Repeats:
        self._running = self._parallel(self._tasks)
        if self._verbose:
            from maskrank.terminal.progress_bar import FitsBar

            self._bar = FitsBar(len(self._tasks) + 1).__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.__exit__(kind, error, trace)
        if error is not None:
            with suppress(BaseException):  # raised again here; closing the generator would warn of unused results
                self._running.throw(error)

    def __len__(self) -> int:
        return len(self._tasks)

    def __call__(self, progress: Progress) -> None:
        self._show(self._parallel.n_completed_tasks)

    def on_stage(self, stage: str) -> None:
        """Name a stage of the fit in this process."""
        self._name(f"fits: {stage}")

    def results(self) -> tuple[Array, Array]:
        """Ranks and scores of all fits: (n, d) each."""
        self._name("fits: repeats")
        self._show(1 + self._parallel.n_completed_tasks)
        for result in self._running:
            self.found.append(result)
            self._show(1 + self._parallel.n_completed_tasks)
        ranks, scores = zip(*self.found, strict=True)
        return np.stack(ranks), np.stack(scores)

    def _name(self, what: str) -> None:
        if self._bar is not None:
            self._bar.name(what)

    def _show(self, done: int) -> None:
        if self._bar is not None:
            self._bar.show(done)
