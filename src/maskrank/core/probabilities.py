"""From the outputs of a predictor to probabilities and rates, with NumPy alone: one function for each kind of task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
LARGEST_LOG_RATE = 15.0  # beyond it the rate goes on in a straight line: e^15 is far beyond any rate of a row


def sigmoid(outputs: Array) -> Array:
    """The probability for log-odds; small ones of both signs to full precision."""
    small = np.exp(-np.abs(outputs))
    return np.asarray(np.where(outputs >= 0, 1, small) / (1 + small))


def of_two_classes(outputs: Array) -> Array:
    """From the log-odds of the second class: (..., 1) -> (..., 2)."""
    positive = sigmoid(outputs)
    return np.concatenate([1 - positive, positive], axis=-1)


def of_classes(outputs: Array) -> Array:
    """From logits: (..., k) -> (..., k)."""
    raised = np.exp(outputs - outputs.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def of_ordered_classes(outputs: Array) -> Array:
    """From the log-odds of a class beyond the first, the second, ...: (..., k - 1) -> (..., k).

    Nets may answer that a class beyond the second is likelier than one beyond the first. The mean of the running
    minimum from the left and the running maximum from the right never rises, and differences are probabilities.
    """
    beyond = sigmoid(outputs)
    falling = np.minimum.accumulate(beyond, axis=-1)
    falling = falling + np.maximum.accumulate(beyond[..., ::-1], axis=-1)[..., ::-1]
    edge = np.ones_like(falling[..., :1])
    steps = np.diff(np.concatenate([edge, falling / 2, 0 * edge], axis=-1), axis=-1)
    return np.abs(steps)  # none is above 0


PROBABILITIES: dict[str, Callable[[Array], Array]] = {
    "binary": of_two_classes,
    "multiclass": of_classes,
    "ordered": of_ordered_classes,
    "multilabel": sigmoid,
}


def rate_of(log_rate: Array) -> Array:
    """The rate, finite for every logarithm of it."""
    above = np.maximum(log_rate - LARGEST_LOG_RATE, 0)
    return np.asarray(np.exp(log_rate - above) * (1 + above))
