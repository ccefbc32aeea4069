"""Numbers that are computed from a whole column of the table first.

These are the cycles of dates, mean targets of categories, and normal scores of numbers with heavy tails.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskrank.core.config import EncodingConfig
from maskrank.estimators.scaling import Array

_DAY = 86_400.0
CYCLES = {"year": 365.2425 * _DAY, "week": 7 * _DAY, "day": _DAY}  # seconds


@dataclass(frozen=True, eq=False)
class Cycles:
    """Sine and cosine of a date's place in the year, the week and the day, as far as these vary.

    Attributes
    ----------
    source : int
        The column of the table: seconds.
    periods : tuple of float
        In seconds.
    """

    source: int
    periods: tuple[float, ...]

    @property
    def n_columns(self) -> int:
        return 2 * len(self.periods)

    def columns(self, raw: Array) -> Array:
        """(n, table's columns) -> (n, columns)."""
        angles = 2 * np.pi * raw[:, [self.source]] / np.array(self.periods)
        return np.hstack([np.sin(angles), np.cos(angles)])

    @classmethod
    def of(cls, source: int, seconds: Array) -> Cycles | None:
        """The cycles in which the dates (n,) have different places; None where there is no such."""
        present = seconds[~np.isnan(seconds)]
        places = {period: np.unique(np.floor(present % period / _smallest(period))) for period in CYCLES.values()}
        periods = tuple(period for period, found in places.items() if len(found) > 1)
        return cls(source, periods) if periods else None

    def moved(self, source: int) -> Cycles:
        """The same of another column."""
        return Cycles(source, self.periods)

    def to_document(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {"kind": "cycles", "source": self.source, "periods": list(self.periods)}


@dataclass(frozen=True, eq=False)
class MeanTargets:
    """The mean target of each level of a category with many levels.

    Attributes
    ----------
    source : int
        The column of the table: level numbers.
    means : ndarray (levels + 1, outputs)
        Of the levels, and, last, of all rows: for a level that was never seen.
    """

    source: int
    means: NDArray[np.float64]

    @property
    def n_columns(self) -> int:
        return int(self.means.shape[1])

    def columns(self, raw: Array) -> Array:
        """(n, table's columns) -> (n, outputs); a missing value stays missing."""
        levels = raw[:, self.source]
        missing = np.isnan(levels)
        means = self.means[np.where(missing, len(self.means) - 1, levels).astype(np.int64)]
        return np.where(missing[:, None], np.nan, means)

    @classmethod
    def learn(
        cls,
        source: int,
        levels: Array,
        n_levels: int,
        target: Array,
        config: EncodingConfig,
        weights: Array | None = None,
    ) -> MeanTargets:
        """Of training rows: level numbers (n,), targets as numbers (n, outputs), and weights (n,) of mean 1."""
        present = ~np.isnan(levels)
        code = levels[present].astype(np.int64)
        weighted = target if weights is None else target * weights[:, None]
        counts = np.bincount(code, None if weights is None else weights[present], n_levels)[:, None]
        sums = np.stack([np.bincount(code, column, n_levels) for column in weighted[present].T], axis=1)
        overall = target.mean(axis=0) if weights is None else weighted.sum(axis=0) / weights.sum()
        means = (sums + config.mean_prior * overall) / (counts + config.mean_prior)
        return cls(source, np.vstack([means, overall]))

    def moved(self, source: int) -> MeanTargets:
        """The same of another column."""
        return MeanTargets(source, self.means)

    def to_document(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {"kind": "means", "source": self.source, "means": self.means.tolist()}


@dataclass(frozen=True, eq=False)
class NormalScores:
    """Numbers with heavy tails, by their ranks: the k-th of n values becomes the normal quantile of (k - 1/2) / n.

    Any growing function of the column, such as a logarithm, gives the same scores of the rows they were learned from.

    Attributes
    ----------
    source : int
        The column of the table.
    values, scores : ndarray (knots,)
        Values that were seen, growing, and their scores. In between the scores are interpolated, beyond they are those
        of the ends.
    """

    source: int
    values: NDArray[np.float64]
    scores: NDArray[np.float64]

    @property
    def n_columns(self) -> int:
        return 1

    def columns(self, raw: Array) -> Array:
        """(n, table's columns) -> (n, 1); a missing value stays missing."""
        return np.interp(raw[:, self.source], self.values, self.scores)[:, None]

    @classmethod
    def learn(cls, source: int, values: Array, max_knots: int) -> NormalScores:
        """Of the training rows' values: (n,)."""
        from scipy.special import ndtri  # not needed to predict

        seen, counts = np.unique(values[~np.isnan(values)].astype(np.float64), return_counts=True)
        last = counts.cumsum()
        scores = ndtri((last - counts / 2) / last[-1])  # the middle rank of equal values
        if len(seen) > max_knots:
            places = np.unique(np.searchsorted(last, np.linspace(1, last[-1], max_knots)))
            seen, scores = seen[places], scores[places]
        return cls(source, seen, scores)

    def moved(self, source: int) -> NormalScores:
        """The same of another column."""
        return NormalScores(source, self.values, self.scores)

    def to_document(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "kind": "normal_scores",
            "source": self.source,
            "values": self.values.tolist(),
            "scores": self.scores.tolist(),
        }


def heavy_tails(X: Array, config: EncodingConfig) -> NDArray[np.bool_]:
    """Which columns have tails that make most of their variance: (n, d) -> (d,).

    They are told by the squared correlation of a column with its own normal scores: 1 for a normal column, 0.82 for an
    exponential one, 0.6 for a normal one cubed. Columns of few different values, such as flags and grades, have none.
    """
    from scipy.special import ndtri  # not needed to predict

    if not config.normal_scores or len(X) < config.min_tail_rows:
        return np.zeros(X.shape[1], dtype=bool)
    rows = np.linspace(0, len(X) - 1, min(len(X), config.max_tail_rows)).astype(np.int64)
    values = np.sort(np.asarray(X[rows], dtype=np.float64), axis=0)
    present = (~np.isnan(values)).sum(axis=0)
    heavy = np.zeros(X.shape[1], dtype=bool)
    for n in np.unique(present[present >= config.min_tail_rows]):
        some = np.flatnonzero(present == n)
        ordered = values[:n, some] / np.abs(values[:n, some]).max(axis=0).clip(np.finfo(float).tiny)
        ordered -= ordered.mean(axis=0)
        scores = ndtri((np.arange(n) + 0.5) / n)
        kept = (scores @ ordered) ** 2 / ((scores**2).sum() * (ordered**2).sum(axis=0)).clip(np.finfo(float).tiny)
        several = (np.diff(ordered, axis=0) > 0).sum(axis=0) + 1 >= config.min_tail_values
        heavy[some] = several & (kept < config.normal_share)
    return heavy


Derived = Cycles | MeanTargets | NormalScores


def derived_from_document(document: dict[str, Any]) -> Derived:
    """From what ``to_document`` gave."""
    if document["kind"] == "cycles":
        return Cycles(document["source"], tuple(document["periods"]))
    if document["kind"] == "normal_scores":
        values, scores = (np.array(document[name], dtype=np.float64) for name in ("values", "scores"))
        return NormalScores(document["source"], values, scores)
    return MeanTargets(document["source"], np.array(document["means"], dtype=np.float64))


def cross_fitted_means(
    learned: MeanTargets,
    levels: Array,
    target: Array,
    folds: NDArray[np.int64],
    config: EncodingConfig,
    weights: Array | None = None,
) -> Array:
    """The mean targets of training rows, each without the rows of its own fold: (n, outputs).

    Parameters
    ----------
    levels, target : ndarray (n,), ndarray (n, outputs)
        Of the training rows.
    folds : ndarray (n,) of int
    weights : ndarray (n,), optional
    """
    out = np.empty_like(target)
    for fold in np.unique(folds):
        own = folds == fold
        theirs = None if weights is None else weights[~own]
        others = MeanTargets.learn(0, levels[~own], len(learned.means) - 1, target[~own], config, theirs)
        out[own] = others.columns(levels[own, None])
    return out


def _smallest(period: float) -> float:
    """Places in a cycle that are nearer than this are the same: a day of the year and the week, a second of the day."""
    return 1.0 if period == _DAY else _DAY
