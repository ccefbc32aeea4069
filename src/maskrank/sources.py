"""A user's table where it lives: an array in memory, a memory-mapped file, a sparse matrix.

`open_source` wraps it; nothing is copied. A source is read through once, in parts, to find what is not finite and
to learn the columns' scales. After that a small table is copied, scaled, for speed; of a large one the trainer
reads the columns of its subsets where they are.
"""

from __future__ import annotations

import mmap
import warnings
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse
import torch
from sklearn.utils import assert_all_finite
from torch import Tensor

from maskrank.core.rows import Held, InPlace, Scale, SparseRows, Values
from maskrank.scaling import Array, Columns, Scaling

_VALUES_AT_ONCE = 1 << 20  # of a part of the table that is looked at in one go
_MOST_HELD = 1 << 26  # values of a table that is copied: 256 MB
_WIDE = 8  # times as many columns as rows: then the copy is kept column by column


class Source(Protocol):
    """What `fit` asks of a table."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def learn(self, rows: Array) -> Columns:
        """Check all values, and learn what is to be known of each column from these rows."""

    def select(self, rows: Array | None, columns: Array) -> Array:
        """Some rows (None: all) and columns, as 64-bit floats."""

    def values(self, rows: Array, columns: Array, scaling: Scaling, device: torch.device) -> Values:
        """Some rows and columns, scaled, as the core takes them; the scaling is that of these columns."""


def open_source(X: Any) -> Source:
    """A source for what scikit-learn's validation lets through.

    Raises
    ------
    ValueError
        The file behind a memory map has become shorter than the map.
    """
    if scipy.sparse.issparse(X):
        return SparseSource(X)
    _check_file(X)
    return DenseSource(X)


@dataclass(frozen=True)
class DenseSource:
    """A NumPy array in any order, of 32- or 64-bit floats."""

    X: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape[0], self.X.shape[1]

    def learn(self, rows: Array) -> Columns:
        n, d = self.shape
        if self._by_columns:
            width = max(1, _VALUES_AT_ONCE // n)
            parts = (slice(a, a + width) for a in range(0, d, width))
            return Columns.side_by_side([Columns.learn(self._part(slice(None), part)[rows]) for part in parts])
        chosen = np.zeros(n, dtype=bool)
        chosen[rows] = True
        columns: Columns | None = None
        height = max(1, _VALUES_AT_ONCE // d)
        for a in range(0, n, height):
            part = self._part(slice(a, a + height), slice(None))[chosen[a : a + height]]
            if len(part):
                learned = Columns.learn(part)
                columns = learned if columns is None else columns.joined(learned)
        assert columns is not None
        return columns

    def select(self, rows: Array | None, columns: Array) -> Array:
        chosen = self.X[:, columns] if rows is None else self.X[np.ix_(rows, columns)]
        return np.asarray(chosen, dtype=np.float64)

    def values(self, rows: Array, columns: Array, scaling: Scaling, device: torch.device) -> Values:
        if len(rows) * len(columns) > _MOST_HELD:
            scale = Scale(_tensor(scaling.mean, self.X.dtype), _tensor(scaling.scale, self.X.dtype))
            return InPlace(_view(self.X), _tensor(rows), _tensor(columns), scale, device)
        wide = len(columns) > _WIDE * len(rows)
        shape = (len(columns), len(rows)) if wide else (len(rows), len(columns))
        held = np.empty(shape, dtype=np.float32)
        target = held.T if wide else held
        width = max(1, _VALUES_AT_ONCE // len(rows))
        for a in range(0, len(columns), width):
            part = slice(a, a + width)
            values = np.asarray(self.X[np.ix_(rows, columns[part])], dtype=np.float64)
            with np.errstate(over="ignore"):
                target[:, part] = scaling.take(part).apply(values)
        if not np.isfinite(held).all():
            raise ValueError("X holds values too large for 32-bit floats: standardize=True, or smaller units")
        return Held(torch.from_numpy(target).to(device))

    @property
    def _by_columns(self) -> bool:
        return bool(abs(self.X.strides[0]) < abs(self.X.strides[1]))

    def _part(self, rows: slice, columns: slice) -> Array:
        part = self.X[rows, columns]
        assert_all_finite(part, input_name="X")
        return np.asarray(part, dtype=np.float64)


@dataclass(frozen=True)
class SparseSource:
    """A SciPy matrix in compressed rows."""

    X: Any

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape[0], self.X.shape[1]

    def learn(self, rows: Array) -> Columns:
        assert_all_finite(self.X.data, input_name="X")
        return Columns.learn_sparse(self.X[rows])

    def select(self, rows: Array | None, columns: Array) -> Array:
        chosen = self.X if rows is None else self.X[rows]
        return np.asarray(chosen[:, columns].toarray(), dtype=np.float64)

    def values(self, rows: Array, columns: Array, scaling: Scaling, device: torch.device) -> Values:
        if len(rows) * len(columns) <= _MOST_HELD:
            dense = np.asarray(self.X[rows][:, columns].toarray(order="F"))
            return DenseSource(dense).values(np.arange(len(rows)), np.arange(len(columns)), scaling, device)
        scale = Scale(_tensor(scaling.mean, self.X.dtype), _tensor(scaling.scale, self.X.dtype))
        return SparseRows(
            starts=_tensor(self.X.indptr, np.int64),
            places=_tensor(self.X.indices, np.int64),
            entries=_view(self.X.data),
            index=_tensor(rows),
            features=_tensor(columns),
            scale=scale,
            device=device,
        )


def float_type(X: Any) -> type[np.floating[Any]]:
    """The floats a table should be read as: its own, 32 bits where they hold its values exactly, else 64 bits."""
    dtype = getattr(X, "dtype", None)
    if dtype in (np.float32, np.float16, np.int8, np.uint8, np.int16, np.uint16, np.bool_):
        return np.float32
    return np.float64


def _check_file(X: Array) -> None:
    """Refuse a memory map whose file was cut: reading behind its end would kill the process."""
    base: Any = X
    while base is not None and not isinstance(base, mmap.mmap):
        if isinstance(base, memoryview):
            base = base.obj
        else:
            offset = getattr(base, "offset", 0) if isinstance(base, np.memmap) else 0
            base = getattr(base, "base", None)
    if base is None:
        return
    start = offset - offset % mmap.ALLOCATIONGRANULARITY
    if base.size() < start + len(base):
        raise ValueError(
            f"X is a memory map of {start + len(base):,} bytes, but its file has only {base.size():,} left: it was "
            "cut after it was opened"
        )


def _tensor(values: Array, dtype: Any = None) -> Tensor:
    return torch.from_numpy(np.array(values, dtype=dtype))


def _view(values: Array) -> Tensor:
    """A tensor on the same memory, which nobody writes to."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(values)
