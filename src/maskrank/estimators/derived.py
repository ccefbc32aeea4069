"""Numbers that are computed from a whole column of the table first: the cycles of dates, mean targets of categories."""

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


Derived = Cycles | MeanTargets


def derived_from_document(document: dict[str, Any]) -> Derived:
    """From what ``to_document`` gave."""
    if document["kind"] == "cycles":
        return Cycles(document["source"], tuple(document["periods"]))
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
