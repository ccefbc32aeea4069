"""A user's tables as numbers, in ``fit`` and afterwards: checked as scikit-learn does, categories as level numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_array, check_is_fitted, check_X_y, validate_data

from maskrank.estimators.attributes import Attributes
from maskrank.estimators.inputs import Inputs, as_frame, as_table, categorical_positions, column_names, is_plain
from maskrank.estimators.scaling import Array
from maskrank.estimators.sources import check_files, check_no_infinity, float_type, open_source
from maskrank.magnitudes import magnitude_problem

if TYPE_CHECKING:
    from maskrank.tables.selected import ModelColumns


@dataclass(frozen=True)
class ColumnSummary:
    """How a column of the table was read.

    Attributes
    ----------
    name : str
    kind : "numeric", "categorical", "ordered" or "date"
    levels : tuple or None
        Of a category.
    missing : float
        Share of the training rows without a value.
    note : str
        "constant" where it does not vary on the training rows.
    day_first : bool or None
        Of dates that the file writes as 01.02.2024: whether the day comes first.
    """

    name: str
    kind: str
    levels: tuple[Any, ...] | None
    missing: float
    note: str
    day_first: bool | None = None

    @property
    def n_levels(self) -> int:
        """Number of levels; 0 of a column of numbers."""
        return 0 if self.levels is None else len(self.levels)


class ReadingMixin(Attributes):
    """What turns a user's table into numbers."""

    _target_checks: ClassVar[dict[str, Any]]  # arguments of scikit-learn's validation
    _target_names: tuple[str, ...] | None = None

    @property
    def features_(self) -> list[ColumnSummary]:
        """How each column of the table was read: its kind, levels, and share of missing values."""
        check_is_fitted(self)
        table = self._table
        kinds = [table.kind_of(j) for j in range(table.n_columns)]
        columns = zip(self._column_names, kinds, self._missing.tolist(), self._varies.tolist(), strict=True)
        return [
            ColumnSummary(name, kind.kind, kind.levels, missing, "" if varies else "constant", kind.day_first)
            for name, kind, missing, varies in columns
        ]

    @property
    def chosen_columns(self) -> ModelColumns:
        """The columns that the model predicts from, as a reader of files takes them."""
        from maskrank.tables.selected import ModelColumns

        chosen = zip(self.features_, self.support_, strict=True)
        return ModelColumns.of({feature.name: feature for feature, used in chosen if used})

    @property
    def target_names_(self) -> tuple[str, ...] | None:
        """The names of several targets, where a file names them."""
        return self._target_names

    def _validate_rows(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, Array]:
        """Rows and targets, checked, and with numbers for categories; `scale_table` checks for infinite values."""
        check_files(X)
        X, y = as_table(X), self._read_target(y, reset=reset)
        if reset:
            self._inputs, self._target_names = self._learn_inputs(X), None
        if self._inputs is None:
            X, y = validate_data(
                self,
                X,
                y,
                reset=reset,
                accept_sparse="csr",
                dtype=float_type(X),
                ensure_all_finite=False,
                ensure_min_samples=2 if reset else 1,
                **self._target_checks,
            )
            return X, _checked_target(y, reset=reset)
        validate_data(self, X, reset=reset, skip_check_array=True)
        raw = self._inputs.numbers(X)
        least = {"ensure_min_samples": 2 if reset else 1}
        raw, y = check_X_y(raw, y, dtype=np.float64, ensure_all_finite=False, **least, **self._target_checks)
        return raw, _checked_target(y, reset=reset)

    def _read_target(self, y: Any, *, reset: bool) -> Any:
        """A target as given, for scikit-learn's validation: what it can't read is converted here."""
        return y

    def _learn_inputs(self, X: Any) -> Inputs | None:
        """What the columns hold; None where all of them hold numbers."""
        requested = self.categorical_features
        is_type = requested is None or (isinstance(requested, str) and requested == "from_dtype")
        if is_type and is_plain(X):
            return None
        if not hasattr(X, "shape") or len(X.shape) != 2 or isinstance(X, list):
            X = check_array(X, dtype=None, ensure_all_finite=False)
        if scipy.sparse.issparse(X):
            raise ValueError("X is a sparse matrix: categorical_features are taken from dense tables")
        d = X.shape[1]
        categorical = categorical_positions(requested, column_names(X, d), d)
        return Inputs.learn(X, categorical, from_dtype=requested is not None)

    def _chosen_numbers(self, X: Any) -> Array:
        """The columns of the selected features as numbers: (n, columns)."""
        check_is_fitted(self)
        check_files(X)
        places = np.flatnonzero(self.support_)
        if self._inputs is None:
            X = validate_data(
                self, X, reset=False, accept_sparse="csr", dtype=float_type(X), ensure_all_finite="allow-nan"
            )
            return open_source(X).select(None, places)
        X = as_table(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return self._checked(self._inputs.numbers(X, places.tolist()))

    def _selected_numbers(self, X: Any) -> Array:
        """The same of a table that holds these columns alone."""
        check_files(X)
        places = np.flatnonzero(self.support_)
        if self._inputs is None:
            values: Array = check_array(X, dtype=np.float64, ensure_all_finite="allow-nan")
        else:
            chosen = Inputs(tuple(self._inputs.columns[j] for j in places))
            X = as_table(X)
            X = X if hasattr(X, "shape") else np.array(X, dtype=object)
            values = X if X.shape[1] != len(places) else self._checked(chosen.numbers(X))
        if values.shape[1] != len(places):
            raise ValueError(f"X has {values.shape[1]} columns, but {len(places)} columns are selected")
        return values

    def _checked(self, numbers: Array) -> Array:
        check_no_infinity(numbers)
        return numbers


def _checked_target(y: Array, *, reset: bool) -> Array:
    """A target of numbers of which figures can be computed; rows to be judged alone may have any."""
    problem = magnitude_problem(y) if reset and y.dtype.kind == "f" else None
    if problem is not None:
        raise ValueError(f"y {problem}")
    return y


def remember_file(model: ReadingMixin, *, date_orders: Mapping[str, bool], targets: Sequence[str]) -> None:
    """Let a fitted model know how its file was read, so that other files are read and answered alike.

    Parameters
    ----------
    model : fitted estimator
    date_orders : dict of bool
        Of columns of dates such as 01.02.2024: whether the day comes first.
    targets : sequence of str
        The names of several targets; empty where there is one.
    """
    model._target_names = tuple(targets) or None
    kinds = model._table.kinds
    if kinds is None:
        return
    orders = [date_orders.get(name) for name in model._column_names]
    kinds = tuple(replace(kind, day_first=order) for kind, order in zip(kinds, orders, strict=True))
    model._table, model._inputs = replace(model._table, kinds=kinds), Inputs(kinds)


def chosen_frame(X: Any, support: Array) -> Any | None:
    """The chosen columns of a frame, in its own library; None for arrays."""
    frame = as_frame(X)
    if frame is None:
        return None
    native = frame.to_native()
    places = np.flatnonzero(support).tolist()
    if hasattr(native, "iloc"):
        return native.iloc[:, places]
    return frame[:, places].to_native()
