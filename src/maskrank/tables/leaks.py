"""Features that alone predict the target almost perfectly: copies of it, transforms, consequences.

A column is sorted, and the target is looked at in that order: where it hardly changes from row to row, the column may
give it away. Such columns are tested on more rows: for classes by cutting the column into one interval a class, or by
the majority of each of its values without the row itself; for numbers by the rank correlation, or by interpolating the
target between neighbours, which finds transforms that rise and fall.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Array = NDArray[Any]
_FEWEST_ROWS = 30  # fewer are told apart by chance
_FEWEST_OTHERS = 10  # rows outside the largest class
_MOST_ROWS = 2_000
_MOST_ERRORS, _OF_TRIVIAL = 0.01, 0.1  # a share of the rows, and of the errors of the majority class
_CORRELATION, _R2 = 0.999, 0.999
_TIME_CORRELATION = 0.99  # with survival times, which are measured from several starts
_SCREENED, _SCREENED_WIDE, _WIDE = 256, 64, 20_000  # rows that rule out most columns cheaply, in wide tables fewer
_MOST_CHANGES = 0.1  # of the screened rows
_MOST_DISORDER = 0.05  # squared steps of the target's ranks along the column; 2 where they are unrelated
_COLUMNS_AT_ONCE = 8192
_MOST_DATES = 12  # columns of dates that are compared with each other
_EVENT_NAME = re.compile(r"(event|status|death|dead|died|cens\w*|relapse\w*|recur\w*|fustat|arrest)\w*", re.IGNORECASE)
_TIME_NAME = re.compile(
    r"(surv\w*|follow\W?up|fu|os|pfs|dfs)?[\W_]*(time|days?|weeks?|months?|years|duration|tte)|futime|follow\W?up|death",
    re.IGNORECASE,
)


def leak_warnings(X: pd.DataFrame, y: Array, *, discrete: bool | None = None) -> list[str]:
    """One line for each column that alone predicts the target almost perfectly.

    Parameters
    ----------
    X : DataFrame (n, d)
        Columns of numbers, dates, or categories.
    y : array (n,)
        Classes or numbers.
    discrete : bool, optional
        Whether y holds classes; by default it does unless it holds floats.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from maskrank.tables import leak_warnings
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"weight": rng.normal(size=80), "price": rng.normal(size=80)})
    >>> (line,) = leak_warnings(X, np.exp(X["price"]))
    >>> line.split(":")[0]
    "column 'price' alone predicts the target almost perfectly (rank correlation 1.0000)"
    """
    y = np.asarray(y)
    found = find_leaks(X, y, discrete=y.dtype.kind != "f" if discrete is None else discrete)
    return [leak_line(name, "the target", why) for name, why in found.items()]


def leak_line(name: str, target: str, why: str) -> str:
    """The warning of one column, without what to do about it."""
    return (
        f"column {name!r} alone predicts {target} almost perfectly ({why}): check that it is known beforehand, and is "
        "no copy, transform or consequence of it"
    )


def find_leaks(X: pd.DataFrame, y: Array, *, discrete: bool, correlation: float = _CORRELATION) -> dict[str, str]:
    """The columns that alone predict y almost perfectly, and by which figure."""
    if len(X) < _FEWEST_ROWS:
        return {}
    rows = np.random.default_rng(0).permutation(len(X))  # so that equal values come in any order
    size = _SCREENED if X.shape[1] <= _WIDE else _SCREENED_WIDE
    target = _Classes.of(y[rows], size) if discrete else _Numbers.of(y[rows], size, correlation)
    if target is None:
        return {}
    found = {}
    for name in _suspects(X, rows[target.screened], target):
        why = target.told_by(_numbers(X[name].iloc[rows[:_MOST_ROWS]]))
        found.update({} if why is None else {str(name): why})
    return {str(name): found[str(name)] for name in X.columns if str(name) in found}


@dataclass(frozen=True)
class _Classes:
    """Classes as numbers, shuffled: those of the first rows, and those that screen."""

    codes: Array
    few: Array
    screened: Array

    @classmethod
    def of(cls, y: Array, size: int) -> _Classes | None:
        """None where almost all rows are of one class."""
        codes = np.unique(y, return_inverse=True)[1]
        counts = np.bincount(codes[:_MOST_ROWS])
        if counts.sum() - counts.max() < _FEWEST_OTHERS:
            return None
        share = max(8, size // (int(codes.max()) + 1))  # as many rows of each class as far as there are
        screened = [np.flatnonzero(codes == k)[:share] for k in range(int(codes.max()) + 1)]
        return cls(codes, codes[:_MOST_ROWS], np.sort(np.concatenate(screened)))

    def may_be_told(self, order: Array) -> NDArray[np.bool_]:
        """Columns along which the class hardly changes: (rows, columns) -> (columns,)."""
        ordered = self.codes[self.screened][order]
        changes = (ordered[1:] != ordered[:-1]).sum(axis=0)
        likely: NDArray[np.bool_] = changes <= _MOST_CHANGES * len(order) + len(np.unique(self.few)) - 1
        return likely

    def told_by(self, x: Array) -> str | None:
        """How well a column tells the classes apart; None if not almost perfectly."""
        n = len(self.few)
        most = min(_MOST_ERRORS, _OF_TRIVIAL * (1 - np.bincount(self.few).max() / n))
        whole = np.nan_to_num(x, nan=np.inf)  # a gap is the largest value, and a value of its own
        for values, measure in ((np.isnan(x), _level_errors), (whole, _level_errors), (whole, _interval_errors)):
            errors = measure(values, self.few)
            if errors <= most * n:
                return f"right in {100 * (1 - errors / n):.1f} % of the rows"
        return None


@dataclass(frozen=True)
class _Numbers:
    """Numbers, shuffled: those of the first rows, and the ranks of those that screen."""

    few: Array
    ranks: Array
    screened: Array
    correlation: float

    @classmethod
    def of(cls, y: Array, size: int, correlation: float) -> _Numbers | None:
        """None where the first rows are equal."""
        values = np.asarray(y, dtype=np.float64)
        ranks = pd.Series(values[:size]).rank().to_numpy()
        if not ranks.std():
            return None
        return cls(values[:_MOST_ROWS], ranks, np.arange(len(ranks)), correlation)

    def may_be_told(self, order: Array) -> NDArray[np.bool_]:
        """Columns along which the ranks of the target make small steps: (rows, columns) -> (columns,)."""
        steps = np.square(np.diff(self.ranks[order], axis=0)).mean(axis=0)
        likely: NDArray[np.bool_] = steps <= _MOST_DISORDER * self.ranks.var()
        return likely

    def told_by(self, x: Array) -> str | None:
        """How well a column gives the number; None if not almost perfectly."""
        present = ~np.isnan(x)
        if present.sum() < max(_FEWEST_ROWS, len(x) // 2):
            return None
        x, y = x[present], self.few[present]
        found = rank_correlation(x, y)
        if abs(found) > self.correlation:
            return f"rank correlation {found:.4f}"
        r2 = _interpolated(x, y)
        return f"R² {r2:.4f} between neighbours" if r2 > _R2 else None


def _suspects(X: pd.DataFrame, rows: Array, target: _Classes | _Numbers) -> Iterator[Any]:
    """Columns that some rows do not rule out, and all that hold categories or dates or have gaps."""
    numbers = X.select_dtypes("number")
    for start in range(0, numbers.shape[1], _COLUMNS_AT_ONCE):
        some = numbers.iloc[:, start : start + _COLUMNS_AT_ONCE]
        values = some.iloc[rows].to_numpy(dtype=np.float64)
        likely = target.may_be_told(np.argsort(values, axis=0, kind="stable")) | np.isnan(values).any(axis=0)
        yield from some.columns[likely]
    yield from X.columns.difference(numbers.columns, sort=False)


def _numbers(column: pd.Series) -> Array:
    """A column as numbers, those of categories by their level; NaN for gaps."""
    if pd.api.types.is_datetime64_any_dtype(column):
        seconds = column.to_numpy().astype("datetime64[s]").astype(np.float64)
        return np.where(column.isna(), np.nan, seconds)
    if pd.api.types.is_numeric_dtype(column):
        values: Array = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return values
    codes = pd.factorize(column)[0].astype(np.float64)
    return np.where(codes < 0, np.nan, codes)


def _interval_errors(x: Array, codes: Array) -> int:
    """Errors of the best cut of a column into intervals, one per class, in the order of the classes' medians."""
    order = np.argsort(x, kind="stable")
    x, codes = x[order], codes[order]
    places = [np.flatnonzero(codes == k) for k in np.unique(codes)]
    between = np.concatenate([[True], x[1:] > x[:-1], [True]])  # a cut does not part equal values
    right = np.zeros(len(x) + 1)  # of the first rows, with the classes so far
    for rows in sorted(places, key=lambda rows: float(np.median(rows))):
        own = np.zeros(len(x) + 1)
        own[rows + 1] = 1
        own = own.cumsum()
        right = own + np.maximum.accumulate(np.where(between, right - own, -np.inf))
    return len(x) - int(right[-1])


def _level_errors(x: Array, codes: Array) -> int:
    """Errors of the majority class of each value, the row itself left out; a value of one row tells nothing."""
    levels, places = np.unique(x, return_inverse=True)
    if 2 * len(levels) > len(x):
        return len(x)
    n_classes = int(codes.max()) + 1
    counts = np.bincount(places * n_classes + codes, minlength=len(levels) * n_classes).reshape(-1, n_classes)
    second, first = np.sort(counts, axis=1)[:, -2:].T
    return len(x) - int(first[first - 1 > second].sum())


def _interpolated(x: Array, y: Array) -> float:
    """R² of the target interpolated between the neighbours of each row along a column."""
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    width = x[2:] - x[:-2]
    share = np.divide(x[1:-1] - x[:-2], width, out=np.full(len(width), 0.5), where=width > 0)
    missed = y[1:-1] - (y[:-2] * (1 - share) + y[2:] * share)
    return 1 - float(np.square(missed).mean() / (y.var() or 1.0))


def rank_correlation(x: Array, y: Array) -> float:
    """Spearman's; 0 where one of them is constant."""
    ranks = [pd.Series(values).rank().to_numpy() for values in (x, y)]
    if any(rank.std() == 0 for rank in ranks):
        return 0.0
    return float(np.corrcoef(*ranks)[0, 1])


def survival_leaks(X: pd.DataFrame, time: Array, event: Array) -> dict[str, str]:
    """Columns that reveal how long a row was observed, or how that ended, and how."""
    if len(X) < _FEWEST_ROWS:
        return {}
    found = {
        name: f"the time ({why})"
        for name, why in find_leaks(X, time, discrete=False, correlation=_TIME_CORRELATION).items()
    }
    found |= {
        name: f"the event ({why})" for name, why in find_leaks(X, event, discrete=True).items() if name not in found
    }
    dates = [name for name in X.columns if pd.api.types.is_datetime64_any_dtype(X[name])][:_MOST_DATES]
    for one, other in combinations(dates, 2):
        between = _numbers(X[other]) - _numbers(X[one])
        whole = ~np.isnan(between)
        if whole.sum() >= _FEWEST_ROWS and abs(rank_correlation(between[whole], time[whole])) > _TIME_CORRELATION:
            late = other if np.nanmean(between) > 0 else one
            found.setdefault(str(late), f"the time (with {str(one if late == other else other)!r} as the start)")
    return found


def follow_up_times(X: pd.DataFrame, y: Array, target: str) -> list[str]:
    """Columns named like times of observation, beside a target of two classes that is named like an event."""
    if len(np.unique(y)) != 2 or not _EVENT_NAME.fullmatch(target):
        return []
    numbers: Sequence[Any] = X.select_dtypes(["number", "datetime"]).columns
    return [str(name) for name in numbers if _TIME_NAME.fullmatch(str(name))]
