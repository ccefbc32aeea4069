"""Methods by name: each takes rows of a classification and scores every feature, the higher the better."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

METHODS = {
    "rf": "maskrank.baselines.forest",
    "mrmr": "maskrank.baselines.mrmr",
    "saliency": "maskrank.baselines.saliency",
    "lassonet": "maskrank.baselines.lassonet",
}


def score(name: str, X: Array, y: Array, *, random_state: int = 0) -> NDArray[np.float64]:
    """Scores of all features by one method.

    Parameters
    ----------
    name : str
        One of ``METHODS``.
    X : array (n, d)
    y : array (n,)
        Class labels.
    """
    if name not in METHODS:
        raise ValueError(f"method {name!r} is not known; there are {', '.join(METHODS)}")
    scores = importlib.import_module(METHODS[name]).score(np.asarray(X), np.asarray(y), random_state)
    return np.asarray(scores, dtype=np.float64)
