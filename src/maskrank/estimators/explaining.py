"""``explain``: what each chosen feature adds to the prediction of a row."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import torch
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from maskrank.core.scoring.explanation import add_up_to, explain_rows
from maskrank.core.scoring.subset_predictor import SubsetPredictor
from maskrank.estimators.explanation import Explanation
from maskrank.estimators.prediction import PredictionMixin
from maskrank.estimators.preparation import frame_kind, resolve_seed, torch_threads
from maskrank.estimators.reading import chosen_frame
from maskrank.estimators.scaling import Array


class ExplanationMixin(PredictionMixin, SelectorMixin):
    """``explain`` and ``explain_selected``."""

    def explain(self, X: Any, *, random_state: Any = None) -> Explanation:
        """What each chosen feature adds to the prediction of each row: Shapley values.

        The prediction is explained in the units of y, or as the probabilities of the classes. A feature's value
        is what it adds to the features before it, averaged over all orders of the chosen features. The predictions
        from parts of the features are those of the nets that measured the scores, which were trained with random
        parts of the features left out. All parts are evaluated for up to 10 features; for more, random orders
        are drawn, the same for all rows.

        A row's values and its base value, the prediction without any feature, add up to what ``predict`` or
        ``predict_proba`` says. As these predict with other nets, which always know all chosen features, a difference
        is left: ``adjustments``. It is split over the row's features in proportion to their absolute values, and
        equally where all of them are 0. Where it is large beside the prediction less the base value, the values tell
        less about the model.

        Parameters
        ----------
        X : array, frame or sparse matrix (n, d)
        random_state : int, Generator, RandomState or None
            Draws the orders where there are more than 10 features. None takes the model's ``random_state`` where it is
            a whole number, else 0: the result is reproducible.

        Returns
        -------
        Explanation

        Raises
        ------
        ValueError
            The model's scores are not measured (preset "paper"), so there are no such nets.

        Examples
        --------
        >>> import numpy as np
        >>> from maskrank import DualNetRegressor
        >>> X = np.random.default_rng(0).standard_normal((200, 5))
        >>> model = DualNetRegressor(2, max_batches=60, random_state=0).fit(X, X[:, 0] - X[:, 3])
        >>> explained = model.explain(X)
        >>> explained.values.shape
        (200, 2)
        >>> np.allclose(explained.base_values + explained.values.sum(axis=1), model.predict(X))
        True
        """
        predictor = self._checked_subset_predictor()
        return self._explain_chosen(predictor, self._chosen_numbers(X), X, self.support_, random_state)

    def explain_selected(self, X: Any, *, random_state: Any = None) -> Explanation:
        """`explain` for rows that hold the chosen features alone.

        Parameters
        ----------
        X : array or frame (n, s)
            Columns in the order of ``get_feature_names_out()``.
        random_state : as in ``explain``
        """
        predictor = self._checked_subset_predictor()
        everything = np.ones(int(self.support_.sum()), dtype=bool)
        return self._explain_chosen(predictor, self._selected_numbers(X), X, everything, random_state)

    def _checked_subset_predictor(self) -> SubsetPredictor:
        check_is_fitted(self)
        if self._subset_predictor is None:
            raise ValueError(
                "explain is not offered for this model, whose scores are not measured: fit it with preset='default'"
            )
        return self._subset_predictor

    def _explain_chosen(
        self, predictor: SubsetPredictor, chosen: Array, X: Any, support: Array, random_state: Any
    ) -> Explanation:
        """Of the numbers of the chosen columns (n, columns); X and its columns of the support are as the user has."""
        answers = self._answers()

        def decode(outputs: Tensor) -> Tensor:
            return torch.from_numpy(answers.explained(outputs.numpy()))

        generator = torch.Generator().manual_seed(self._explaining_seed(random_state))
        scaled = torch.from_numpy(self._encoding.scaled(chosen))
        with torch_threads(1):
            base, shares = explain_rows(predictor, scaled, decode, config=self.config_.score, generator=generator)
        predictions, names = torch.from_numpy(self._predicted(chosen, answers.explained)), self._output_names()
        values = add_up_to(shares, base, predictions, together=self.task_.discrete)
        single = len(names) == 1 or (self.task_.discrete and len(names) == 2)
        place = -1 if single else slice(None)  # of two classes the second, whose values are the first's, negated
        return Explanation(
            values=values[:, :, place].numpy().copy(),
            base_values=base.expand_as(predictions)[:, place].numpy().copy(),
            predictions=predictions[:, place].numpy().copy(),
            adjustments=(predictions - base - shares.sum(dim=1))[:, place].numpy().copy(),
            data=self._explained_data(chosen, X, support),
            feature_names=[self.result_.names[j] for j in self._used_features()],
            output_names=names[-1:] if single else names,
            probabilities=self.task_.probabilistic,
            frame_kind=frame_kind(X),
        )

    def _explained_data(self, chosen: Array, X: Any, support: Array) -> Array:
        """What each chosen feature holds in each row, as it came in; nothing for a group of columns: (n, s)."""
        table, features = self._table, self._used_features()
        inputs = np.flatnonzero(self.support_)
        if self._inputs is not None:
            frame = chosen_frame(X, support)
            chosen = np.asarray(np.asarray(X)[:, support] if frame is None else frame, dtype=object)
        if table.members is None:
            return np.asarray(chosen)[:, np.searchsorted(inputs, features)]
        columns = [
            chosen[:, np.searchsorted(inputs, members[0])]
            if len(members) == 1
            else np.full(len(chosen), "", dtype=object)
            for members in (table.members[j] for j in features)
        ]
        return np.column_stack(columns)

    def _explaining_seed(self, random_state: Any) -> int:
        if random_state is None:
            return int(self.random_state) if isinstance(self.random_state, numbers.Integral) else 0
        return resolve_seed(random_state)
