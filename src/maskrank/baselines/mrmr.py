"""Minimum redundancy, maximum relevance (Peng, Long and Ding 2005), by the quotient.

Mutual information is that of ten bins of equal counts, so that all pairs with a feature are one matrix product.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_BINS = 10
_MOST = 32  # features chosen one by one; the rest follow by relevance


def score(X: Any, y: Any, random_state: int) -> NDArray[np.float64]:
    """The first chosen has the highest score."""
    del random_state  # nothing is drawn
    n, d = X.shape
    places = X.argsort(axis=0).argsort(axis=0) * min(_BINS, n) // n
    binned = (places[:, :, None] == np.arange(min(_BINS, n))).astype(np.float32)  # (n, d, bins)
    classes = (y[:, None] == np.unique(y)).astype(np.float32)
    relevance = _information(binned, classes)
    redundancy = np.zeros(d)
    scores = relevance / (1 + relevance.max())  # below 1
    chosen: list[int] = []
    for turn in range(min(_MOST, d)):
        quotient = relevance if turn == 0 else relevance / (redundancy / turn + 1e-12)
        quotient[chosen] = -np.inf
        best = int(quotient.argmax())
        chosen.append(best)
        scores[best] = d - turn
        redundancy += _information(binned, binned[:, best])
    return scores


def _information(binned: NDArray[np.float32], other: NDArray[np.float32]) -> NDArray[np.float64]:
    """Mutual information of each feature with another variable: (n, d, bins), (n, k) -> (d,)."""
    joint = np.tensordot(binned, other, axes=(0, 0)).astype(np.float64) / len(binned)  # (d, bins, k)
    independent = joint.sum(axis=2, keepdims=True) * joint.sum(axis=1, keepdims=True)
    terms = np.where(joint > 0, joint * np.log(np.maximum(joint, 1e-300) / np.maximum(independent, 1e-300)), 0.0)
    information: NDArray[np.float64] = terms.sum(axis=(1, 2))
    return information
