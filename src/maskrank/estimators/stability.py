"""How much a ranking owes to chance: the same fit again, with other seeds on other rows, in parallel processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from joblib import Parallel, delayed
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from maskrank.core.recorder import Callback, Progress
from maskrank.estimators.fitting import Part, Settings, prepare, train
from maskrank.estimators.preparation import torch_threads
from maskrank.estimators.scaling import Array

if TYPE_CHECKING:
    from maskrank.terminal.progress_bar import FitsBar

SHARE = 0.8  # of the rows that a repeat sees
_INTERVAL = (0.1, 0.5, 0.9)  # low end, middle and high end, as shares of the repeats


@dataclass(frozen=True, eq=False)
class Stability:
    """What the repeats of a fit agree on.

    A feature that a repeat left out has rank s + 1 there. The ends of an interval are the quantiles of 10 and 90 %
    over the repeats; those of ranks are ranks that occurred.

    Attributes
    ----------
    repeats : int
    size : int
        s, how many features each repeat chose.
    names : tuple of str
        All d features.
    frequency : ndarray (d,)
        The share of the repeats that chose a feature.
    rank_low, rank_median, rank_high : ndarray (d,) of int
    score_low, score_median, score_high : ndarray (d,)
        Of the anchored scores.
    order : ndarray (d,) of int
        The consensus: features by frequency, then by mean rank, then by mean score.

    Examples
    --------
    >>> import numpy as np
    >>> from maskrank.estimators.stability import Stability
    >>> ranks = np.array([[1, 2, 3], [1, 3, 2], [2, 1, 3]])
    >>> stability = Stability.of(("a", "b", "c"), ranks, scores=np.zeros((3, 3)))
    >>> stability.frequency.round(2)
    array([1.  , 0.67, 0.33])
    >>> stability.consensus
    ('a', 'b')
    """

    repeats: int
    size: int
    names: tuple[str, ...]
    frequency: NDArray[np.float64]
    rank_low: NDArray[np.int64]
    rank_median: NDArray[np.int64]
    rank_high: NDArray[np.int64]
    score_low: NDArray[np.float64]
    score_median: NDArray[np.float64]
    score_high: NDArray[np.float64]
    order: NDArray[np.int64]

    @classmethod
    def of(cls, names: Sequence[str], ranks: Array, scores: Array) -> Stability:
        """From the ranks and scores of each repeat: (repeats, d)."""
        size = int(ranks.max()) - 1  # there is always a feature that was left out
        frequency = (ranks <= size).mean(axis=0)
        return cls(
            len(ranks),
            size,
            tuple(names),
            frequency,
            *np.quantile(ranks, _INTERVAL, axis=0, method="nearest").astype(np.int64),
            *np.quantile(scores, _INTERVAL, axis=0),
            np.lexsort((-scores.mean(axis=0), ranks.mean(axis=0), -frequency)),
        )

    @property
    def consensus(self) -> tuple[str, ...]:
        """Names of the s features that the repeats agree on most, best first."""
        return tuple(self.names[i] for i in self.order[: self.size])

    def to_dict(self) -> dict[str, Any]:
        """What goes into JSON; each interval as [low, median, high]."""
        return {
            "repeats": self.repeats,
            "frequency": self._by_name(self.frequency),
            "rank": self._by_name(np.column_stack([self.rank_low, self.rank_median, self.rank_high])),
            "score": self._by_name(np.column_stack([self.score_low, self.score_median, self.score_high])),
            "consensus": list(self.consensus),
        }

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row a feature, in the order of the consensus; a frame of pandas, or of another library."""
        import narwhals.stable.v2 as nw

        intervals = [f"{what}_{end}" for what in ("rank", "score") for end in ("low", "median", "high")]
        columns = {name: getattr(self, name)[self.order] for name in ("frequency", *intervals)}
        return nw.from_dict({"feature": [self.names[i] for i in self.order], **columns}, backend=backend).to_native()

    def figures(self) -> dict[str, int]:
        """The single numbers, for a model file."""
        return {"repeats": self.repeats, "size": self.size}

    def arrays(self) -> dict[str, Array]:
        """The arrays (d,), for a model file."""
        every = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {name: value for name, value in every.items() if isinstance(value, np.ndarray)}

    def _by_name(self, values: Array) -> dict[str, Any]:
        return dict(zip(self.names, values.tolist(), strict=True))


class Repeats(Callback):
    """Fits in other processes, begun on entry, while this process does one of its own; a context manager.

    It is also a callback: where a bar is shown, each call brings it up to date.

    Parameters
    ----------
    rank : function
        From a seed to the ranks and the scores of a repeat; it is sent to other processes.
    n : int
        How many repeats.
    seed : int
        The repeats' seeds follow from it, whatever the number of jobs.
    n_jobs : int or None
        Processes beside this one, as joblib counts them; with None or 1 the repeats wait for `results` and run here.
    verbose : int
        1 shows a bar over all fits on standard error.
    """

    def __init__(
        self, rank: Callable[[SeedSequence], tuple[Array, Array]], n: int, *, seed: int, n_jobs: Any, verbose: int
    ) -> None:
        # Processes whatever the user's joblib context says: the number of torch's threads, and the random state lent
        # to a net of the user's own, belong to a whole process.
        self._parallel = Parallel(n_jobs=n_jobs, backend="loky", batch_size=1, return_as="generator")
        self._tasks = [delayed(rank)(child) for child in SeedSequence(seed).spawn(n)]
        self._verbose = verbose
        self._bar: FitsBar | None = None

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
            with suppress(BaseException):  # it comes back out; to close the generator would warn of unused results
                self._running.throw(error)

    def __call__(self, progress: Progress) -> None:
        self._show(self._parallel.n_completed_tasks)

    def on_stage(self, stage: str) -> None:
        """Name a stage of the fit in this process."""
        self._name(f"fits: {stage}")

    def results(self) -> tuple[Array, Array]:
        """Ranks and scores of all repeats: (repeats, d) each."""
        found = []
        self._name("fits: repeats")
        self._show(1 + self._parallel.n_completed_tasks)
        for result in self._running:
            found.append(result)
            self._show(1 + self._parallel.n_completed_tasks)
        ranks, scores = zip(*found, strict=True)
        return np.stack(ranks), np.stack(scores)

    def _name(self, what: str) -> None:
        if self._bar is not None:
            self._bar.name(what)

    def _show(self, done: int) -> None:
        if self._bar is not None:
            self._bar.show(done)


def rank_again(
    settings: Settings, whole: Part, own: Part | None, validation_fraction: float, seed: SeedSequence
) -> tuple[Array, Array]:
    """Ranks and scores (d,) of one repeat: its own rows, its own split of them, its own start of the nets.

    It runs on one thread, so that the answer is the same in this process and in one beside others.

    Parameters
    ----------
    whole : Part
        All rows; they are read where they are.
    own : Part or None
        The user's own validation rows.
    """
    random = np.random.default_rng(seed)
    some = whole.take(draw_rows(len(whole.rows), whole.labels, random))
    generator = torch.Generator().manual_seed(int(random.integers(2**63)))
    training, validation = some.hold_out(validation_fraction, generator) if own is None else (some, own)
    no_predictor = replace(settings, config=settings.config.using(predictor__n_recipes=0))
    with torch_threads(1):
        prepared = prepare(no_predictor, training, validation)
        names = [str(i) for i in range(len(prepared.varies))]
        ranking = train(prepared, generator=generator, names=names).ranking
    return ranking.ranks, ranking.scores


def draw_rows(n: int, labels: Array | None, random: Generator) -> NDArray[np.int64]:
    """Four fifths of the rows, sorted; with labels, of each class, and at least two of it.

    No row comes twice: in a bootstrap sample, copies of one row would fall among the training rows and the validation
    rows, and a net that knows the row by heart would look good.

    Parameters
    ----------
    labels : ndarray (n,) of int, optional
    """
    groups = [np.arange(n)] if labels is None else [np.flatnonzero(labels == k) for k in np.unique(labels)]
    sizes = [min(len(rows), max(2, round(SHARE * len(rows)))) for rows in groups]
    drawn = [random.choice(rows, size, replace=False) for rows, size in zip(groups, sizes, strict=True)]
    return np.sort(np.concatenate(drawn))
