"""Global LIME (Ribeiro, Singh and Guestrin 2016): local linear models of a net, averaged over rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from maskrank.baselines._base import Array, Baseline, Floats, import_library, kept_random_state
from maskrank.baselines.mlp import MLP


class LIME(Baseline):
    """Global LIME (Ribeiro, Singh and Guestrin 2016) of an MLP; the package lime does the work.

    Each held-out row is explained by a linear model of the net around it; a feature's score is the size of its weight,
    averaged over rows and classes.

    Parameters
    ----------
    n_features_to_select : int, float or None
        A number, a share, or None for half of the features.
    n_samples : int
        Rows drawn around a row to explain it.
    max_rows : int
        Held-out rows that are explained, at most.
    hidden : tuple of int
        Hidden layers of the net.
    max_steps : int
        Of its training, at most.
    task : "auto", "classification" or "regression"
    random_state : int, NumPy generator or None
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_samples: int = 500,
        max_rows: int = 200,
        hidden: tuple[int, ...] = (60, 30, 20),
        max_steps: int = 10_000,
        task: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_samples = n_samples
        self.max_rows = max_rows
        self.hidden = hidden
        self.max_steps = max_steps
        self.task = task
        self.random_state = random_state

    def _rank(self, X: Floats, y: Array, size: int, rng: Generator) -> Array:
        explainer_of = import_library("lime.lime_tabular", "study").LimeTabularExplainer
        self.predictor_ = MLP(self.hidden, max_steps=self.max_steps, task=self.task_, random_state=rng).fit(X, y)
        rows = rng.permutation(self.predictor_.held_out_)[: self.max_rows]
        seed = np.random.RandomState(int(rng.integers(2**31)))  # lime knows no other
        with kept_random_state():
            explainer = explainer_of(
                np.delete(X, self.predictor_.held_out_, axis=0),
                mode=self.task_,
                feature_selection="none",
                random_state=seed,
            )
            return np.asarray(np.mean([self._explain(explainer, X[row]) for row in rows], axis=0))

    def _explain(self, explainer: Any, row: Floats) -> Floats:
        """Sizes of the weights around one row, averaged over the classes: (d,)."""
        classify = self.task_ == "classification"
        explained = explainer.explain_instance(
            row,
            self.predictor_.predict_proba if classify else self.predictor_.predict,
            labels=range(len(self.classes_)) if classify else (1,),
            num_features=len(row),
            num_samples=self.n_samples,
        ).as_map()
        sizes = np.zeros(len(row))
        for weights in explained.values():
            for feature, weight in weights:
                sizes[feature] += abs(weight)
        return sizes / len(explained)
