"""Columns that name subjects of which there are several, nearly equal rows: patients, animals, batches.

With rows of one subject on both sides of a split, a net is judged on what it has memorised.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Array = NDArray[Any]
_FEWEST_ROWS = 30
_FEWEST_SUBJECTS = 5
_MOST_ROWS = 2_000
_MOST_FEATURES = 200  # of which distances are taken
_MOST_COLUMNS = 1_000  # of numbers; in wider tables only those that are called like subjects
_CONSTANT = 0.99  # share of rows with the majority class of their subject
_VARIANCE = 0.05  # of a target of numbers inside of subjects, as a share of all
_NEAREST = 0.8  # share of rows whose nearest row is of the same subject
_NEARER = 0.5  # median distance to the nearest row of the subject, as a share of that to the nearest other row
_NAMED = re.compile(
    r"(?i).*(^|[\W_])(id|subject|patient|person|participant|animal|mouse|donor|individual|batch|plate|group)s?([\W_]|$)"
)


def find_subject(X: pd.DataFrame, y: Array, *, discrete: bool, left_out: pd.DataFrame | None = None) -> str | None:
    """The column that names subjects of nearly equal rows; None if there is none.

    Parameters
    ----------
    X : DataFrame (n, d)
        The features.
    y : array (n,)
        Classes or numbers.
    discrete : bool
        Whether y holds classes.
    left_out : DataFrame (n, columns), optional
        Columns that are no features, but may name subjects.
    """
    if len(X) < _FEWEST_ROWS:
        return None
    measured = X.select_dtypes("number")
    every = X if left_out is None else pd.concat([X, left_out], axis=1)
    for name in _candidates(every):
        codes = pd.factorize(every[name])[0]
        if (codes >= 0).all() and _is_settled(codes, y, discrete):
            others = measured.drop(columns=name, errors="ignore")
            if others.shape[1] > 1 and _are_close(others, codes):
                return str(name)
    return None


def subject_warnings(X: pd.DataFrame, y: Array, *, discrete: bool | None = None) -> list[str]:
    """A line where a column names subjects of nearly equal rows.

    Parameters
    ----------
    X : DataFrame (n, d)
    y : array (n,)
        Classes or numbers.
    discrete : bool, optional
        Whether y holds classes; by default it does unless it holds floats.
    """
    y = np.asarray(y)
    name = find_subject(X, y, discrete=y.dtype.kind != "f" if discrete is None else discrete)
    return [] if name is None else [subject_line(name)]


def subject_line(name: str) -> str:
    """The warning of one column, without what to do about it."""
    return (
        f"rows with the same value of column {name!r} are nearly equal and have the same target: on both sides of a "
        "split they make every figure too good"
    )


def _candidates(frame: pd.DataFrame) -> list[Any]:
    """Text, categories and whole numbers with several rows per value."""
    wide = frame.select_dtypes("number").shape[1] > _MOST_COLUMNS
    found = []
    for name, kind in frame.dtypes.items():
        number = pd.api.types.is_numeric_dtype(kind)
        if pd.api.types.is_datetime64_any_dtype(kind) or (number and wide and not _NAMED.fullmatch(str(name))):
            continue
        distinct = frame[name].nunique()
        if not _FEWEST_SUBJECTS <= distinct <= len(frame) // 2:
            continue
        if not number or bool((frame[name] == frame[name].round()).all()):
            found.append(name)
    return found


def _is_settled(codes: Array, y: Array, discrete: bool) -> bool:
    """Whether the target is (almost) the same in all rows of a subject, and there are several subjects a class."""
    if discrete:
        classes = np.unique(y, return_inverse=True)[1]
        counts = np.zeros((int(codes.max()) + 1, int(classes.max()) + 1), dtype=np.int64)
        np.add.at(counts, (codes, classes), 1)
        several = len(counts) >= 2 * counts.shape[1]
        return several and bool(counts.max(axis=1).sum() >= _CONSTANT * len(y))
    values = pd.Series(np.asarray(y, dtype=np.float64))
    inside = values - values.groupby(codes).transform("mean")
    return bool(inside.var() <= _VARIANCE * values.var())


def _are_close(features: pd.DataFrame, codes: Array) -> bool:
    """Whether rows of a subject are far closer to each other than to the rows of others."""
    rng = np.random.default_rng(0)
    subjects = rng.permutation(int(codes.max()) + 1)
    sizes = np.bincount(codes)[subjects]
    kept = subjects[: max(2, int((sizes.cumsum() <= _MOST_ROWS).sum()))]
    rows = np.flatnonzero(np.isin(codes, kept))[:_MOST_ROWS]
    step = max(1, features.shape[1] // _MOST_FEATURES)
    values = features.iloc[rows, ::step].to_numpy(dtype=np.float64)
    scale = np.nanstd(values, axis=0)
    values = np.nan_to_num((values - np.nanmean(values, axis=0)) / np.where(scale > 0, scale, 1.0))
    lengths = np.square(values).sum(axis=1)
    apart = np.maximum(lengths[:, None] + lengths[None, :] - 2 * values @ values.T, 0.0)
    np.fill_diagonal(apart, np.inf)
    same = codes[rows][:, None] == codes[rows][None, :]
    own = np.sqrt(np.where(same, apart, np.inf).min(axis=1))
    other = np.sqrt(np.where(same, np.inf, apart).min(axis=1))
    paired = np.isfinite(own) & np.isfinite(other)
    if not paired.any():
        return False
    own, other = own[paired], other[paired]
    nearer = np.divide(own, other, out=np.ones_like(own), where=other > 0)
    return bool((own < other).mean() >= _NEAREST and np.median(nearer) <= _NEARER)
