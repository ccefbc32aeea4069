"""Backward elimination by the Hilbert-Schmidt independence criterion (Song et al. 2007, 2012)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.spatial.distance import pdist, squareform

from maskrank.baselines._base import Array, Baseline, Floats

DISTANCES_AT_ONCE = 1 << 22  # numbers of one block of distances


class BAHSIC(Baseline):
    """BAHSIC (Song et al. 2007, 2012), written here with NumPy from the papers' formulas.

    Each round removes the tenth of the features without which the rest depends most on the target. Dependence is the
    unbiased estimate of HSIC between the inverse-distance kernel 1/(|x - x'| + eps) on the features and, on the target,
    1/n_c for two rows of the same class of n_c rows, or a Gaussian kernel of median width for numbers.

    The estimate is linear in the features' kernel: its weights are found once. Squared distances are kept, and a
    feature is left out by taking its part away.

    Parameters
    ----------
    n_features_to_select : int, float or None
        A number, a share, or None for half of the features.
    fraction : float
        Of the features left, removed in a round.
    eps : float
        Of the kernel.
    task : "auto", "classification" or "regression"
    random_state : int, NumPy generator or None
        Nothing is drawn.
    """

    _gives = "order"

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        fraction: float = 0.1,
        eps: float = 0.1,
        task: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.fraction = fraction
        self.eps = eps
        self.task = task
        self.random_state = random_state

    def _rank(self, X: Floats, y: Array, size: int, rng: Generator) -> Array:
        if not 0 < self.fraction < 1:
            raise ValueError(f"fraction={self.fraction} must lie in (0, 1)")
        weights = squareform(hsic_weights(target_kernel(y, self.task_)), checks=False)  # (pairs,)
        left = np.arange(X.shape[1])
        distances = pdist(X, "sqeuclidean")
        removed: list[Array] = []  # worst first
        while len(left) > 1:
            without = self._without_each(X[:, left], distances, weights)
            worst = np.argsort(-without, kind="stable")[: max(1, int(self.fraction * len(left)))]
            removed.append(left[worst])
            for j in left[worst]:
                distances -= pdist(X[:, [j]], "sqeuclidean")
            left = np.delete(left, worst)
        return np.concatenate([left, np.concatenate(removed)[::-1]])

    def _without_each(self, X: Floats, distances: Floats, weights: Floats) -> Floats:
        """HSIC of the features without each one: (d,)."""
        n, d = X.shape
        above, below = np.triu_indices(n, k=1)  # in the order of pdist
        without = np.empty(d)
        block = max(1, DISTANCES_AT_ONCE // len(distances))
        for start in range(0, d, block):
            columns = X.T[start : start + block]
            parts = columns[:, above]
            parts -= columns[:, below]
            np.square(parts, out=parts)
            np.subtract(distances, parts, out=parts)  # (features, pairs)
            np.sqrt(np.maximum(parts, 0.0, out=parts), out=parts)
            parts += self.eps
            np.divide(1.0, parts, out=parts)
            without[start : start + block] = 2 * (parts @ weights)
        return without


def target_kernel(y: Array, task: str) -> Floats:
    """Kernel on class codes or standardised numbers: (n, n)."""
    if task == "classification":
        same: Floats = (y[:, None] == y) / np.bincount(y)[y]
        return same
    distances = pdist(y[:, None], "sqeuclidean")
    kernel: Floats = np.exp(-squareform(distances) / max(float(np.median(distances)), 1e-12))
    return kernel


def hsic_weights(target: Floats) -> Floats:
    """W with HSIC = sum of K ∘ W for any kernel K on the features: (n, n), zero on the diagonal.

    The unbiased estimate of Song et al. (2012), with both diagonals at zero:
    (tr(KL) + 1'K1 1'L1 / ((n - 1)(n - 2)) - 2/(n - 2) 1'KL1) / (n (n - 3)).
    """
    n = len(target)
    if n < 4:
        raise ValueError(f"{n} rows: the estimate of dependence needs at least 4")
    other = target - np.diag(np.diag(target))
    sums = other.sum(axis=1)
    weights = other + sums.sum() / ((n - 1) * (n - 2)) - (sums[:, None] + sums) / (n - 2)
    np.fill_diagonal(weights, 0.0)
    return np.asarray(weights / (n * (n - 3)))


def hsic(kernel: Floats, target: Floats) -> float:
    """Dependence of two variables by their kernels over the same rows, without bias: 0 for independent ones.

    Parameters
    ----------
    kernel, target : ndarray (n, n)
    """
    return float((kernel * hsic_weights(target)).sum())
