"""Gradient saliency (Simonyan, Vedaldi and Zisserman 2014) of an MLP, its size averaged over the rows.

scikit-learn trains the net; the derivative of its outputs by its inputs is taken here.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler


def score(X: Any, y: Any, random_state: int) -> Any:
    """Of two hidden layers of 100 and 50 units."""
    X = StandardScaler().fit_transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        net = MLPClassifier((100, 50), alpha=1e-2, early_stopping=True, max_iter=200, random_state=random_state)
        net.fit(X, y)
    active, hidden = [], X
    for weight, bias in zip(net.coefs_[:-1], net.intercepts_[:-1], strict=True):
        hidden = hidden @ weight + bias
        active.append(hidden > 0)
        hidden = np.maximum(hidden, 0)
    total = np.zeros(X.shape[1])
    for output in net.coefs_[-1].T:
        slope = np.broadcast_to(output, (len(X), len(output)))
        for weight, on in zip(reversed(net.coefs_[:-1]), reversed(active), strict=True):
            slope = (slope * on) @ weight.T
        total += np.abs(slope).mean(axis=0)
    return total
