"""Where the parts of a picture go, for matplotlib and for reports alike: beeswarms and waterfalls."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Step:
    """One step of a waterfall: from the sum of the steps before it to the sum with it.

    Attributes
    ----------
    features : ndarray of int
        One feature, or the many that are summed up in the last step.
    start, end : float
    """

    features: Array
    start: float
    end: float

    @property
    def value(self) -> float:
        return self.end - self.start


def waterfall(values: Array, base: float, most: int) -> list[Step]:
    """Steps from the base to the prediction, the largest value first; beyond ``most`` steps, the rest is one.

    Examples
    --------
    >>> import numpy as np
    >>> from maskrank.layouts import waterfall
    >>> [(step.features.tolist(), step.start, step.end) for step in waterfall(np.array([0.5, -2, 0.25]), 1.0, 2)]
    [([1], 1.0, -1.0), ([0, 2], -1.0, -0.25)]
    """
    order = np.argsort(-np.abs(values), kind="stable")
    kept = len(order) if len(order) <= most else most - 1
    groups = [order[i : i + 1] for i in range(kept)] + ([order[kept:]] if kept < len(order) else [])
    ends = base + np.cumsum([values[group].sum() for group in groups])
    starts = [base, *ends[:-1]]
    return [Step(group, float(a), float(b)) for group, a, b in zip(groups, starts, ends, strict=True)]


def by_size(values: Array, n: int) -> Array:
    """The n features of the largest mean absolute values, largest first: (rows, s) -> (n,) of int."""
    return np.argsort(-np.abs(values).mean(axis=0), kind="stable")[:n]


def swarm(values: Array, low: float, high: float, *, bins: int = 100) -> Array:
    """Heights of the points of one line of a beeswarm, within -0.4..0.4, so that points of like values do not hide.

    Points of a bin are piled up alternately above and below the line.

    Parameters
    ----------
    values : ndarray (n,)
    low, high : float
        Of the whole picture.
    """
    place = np.round(bins * (values - low) / ((high - low) or 1.0))
    order = np.argsort(place, kind="stable")
    first = np.searchsorted(place[order], place[order], side="left")
    height = np.empty(len(values))
    number = np.arange(len(values)) - first  # in its bin: 0, 1, 2, ...
    height[order] = (number + 1) // 2 * np.where(number % 2, 1, -1)
    return height * min(0.08, 0.4 / max(1.0, float(np.abs(height).max(initial=0))))


def shades(column: Array) -> Array:
    """A feature's values between its 5 % and 95 % quantile as numbers in 0..1, and 0.5 where it is constant or missing.

    Levels of a category, and dates, count by their order.
    """
    column = as_numbers(column)
    there = ~np.isnan(column)
    shaded = np.full(len(column), 0.5)
    shaded[there] = _shades(column[there]) if there.any() else 0.5
    return shaded


def as_numbers(column: Array) -> Array:
    """A column of numbers as it is; of other values, the place of each among the sorted distinct ones, NaN for gaps."""
    if column.dtype.kind in "biuf":
        return column.astype(np.float64)
    missing = np.array([value is None or value != value for value in column], dtype=bool)
    if all(isinstance(value, numbers.Real) for value in column[~missing]):
        return np.where(missing, np.nan, column).astype(np.float64)
    places = np.full(len(column), np.nan)
    places[~missing] = np.unique([str(value) for value in column[~missing]], return_inverse=True)[1]
    return places


def _shades(column: Array) -> Array:
    low, high = np.quantile(column, [0.05, 0.95])
    if not high > low:
        low, high = column.min(), column.max()
    return np.clip((column - low) / (high - low), 0, 1) if high > low else np.full(len(column), 0.5)


def with_values(names: Sequence[str], row: Array, step: Step) -> tuple[str, str]:
    """What a step is of: the name and the value of its feature, or how many features it sums up."""
    if len(step.features) > 1:
        return f"{len(step.features)} other features", ""
    i = int(step.features[0])
    return names[i], value_text(row[i])


def value_text(value: Any) -> str:
    """What a feature holds in a row, for people: four digits of a number, "missing", or the level."""
    if value is None or value != value:
        return "missing"
    return f"{value:.4g}" if isinstance(value, numbers.Real) and not isinstance(value, bool) else str(value)
