"""What the classifier reads of a target as given: the order of its categories, and labels in columns."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse

from maskrank.estimators.scaling import Array


def category_order(y: Any) -> list[Any] | None:
    """The categories of an ordered pandas category or a polars Enum, in their order; None for other targets."""
    series = nw.from_native(y, pass_through=True, series_only=True)
    if not isinstance(series, nw.Series):
        return None
    kind = series.to_native().dtype
    if isinstance(series.dtype, nw.Enum) or getattr(kind, "ordered", False):
        return list(kind.categories)
    return None


def label_names(y: Any) -> list[Any] | None:
    """The names of a frame's columns; None for arrays."""
    frame = nw.from_native(y, pass_through=True, eager_only=True)
    return list(map(str, frame.columns)) if isinstance(frame, nw.DataFrame) else None


def as_labels(y: Any) -> Array:
    """Columns of labels, 0 and 1, also of a sparse matrix: (n, labels)."""
    values = np.asarray(y.toarray() if scipy.sparse.issparse(y) else y).astype(np.float64)
    wrong = ~np.isin(values, (0, 1))
    if wrong.any():
        raise ValueError(f"y holds the label {values[wrong][0]:g}: the columns of several labels hold 0 and 1")
    return values
