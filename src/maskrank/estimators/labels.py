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


def check_one_type(y: Array) -> None:
    """Raise where labels are of types that have no common order, such as text beside numbers."""
    if np.asarray(y).dtype != object:
        return
    kinds = {type(label) for label in np.asarray(y).ravel().tolist()}
    if not (kinds <= {bool, int, float} or len(kinds) == 1):
        names = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(f"y holds labels of the types {names}: labels are all text, or all numbers")


def as_labels(y: Any) -> Array:
    """Columns of labels, 0 and 1, also of a sparse matrix: (n, labels)."""
    values = np.asarray(y.toarray() if scipy.sparse.issparse(y) else y).astype(np.float64)
    wrong = ~np.isin(values, (0, 1))
    if wrong.any():
        raise ValueError(f"y holds the label {values[wrong][0]:g}: the columns of several labels hold 0 and 1")
    return values
