"""The figures of a fit on held-out rows, each with its standard error, its interval, and the baseline's value.

A figure is a function of the rows' weights, and the derivative by each weight says what a row adds to it. The squares
of what all rows add give the variance (the infinitesimal jackknife, Jaeckel 1972; for ROC AUC it is the estimate of
DeLong et al. 1988, for a mean the usual one). Intervals are made on a scale that suits the figure: by Wilson (1927)
for shares, on the logarithm for losses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace

import numpy as np
from scipy.special import xlogy
from scipy.stats import norm
from scipy.stats import t as student

from maskrank.core.metrics import (
    ACCURACY,
    AVERAGE_PRECISION,
    BALANCED_ACCURACY,
    LABEL_ACCURACY,
    LOG_LOSS,
    MEAN_ABSOLUTE_ERROR,
    MEAN_SQUARED_ERROR,
    POISSON_DEVIANCE,
    R_SQUARED,
    ROC_AUC,
    ROOT_MEAN_SQUARED_ERROR,
    Metric,
)
from maskrank.estimators.scaling import Array, as_columns

_COVERAGE = 0.95
_NORMAL = float(norm.ppf((1 + _COVERAGE) / 2))
_BLOCKS = 50  # of rows that a jackknife leaves out
_LEAST = 1e-15  # probability whose logarithm is taken: below, rounding decides


@dataclass(frozen=True)
class Figure:
    """A figure on held-out rows.

    Attributes
    ----------
    metric : Metric
        Its name, and whether higher is better.
    value : float
    std : float
        Standard error, over the choice of the rows. Infinite for a single row.
    low, high : float
        95 % interval of the figure on new rows.
    baseline : float
        The same figure for the best constant prediction.
    """

    metric: Metric
    value: float
    std: float
    low: float
    high: float
    baseline: float = math.nan

    @property
    def better(self) -> bool:
        """Whether it is better than that of the constant answer."""
        return self.metric.sign * (self.value - self.baseline) > 0

    def to_dict(self) -> dict[str, float]:
        """Its numbers, for JSON and model files."""
        return {name: value for name, value in asdict(self).items() if name != "metric"}


Figures = dict[str, Figure]


def class_figures(
    target: Array, probabilities: Array, weights: Array | None = None, groups: Array | None = None
) -> Figures:
    """The figures of a classification, by name.

    ROC AUC and average precision are means over the classes, each against the rest; of two classes, average precision
    is that of the second. Classes that do not occur, or alone, are left out; where none is left, so is the figure.

    Parameters
    ----------
    target : ndarray (n,) of int
        Class numbers.
    probabilities : ndarray (n, classes)
    weights : ndarray (n,), optional
        What each row counts.
    groups : ndarray (n,) of int, optional
        Groups of rows that vary together: standard errors are then those of whole groups.
    """
    weight = _normalised(weights, len(target))
    chosen = probabilities[np.arange(len(target)), target]
    hit = (probabilities.argmax(axis=1) == target).astype(np.float64)
    present = [k for k in range(probabilities.shape[1]) if weight[target == k].sum() > 0 and (target != k).any()]
    ranked = present[-1:] if probabilities.shape[1] == 2 else present
    figures = [
        _share(ACCURACY, *_mean(hit, weight), target, weight, groups, by_class=False),
        _share(BALANCED_ACCURACY, *_balanced(hit, target, weight), target, weight, groups),
    ]
    if present:
        for metric, of_class in ((ROC_AUC, _roc_auc), (AVERAGE_PRECISION, _average_precision)):
            parts = [of_class(target == k, probabilities[:, k], weight) for k in ranked]
            figures.append(_share(metric, *_averaged(parts), target, weight, groups))
    figures.append(_positive(LOG_LOSS, *_mean(-np.log(np.clip(chosen, _LEAST, None)), weight), groups))
    return {figure.metric.name: figure for figure in figures}


def label_figures(
    target: Array, probabilities: Array, weights: Array | None = None, groups: Array | None = None
) -> Figures:
    """The figures of several labels of each row, by name: means over the labels.

    Parameters
    ----------
    target : ndarray (n, labels) of 0 and 1
    probabilities : ndarray (n, labels)
    weights, groups : ndarray (n,), optional
    """
    weight, target = _normalised(weights, len(target)), target.astype(bool)
    hit = ((probabilities > 0.5) == target).mean(axis=1)
    chosen = np.where(target, probabilities, 1 - probabilities)
    alike = np.zeros(len(target), dtype=np.int64)  # rows are of no class
    found = {LABEL_ACCURACY.name: _share(LABEL_ACCURACY, *_mean(hit, weight), alike, weight, groups, by_class=False)}
    parts = [
        _roc_auc(of_label, score, weight)
        for of_label, score in zip(target.T, probabilities.T, strict=True)
        if weight[of_label].sum() > 0 and weight[~of_label].sum() > 0
    ]
    if parts:
        found[ROC_AUC.name] = _share(ROC_AUC, *_averaged(parts), alike, weight, groups, by_class=False)
    loss = -np.log(np.clip(chosen, _LEAST, None)).mean(axis=1)
    return found | {LOG_LOSS.name: _positive(LOG_LOSS, *_mean(loss, weight), groups)}


def count_figures(target: Array, expected: Array, weights: Array | None = None, groups: Array | None = None) -> Figures:
    """The figures of counts, by name.

    Parameters
    ----------
    target, expected : ndarray (n,)
        Expected counts are above 0.
    weights, groups : ndarray (n,), optional
    """
    weight = _normalised(weights, len(target))
    deviance = 2 * (xlogy(target, target / expected) - target + expected)
    others = number_figures(target, expected, weights, groups)
    figures = [_positive(POISSON_DEVIANCE, *_mean(deviance, weight), groups)]
    figures += [others[metric.name] for metric in (ROOT_MEAN_SQUARED_ERROR, MEAN_ABSOLUTE_ERROR)]
    return {figure.metric.name: figure for figure in figures}


def jackknifed_figure(metric: Metric, measure: Callable[[Array], float], n: int, groups: Array | None = None) -> Figure:
    """A figure between 0 and 1 whose standard error is that of leaving out one of some blocks of rows at a time.

    Parameters
    ----------
    measure : function
        The figure of some of the n rows: row numbers -> a number, NaN where they do not tell.
    groups : ndarray (n,), optional
        Whole groups of rows are left out.
    """
    rows, place = np.arange(n), np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    value, n_blocks = measure(rows), min(int(place.max()) + 1, _BLOCKS)
    kept = [rows[place % n_blocks != block] for block in range(n_blocks)]
    without = np.array([measure(some) for some in kept if len(some)])
    if len(without) < 2 or not np.isfinite(without).all():
        return Figure(metric, value, math.inf, 0.0, 1.0)
    error = math.sqrt((n_blocks - 1) / n_blocks * float(np.square(without - without.mean()).sum()))
    spread = _quantile(n_blocks) * error
    return _in_unit_interval(Figure(metric, value, error, value - spread, value + spread))


def number_figures(
    target: Array, predicted: Array, weights: Array | None = None, groups: Array | None = None
) -> Figures:
    """The figures of a regression, by name; of several targets, means over them.

    Parameters
    ----------
    target, predicted : ndarray (n,) or (n, outputs)
        In the unit of y.
    weights, groups : ndarray (n,), optional
    """
    weight = _normalised(weights, len(target))
    target, predicted = as_columns(target), as_columns(predicted)
    squares, spread = np.square(predicted - target), np.square(target - weight @ target)
    mse, mse_of = weight @ squares, _added(squares, weight)  # (outputs,), (n, outputs)
    whole, whole_of = weight @ spread, _added(spread, weight)
    figures = []
    if (whole > 0).all():
        unexplained = _averaged([*zip(mse / whole, ((mse_of - mse / whole * whole_of) / whole).T, strict=True)])
        lost = _positive(R_SQUARED, *unexplained, groups)
        figures.append(replace(lost, value=1 - lost.value, low=1 - lost.high, high=1 - lost.low))
    root = np.sqrt(mse)
    figures += [
        _positive(
            ROOT_MEAN_SQUARED_ERROR,
            *_averaged([*zip(root, (mse_of / np.where(root > 0, 2 * root, 1.0)).T, strict=True)]),
            groups,
        ),
        _positive(MEAN_ABSOLUTE_ERROR, *_mean(np.abs(predicted - target).mean(axis=1), weight), groups),
        _positive(MEAN_SQUARED_ERROR, *_mean(squares.mean(axis=1), weight), groups),
    ]
    return {figure.metric.name: figure for figure in figures}


def mean_figure(metric: Metric, values: Array, weights: Array | None = None, groups: Array | None = None) -> Figure:
    """A figure that is the mean of a number of each row: (n,)."""
    value, added = _mean(values, _normalised(weights, len(values)))
    added = _by_group(added, groups)
    error, bound = _standard_error(added), _quantile(len(added))
    return Figure(metric, value, error, value - bound * error, value + bound * error)


def _in_unit_interval(figure: Figure) -> Figure:
    """The same with an interval that does not leave 0 to 1."""
    return replace(figure, low=max(figure.low, 0.0), high=min(figure.high, 1.0))


def with_baseline(figures: Figures, trivial: Mapping[str, Figure]) -> Figures:
    """The figures with those of the constant prediction."""
    return {name: replace(figure, baseline=trivial[name].value) for name, figure in figures.items()}


def _normalised(weights: Array | None, n: int) -> Array:
    """Weights of sum 1: (n,)."""
    return np.full(n, 1 / n) if weights is None else weights / weights.sum()


def _added(values: Array, weight: Array) -> Array:
    """What each row adds to a mean, beyond the mean itself: (n, ...)."""
    return np.asarray((values - weight @ values) * (weight if values.ndim == 1 else weight[:, None]))


def _mean(values: Array, weight: Array) -> tuple[float, Array]:
    return float(weight @ values), _added(values, weight)


def _averaged(parts: list[tuple[float, Array]]) -> tuple[float, Array]:
    """The mean of several figures, and what each row adds to it."""
    return float(np.mean([value for value, _ in parts])), np.mean([added for _, added in parts], axis=0)


def _balanced(hit: Array, target: Array, weight: Array) -> tuple[float, Array]:
    """The mean over the classes of the share that is right."""
    parts = []
    for k in np.unique(target[weight > 0]):
        own = np.where(target == k, weight, 0.0)
        parts.append(_mean(hit, own / own.sum()))
    return _averaged(parts)


def _roc_auc(positive: Array, score: Array, weight: Array) -> tuple[float, Array]:
    """The probability that a positive row has a higher score than a negative one, ties by half."""
    value, added = 0.0, np.zeros(len(score))
    for own, above in ((positive, True), (~positive, False)):
        other = np.where(own, 0.0, weight)
        below, equal = _mass_below(score, other)
        won = (below + equal / 2) / other.sum()
        won = won if above else 1 - won
        share = np.where(own, weight, 0.0)
        value, part = _mean(won, share / share.sum())
        added += part
    return value, added


def _average_precision(positive: Array, score: Array, weight: Array) -> tuple[float, Array]:
    """The mean over the positive rows of the precision at their scores."""
    true = np.where(positive, weight, 0.0)
    kept, hits = (total.sum() - _mass_below(score, total)[0] for total in (weight, true))  # at the row's score and up
    precision, positives = hits / kept, true.sum()
    value = float(true @ precision) / positives
    first, second = true / kept, true * hits / kept**2
    lower_or_equal = [sum(_mass_below(score, mass)) for mass in (first, second)]
    moved = np.where(positive, lower_or_equal[0], 0.0) - lower_or_equal[1]
    return value, (np.where(positive, weight * (precision - value), 0.0) + weight * moved) / positives


def _mass_below(score: Array, mass: Array) -> tuple[Array, Array]:
    """The mass of all rows of a lower score, and of an equal one: (n,) each."""
    _, place = np.unique(score, return_inverse=True)
    of_score = np.bincount(place, mass)
    return (np.cumsum(of_score) - of_score)[place], of_score[place]


def _quantile(n: int) -> float:
    """Standard errors on either side of an interval."""
    return float(student.ppf((1 + _COVERAGE) / 2, max(n - 1, 1)))


def _by_group(added: Array, groups: Array | None) -> Array:
    """What each group of rows adds to a figure: groups vary independently, their rows do not (Liang and Zeger 1986)."""
    return added if groups is None else np.bincount(np.unique(groups, return_inverse=True)[1], added)


def _standard_error(added: Array) -> float:
    n = len(added)
    return float(np.sqrt(n / (n - 1) * np.square(added).sum())) if n > 1 else math.inf


def _share(
    metric: Metric,
    value: float,
    added: Array,
    target: Array,
    weight: Array,
    groups: Array | None,
    *,
    by_class: bool = True,
) -> Figure:
    """A figure between 0 and 1, with the interval of Wilson for as many rows as give its standard error.

    Where no row contradicts, so that the error would be 0, these are all rows, or those of the rarest class.
    """
    counts = [1 / float(np.square(own / own.sum()).sum()) for own in _by_class(target, weight)]
    added = _by_group(added, groups)
    counts = [min(count, len(added)) for count in counts]  # no surer than as many rows as there are groups
    rows = min(min(counts) if by_class else sum(counts), len(added))
    error, variance = _standard_error(added), value * (1 - value)
    if 0 < error < math.inf and variance > 0:
        rows = min(variance / error**2, len(counts) * sum(counts))  # a mean over classes is surer than one of them
    centre = value + _NORMAL**2 / (2 * rows)
    spread = _NORMAL * math.sqrt(variance / rows + (_NORMAL / (2 * rows)) ** 2)
    low, high = ((centre + side * spread) / (1 + _NORMAL**2 / rows) for side in (-1, 1))
    low, high = min(max(low, 0.0), value), max(min(high, 1.0), value)
    return Figure(metric, value, max(error, (high - low) / (2 * _NORMAL)), low, high)


def _by_class(target: Array, weight: Array) -> list[Array]:
    """The weights of the rows of each class."""
    return [weight[target == k] for k in np.unique(target[weight > 0])]


def _positive(metric: Metric, value: float, added: Array, groups: Array | None) -> Figure:
    """A figure above 0, with an interval that is symmetric on the logarithm."""
    added = _by_group(added, groups)
    error = _standard_error(added)
    if value <= 0 or not math.isfinite(error):
        return Figure(metric, value, error, 0.0, math.inf if error else 0.0)
    factor = math.exp(min(_quantile(len(added)) * error / value, 700.0))
    return Figure(metric, value, error, value / factor, value * factor)
