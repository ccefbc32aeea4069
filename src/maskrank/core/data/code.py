"""How columns are computed from a table: its numbers, whether a category has a level, whether a value is missing."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
MISSING = -1.0  # in place of a level: whether the value is missing


@dataclass(frozen=True, eq=False)
class Code:
    """How columns are computed from others; all arrays are (columns,).

    Attributes
    ----------
    source : ndarray of int
        Which column of the table: numbers, or a category's levels as 0, 1, ...; NaN where a value is missing.
    level : ndarray
        NaN for the number itself, k for whether the category has level k, `MISSING` for whether the value is missing.
    flagged : ndarray of bool
        Whether another column of the same feature says that the value is missing.
    mean, scale : ndarray
        What is subtracted, and then divided by.
    fill : ndarray
        What stands, scaled, for a missing number, and for the level of a missing value that no column speaks of.
    """

    source: NDArray[np.int64]
    level: NDArray[np.float64]
    flagged: NDArray[np.bool_]
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    fill: NDArray[np.float64]

    def apply(self, raw: Array, columns: Array) -> NDArray[np.float64]:
        """Scaled columns: values of the table (..., k) and which columns they are for, broadcast to it -> (..., k)."""
        raw, level, missing = np.asarray(raw, dtype=np.float64), self.level[columns], np.isnan(raw)
        indicator = np.where(level == MISSING, missing, raw == level).astype(np.float64)
        indicator[missing & ~self.flagged[columns]] = np.nan
        value = np.where(np.isnan(level), raw, indicator)
        with np.errstate(over="ignore"):  # values of 1e308 become infinite: nets take the largest that they know
            scaled = (value - self.mean[columns]) / self.scale[columns]
        return np.where(np.isnan(scaled), self.fill[columns], scaled)

    def only(self, columns: Array) -> Code:
        """Some of the columns."""
        return Code(*(getattr(self, entry.name)[columns] for entry in fields(self)))
