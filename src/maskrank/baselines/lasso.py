"""LASSO (Tibshirani 1996): the size of the coefficients of an l1-penalised linear model."""

from __future__ import annotations

import warnings
from inspect import signature
from typing import Any

import numpy as np
from numpy.random import Generator
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoCV, LogisticRegressionCV

from maskrank.baselines._base import Array, Baseline, Floats


class Lasso(Baseline):
    """LASSO (Tibshirani 1996); scikit-learn does the work, and chooses the penalty by cross-validation.

    Of a regression scores are the sizes of the coefficients; of a classification, those of a logistic regression with
    the l1 penalty, averaged over the classes.

    Parameters
    ----------
    n_features_to_select : int, float or None
        A number, a share, or None for half of the features.
    folds : int
        Of the cross-validation.
    n_penalties : int
        Strengths of the penalty in the grid of a classification; a regression has 100.
    max_iter : int
        Passes of the solver for one strength.
    task : "auto", "classification" or "regression"
    random_state : int, NumPy generator or None
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        folds: int = 5,
        n_penalties: int = 10,
        max_iter: int = 300,
        task: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.folds = folds
        self.n_penalties = n_penalties
        self.max_iter = max_iter
        self.task = task
        self.random_state = random_state

    def _rank(self, X: Floats, y: Array, size: int, rng: Generator) -> Array:
        seed = int(rng.integers(2**31))
        if self.task_ == "regression":
            model = LassoCV(cv=self.folds, max_iter=10 * self.max_iter, random_state=seed)
        else:
            model = LogisticRegressionCV(
                Cs=np.logspace(-2, 1, self.n_penalties),
                cv=max(2, min(self.folds, int(np.bincount(y).min()))),  # each fold has every class
                scoring="neg_log_loss",
                solver="saga",
                tol=1e-3,
                max_iter=self.max_iter,
                random_state=seed,
                **_l1(),
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a rough optimum ranks as well
            warnings.filterwarnings(
                "ignore", "The least populated class", UserWarning
            )  # a class of one row is in a fold
            model.fit(X, y)
        return np.asarray(np.abs(np.atleast_2d(model.coef_)).mean(axis=0))


def _l1() -> dict[str, Any]:
    """The l1 penalty as the installed scikit-learn spells it; version 1.8 changed the words."""
    if "use_legacy_attributes" in signature(LogisticRegressionCV).parameters:
        return {"l1_ratios": (1.0,), "use_legacy_attributes": False}
    return {"penalty": "l1"}
