"""Backward elimination by kernel ridge regression with a Gaussian kernel and leave-one-out error.

The leave-one-out error of a ridge regression has a closed form (PRESS, Allen 1974; for kernels Cawley and Talbot
2004). Its derivative by a mask on the inputs ranks the features, as the selector's derivative does for the nets; many
are eliminated by it, as in recursive feature elimination (Guyon et al. 2002). Once few survive, and rows are few, each
deletion and then some exchanges are evaluated: a derivative says little about the removal of one of five.

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
        Whether each deletion is evaluated once few features survive, and then exchanges in a subset that is not too
        large. One evaluation is cubic in the rows.
    """
    surviving, inverse_width = torch.arange(x.n_features, device=target.device), 1.0
    eliminated: list[Tensor] = []  # the last ones in front
    while len(surviving) > size:
        some = x.only(surviving)
        # At the width that suits the features best, a stronger mask helps the informative ones and no other.
        inverse_width = best_inverse_width(some, target, inverse_width, config)
        if exact and len(surviving) <= config.exact_from:
            errors = errors_without(some, target, inverse_width, ridge=config.kernel_ridge)
            order = errors.argsort(descending=True, stable=True)
            keep = len(surviving) - 1
        else:
            importance = leave_one_out_importance(some, target, inverse_width, ridge=config.kernel_ridge)
            order = importance.argsort(descending=True, stable=True)
            stop = max(size, config.exact_from if exact else 0)
            keep = max(stop, len(surviving) - max(1, int(config.drop_share * len(surviving))))
        eliminated.insert(0, surviving[order[keep:]])
        surviving = surviving[order[:keep].sort().values]
    others = torch.cat([surviving[:0], *eliminated])
    if exact and size <= config.max_exchange_size:
        surviving, others = exchange(x, target, surviving, others, inverse_width, config)
    return torch.cat([surviving, others])


def exchange(
    x: Inputs, target: Tensor, surviving: Tensor, eliminated: Tensor, inverse_width: float, config: EliminationConfig
) -> tuple[Tensor, Tensor]:
    """Exchange one survivor at a time for an eliminated feature, while the leave-one-out error falls.

    Parameters
    ----------
    x : Inputs
    surviving, eliminated : Tensor (s,), Tensor (k - s,)
        Sorted; and the last eliminated first.

    Returns
    -------
    surviving, eliminated : Tensor (s,), Tensor (k - s,)
        A survivor that leaves is in front of the eliminated ones.
    """
    for _ in range(config.exchange_rounds if len(surviving) and len(eliminated) else 0):
        some = x.only(surviving)
        inverse_width = best_inverse_width(some, target, inverse_width, config)
        scale = inverse_width / some.scale
        distances = some.distances()
        without_each = errors_without(some, target, inverse_width, ridge=config.kernel_ridge)
        least_needed = without_each.argsort(stable=True)[: config.n_leaving].tolist()
        reduced = [distances - some.distances_of(out) for out in least_needed]
        added = [x.distances_of(j) for j in eliminated[: config.n_entering].tolist()]
        errors = torch.stack(
            [_errors(x, ((fewer + one) * scale for one in added), target, config.kernel_ridge) for fewer in reduced]
        )  # (leaving, entering)
        best = int(errors.argmin())
        before = x.error(distances * scale, target, ridge=config.kernel_ridge)
        if not errors.flatten()[best] < (1 - config.min_gain) * before:
            break
        out, entering = least_needed[best // len(added)], best % len(added)
        leaves, comes = surviving[out : out + 1], eliminated[entering : entering + 1]
        surviving = torch.cat([surviving[:out], surviving[out + 1 :], comes]).sort().values
        eliminated = torch.cat([leaves, eliminated[:entering], eliminated[entering + 1 :]])
    return surviving, eliminated


def best_inverse_width(x: Inputs, target: Tensor, start: float, config: EliminationConfig) -> float:
    """The inverse squared width of the lowest leave-one-out error, by halving and doubling of a start."""
    distances = x.distances() / x.scale
    lowest, highest = config.kernel_widths

    def error(inverse_width: float) -> float:
        return float(x.error(distances * inverse_width, target, ridge=config.kernel_ridge))

    errors = {start: error(start)}
    for factor in (0.5, 2.0):
        width = min(errors, key=errors.__getitem__) * factor
        while width not in errors and lowest <= width <= highest:
            errors[width] = error(width)
            if errors[width] > min(errors.values()):
                break
            width *= factor
    return min(errors, key=errors.__getitem__)


def leave_one_out_importance(x: Inputs, target: Tensor, inverse_width: float = 1.0, *, ridge: float) -> Tensor:
    """Minus the derivative of the leave-one-out error by a mask on the inputs: (k,).

    The kernel is K = exp(-c Σ m (x - x')² / 2k) at m = (1, ..., 1).

    Parameters
    ----------
    x : Inputs
    target : Tensor (n, outputs)
    inverse_width : float
        c.
    """
    with torch.enable_grad():
        mask = torch.ones(len(x.blocks), dtype=x.x.dtype, device=x.x.device, requires_grad=True)
        of_columns = mask if x.blocks.is_single else mask[x.blocks.feature_of.to(mask.device)]
        distances = _distances((x.x * of_columns) @ x.x.t())
        error = x.error(distances * (inverse_width / x.scale), target, ridge=ridge)
        (slope,) = torch.autograd.grad(error, mask)
    return -slope[: x.n_features]


def errors_without(x: Inputs, target: Tensor, inverse_width: float = 1.0, *, ridge: float) -> Tensor:
    """The leave-one-out error with the mask of each feature at 0, one at a time: (k,)."""
    distances, scale = x.distances(), inverse_width / x.scale
    exponents = ((distances - x.distances_of(j)) * scale for j in range(x.n_features))
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
