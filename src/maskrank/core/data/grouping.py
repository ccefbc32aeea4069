"""Splits that keep groups of rows whole: the rows of one patient, or of one batch, are never on both sides.

Groups are dealt greedily, large ones first, to the fold that they leave best balanced, by its number of rows and by its
share of every class, or of small and large targets (as in scikit-learn's ``StratifiedGroupKFold``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_STRATA = 4  # of a target of numbers: quarters
_MAX_STRATA = 64  # classes beyond these are not told apart


def count_groups(groups: Tensor) -> int:
    """How many different groups there are: (n,)."""
    return len(torch.unique(groups))


def joined_groups(groups: Sequence[Tensor | None]) -> Tensor | None:
    """The groups of several parts of a table in one; None where a part has none: (n,)."""
    given = [some for some in groups if some is not None]
    return torch.cat(given) if len(given) == len(groups) else None


def deal_folds(groups: Tensor, y: Tensor, n_folds: int, *, generator: torch.Generator) -> Tensor:
    """A fold 0..n_folds-1 of about the same size for each row, none with part of a group: (n,).

    Parameters
    ----------
    groups : Tensor (n,) of int
        At least as many as folds.
    y : Tensor (n,) or (n, outputs)
        Each fold has its share of every class, or of small and large targets, as far as whole groups allow.
    """
    first = y.cpu().reshape(len(y), -1)[:, 0].numpy()
    strata = first if y.dim() == 1 and not y.is_floating_point() else quarters(first)
    fold = deal_groups(groups.cpu().numpy(), strata, [1 / n_folds] * n_folds, generator=generator)
    return torch.from_numpy(fold).to(y.device)


def quarters(values: NDArray[Any]) -> NDArray[np.int64]:
    """The quarter of the sorted values in which each lies: (n,) -> (n,) of 0..3."""
    return values.argsort(kind="stable").argsort(kind="stable") * _STRATA // max(1, len(values))


def deal_groups(
    groups: NDArray[Any], strata: NDArray[Any], shares: Sequence[float], *, generator: torch.Generator
) -> NDArray[np.int64]:
    """Deal whole groups to parts of these shares of the rows: the part of each row, (n,).

    Parameters
    ----------
    groups, strata : ndarray (n,)
        Of each row.
    shares : sequence of float
        Of each part; every part gets a group, where there are as many groups.
    """
    _, group = np.unique(groups, return_inverse=True)
    _, stratum = np.unique(strata, return_inverse=True)
    n_groups, n_strata = group.max() + 1, min(stratum.max() + 1, _MAX_STRATA)
    counts = np.zeros((n_groups, n_strata + 1))
    np.add.at(counts, (group, stratum % n_strata), 1.0)
    counts[:, -1] = counts.sum(axis=1)  # the number of rows counts as a stratum of its own
    counts /= counts.sum(axis=0)  # as shares of the whole table
    sizes, open_parts = np.floor(np.log2(np.bincount(group))), np.ones(len(shares), dtype=bool)
    mixed = torch.randperm(int(n_groups), generator=generator).numpy()
    order = mixed[(-sizes[mixed]).argsort(kind="stable")]  # large ones first, at random among those of like size
    held, part_of = np.zeros((len(shares), n_strata + 1)), np.zeros(n_groups, dtype=np.int64)
    share = np.array(shares)[:, None]
    for place, number in enumerate(order):
        cost = ((2 * held + counts[number]) * counts[number] / share).sum(axis=1)
        if n_groups - place <= open_parts.sum():  # as many groups are left as parts have none
            cost[~open_parts] = np.inf
        part = int(cost.argmin())
        held[part] += counts[number]
        part_of[number], open_parts[part] = part, False
    return part_of[group]
