"""Backward elimination by ridge regression: the feature whose removal raises the penalised loss least is eliminated.

The order is that of recursive feature elimination (Guyon et al. 2002), with the exact loss of each removal in place of
a squared weight: weight² over the diagonal of the inverse Gram matrix.
"""

from __future__ import annotations

import torch
from torch import Tensor

from maskrank.core.config import EliminationConfig


def eliminate_by_ridge(
    columns: Tensor, target: Tensor, size: int, *, ridge: float, config: EliminationConfig
) -> Tensor:
    """Places of all features: the s survivors first, then those eliminated last.

    Parameters
    ----------
    columns : Tensor (k, n)
        Standardised, of length 1; with almost no ridge they must be independent.
    target : Tensor (n, outputs)
    ridge : float
        Penalty on the squared weights.
    config : EliminationConfig
        A share of the survivors is eliminated at once while they are many (``drop_share``, ``single_from``).
    """
    columns = columns.double()
    gram, overlap = columns @ columns.t(), columns @ target.double()
    surviving = torch.arange(len(gram), device=gram.device)
    eliminated: list[Tensor] = []
    inverse = weights = gram[:0]
    while len(surviving) > size:
        if len(inverse) != len(surviving):  # at first, or several were eliminated
            inverse = _inverse(gram[surviving][:, surviving], ridge)
            weights = inverse @ overlap[surviving]
        losses = weights.square().sum(dim=1) / inverse.diagonal()
        if len(surviving) > max(size, config.single_from):
            n_dropped = max(1, int(config.drop_share * len(surviving)))
            keep = max(size, config.single_from, len(surviving) - n_dropped)
            order = losses.argsort(descending=True, stable=True)
            eliminated.append(surviving[order[keep:]])
            surviving = surviving[order[:keep].sort().values]
            continue
        out = int(losses.argmin())
        inverse, weights = _without(inverse, weights, out)
        eliminated.append(surviving[out : out + 1])
        surviving = torch.cat([surviving[:out], surviving[out + 1 :]])
    return torch.cat([surviving, *reversed(eliminated)])


def _inverse(gram: Tensor, ridge: float) -> Tensor:
    inverse: Tensor = torch.linalg.inv(gram + ridge * torch.eye(len(gram), dtype=gram.dtype, device=gram.device))
    return inverse


def _without(inverse: Tensor, weights: Tensor, out: int) -> tuple[Tensor, Tensor]:
    """Inverse and weights after the removal of one feature, by a rank-one update."""
    column, pivot = inverse[:, out], inverse[out, out]
    weights = weights - torch.outer(column / pivot, weights[out])
    inverse = inverse - torch.outer(column / pivot, column)
    kept = torch.arange(len(inverse), device=inverse.device) != out
    return inverse[kept][:, kept], weights[kept]
