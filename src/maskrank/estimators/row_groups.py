"""Splits and subsamples of a table that keep groups of rows whole."""

from __future__ import annotations

import numbers

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray

from maskrank.core.data.grouping import deal_groups
from maskrank.estimators.scaling import Array


def split_groups(
    groups: Array, share: float, *, labels: Array | None, generator: torch.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Training and validation rows, no group on both sides, stratified as far as whole groups allow.

    Every class has training rows.

    Parameters
    ----------
    groups : ndarray (n,) of int
    share : float
        Of the validation rows.
    labels : ndarray (n,) of int, optional

    Raises
    ------
    ValueError
        No group can be held out.
    """
    if not (isinstance(share, numbers.Real) and 0 < share < 1):
        raise ValueError(f"validation_fraction={share!r} must lie in (0, 1)")
    strata = np.zeros(len(groups), dtype=np.int64) if labels is None else labels
    held_out = deal_groups(groups, strata, [1 - share, share], generator=generator) == 1
    _keep_every_class(held_out, groups, strata)
    if not held_out.any():
        raise ValueError(
            "groups: none can be held out to validate on, because each holds a class that no other group has"
        )
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


def _keep_every_class(held_out: NDArray[np.bool_], groups: Array, labels: Array) -> None:
    """Move groups, in place, until every class has a row that is not held out, and some row is held out if possible."""
    for label in np.unique(labels):
        own = labels == label
        if held_out[own].all():
            held_out[groups == groups[own][0]] = False
    if held_out.any():
        return
    for group in np.unique(groups):  # the smallest change: the first group that can be spared
        inside = groups == group
        if np.isin(labels[inside], labels[~inside]).all():
            held_out[inside] = True
            return


def draw_groups(groups: Array, labels: Array | None, share: float, random: Generator) -> NDArray[np.int64]:
    """The rows of random groups, about this share of all, sorted; of two groups at least, and of two of each class.

    Parameters
    ----------
    groups : ndarray (n,) of int
    labels : ndarray (n,) of int, optional
    """
    _, group, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    order = random.permutation(len(sizes))
    before = np.concatenate([[0], sizes[order].cumsum()[:-1]])
    taken = np.zeros(len(sizes), dtype=bool)
    taken[order] = before + sizes[order] / 2 <= share * len(group)  # a group is in where its middle row is
    taken[order[:2]] = True
    for label in [] if labels is None else np.unique(labels):
        theirs = random.permutation(np.unique(group[labels == label]))
        missing = min(2, len(theirs)) - int(taken[theirs].sum())
        taken[theirs[~taken[theirs]][: max(0, missing)]] = True
    return np.flatnonzero(taken[group])
