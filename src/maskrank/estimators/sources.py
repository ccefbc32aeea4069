"""A user's table in place: an array in memory, a memory-mapped file, or a sparse matrix.

`open_source` wraps it without a copy. One pass, block by block, checks that all values are finite and computes the
columns' statistics. A table of up to ``limits.HELD_TABLE`` values is then copied, scaled, for speed; from a larger one
the training reads the columns of its subsets in place.
"""

from __future__ import annotations

import mmap
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from maskrank.core import limits
from maskrank.core.data.rows import Held, InPlace, Scale, SparseRows, Values
from maskrank.estimators.scaling import Array, Columns, Scaling

_WIDE = 8  # times as many columns as rows: such a copy is stored column by column
TOO_LARGE = "X holds values too large for 32-bit floats: standardize=True, or smaller units"


class MissingValuesError(Exception):
    """A table of numbers has gaps: it must be encoded, not only scaled."""


class Source(Protocol):
    """A table as `fit` reads it."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def counts(self) -> Array | None:
        """Which rows count, (n,) of bool; None where all do."""

    def learn(self, rows: Array) -> Columns:
        """Check all values of rows that count, and compute the statistics of each column over these rows.

        The statistics of sorted rows are added up as they are stored, others in the order of the rows: they have the
        same bits, wherever the rows are.

        Raises
        ------
        MissingValuesError
            Some are NaN.
        ValueError
            Some are infinite.
        """

    def select(self, rows: Array | None, columns: Array) -> Array:
        """Some rows (None: all) and columns, as 64-bit floats."""

    def values(self, rows: Array, columns: Array, scaling: Scaling, device: torch.device) -> Values:
        """Some rows and columns, scaled, as the core takes them; the scaling is that of these columns."""


def open_source(X: Any, rows: Array | None = None) -> Source:
    """The source of an array or matrix that scikit-learn has validated; where only these rows count, of them."""
    counts = None
    if rows is not None and len(rows) < X.shape[0]:
        counts = np.zeros(X.shape[0], dtype=bool)
        counts[rows] = True
    return SparseSource(_canonical(X), counts) if scipy.sparse.issparse(X) else DenseSource(X, counts)


@dataclass(frozen=True)
class DenseSource:
    """A NumPy array in any order, of 32- or 64-bit floats.

    Attributes
    ----------
    X : ndarray (n, d)
    counts : ndarray (n,) of bool, optional
        Which rows count; what the others hold does not matter.
    """

    X: Array
    counts: Array | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape[0], self.X.shape[1]

    def learn(self, rows: Array) -> Columns:
        n, d = self.shape
        by_columns = abs(self.X.strides[0]) < abs(self.X.strides[1])
        width = max(1, limits.TABLE_PART // n) if by_columns else min(d, limits.SCANNED_COLUMNS)
        height = max(1, limits.TABLE_PART // width)
        chosen = np.zeros(n, dtype=bool)
        chosen[rows] = in_order = bool((np.diff(rows) > 0).all())
        blocks = []
        for column in range(0, d, width):
            block: Columns | None = None
            for row in range(0, n, height):
                part = self.X[row : row + height, column : column + width]
                _check_finite(part if self.counts is None else part[self.counts[row : row + height]])
                part = np.asarray(part[chosen[row : row + height]], dtype=np.float64)
                if len(part):
                    learned = Columns.learn(part)
                    block = learned if block is None else block.joined(learned)
            blocks += [] if block is None else [block]
        return Columns.side_by_side(blocks if in_order else self._learn_ordered(rows))

    def _learn_ordered(self, rows: Array) -> list[Columns]:
        """Statistics of some columns each, added up in the order of the rows."""
        width = min(self.shape[1], limits.SCANNED_COLUMNS)
        height = max(1, limits.TABLE_PART // width)
        blocks = []
        for column in range(0, self.shape[1], width):
            parts = (self.X[rows[row : row + height], column : column + width] for row in range(0, len(rows), height))
            learned = (Columns.learn(np.ascontiguousarray(part, dtype=np.float64)) for part in parts)
            blocks.append(reduce(Columns.joined, learned))
        return blocks

    def select(self, rows: Array | None, columns: Array) -> Array:
        if rows is None and np.array_equal(columns, np.arange(self.X.shape[1])):
            return np.asarray(self.X, dtype=np.float64)  # all of it, without a copy
        chosen = self.X[:, columns] if rows is None else self.X[np.ix_(rows, columns)]
        return np.asarray(chosen, dtype=np.float64)

    def values(self, rows: Array, columns: Array, scaling: Scaling, device: torch.device) -> Values:
        if len(rows) * len(columns) <= limits.HELD_TABLE:
            return _hold(lambda part: self.X[np.ix_(rows, columns[part])], len(rows), scaling, device)
        X = self.X
        if X.strides[0] < 0:  # torch has no negative strides
            X, rows = X[::-1], len(X) - 1 - rows
        if X.strides[1] < 0:
            X, columns = X[:, ::-1], X.shape[1] - 1 - columns
        return InPlace(view(X), _tensor(rows), _tensor(columns), _scale(scaling), device)


@dataclass(frozen=True)
class SparseSource:
    """A SciPy matrix in compressed rows, each entry stored once; ``counts`` as in `DenseSource`."""

    X: Any
    counts: Array | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape[0], self.X.shape[1]

    def learn(self, rows: Array) -> Columns:
        values = self.X.data if self.counts is None else self.X[np.flatnonzero(self.counts)].data
        if np.isnan(values).any():
            raise ValueError("Input X contains NaN: missing values are taken from dense tables, and X is sparse")
        _check_finite(values)
        return Columns.learn_sparse(self.X[rows])

    def select(self, rows: Array | None, columns: Array) -> Array:
        chosen = self.X if rows is None else self.X[rows]
        return np.asarray(chosen[:, columns].toarray(), dtype=np.float64)

    def values(self, rows: Array, columns: Array, scaling: Scaling, device: torch.device) -> Values:
        if len(rows) * len(columns) <= limits.HELD_TABLE:
            by_columns = self.X[rows].tocsc()
            return _hold(lambda part: by_columns[:, columns[part]].toarray(), len(rows), scaling, device)
        return SparseRows(
            starts=view(self.X.indptr),
            places=view(self.X.indices),
            entries=view(self.X.data),
            index=_tensor(rows),
            features=_tensor(columns),
            scale=_scale(scaling),
            device=device,
        )


def _check_finite(values: Array) -> None:
    if np.isfinite(values).all():
        return
    check_no_infinity(values)
    raise MissingValuesError


def check_no_infinity(values: Array) -> None:
    """Refuse values that are infinite; NaN is a missing value."""
    from sklearn.utils import assert_all_finite  # for scikit-learn's own message

    assert_all_finite(values, input_name="X", allow_nan=True)


def _hold(read: Callable[[slice], Array], n: int, scaling: Scaling, device: torch.device) -> Held:
    """A scaled copy of a table in 32-bit floats, read some columns at a time; of a wide one column by column."""
    d = len(scaling.mean)
    held = np.empty((d, n), dtype=np.float32).T if d > _WIDE * n else np.empty((n, d), dtype=np.float32)
    width = max(1, limits.TABLE_PART // n)
    for a in range(0, d, width):
        part = slice(a, a + width)
        with np.errstate(over="ignore"):
            held[:, part] = scaling.take(part).apply(np.asarray(read(part), dtype=np.float64))
    if not np.isfinite(held).all():
        raise ValueError(TOO_LARGE)
    return Held(torch.from_numpy(held).to(device))


def _canonical(X: Any) -> Any:
    """The matrix with its entries sorted and summed, as a copy where they are not."""
    if X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def float_type(X: Any) -> type[np.floating[Any]]:
    """The floats a table should be read as: its own, 32 bits where they hold its values exactly, else 64 bits."""
    if isinstance(X, np.ndarray) or scipy.sparse.issparse(X):
        kind, size = X.dtype.kind, X.dtype.itemsize
        if (kind == "f" and size <= 4) or (kind in "iub" and size <= 2):
            return np.float32
    return np.float64


def check_files(X: Any) -> None:
    """Refuse a memory map whose file was cut: reading beyond its end would crash the process.

    Raises
    ------
    ValueError
        The file behind a memory map has become shorter than the map.
    """
    arrays = [getattr(X, name, None) for name in ("data", "indices", "indptr")] if scipy.sparse.issparse(X) else [X]
    for array in arrays:
        if isinstance(array, np.ndarray):
            _check_file(array)


def _check_file(array: Array) -> None:
    base: Any = array
    offset = 0
    while base is not None and not isinstance(base, mmap.mmap):
        offset = base.offset if isinstance(base, np.memmap) else offset
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    if base is None:
        return
    try:
        size = base.size()
    except (OSError, ValueError):  # memory without a file
        return
    start = offset - offset % mmap.ALLOCATIONGRANULARITY
    if size < start + len(base):
        raise ValueError(
            f"X is a memory map up to byte {start + len(base):,} of a file that has only {size:,}: it was cut after it "
            "was opened"
        )


def _scale(scaling: Scaling) -> Scale:
    return Scale(_tensor(scaling.mean), _tensor(scaling.scale))


def _tensor(values: Array) -> Tensor:
    return torch.from_numpy(np.array(values))


def view(values: Array) -> Tensor:
    """A read-only tensor on the same memory."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(values)
