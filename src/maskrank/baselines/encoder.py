"""A user's table as the columns that the methods see: the one encoding that all of them share."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, check_X_y, validate_data

from maskrank.core.config import EncodingConfig
from maskrank.estimators.encoding import Encoding, TrainingRows, learn_encoding
from maskrank.estimators.feature_table import FeatureTable
from maskrank.estimators.inputs import Inputs, as_table, column_names, is_plain
from maskrank.estimators.scaling import Columns

Array = NDArray[Any]
Floats = NDArray[np.float64]


class ReadsTables(BaseEstimator):
    """Turns a table into columns of numbers, by the encoding of our own estimators with its default settings.

    Text, categories and truth values are one-hot: an indicator for each level that is not rare, one for two levels. Of
    more than 64 such levels it is the mean target of each level instead, which training rows get without the rows of
    their own fold. A date is a number of seconds, and its place in the year, the week and the day. Where values are
    missing an indicator says so, and a missing number is the mean. Columns of a feature lie side by side. A table of
    numbers without gaps has one column per feature: the number.
    """

    _inputs: Inputs | None  # what the columns of the table hold; None where all are numbers
    _encoding: Encoding | None  # None where all are numbers, and none is missing
    _widths: NDArray[np.int64]  # columns of each feature

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _validate(self, X: Any, y: Any) -> tuple[Floats, Array]:
        """Training rows as numbers (n, d), level numbers for categories, NaN for gaps; and their targets."""
        X = as_table(X)
        checks = {"dtype": np.float64, "ensure_all_finite": "allow-nan", "ensure_min_samples": 4}
        if is_plain(X):
            self._inputs = None
            X, y = validate_data(self, X, y, **checks)
            return X, y
        validate_data(self, X, skip_check_array=True)
        self._inputs = Inputs.learn(X, np.zeros(X.shape[1], dtype=bool))
        X, y = check_X_y(self._inputs.numbers(X), y, **checks)
        return X, y

    def _learn_columns(self, X: Floats, target: Array, *, standardize: bool) -> Floats:
        """Learn the columns from numbers (n, d) and targets, class codes or floats (n,): training rows (n, columns)."""
        n, d = X.shape
        if self._inputs is None and not np.isnan(X).any():
            columns = Columns.learn(X)
            self._encoding, self._scaling = None, columns.scaling(enabled=standardize)
            self._fill = np.zeros(d) if standardize else columns.mean
            self._widths = np.ones(d, dtype=np.int64)
            return np.asarray(self._scaling.apply(X))
        table = FeatureTable(column_names(X, d), d, kinds=None if self._inputs is None else self._inputs.columns)
        learned = learn_encoding(
            X, TrainingRows(np.arange(n), _as_columns(target)), table, standardize=standardize, config=EncodingConfig()
        )
        self._encoding, self._widths = learned.encoding, learned.encoding.widths
        code = self._encoding.code
        training = learned.X[:, code.source]  # mean targets are cross-fitted
        return code.apply(training, np.arange(len(code.source)))

    def _read(self, X: Any) -> Floats:
        """More rows: (n, columns)."""
        check_is_fitted(self)
        X = as_table(X)
        if self._inputs is None:
            X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        else:
            validate_data(self, X, skip_check_array=True, reset=False)
            X = check_array(self._inputs.numbers(X), ensure_all_finite="allow-nan")
        if self._encoding is not None:
            return self._encoding.scaled(X)
        scaled = self._scaling.apply(X)
        return np.where(np.isnan(scaled), self._fill, scaled)


class TableEncoder(TransformerMixin, ReadsTables):
    """The first step of a pipeline whose other steps want numbers: columns by our encoding, not standardised.

    Categories are one-hot, or, of many levels, mean targets; a missing value has an indicator, and a missing number is
    the mean. ``fit_transform`` computes the mean targets of a training row without the rows of its own fold, which
    ``transform`` does not. Numbers without gaps stay as they are.

    Parameters
    ----------
    task : "classification" or "regression"

    Attributes
    ----------
    n_columns_ : int

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"colour": ["red", "blue", "red", "blue"], "size": [1.0, 2.0, None, 3.0]})
    >>> TableEncoder("regression").fit_transform(X, [1.0, 2.0, 3.0, 4.0])
    array([[1., 1., 0.],
           [0., 2., 0.],
           [1., 2., 1.],
           [0., 3., 0.]])
    """

    def __init__(self, task: str) -> None:
        self.task = task

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the columns.

        Parameters
        ----------
        X : frame or array-like (n, d)
        y : array-like (n,)
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any) -> Floats:
        """Learn the columns, and return those of the training rows: (n, columns)."""
        X, y = self._validate(X, y)
        target = np.unique(y, return_inverse=True)[1] if self.task == "classification" else np.asarray(y, float)
        columns = self._learn_columns(X, target, standardize=False)
        self.n_columns_ = columns.shape[1]
        return columns

    def transform(self, X: Any) -> Floats:
        """Columns of more rows: (n, d) -> (n, columns)."""
        return self._read(X)


def _as_columns(target: Array) -> Floats:
    """Targets as numbers: class codes or floats (n,) -> indicators of the classes, of two classes one; or (n, 1)."""
    if target.dtype.kind != "i":
        return np.asarray(target, dtype=np.float64)[:, None]
    indicators = np.eye(int(target.max()) + 1)[target]
    return indicators[:, :1] if indicators.shape[1] == 2 else indicators
