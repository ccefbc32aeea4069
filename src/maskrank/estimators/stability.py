"""Stability of a ranking: refits on random 80 % subsamples (Meinshausen and Bühlmann 2010), each with its own seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
import torch
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from maskrank.estimators.fitting import Part, Settings, prepare, train
from maskrank.estimators.preparation import torch_threads
from maskrank.estimators.row_groups import draw_groups
from maskrank.estimators.scaling import Array

SHARE = 0.8  # of the rows in a subsample
_INTERVAL = (0.1, 0.5, 0.9)  # quantiles over the repeats: low end, median, high end


@dataclass(frozen=True, eq=False)
class Stability:
    """How stable the ranking is over refits on random 80 % subsamples.

    A feature that a refit did not choose has rank s + 1 there. Intervals run from the 10 % to the 90 % quantile over
    the refits; quantiles of ranks are ranks that occurred.

    Attributes
    ----------
    repeats : int
    size : int
        s, the number of features that each refit chose.
    names : tuple of str
        All d features.
    frequency : ndarray (d,)
        Selection frequency: the share of the refits that chose a feature.
    rank_low, rank_median, rank_high : ndarray (d,) of int
    score_low, score_median, score_high : ndarray (d,)
        Of the scores.
    order : ndarray (d,) of int
        The consensus: features by frequency, then by mean rank, then by mean score.

    Examples
    --------
    >>> import numpy as np
    >>> from maskrank.estimators.stability import Stability
    >>> ranks = np.array([[1, 2, 3], [1, 3, 2], [2, 1, 3]])
    >>> stability = Stability.of(("a", "b", "c"), ranks, np.zeros((3, 3)), size=2)
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
    def of(cls, names: Sequence[str], ranks: Array, scores: Array, *, size: int) -> Stability:
        """From the ranks and scores of each refit, (repeats, d), and the number of features that each chose."""
        frequency = (ranks <= size).mean(axis=0)
        rank_low, rank_median, rank_high = np.quantile(ranks, _INTERVAL, axis=0, method="nearest").astype(np.int64)
        score_low, score_median, score_high = np.quantile(scores, _INTERVAL, axis=0)
        return cls(
            repeats=len(ranks),
            size=size,
            names=tuple(names),
            frequency=frequency,
            rank_low=rank_low,
            rank_median=rank_median,
            rank_high=rank_high,
            score_low=score_low,
            score_median=score_median,
            score_high=score_high,
            order=np.lexsort((-scores.mean(axis=0), ranks.mean(axis=0), -frequency)),
        )

    @property
    def consensus(self) -> tuple[str, ...]:
        """Names of the first s features in consensus order; without required ones, whose rank is 0."""
        return tuple(self.names[i] for i in self.order if self.rank_high[i] > 0)[: self.size]

    def to_dict(self) -> dict[str, Any]:
        """What goes into JSON; each interval as [low, median, high]."""
        return {
            "repeats": self.repeats,
            "frequency": self._by_name(self.frequency),
            "rank": self._by_name(np.column_stack([self.rank_low, self.rank_median, self.rank_high])),
            "score": self._by_name(np.column_stack([self.score_low, self.score_median, self.score_high])),
            "consensus": list(self.consensus),
        }

    def to_frame(self, backend: Literal["pandas", "polars"] = "pandas") -> Any:
        """One row per feature, in the order of the consensus; a frame of pandas, or of another library."""
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


def rank_subsample(
    settings: Settings, whole: Part, own: Part | None, validation_fraction: float, seed: SeedSequence
) -> tuple[Array, Array]:
    """Ranks and scores (d,) of one refit, with its own subsample, split and initial weights.

    It runs on one thread, so that the result does not depend on the number of processes.

    Parameters
    ----------
    whole : Part
        All rows, read in place.
    own : Part or None
        The user's validation rows.
    """
    random = np.random.default_rng(seed)
    some = whole.take(draw_rows(len(whole.rows), whole.labels, random, whole.groups))
    generator = torch.Generator().manual_seed(int(random.integers(2**63)))
    training, validation = some.hold_out(validation_fraction, generator) if own is None else (some, own)
    no_predictor = replace(settings, config=settings.config.using(predictor__n_recipes=0))
    with torch_threads(1):
        prepared = prepare(no_predictor, training, validation)
        ranking = train(prepared, generator=generator).ranking
    return ranking.ranks, ranking.scores


def draw_rows(n: int, labels: Array | None, random: Generator, row_groups: Array | None = None) -> NDArray[np.int64]:
    """A random 80 % subsample of the rows, sorted; stratified by the labels, with at least two rows of each class.

    Without replacement: a bootstrap sample would put copies of one row into training and validation rows, and
    overfitting would look like success.

    Parameters
    ----------
    labels : ndarray (n,) of int, optional
    row_groups : ndarray (n,) of int, optional
        Groups are drawn in place of rows, and taken whole.
    """
    if row_groups is not None:
        return draw_groups(row_groups, labels, SHARE, random)
    groups = [np.arange(n)] if labels is None else [np.flatnonzero(labels == k) for k in np.unique(labels)]
    sizes = [min(len(rows), max(2, round(SHARE * len(rows)))) for rows in groups]
    drawn = [random.choice(rows, size, replace=False) for rows, size in zip(groups, sizes, strict=True)]
    return np.sort(np.concatenate(drawn))
