"""Independent fits beside the fit of this process."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from maskrank.core.recorder import Callback, Progress
from maskrank.interrupts import WorkLostError
from maskrank.parallel.backends import start_fits

if TYPE_CHECKING:
    from maskrank.terminal.progress_bar import FitsBar

Array = NDArray[Any]
_LOOK = 0.5  # least seconds between two looks at what is finished


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
        See `start_fits`; with one process the fits run in this one, in `results`.
    verbose : int
        1 shows a progress bar over all fits on standard error.
    """

    def __init__(
        self, rank: Callable[[SeedSequence], tuple[Array, Array]], n: int, *, seed: int, n_jobs: Any, verbose: int
    ) -> None:
        self._rank, self._n_jobs = rank, n_jobs
        self._seeds = SeedSequence(seed).spawn(n)
        self._looked = 0.0
        self._found: dict[int, tuple[Array, Array]] = {}
        self._lost: WorkLostError | None = None
        self._verbose = verbose
        self._bar: FitsBar | None = None

    def __enter__(self) -> Repeats:
        self._fits = start_fits(self._rank, self._seeds, n_jobs=self._n_jobs)
        if self._verbose:
            from maskrank.terminal.progress_bar import FitsBar

            self._bar = FitsBar(len(self._seeds) + 1).__enter__()
            self._bar.workers(self._fits.workers)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.__exit__(kind, error, trace)
        self._fits.__exit__(kind, error, trace)

    def __len__(self) -> int:
        return len(self._seeds)

    @property
    def found(self) -> list[tuple[Array, Array]]:
        """Ranks and scores of the fits that are done, in the order of their seeds."""
        return [self._found[place] for place in sorted(self._found)]

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if self._lost is None and now - self._looked >= _LOOK:
            self._looked = now
            try:
                self._keep(self._fits.take())
            except WorkLostError as error:  # of the others; the fit of this process goes on
                self._lost = error

    def on_stage(self, stage: str) -> None:
        """Name a stage of the fit in this process."""
        self._name(f"fits: {stage}")

    def results(self) -> tuple[Array, Array]:
        """Ranks and scores of all fits: (n, d) each."""
        if self._lost is not None:
            raise self._lost
        self._name("fits: repeats")
        self._keep([], own=1)
        for one in self._fits:
            self._keep([one], own=1)
        ranks, scores = zip(*(self._found[place] for place in range(len(self._seeds))), strict=True)
        return np.stack(ranks), np.stack(scores)

    def _keep(self, results: list[tuple[int, Any]], *, own: int = 0) -> None:
        """Keep results; with the fit of this process, so many are done."""
        for place, result in results:
            if isinstance(result, Exception):
                raise result
            self._found[place] = result
        if self._bar is not None:
            self._bar.show(len(self._found) + own)
            if results:
                self._bar.workers(self._fits.workers)

    def _name(self, what: str) -> None:
        if self._bar is not None:
            self._bar.name(what)
