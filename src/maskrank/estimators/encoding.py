"""From the columns of a table to the columns that nets see: what each feature switches on, learned on training rows.

A number is itself, or its normal score where the column has heavy tails, with an indicator of missing values where
training had some. A category has an indicator for each level that is not rare, or, where levels are many, the mean
target of each level (Micci-Barreca 2001), cross-fitted.
A date is a number of seconds and its place in the year, the week and the day. A group has the columns of all members.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskrank.core.config import EncodingConfig
from maskrank.core.data.code import MISSING, Code
from maskrank.estimators.derived import (
    Cycles,
    Derived,
    MeanTargets,
    NormalScores,
    cross_fitted_means,
    derived_from_document,
    heavy_tails,
)
from maskrank.estimators.feature_table import FeatureTable
from maskrank.estimators.scaling import Array, Columns

_AT_ONCE = 1 << 20  # values of a table whose statistics are computed in one go


@dataclass(frozen=True, eq=False)
class Encoding:
    """The columns of each feature, and how they are computed from the numbers of a table.

    Attributes
    ----------
    n_inputs : int
        Columns of the table.
    derived : tuple of Derived
        What is computed from whole columns of the table first; counted behind these.
    code : Code
        Of all columns.
    widths : ndarray (features,) of int
        Columns of each feature, which lie side by side.
    numeric : ndarray (columns,) of bool
        Which columns hold numbers; the others are indicators.
    """

    n_inputs: int
    derived: tuple[Derived, ...]
    code: Code
    widths: NDArray[np.int64]
    numeric: NDArray[np.bool_]

    def scaled(self, raw: Array) -> NDArray[np.float64]:
        """All columns of some rows: (n, inputs) -> (n, columns) of 64-bit floats."""
        raw = np.hstack([raw, *(one.columns(raw) for one in self.derived)]) if self.derived else raw
        return self.code.apply(raw[:, self.code.source], np.arange(len(self.code.source)))

    def columns_of(self, features: Array) -> NDArray[np.int64]:
        """The columns of some features, feature by feature."""
        starts = np.concatenate([[0], self.widths.cumsum()])
        return np.concatenate([np.arange(starts[j], starts[j + 1]) for j in features])

    def take(self, features: Array, inputs: Array) -> Encoding:
        """Of some features, for rows that hold these columns of the table alone: those that the features need."""
        kept = self.columns_of(features)
        place = {int(column): k for k, column in enumerate(inputs)}
        derived, first = [], self.n_inputs
        for one in self.derived:
            own = range(first, first + one.n_columns)
            first = own.stop
            if one.source in place:
                derived.append(one.moved(place[one.source]))
                place |= {column: len(place) + k for k, column in enumerate(own)}
        code = self.code.only(kept)
        code = replace(code, source=np.array([place[column] for column in code.source.tolist()], dtype=np.int64))
        return Encoding(len(inputs), tuple(derived), code, self.widths[features], self.numeric[kept])

    def document(self) -> dict[str, Any]:
        """What a model file holds in JSON."""
        return {"n_inputs": self.n_inputs, "derived": [one.to_document() for one in self.derived]}

    def arrays(self) -> dict[str, Array]:
        """What a model file holds in arrays."""
        code = {entry.name: getattr(self.code, entry.name) for entry in fields(Code)}
        return {**code, "widths": self.widths, "numeric": self.numeric}

    @classmethod
    def restored(cls, document: dict[str, Any], arrays: dict[str, Array]) -> Encoding:
        """From ``document`` and ``arrays``."""
        code = Code(*(arrays[entry.name] for entry in fields(Code)))
        derived = tuple(derived_from_document(one) for one in document["derived"])
        return cls(document["n_inputs"], derived, code, arrays["widths"], arrays["numeric"])


class _Column(NamedTuple):
    """A column that nets see, before it is scaled."""

    source: int
    level: float  # as in `Code`
    flagged: bool
    share: float  # of an indicator: how often it is 1

    @property
    def is_indicator(self) -> bool:
        return not np.isnan(self.level)


@dataclass(frozen=True, eq=False)
class LearnedEncoding:
    """An encoding, and the table that it is for.

    Attributes
    ----------
    encoding : Encoding
    X : ndarray (n, inputs and derived columns)
        The table with its derived columns; those of training rows are cross-fitted.
    varies : ndarray (features,) of bool
        Which features vary on the training rows.
    missing : ndarray (inputs,)
        Share of the training rows without a value, of each column of the table.
    input_varies : ndarray (inputs,) of bool
        Which of these columns vary.
    """

    encoding: Encoding
    X: Array
    varies: NDArray[np.bool_]
    missing: NDArray[np.float64]
    input_varies: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The rows that an encoding is learned from. Means and deviations of columns do not take the weights into account.

    Attributes
    ----------
    rows : ndarray (n,) of int
        Their numbers in the table.
    target : ndarray (n, outputs)
        As numbers, for mean targets.
    weights : ndarray (n,), optional
        What each row counts in a mean target.
    groups : ndarray (n,) of int, optional
        A mean target of a row is learned without its group.
    """

    rows: NDArray[np.int64]
    target: Array
    weights: Array | None = None
    groups: Array | None = None


def learn_encoding(
    X: Array,
    training: TrainingRows,
    table: FeatureTable,
    *,
    standardize: bool,
    config: EncodingConfig,
) -> LearnedEncoding:
    """Learn how the features of a table are encoded.

    Parameters
    ----------
    X : ndarray (n, inputs)
        Numbers, level numbers, seconds; NaN where a value is missing.
    training : TrainingRows
    table : FeatureTable
    standardize : bool
        Whether columns are scaled to mean 0 and variance 1, and heavy tails drawn in.
    """
    learner = _Learner(X, training, table, config if standardize else replace(config, normal_scores=False))
    of_inputs = [learner.columns_of(j) for j in range(X.shape[1])]
    derived = np.hstack(learner.derived_columns) if learner.derived_columns else None
    extended = X if derived is None else np.hstack([X, derived])
    members = [[j] for j in range(X.shape[1])] if table.members is None else table.members
    columns = [column for group in members for j in group for column in of_inputs[j]]
    widths = np.array([sum(len(of_inputs[j]) for j in group) for group in members])
    code, column_varies = _scaled_code(columns, extended, training.rows, standardize, config)
    numeric = np.array([not column.is_indicator for column in columns])
    encoding = Encoding(X.shape[1], tuple(learner.derived), code, widths, numeric)
    starts = np.concatenate([[0], widths.cumsum()[:-1]])
    varies = np.logical_or.reduceat(column_varies, starts)
    input_varies = np.zeros(X.shape[1], dtype=bool)
    np.logical_or.at(input_varies, [j for group in members for j in group for _ in of_inputs[j]], column_varies)
    return LearnedEncoding(encoding, extended, varies, learner.missing, input_varies)


class _Learner:
    """Goes through the columns of the table, and collects what is derived from them."""

    def __init__(
        self,
        X: Array,
        training: TrainingRows,
        table: FeatureTable,
        config: EncodingConfig,
    ) -> None:
        rows = training.rows
        self._X, self._rows, self._training, self._table, self._config = X, rows, training, table, config
        self.missing = np.concatenate(
            [np.isnan(X[:, part][rows]).mean(axis=0) for part in _parts(X.shape[1], len(rows))]
        )
        self._heavy = np.concatenate([heavy_tails(X[:, part][rows], config) for part in _parts(X.shape[1], len(rows))])
        self._next = X.shape[1]
        self.derived: list[Derived] = []
        self.derived_columns: list[Array] = []

    def columns_of(self, j: int) -> list[_Column]:
        """The columns that nets see of one column of the table; at least one, perhaps constant."""
        kind, missing = self._table.kind_of(j), float(self.missing[j])
        flag = [_Column(j, MISSING, True, missing)] if 0 < missing < 1 else []
        if kind.kind == "categorical":
            return [*self._levels(j, len(kind.levels or ()), bool(flag)), *flag] or [_Column(j, MISSING, True, 0.0)]
        if kind.kind == "numeric" and self._heavy[j]:
            scores = NormalScores.learn(j, self._X[self._rows, j], self._config.max_knots)
            return [*self._derive(scores, scores.columns(self._X), bool(flag)), *flag]
        numbers = [_Column(j, np.nan, bool(flag), 0.0)]
        if kind.kind == "date":
            cycles = Cycles.of(j, self._X[self._rows, j])
            numbers += [] if cycles is None else self._derive(cycles, cycles.columns(self._X), bool(flag))
        return [*numbers, *flag]

    def _levels(self, j: int, n_levels: int, flagged: bool) -> list[_Column]:
        """Indicators of the levels that are not rare, or mean targets."""
        levels = self._X[self._rows, j]
        present = levels[~np.isnan(levels)].astype(np.int64)
        counts = np.bincount(present, minlength=n_levels)
        frequent = np.flatnonzero(counts >= min(self._config.min_level_rows, max(1, len(levels) // 4)))
        if len(frequent) > self._config.max_levels:
            target, weights = self._training.target, self._training.weights
            means = MeanTargets.learn(j, levels, n_levels, target, self._config, weights)
            values = means.columns(self._X)
            values[self._rows] = cross_fitted_means(means, levels, target, self._folds(), self._config, weights)
            return self._derive(means, values, flagged)
        if len(frequent) == 2 and counts[frequent].sum() == len(present):
            frequent = frequent[1:]  # of two levels, one says all
        return [_Column(j, float(k), flagged, counts[k] / len(levels)) for k in frequent]

    def _folds(self) -> NDArray[np.int64]:
        """The same for every category, and for every fit on these rows; a group of rows is in one fold."""
        groups = self._training.groups
        if groups is None:
            return np.random.default_rng(0).permutation(len(self._rows)) % self._config.mean_folds
        _, group = np.unique(groups, return_inverse=True)
        folds: NDArray[np.int64] = np.random.default_rng(0).permutation(group.max() + 1) % self._config.mean_folds
        return folds[group]

    def _derive(self, derived: Derived, values: Array, flagged: bool) -> list[_Column]:
        self.derived.append(derived)
        self.derived_columns.append(values)
        first, self._next = self._next, self._next + derived.n_columns
        return [_Column(source, np.nan, flagged, 0.0) for source in range(first, self._next)]


def _scaled_code(
    columns: list[_Column], X: Array, rows: NDArray[np.int64], standardize: bool, config: EncodingConfig
) -> tuple[Code, NDArray[np.bool_]]:
    """The code of all columns, and which of them vary on the training rows."""
    source = np.array([column.source for column in columns])
    level = np.array([column.level for column in columns])
    share = np.array([column.share for column in columns])
    mean, scale, varies = share.copy(), np.sqrt(share * (1 - share)).clip(config.min_scale), (share > 0) & (share < 1)
    numbers = np.flatnonzero(np.isnan(level))
    for part in _parts(len(numbers), len(rows)):
        places = numbers[part]
        learned = Columns.learn_with_gaps(np.asarray(X[np.ix_(rows, source[places])], dtype=np.float64))
        scaling = learned.scaling(enabled=True)
        if not (standardize or learned.fits_32_bits(learned.scaling(enabled=False))):
            raise ValueError("X holds values too large for 32-bit floats: standardize=True, or smaller units")
        mean[places], scale[places], varies[places] = scaling.mean, scaling.scale, learned.varies
    fill = np.zeros(len(columns))
    if not standardize:
        mean, scale, fill = np.zeros(len(columns)), np.ones(len(columns)), mean
    flagged = np.array([column.flagged for column in columns])
    return Code(source, level, flagged, mean, scale, fill), varies


def _parts(n_columns: int, n_rows: int) -> Iterator[slice]:
    """Some columns at a time."""
    width = max(1, _AT_ONCE // max(1, n_rows))
    return (slice(first, first + width) for first in range(0, n_columns, width))
