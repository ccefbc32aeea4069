"""How a fitted estimator predicts and selects."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data
from torch import Tensor

from maskrank.estimators.attributes import Attributes
from maskrank.estimators.preparation import torch_threads
from maskrank.estimators.scaling import Array
from maskrank.estimators.sources import check_files, float_type, open_source


class PredictionMixin(Attributes, SelectorMixin):
    """``predict``, ``predict_selected`` and ``transform``."""

    def predict_selected(self, X: Any) -> Array:
        """`predict` for rows that hold the chosen features alone.

        Parameters
        ----------
        X : array (n, s)
            Columns in the order of ``get_feature_names_out()``.
        """
        check_is_fitted(self)
        return self._decode(self._outputs(self._selected_array(X)))

    def predict(self, X: Any) -> Array:
        """Predict from the chosen features; what the other columns hold has no influence.

        Parameters
        ----------
        X : array, frame or sparse matrix (n, d)
        """
        return self._decode(self._outputs(self._chosen_columns(X)))

    def transform(self, X: Any) -> Any:
        """The chosen columns alone.

        Parameters
        ----------
        X : array, frame or sparse matrix (n, d)
        """
        check_files(X)
        return super().transform(X)

    def _chosen_columns(self, X: Any) -> Array:
        check_is_fitted(self)
        check_files(X)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=float_type(X))
        return open_source(X).select(None, np.flatnonzero(self.support_))

    def _selected_array(self, X: Any) -> Array:
        check_files(X)
        values: Array = check_array(X, dtype=np.float64)
        if values.shape[1] != self.support_.sum():
            raise ValueError(f"X has {values.shape[1]} columns, but {self.support_.sum()} features are selected")
        return values

    @torch.no_grad()
    def _outputs(self, chosen: Array) -> Tensor:
        """The outputs of the predictor for the chosen columns: (n, s) -> (n, outputs)."""
        predictor = self.predictor_
        scaled = torch.from_numpy(self._x_scaling.apply(chosen))
        with torch_threads(1):
            return torch.cat([predictor(part) for part in torch.split(scaled, predictor.rows_at_once)])
