"""How well scores of features point at the truly relevant ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

Array = NDArray[Any]


def best_p(scores: Array, relevant: Array, *, times: int = 1) -> float:
    """The share of the p relevant features among the p best; of equal scores, those that come first.

    Parameters
    ----------
    scores : array (d,)
    relevant : array (p,) of int
    times : int
        How many features count as the best, in multiples of p.

    Examples
    --------
    >>> from maskrank.study.metrics import best_p
    >>> best_p([0.9, 0.1, 0.5, 0.7], [0, 2])
    0.5
    """
    first = np.argsort(-np.asarray(scores), kind="stable")[: times * len(relevant)]
    return float(np.isin(relevant, first).mean())


def auprc(scores: Array, relevant: Array) -> float:
    """The area under the curve of precision over recall, as the average precision.

    Examples
    --------
    >>> from maskrank.study.metrics import auprc
    >>> auprc([0.9, 0.1, 0.5, 0.7], [0, 3])
    1.0
    """
    return float(average_precision_score(np.isin(np.arange(len(scores)), relevant), scores))
