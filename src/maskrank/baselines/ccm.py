"""Conditional covariance minimisation (Chen, Stern, Wainwright and Jordan 2017)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import pdist

from maskrank.baselines._base import Array, Baseline, Floats

_LEAST_GAIN = 1e-5  # of the objective, relative: below it the weights have settled


class CCM(Baseline):
    """Conditional covariance minimisation (Chen et al. 2017), written here with NumPy from the paper's formula.

    Minimises trace[G_Y (G_{w∘X} + n eps I)^-1] over weights 0 <= w <= 1 with sum(w) <= s, where G are centred Gram
    matrices: linear on the target, and on the weighted features Gaussian with the median distance of s features as its
    width. Projected gradient steps with a line search go from the weights s/d; the gradient is in closed form. The s
    largest weights are chosen. Where features have several columns, s counts columns, and grows until they are of s
    features.

    It does not rank what it chooses: ``feature_importances_`` are equal. ``order_`` is that of the weights.

    Parameters
    ----------
    n_features_to_select : int, float or None
        A number, a share, or None for half of the features.
    eps : float or None
        None is the paper's: 0.001 for labels, 0.1 for numbers.
    max_iter : int
        Gradient steps, at most.
    task : "auto", "classification" or "regression"
    random_state : int, NumPy generator or None
        Nothing is drawn.

    Attributes
    ----------
    weights_ : ndarray (columns,)
        Of the encoded columns.
    objective_ : float
        At the weights.
    """

    _gives = "set"

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        eps: float | None = None,
        max_iter: int = 200,
        task: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.eps = eps
        self.max_iter = max_iter
        self.task = task
        self.random_state = random_state

    def _rank(self, X: Floats, y: Array, size: int, rng: Generator) -> Array:
        n, d = X.shape
        eps = self.eps if self.eps is not None else (0.001 if self.task_ == "classification" else 0.1)
        target = np.eye(y.max() + 1)[y] if self.task_ == "classification" else y[:, None]
        target = target - target.mean(axis=0)
        distance = float(np.median(pdist(X, "sqeuclidean")))
        columns = size
        while True:
            width = distance * columns / d
            self.weights_, self.objective_ = minimise(X, target, columns, n * eps, max(width, 1e-12), self.max_iter)
            order = np.argsort(-self.weights_, kind="stable")
            found = self._n_features(order[:columns])
            if found >= size:
                return order
            columns += size - found


def minimise(X: Floats, target: Floats, size: int, ridge: float, width: float, max_iter: int) -> tuple[Floats, float]:
    """Weights at a local minimum, and the objective there, by projected gradient steps with a line search."""
    w = np.full(X.shape[1], size / X.shape[1])
    value, gradient = objective(w, X, target, ridge, width)
    step = 0.1 / max(float(np.abs(gradient).max()), 1e-300)  # the first moves a weight by a tenth
    for _ in range(max_iter):
        before = value
        for _ in range(30):
            candidate = project(w - step * gradient, size)
            new_value, new_gradient = objective(candidate, X, target, ridge, width)
            if new_value <= value + 0.5 * float(gradient @ (candidate - w)):
                w, value, gradient = candidate, new_value, new_gradient
                step *= 2
                break
            step /= 2
        if before - value <= _LEAST_GAIN * abs(before):
            break
    return w, value


def objective(w: Floats, X: Floats, target: Floats, ridge: float, width: float) -> tuple[float, Floats]:
    """trace[G_Y (G_{w∘X} + ridge I)^-1] and its gradient by w.

    With B = M^-1 G_Y M^-1 for M = G + ridge I, which is centred as both Gram matrices are, the gradient is
    w_k / width · sum_ij B_ij K_ij (x_ik - x_jk)².

    Parameters
    ----------
    w : ndarray (d,)
    X : ndarray (n, d)
    target : ndarray (n, k)
        Centred; G_Y is its product with itself.
    ridge : float
        n eps.
    width : float
        Squared width σ² of the kernel exp(-|w∘(x - x')|² / (2 σ²)).
    """
    used = w > 0
    scaled = X[:, used] * w[used]
    squares = np.square(scaled).sum(axis=1)
    kernel = np.exp(-np.maximum(squares[:, None] + squares - 2 * scaled @ scaled.T, 0.0) / (2 * width))
    matrix = _centred(kernel)
    matrix[np.diag_indices_from(matrix)] += ridge
    solved = cho_solve(cho_factor(matrix, lower=True), target)  # M^-1 Y, (n, k)
    value = float((target * solved).sum())
    pairs = solved @ solved.T * kernel  # B ∘ K
    spread = 2 * (pairs.sum(axis=1) @ np.square(X) - np.einsum("nk,nk->k", X, pairs @ X))
    return value, w / width * spread


def project(w: Floats, size: float) -> Floats:
    """The nearest point with 0 <= w <= 1 and sum(w) <= size."""
    clipped = np.clip(w, 0.0, 1.0)
    if clipped.sum() <= size:
        return clipped
    low, high = 0.0, float(w.max())
    for _ in range(60):
        shift = (low + high) / 2
        low, high = (shift, high) if np.clip(w - shift, 0.0, 1.0).sum() > size else (low, shift)
    projected: Floats = np.clip(w - high, 0.0, 1.0)
    return projected


def _centred(matrix: Floats) -> Floats:
    """H K H."""
    means = matrix.mean(axis=0)
    centred: Floats = matrix - means - means[:, None] + means.mean()
    return centred
