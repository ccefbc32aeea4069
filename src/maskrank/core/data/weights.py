"""Arithmetic of row weights: means, standard errors and draws. Without weights all rows count the same."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor


def mean_of_rows(values: Tensor, weights: Tensor | None) -> Tensor:
    """The weighted mean over rows, the last dimension: (..., n), (n,) -> (...)."""
    if weights is None:
        return values.mean(dim=-1)
    weights = weights.to(values)
    return (values @ weights) / weights.sum()


def error_of_mean(values: Tensor, weights: Tensor | None, groups: Tensor | None = None) -> Tensor:
    """The standard error of `mean_of_rows`: (..., n), (n,) -> (...).

    A weighted mean is a ratio of two sums over the same rows, and its error that of a ratio (the delta method).

    Parameters
    ----------
    groups : Tensor (n,), optional
        Rows of one group vary together.
    """
    if weights is None:
        return error_of_scatter(values, groups)
    weights = normalised(weights.to(values))
    return error_of_scatter(weights * (values - mean_of_rows(values, weights).unsqueeze(-1)), groups)


def error_of_scatter(values: Tensor, groups: Tensor | None = None) -> Tensor:
    """The standard error of plain means over rows: (..., n) -> (...).

    Parameters
    ----------
    groups : Tensor (n,), optional
        Rows of one group vary together: the sums of groups are what is independent (Liang and Zeger 1986). Of one group
        alone the error is infinite.
    """
    n = values.shape[-1]
    if groups is None:
        return values.std(dim=-1) / math.sqrt(n)
    _, group = torch.unique(groups.to(values.device), return_inverse=True)
    n_groups = int(group.max()) + 1
    if n_groups == 1:
        return torch.full_like(values[..., 0], torch.inf)
    apart = values - values.mean(dim=-1, keepdim=True)
    sums = values.new_zeros((*values.shape[:-1], n_groups)).index_add_(-1, group, apart)
    return sums.std(dim=-1) * (math.sqrt(n_groups) / n)


def normalised(weights: Tensor) -> Tensor:
    """The weights as multiples of their mean: (n,)."""
    return weights / weights.mean()


def joined_weights(weights: Sequence[Tensor | None], lengths: Sequence[int]) -> Tensor | None:
    """The weights of several parts of a table in one; None where no part has any: (n,).

    Parameters
    ----------
    weights : sequence of Tensor (rows of a part,) or None
        A part without weights has ones among parts that have some.
    lengths : sequence of int
        Rows of each part.
    """
    given = [some for some in weights if some is not None]
    if not given:
        return None
    pairs = zip(weights, lengths, strict=True)
    return torch.cat([given[0].new_ones(n) if some is None else some for some, n in pairs])


class WeightedDraws:
    """Draws places with replacement, in proportion to weights: of one list, or of several side by side.

    Parameters
    ----------
    weights : Tensor (n,) or (lists, n)
        Not negative; each list has one above 0.
    """

    def __init__(self, weights: Tensor) -> None:
        self._rising = weights.detach().double().cpu().cumsum(-1)

    def places(self, shape: tuple[int, ...], *, generator: torch.Generator) -> Tensor:
        """Places 0..n-1, on the CPU; of several lists, the first index says of which: (shape)."""
        drawn = torch.rand(shape, generator=generator, dtype=torch.float64)
        if self._rising.dim() == 1:
            return torch.searchsorted(self._rising, drawn * self._rising[-1], right=True).clamp_(max=self._last)
        lists = drawn.flatten(1) * self._rising[:, -1:]
        return torch.searchsorted(self._rising, lists, right=True).clamp_(max=self._last).view(shape)

    @property
    def _last(self) -> int:
        return self._rising.shape[-1] - 1
