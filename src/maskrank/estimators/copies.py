"""Copies of rows, counted as weights.

Two copies of a row are one row of twice the weight. A table with weights is brought into one form, however its rows are
ordered and repeated: each distinct row once, with the sum of its weights, in the order of a hash of its content. So a
row of weight 3 and a row that stands there three times give the same fit, bit for bit.

A table without weights is treated like this where it looks oversampled: rows are repeated, with the same target each
time. A copy of a training row then never judges what was learned from it. Where equal rows have different targets, or
few rows are distinct, as in tables of a few levels, they are no copies but different cases, and stay as they are.
"""

from __future__ import annotations

import mmap
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskrank.core import limits
from maskrank.estimators.fitting import Part
from maskrank.estimators.row_weights import scaled_weights
from maskrank.estimators.scaling import Array, as_columns
from maskrank.estimators.sources import DenseSource, Source, SparseSource

Hashes = NDArray[np.uint64]

_SEARCHED = 1 << 24  # values of a table that is searched for copies: a time limit, less than a second
_MIN_DISTINCT = 0.2  # of the rows; with fewer, a table holds combinations of a few levels
_GLANCE = 8  # columns that tell most tables without copies at a glance


def count_copies(part: Part) -> Part:
    """The rows of a part with copies counted as weights, or the part as it is; weights have mean 1.

    Memory-mapped files and very large tables are not searched for copies.
    """
    weights = None if part.weights is None else scaled_weights(part.weights)
    part = replace(part, weights=weights)
    if not _is_searched(part.source) or (weights is None and _all_distinct(part)):
        return part
    of_rows = _row_hashes(part.source)[part.rows]
    whole = of_rows + _hashes_of_columns(as_columns(part.target), 1)
    if part.groups is not None:
        whole += _hashes_of_columns(as_columns(part.groups), 2)
    _, first, place = np.unique(whole, return_index=True, return_inverse=True)  # in the order of the hashes
    if (weights is None and len(first) == len(whole)) or not _are_copies(part, of_rows, first):
        return part
    counted = scaled_weights(np.bincount(place, weights))
    merged = part.take(np.sort(first) if counted is None else first)
    return replace(merged, weights=counted)


def _are_copies(part: Part, of_rows: Hashes, first: NDArray[np.int64]) -> bool:
    """Whether equal rows have equal targets and groups, and enough rows are distinct."""
    n, n_distinct = len(of_rows), len(first)
    if n_distinct < _MIN_DISTINCT * n or _count_distinct(of_rows) < n_distinct:
        return False
    return part.labels is None or int(np.bincount(part.labels[first]).max()) > 1  # else no row could be held out


def _is_searched(source: Source) -> bool:
    if isinstance(source, SparseSource):
        return int(source.X.nnz) <= _SEARCHED
    return isinstance(source, DenseSource) and source.X.size <= _SEARCHED and not _in_file(source.X)


def _in_file(array: Any) -> bool:
    """Whether an array lies in a memory-mapped file."""
    while array is not None and not isinstance(array, mmap.mmap):
        array = array.obj if isinstance(array, memoryview) else getattr(array, "base", None)
    return array is not None


def _all_distinct(part: Part) -> bool:
    """Whether any two rows differ in a few columns, which settles it; where they do not, nothing is said."""
    if not isinstance(part.source, DenseSource):
        return False
    d = part.source.shape[1]
    columns = np.unique(np.linspace(0, d - 1, min(d, _GLANCE)).astype(np.int64))
    glance = _dense_hashes(part.source.X[:, columns])[part.rows]
    return _count_distinct(glance) == len(glance)


def _count_distinct(hashes: Hashes) -> int:
    """How many there are, by sorting: several times as fast as ``np.unique`` for a million."""
    ordered = np.sort(hashes)
    return 1 + int(np.count_nonzero(ordered[1:] != ordered[:-1]))


def _row_hashes(source: Source) -> Hashes:
    """A hash of the content of each row, the same for dense and sparse tables: (n,)."""
    if isinstance(source, SparseSource):
        matrix = source.X
        terms = _terms(matrix.data, _keys(matrix.indices, 0))
        rising = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(terms, dtype=np.uint64)])
        return np.asarray(rising[matrix.indptr[1:]] - rising[matrix.indptr[:-1]])
    assert isinstance(source, DenseSource)
    return _dense_hashes(source.X)


def _dense_hashes(X: Array) -> Hashes:
    """A hash of each row of a table, some rows at a time: (n, d) -> (n,)."""
    (n, d), hashes = X.shape, np.zeros(len(X), dtype=np.uint64)
    height = max(1, limits.TABLE_PART // d)
    for row in range(0, n, height):
        hashes[row : row + height] = _hashes_of_columns(X[row : row + height], 0)
    return hashes


def _hashes_of_columns(values: Array, salt: int) -> Hashes:
    """A hash of each row of some numbers: (n, k) -> (n,)."""
    terms = _terms(np.asarray(values), _keys(np.arange(values.shape[1]), salt))
    return np.asarray(terms.sum(axis=1, dtype=np.uint64))


def _terms(values: Array, keys: Hashes) -> Hashes:
    """What each value adds to the hash of its row; a zero adds nothing, whatever its sign: of the same shape."""
    numbers = np.array(values, dtype=np.float64)
    numbers[np.isnan(numbers)] = np.nan  # one of the many
    terms = _mixed(numbers.view(np.uint64) ^ keys)
    terms[numbers == 0] = 0
    return terms


def _keys(columns: Array, salt: int) -> Hashes:
    """A random number for each column."""
    return _mixed(np.asarray(columns).astype(np.uint64) * np.uint64(4) + np.uint64(salt))


def _mixed(words: Hashes) -> Hashes:
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014): every bit depends on all bits of a word."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
