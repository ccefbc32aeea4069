"""Recursive feature elimination with a support vector machine (Guyon, Weston, Barnhill and Vapnik 2002)."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from sklearn import feature_selection
from sklearn.base import BaseEstimator
from sklearn.svm import SVC, SVR

from maskrank.baselines._base import Array, Baseline, Floats, kept_random_state

_ONE_BY_ONE = 100  # features from which on they leave one at a time
_AT_ONCE = 1 << 22  # numbers of one block of the criterion


class RFE(Baseline):
    """Recursive feature elimination with a support vector machine (Guyon et al. 2002); scikit-learn does the work.

    With the kernel "rbf" the feature eliminated is the one without which the margin changes least, by Guyon's
    criterion with the multipliers as they are: DJ(i) = α'Hα - α'H(-i)α. With "linear" it is the squared weight, which
    can't see an exclusive or. It continues to the last feature, so that the order is the same whatever the
    number to select.

    Parameters
    ----------
    n_features_to_select : int, float or None
        A number, a share, or None for half of the features.
    kernel : "rbf" or "linear"
    C : float
        Of the SVM. The width of the kernel is gamma = 1 / (features · var(X)).
    step : int or float
        Features that leave in a round, or their share of those left, as long as more than 100 are left. Then one at
        a time.
    task : "auto", "classification" or "regression"
    random_state : int, NumPy generator or None
        Nothing is drawn.
    """

    _gives = "order"

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        kernel: str = "rbf",
        C: float = 1.0,
        step: int | float = 1,
        task: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.kernel = kernel
        self.C = C
        self.step = step
        self.task = task
        self.random_state = random_state

    def _rank(self, X: Floats, y: Array, size: int, rng: Generator) -> Array:
        if self.kernel not in ("rbf", "linear"):
            raise ValueError(f"kernel={self.kernel!r} is not known; there are rbf, linear")
        if not (isinstance(self.step, int) and self.step >= 1) and not 0 < self.step < 1:
            raise ValueError(f"step={self.step!r} must be a number of features, or a share between 0 and 1")
        svm = RankingSVM(self.kernel, self.C, classify=self.task_ == "classification")
        left, gone = np.arange(X.shape[1]), []  # the last to leave is the best
        while len(left) > _ONE_BY_ONE and self.step != 1:
            many = self.step if self.step >= 1 else max(1, int(self.step * len(left)))
            leaving = np.argsort(svm.fit(X[:, left], y).feature_importances_, kind="stable")
            leaving = leaving[: min(int(many), len(left) - _ONE_BY_ONE)]
            gone.append(left[leaving])
            left = np.delete(left, leaving)
        places = feature_selection.RFE(svm, n_features_to_select=1, step=1).fit(X[:, left], y).ranking_
        return np.concatenate([left[np.argsort(places, kind="stable")], *(some[::-1] for some in reversed(gone))])


class RankingSVM(BaseEstimator):
    """SVC or SVR with feature importances.

    Parameters
    ----------
    kernel : "rbf" or "linear"
    C : float
    classify : bool
    """

    def __init__(self, kernel: str = "rbf", C: float = 1.0, *, classify: bool = True) -> None:
        self.kernel = kernel
        self.C = C
        self.classify = classify

    def fit(self, X: Floats, y: Array) -> Self:
        """Train the SVM and compute the importances.

        Parameters
        ----------
        X : ndarray (n, d)
        y : ndarray (n,)
        """
        kind = SVC if self.classify else SVR
        with kept_random_state():  # libsvm is given a number from NumPy's global state, though it draws nothing
            svm = kind(kernel=self.kernel, C=self.C, gamma="scale").fit(X, y)
        if self.kernel == "linear":
            self.feature_importances_ = np.square(svm.coef_).sum(axis=0)
        else:
            gamma = 1 / (X.shape[1] * X.var()) if X.var() > 0 else 1.0
            multipliers = pair_multipliers(svm) if self.classify else svm.dual_coef_
            changes = margin_changes(X[svm.support_], multipliers, gamma)
            self.feature_importances_ = changes - changes.min()  # RFE squares them, and some are below zero
        return self


def pair_multipliers(svm: SVC) -> Floats:
    """Signed multipliers of each pairwise SVM: (pairs, support vectors).

    scikit-learn keeps those of class i against j in row j - 1 of ``dual_coef_`` for i < j, and of j against i in row i.
    """
    ends = np.cumsum([0, *svm.n_support_])
    pairs = list(combinations(range(len(svm.n_support_)), 2))
    multipliers = np.zeros((len(pairs), ends[-1]))
    for row, (i, j) in zip(multipliers, pairs, strict=True):
        row[ends[i] : ends[i + 1]] = svm.dual_coef_[j - 1, ends[i] : ends[i + 1]]
        row[ends[j] : ends[j + 1]] = svm.dual_coef_[i, ends[j] : ends[j + 1]]
    return multipliers


def margin_changes(support: Floats, multipliers: Floats, gamma: float) -> Floats:
    """DJ(i) = α'Hα - α'H(-i)α for the Gaussian kernel, summed over machines.

    Leaving feature i out divides an element of H by exp(-gamma (x_i - x'_i)²).

    Parameters
    ----------
    support : ndarray (m, d)
    multipliers : ndarray (machines, m)
        Times the sign of the class.
    gamma : float
    """
    squares = np.square(support).sum(axis=1)
    distances = np.maximum(squares[:, None] + squares - 2 * support @ support.T, 0.0)
    above, below = np.triu_indices(len(support), k=1)  # the diagonal does not change
    terms = 2 * (multipliers.T @ multipliers * np.exp(-gamma * distances))[above, below]  # (pairs,)
    d = support.shape[1]
    changes = np.empty(d)
    block = max(1, _AT_ONCE // max(1, len(terms)))
    for start in range(0, d, block):
        columns = support.T[start : start + block]
        grown = np.expm1(gamma * np.square(columns[:, above] - columns[:, below]))  # (features, pairs)
        changes[start : start + block] = -grown @ terms
    return changes
