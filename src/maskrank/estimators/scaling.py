"""Statistics of columns, and the standardisation that follows from them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Scaling:
    """A shift and a scale for each column, learned on training rows."""

    mean: Array
    scale: Array

    def apply(self, values: Array) -> Array:
        return (values - self.mean) / self.scale

    def undo(self, values: Array) -> Array:
        return values * self.scale + self.mean

    def take(self, columns: Array | slice) -> Scaling:
        return Scaling(self.mean[columns], self.scale[columns])


@dataclass(frozen=True)
class Columns:
    """Range, mean and standard deviation of each column over some rows: arrays (d,) of 64-bit floats."""

    n: int
    low: Array
    high: Array
    mean: Array
    std: Array

    @classmethod
    def learn(cls, values: Array) -> Columns:
        """From all rows of an array (n, d)."""
        low, high = values.min(axis=0), values.max(axis=0)
        unit = _unit(low, high)
        scaled = values / unit
        return cls(len(values), low, high, unit * scaled.mean(axis=0), unit * scaled.std(axis=0))

    @classmethod
    def learn_with_gaps(cls, values: Array) -> Columns:
        """From the values that are there, of an array (n, d) with NaN for the others; zeros of a column without any."""
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", message="All-NaN|Mean of empty|Degrees of freedom", category=RuntimeWarning
            )
            low, high = (np.nan_to_num(extreme(values, axis=0)) for extreme in (np.nanmin, np.nanmax))
            unit = _unit(low, high)
            scaled = values / unit
            mean, std = (np.nan_to_num(figure(scaled, axis=0)) for figure in (np.nanmean, np.nanstd))
        return cls(len(values), low, high, unit * mean, unit * std)

    @classmethod
    def learn_sparse(cls, matrix: Any) -> Columns:
        """From a SciPy matrix in compressed rows; what it does not store is zero."""
        n, d = matrix.shape
        low, high = (np.asarray(extreme.toarray(), dtype=np.float64).ravel() for extreme in _extremes(matrix))
        unit = _unit(low, high)
        column, scaled = matrix.indices, matrix.data / unit[matrix.indices]
        mean = np.bincount(column, scaled, d) / n
        stored = np.bincount(column, minlength=d)
        squares = np.bincount(column, np.square(scaled - mean[column]), d) + (n - stored) * np.square(mean)
        return cls(n, low, high, unit * mean, unit * np.sqrt(squares / n))

    def joined(self, other: Columns) -> Columns:
        """The same columns over these rows and the other's."""
        n = self.n + other.n
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        unit = _unit(low, high)
        apart = (other.mean - self.mean) / unit
        within = self.n * np.square(self.std / unit) + other.n * np.square(other.std / unit)
        between = self.n * other.n / n * np.square(apart)
        mean = self.mean + unit * apart * (other.n / n)
        return Columns(n, low, high, mean, unit * np.sqrt((within + between) / n))

    @classmethod
    def side_by_side(cls, parts: Sequence[Columns]) -> Columns:
        """All columns of several tables of the same rows."""
        arrays = ([getattr(part, name) for part in parts] for name in ("low", "high", "mean", "std"))
        return cls(parts[0].n, *(np.concatenate(values) for values in arrays))

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Which columns hold more than one value, beyond rounding."""
        largest = np.maximum(np.abs(self.low), np.abs(self.high))
        with np.errstate(over="ignore"):
            return self.high - self.low > 16 * np.finfo(np.float64).eps * largest

    def fits_32_bits(self, scaling: Scaling) -> bool:
        """Whether no scaled value leaves the range of 32-bit floats."""
        with np.errstate(over="ignore", invalid="ignore"):
            largest = np.maximum(np.abs(scaling.apply(self.low)), np.abs(scaling.apply(self.high)))
        return bool((largest <= np.finfo(np.float32).max).all())

    def scaling(self, *, enabled: bool = True) -> Scaling:
        """To mean 0 and variance 1; columns that do not vary keep scale 1."""
        if not enabled:
            return Scaling(np.zeros(len(self.mean)), np.ones(len(self.mean)))
        return Scaling(self.mean, np.where(self.varies, self.std, 1.0))


def as_columns(y: Array) -> Array:
    """A target as columns: (n,) or (n, outputs) -> (n, outputs)."""
    return y.reshape(-1, 1) if y.ndim == 1 else y


def _unit(low: Array, high: Array) -> Array:
    """The largest value of each column: squares of very large or small values leave the range of floats."""
    largest = np.maximum(np.abs(low), np.abs(high))
    return np.where(largest > 0, largest, 1.0)


def _extremes(matrix: Any) -> tuple[Any, Any]:
    return matrix.min(axis=0), matrix.max(axis=0)
