"""Backward elimination by kernel ridge regression with a Gaussian kernel and leave-one-out error.

The leave-one-out error of a ridge regression has a closed form (PRESS, Allen 1974; for kernels Cawley and Talbot
2004). Its derivative by a mask on the inputs ranks the features, as the selector's derivative does for the nets; a
share of them is eliminated by it at a time, as in recursive feature elimination (Guyon et al. 2002). The penalty is
high: the leave-one-out error of a few rows is a noisy figure, and what fits it closely serves other models less. Once
few survive, each deletion is evaluated: a derivative says little about the removal of one of five.

Squared distances are sums over columns, so that a mask bit switches the columns of a feature on together. A row of
weight w has a ridge of its own, the common one over w, and counts by w in the mean of the leave-one-out errors. Rows
of one group, such as those of one patient, are left out together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from maskrank.core import limits
from maskrank.core.config import EliminationConfig
from maskrank.core.data.blocks import Blocks
from maskrank.core.data.weights import mean_of_rows


@dataclass(frozen=True)
class Inputs:
    """What a kernel sees of the rows.

    Attributes
    ----------
    x : Tensor (n, columns)
        The mean squared distance that a feature makes is the same for all: a column of deviation 1, or several that
        have this together.
    blocks : Blocks
        The columns of each feature.
    n_required : int
        The last so many features stay in the kernel.
    weights : Tensor (n,), optional
        Of the rows, of mean 1.
    groups : Tensor (n,) of int, optional
        Of the rows.
    """

    x: Tensor
    blocks: Blocks
    n_required: int = 0
    weights: Tensor | None = None
    groups: Tensor | None = None

    @classmethod
    def single(cls, x: Tensor) -> Inputs:
        """Every column is a feature: (n, k)."""
        return cls(x, Blocks.single(x.shape[1]))

    @property
    def n_features(self) -> int:
        """Features that can be eliminated: k."""
        return len(self.blocks) - self.n_required

    @property
    def scale(self) -> float:
        """Twice the number of all features, by which squared distances are divided."""
        return 2 * len(self.blocks)

    def only(self, features: Tensor) -> Inputs:
        """Some of the features, and the required ones."""
        required = torch.arange(self.n_features, len(self.blocks), device=features.device)
        features = torch.cat([features, required])
        x, blocks = self.x[:, self.blocks.columns_of(features)], self.blocks.only(features)
        return replace(self, x=x, blocks=blocks)

    def distances(self) -> Tensor:
        """Squared distances of rows: (n, n)."""
        return squared_distances(self.x)

    def error(self, exponent: Tensor, target: Tensor, *, ridge: float) -> Tensor:
        """The leave-one-out error of these rows, see `leave_one_out_error`: (..., n, n), (n, outputs) -> (...)."""
        return leave_one_out_error(exponent, target, ridge=ridge, weights=self.weights, groups=self.groups)

    def distances_of(self, feature: int) -> Tensor:
        """Squared distances of rows in one feature: (n, n)."""
        columns = torch.arange(int(self.blocks.starts[feature]), int(self.blocks.starts[feature + 1]))
        return squared_distances(self.x[:, columns.to(self.x.device)])


def eliminate_by_kernel(x: Inputs, target: Tensor, size: int, *, exact: bool, config: EliminationConfig) -> Tensor:
    """Places of all features but the required ones: the s survivors first, then those eliminated last.

    Parameters
    ----------
    x : Inputs
    target : Tensor (n, outputs)
    exact : bool
        Whether each deletion is evaluated once few features survive. One evaluation is cubic in the rows.
    """
    surviving = torch.arange(x.n_features, device=target.device)
    eliminated: list[Tensor] = []  # the last ones in front
    while len(surviving) > size:
        some = x.only(surviving)
        if exact and len(surviving) <= config.exact_from:
            importance, keep = errors_without(some, target, ridge=config.kernel_ridge), len(surviving) - 1
        else:
            importance = leave_one_out_importance(some, target, ridge=config.kernel_ridge)
            stop = max(size, config.exact_from if exact else 0)
            keep = max(stop, len(surviving) - max(1, int(config.drop_share * len(surviving))))
        order = importance.argsort(descending=True, stable=True)
        eliminated.insert(0, surviving[order[keep:]])
        surviving = surviving[order[:keep].sort().values]
    return torch.cat([surviving, *eliminated])


def leave_one_out_importance(x: Inputs, target: Tensor, *, ridge: float) -> Tensor:
    """Minus the derivative of the leave-one-out error by a mask on the inputs: (k,).

    The kernel is K = exp(-Σ m (x - x')² / 2k) at m = (1, ..., 1). What is derived by the exponent alone, the rest
    being sums of W (x - x')² over pairs of rows: one product of matrices for all features.

    Parameters
    ----------
    x : Inputs
    target : Tensor (n, outputs)
    """
    with torch.enable_grad():
        exponent = (x.distances() / x.scale).requires_grad_()
        (slope,) = torch.autograd.grad(x.error(exponent, target, ridge=ridge), exponent)
    slope = slope + slope.t()  # (n, n)
    of_columns = (x.x * (slope @ x.x)).sum(dim=0) - slope.sum(dim=0) @ x.x.square()
    if x.blocks.is_single:
        return of_columns[: x.n_features] / x.scale
    of_features = torch.zeros(len(x.blocks), dtype=of_columns.dtype, device=of_columns.device)
    of_features.index_add_(0, x.blocks.feature_of.to(of_columns.device), of_columns)
    return of_features[: x.n_features] / x.scale


def errors_without(x: Inputs, target: Tensor, *, ridge: float) -> Tensor:
    """The leave-one-out error with the mask of each feature at 0, one at a time: (k,)."""
    distances = x.distances()
    exponents = ((distances - x.distances_of(j)) / x.scale for j in range(x.n_features))
    return _errors(x, exponents, target, ridge)


def _errors(x: Inputs, exponents: Iterable[Tensor], target: Tensor, ridge: float) -> Tensor:
    """Leave-one-out errors of several kernels, some at once."""
    waiting, errors = [], []
    for exponent in exponents:
        waiting.append(exponent)
        if len(waiting) == limits.KERNELS:
            errors.append(x.error(torch.stack(waiting), target, ridge=ridge))
            waiting = []
    if waiting:
        errors.append(x.error(torch.stack(waiting), target, ridge=ridge))
    return torch.cat(errors)


def squared_distances(x: Tensor) -> Tensor:
    """Squared Euclidean distances of rows: (n, k) -> (n, n)."""
    return _distances(x @ x.t())


def _distances(products: Tensor) -> Tensor:
    """Squared distances, from inner products: (n, n)."""
    squares = products.diagonal()
    return (squares.unsqueeze(0) + squares.unsqueeze(1) - 2 * products).clamp(min=0)


def leave_one_out_error(
    exponent: Tensor,
    target: Tensor,
    *,
    ridge: float,
    weights: Tensor | None = None,
    groups: Tensor | None = None,
) -> Tensor:
    """Mean squared leave-one-out error of kernel ridge regressions with K = exp(-exponent): (..., n, n) -> (...).

    The error of a row is its dual weight over the diagonal of the inverse; nothing is fitted again. With groups (n,)
    the rows of one are left out together: their errors solve the equations of the group's block of the inverse.
    """
    n = exponent.shape[-1]
    penalty = ridge * torch.eye(n, dtype=exponent.dtype, device=exponent.device)
    if weights is not None:
        penalty = penalty / weights.to(exponent)
    inverse = torch.linalg.inv(torch.exp(-exponent) + 1 / n + penalty)  # 1 / n stands for the intercept
    errors: Tensor
    if groups is None:
        errors = (inverse @ target) / inverse.diagonal(dim1=-2, dim2=-1).unsqueeze(-1)
    else:
        together = groups.unsqueeze(0) == groups.unsqueeze(1)
        errors = torch.linalg.solve(inverse * together, inverse @ target)
    if weights is not None:
        return mean_of_rows(errors.square().mean(dim=-1), weights)
    return errors.square().mean(dim=(-2, -1))
