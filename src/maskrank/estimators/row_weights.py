"""A user's weights and groups of rows, and weights of classes, checked."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import check_array

from maskrank.estimators.scaling import Array

_LARGEST = 1e200
_NOTHING = 1e-12  # of the largest weight: below it a row counts as one of weight 0


def check_weights(given: Any, n: int, *, name: str = "sample_weight") -> NDArray[np.float64] | None:
    """Weights of n rows, as 64-bit floats; None stays None.

    Raises
    ------
    ValueError
        Weights of another shape; a negative, infinite or missing one; none above 0.
    """
    if given is None:
        return None
    if isinstance(given, numbers.Number):
        raise ValueError(f"{name}={given!r} must be an array of {n} weights, one for each row")
    weights: NDArray[np.float64] = check_array(given, dtype=np.float64, ensure_2d=False, allow_nd=True, input_name=name)
    if weights.shape != (n,):
        raise ValueError(f"{name} has shape {weights.shape}, and the data has {n} rows: it must be ({n},)")
    if (weights < 0).any():
        raise ValueError(f"{name} holds negative weights, such as {weights.min():g}: they must be 0 or above")
    if not weights.any():
        raise ValueError(f"{name}: all weights are zero, and at least one row must count")
    if weights.max() > _LARGEST:  # their sum would be infinite
        weights = weights / weights.max()
    return np.where(weights < _NOTHING * weights.max(), 0.0, weights)


def scaled_weights(weights: Array) -> NDArray[np.float64] | None:
    """Weights as multiples of their mean, as exact as 32-bit floats; None where all are the same."""
    scaled = (weights / weights.mean()).astype(np.float32).astype(np.float64)
    return None if (scaled == scaled[0]).all() else scaled


def check_groups(given: Any, n: int) -> NDArray[np.int64] | None:
    """Groups of n rows as numbers 0, 1, ... in the order of the sorted labels; None stays None."""
    if given is None:
        return None
    labels = np.asarray(given)
    if labels.shape != (n,):
        raise ValueError(f"groups has shape {labels.shape}, and the data has {n} rows: it must be ({n},)")
    missing = pd.isna(labels)
    if missing.any():
        raise ValueError(f"groups has no value in {int(missing.sum())} of {n} rows: every row needs a group")
    try:
        return np.unique(labels, return_inverse=True)[1]
    except TypeError:  # labels of several types
        return np.unique(labels.astype(str), return_inverse=True)[1]


def check_several_groups(groups: Array) -> None:
    """Refuse rows of a single group."""
    if (groups == groups[0]).all():
        raise ValueError(
            "groups holds one value only: rows of at least 2 groups are needed, to learn from and to judge"
        )


def class_factors(requested: Any, classes: Array, target: Array, weights: Array | None) -> Array | None:
    """What each class's rows are multiplied by: (k,), or None for nothing.

    Parameters
    ----------
    requested : None, "balanced" or mapping
        As in scikit-learn: "balanced" gives every class the same weight in sum, classes that a mapping lacks have 1.
    classes : ndarray (k,)
        The labels.
    target : ndarray (n,) of int
        The class of each row.
    weights : ndarray (n,), optional
        Of the rows.

    Raises
    ------
    ValueError
        A class is left without any weight, or a mapping names another one.
    """
    totals = np.bincount(target, weights, minlength=len(classes))
    _check_totals(totals, classes, "sample_weight")
    if requested is None:
        return None
    if isinstance(requested, str) and requested == "balanced":
        return np.asarray(totals.sum() / (len(classes) * totals))
    if not isinstance(requested, Mapping):
        raise ValueError(f"class_weight={requested!r} must be None, 'balanced', or a dict of class to weight")
    labels = classes.tolist()
    unknown = [label for label in requested if label not in labels]
    if unknown:
        raise ValueError(f"class_weight names the class {unknown[0]!r}, which y does not hold")
    factors = [requested.get(label, 1.0) for label in labels]
    for label, factor in zip(labels, factors, strict=True):
        if not isinstance(factor, numbers.Real) or not 0 <= float(factor) < np.inf:
            raise ValueError(f"class_weight of class {label!r} is {factor!r}: it must be a number, 0 or above")
    _check_totals(np.array(factors, dtype=np.float64), classes, "class_weight")
    return np.array(factors, dtype=np.float64)


def _check_totals(totals: Array, classes: Array, what: str) -> None:
    without = classes[totals == 0].tolist()
    if without:
        raise ValueError(f"{what} leaves the class {without[0]!r} without any weight: leave its rows out of X and y")
