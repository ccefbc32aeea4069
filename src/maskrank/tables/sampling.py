"""A uniform random sample of the rows of a table, the same however the table is read."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_AT_ONCE = 1 << 22  # rows whose keys are computed in one go
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_STEP = np.uint64(0x9E3779B97F4A7C15)


def draw_rows(n_rows: int, size: int, seed: int) -> NDArray[np.int64]:
    """Sorted numbers of a sample of rows without replacement: those with the smallest of random keys.

    Parameters
    ----------
    n_rows : int
    size : int
        At most ``n_rows``.
    seed : int

    Examples
    --------
    >>> from maskrank.tables.sampling import draw_rows
    >>> draw_rows(10**6, 4, seed=0).tolist()
    [595790, 751821, 768731, 979326]
    """
    if size >= n_rows:
        return np.arange(n_rows)
    share = min(1.0, (size + 8 * math.sqrt(size) + 8) / n_rows)  # enough rows have a key below it
    bound = np.uint64(min(share * 2.0**64, 2.0**64 - 2048))
    found = []
    for first in range(0, n_rows, _AT_ONCE):
        rows = np.arange(first, min(n_rows, first + _AT_ONCE))
        keys = row_keys(rows, seed)
        small = keys <= bound
        found.append((rows[small], keys[small]))
    rows, keys = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return np.sort(rows[np.argsort(keys, kind="stable")[:size]])


def row_keys(rows: NDArray[np.int64], seed: int) -> NDArray[np.uint64]:
    """A random key of each row, by its number: the generator splitmix64 (Steele et al. 2014) at this place."""
    state = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
    with np.errstate(over="ignore"):
        keys = (rows.astype(np.uint64) + np.uint64(1)) * _STEP + state
        keys = (keys ^ (keys >> np.uint64(30))) * _MIX[0]
        keys = (keys ^ (keys >> np.uint64(27))) * _MIX[1]
        mixed: NDArray[np.uint64] = keys ^ (keys >> np.uint64(31))
    return mixed
