"""Backward elimination by ridge regression: the feature whose removal raises the penalised loss least is eliminated.

The order is that of recursive feature elimination (Guyon et al. 2002), with the exact loss of each removal in place of
a squared weight: weight² over the diagonal of the inverse Gram matrix. For a feature of several columns it is the
quadratic form of their weights with the inverse of their block of that matrix.
"""

from __future__ import annotations

import torch
from torch import Tensor

from maskrank.core.config import EliminationConfig
from maskrank.core.data.blocks import Blocks


def eliminate_by_ridge(
    columns: Tensor,
    target: Tensor,
    size: int,
    *,
    blocks: Blocks | None = None,
    ridge: float,
    config: EliminationConfig,
) -> Tensor:
    """Places of all features: the s survivors first, then those eliminated last.

    Parameters
    ----------
    columns : Tensor (k, n)
        Standardised, of length 1; with almost no ridge they must be independent.
    target : Tensor (n, outputs)
    blocks : Blocks, optional
        The columns of each feature; without, every column is a feature.
    ridge : float
        Penalty on the squared weights.
    config : EliminationConfig
        A share of the survivors is eliminated at once while they are many (``drop_share``, ``single_from``).
    """
    columns = columns.double()
    gram, overlap = columns @ columns.t(), columns @ target.double()
    blocks = Blocks.single(len(gram)) if blocks is None else blocks
    surviving = torch.arange(len(blocks), device=gram.device)
    eliminated: list[Tensor] = []
    inverse = weights = gram[:0]
    while len(surviving) > size:
        theirs = blocks.only(surviving)
        if len(inverse) != theirs.n_columns:  # at first, or several were eliminated
            places = blocks.columns_of(surviving)
            inverse = _inverse(gram[places][:, places], ridge)
            weights = inverse @ overlap[places]
        losses = _losses(inverse, weights, theirs)
        if len(surviving) > max(size, config.single_from):
            n_dropped = max(1, int(config.drop_share * len(surviving)))
            keep = max(size, config.single_from, len(surviving) - n_dropped)
            order = losses.argsort(descending=True, stable=True)
            eliminated.append(surviving[order[keep:]])
            surviving = surviving[order[:keep].sort().values]
            continue
        out = int(losses.argmin())
        inverse, weights = _without(inverse, weights, slice(int(theirs.starts[out]), int(theirs.starts[out + 1])))
        eliminated.append(surviving[out : out + 1])
        surviving = torch.cat([surviving[:out], surviving[out + 1 :]])
    return torch.cat([surviving, *reversed(eliminated)])


def _inverse(gram: Tensor, ridge: float) -> Tensor:
    inverse: Tensor = torch.linalg.inv(gram + ridge * torch.eye(len(gram), dtype=gram.dtype, device=gram.device))
    return inverse


def _losses(inverse: Tensor, weights: Tensor, blocks: Blocks) -> Tensor:
    """What the penalised loss rises by without each feature: (features,)."""
    single = weights.square().sum(dim=1) / inverse.diagonal()
    if blocks.is_single:
        return single
    losses = single[blocks.starts[:-1].to(single.device)]
    for feature in (blocks.widths > 1).nonzero().squeeze(1).tolist():
        own = slice(int(blocks.starts[feature]), int(blocks.starts[feature + 1]))
        losses[feature] = (weights[own] * torch.linalg.solve(inverse[own, own], weights[own])).sum()
    return losses


def _without(inverse: Tensor, weights: Tensor, out: slice) -> tuple[Tensor, Tensor]:
    """Inverse and weights after the removal of one feature's columns, by an update of their rank."""
    columns, own = inverse[:, out], inverse[out, out]
    gain = columns / own if own.numel() == 1 else torch.linalg.solve(own, columns, left=False)  # (k, w)
    weights = weights - gain @ weights[out]
    inverse = inverse - gain @ columns.t()
    kept = torch.ones(len(inverse), dtype=torch.bool, device=inverse.device)
    kept[out] = False
    return inverse[kept][:, kept], weights[kept]
