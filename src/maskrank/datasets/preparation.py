"""Preprocessing of the public data sets as in the paper, one function a step.

Nothing is standardised here. That belongs to training rows alone, and the estimators do it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskrank.datasets.catalogue import PublicDataset
from maskrank.datasets.formats import Table

Array = NDArray[Any]


def log_shifted(X: Array) -> Array:
    """log(x + 0.01) in 64 bits, as the paper does against skewness; the shift is for zeros."""
    return np.log(X.astype(np.float64) + 0.01)


def three_classes(y: Array) -> Array:
    """Active enhancers A-E, active promoters A-P, and BG, the background, for all else."""
    return np.where(np.isin(y, ("A-E", "A-P")), y, "BG")


def balanced_rows(y: Array, random_state: int | np.random.Generator) -> Array:
    """Rows, in their order, of which each class has as many as the smallest; drawn without replacement."""
    rng = np.random.default_rng(random_state)
    labels, counts = np.unique(y, return_counts=True)
    drawn = [rng.choice(np.flatnonzero(y == label), counts.min(), replace=False) for label in labels]
    return np.sort(np.concatenate(drawn))


def varying_columns(X: Array) -> Array:
    """Columns that are not the same in all rows."""
    return np.flatnonzero(X.min(axis=0) != X.max(axis=0))


def row_major_columns(shape: tuple[int, ...]) -> Array:
    """Where the pixels of an image, row by row, lie in a file that has them column by column."""
    return np.arange(np.prod(shape)).reshape(shape, order="F").ravel()


Step = Callable[[Table, PublicDataset, int | np.random.Generator], Table]


def prepare(table: Table, entry: PublicDataset, random_state: int | np.random.Generator) -> Table:
    """A table after all the steps of its data set."""
    for name in entry.prepare:
        table = STEPS[name](table, entry, random_state)
    return table


def _log(table: Table, entry: PublicDataset, random_state: Any) -> Table:
    return table._replace(X=log_shifted(table.X))


def _three_classes(table: Table, entry: PublicDataset, random_state: Any) -> Table:
    return table._replace(y=three_classes(table.y))


def _balance(table: Table, entry: PublicDataset, random_state: Any) -> Table:
    if table.splits:
        raise ValueError(f"{entry.name}: rows of a published split are not to be left out")
    rows = balanced_rows(table.y, random_state)
    return table._replace(X=table.X[rows], y=table.y[rows])


def _drop_constant(table: Table, entry: PublicDataset, random_state: Any) -> Table:
    return _take(table, varying_columns(table.X))


def _drop_id(table: Table, entry: PublicDataset, random_state: Any) -> Table:
    return _take(table, np.flatnonzero(np.array(table.names) != "ID"))


def _row_major(table: Table, entry: PublicDataset, random_state: Any) -> Table:
    assert entry.image_shape is not None
    return _take(table, row_major_columns(entry.image_shape))


def _take(table: Table, columns: Array) -> Table:
    assert table.names is not None
    return table._replace(
        X=np.ascontiguousarray(table.X[:, columns]), names=tuple(table.names[column] for column in columns)
    )


STEPS: dict[str, Step] = {
    "log": _log,
    "three_classes": _three_classes,
    "balance": _balance,
    "drop_constant": _drop_constant,
    "drop_id": _drop_id,
    "row_major": _row_major,
}
