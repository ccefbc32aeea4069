"""How a fitted estimator predicts and selects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from maskrank.estimators.deployment import answers_of
from maskrank.estimators.inputs import as_table
from maskrank.estimators.reading import ReadingMixin, chosen_frame
from maskrank.estimators.scaling import Array
from maskrank.estimators.sources import check_files


class PredictionMixin(ReadingMixin, SelectorMixin):
    """``predict``, ``predict_selected`` and ``transform``."""

    def predict_selected(self, X: Any) -> Array:
        """`predict` for rows that hold the chosen features alone.

        Parameters
        ----------
        X : array or frame (n, s)
            Columns in the order of ``get_feature_names_out()``.
        """
        check_is_fitted(self)
        return self._predicted(self._selected_numbers(X), self._answers().predicted)

    def predict(self, X: Any) -> Array:
        """Predict from the chosen features; the other columns have no influence.

        Parameters
        ----------
        X : array, frame or sparse matrix (n, d)
        """
        return self._predicted(self._chosen_numbers(X), self._answers().predicted)

    def transform(self, X: Any) -> Any:
        """The chosen columns alone, as they came in.

        Of a table with categories or dates, a frame of the same library; of numbers, what ``set_output`` says.

        Parameters
        ----------
        X : array, frame or sparse matrix (n, d)
        """
        check_is_fitted(self)
        check_files(X)
        if self._inputs is None:
            return super().transform(X)
        validate_data(self, as_table(X), reset=False, skip_check_array=True)
        chosen = chosen_frame(X, self.support_)
        return np.asarray(X)[:, self.support_] if chosen is None else chosen

    def _predicted(self, chosen: Array, decode: Callable[[Array], Array]) -> Array:
        """Predictions for the numbers of the chosen columns (n, columns), decoded from the predictor's outputs."""
        return answers_of(self.predictor_, self._encoding, chosen, decode)
