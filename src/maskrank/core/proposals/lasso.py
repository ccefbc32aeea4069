"""The lasso path: the features that enter a linear model first as its penalty falls (Tibshirani 1996).

Where the effects are weak, the best feature of a moment is often a chance one, and a matching pursuit never gives it
back. The lasso does: on its path all features are weighed together.

A feature of several columns, and a target of several outputs, are penalised as a group (Yuan and Lin 2006). Each
penalty is solved for a working set, by accelerated proximal gradient steps (Beck and Teboulle 2009); features that
violate the conditions of the optimum join it.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from maskrank.core.config import ScreeningConfig
from maskrank.core.data.blocks import Blocks
from maskrank.core.proposals.statistics import sum_by_owner


def first_of_lasso_path(
    columns: Tensor, target: Tensor, wanted: int, *, blocks: Blocks, config: ScreeningConfig
) -> Tensor:
    """Places of the features that enter the path first, sorted: at most ``wanted``.

    Parameters
    ----------
    columns : Tensor (k, n)
        Of length 1 or, for a feature of several, orthonormal; shorter where something was projected out of them.
    target : Tensor (n, outputs)
    blocks : Blocks
        The columns of each feature.
    """
    feature = blocks.feature_of.to(columns.device)
    n_features, room = len(blocks), config.max_basis_share * columns.shape[1]
    rank = blocks.widths.to(target)  # (features,)
    scale = rank.sqrt()
    overlap = columns @ target  # (k, outputs)
    weights = torch.zeros_like(overlap)
    correlation = _lengths(overlap, feature, n_features) / scale
    penalty = float(correlation.max())
    working = torch.zeros(n_features, dtype=torch.bool, device=columns.device)
    active = working
    for _ in range(config.lasso_steps if penalty > 0 else 0):
        lower = config.lasso_factor * penalty
        working = working | (correlation >= 2 * lower - penalty)  # the strong rule (Tibshirani et al. 2012)
        penalty = lower
        while True:
            places = working[feature].nonzero().squeeze(1)
            some, owner = columns[places], feature[places]
            weights[places] = _solved(some, overlap[places], weights[places], penalty * scale, owner, config)
            rest = target - some.t() @ weights[places]
            correlation = _lengths(columns @ rest, feature, n_features) / scale
            violating = ~working & (correlation > penalty)
            if not bool(violating.any()):
                break
            working = working | violating
        before, active = active, _lengths(weights, feature, n_features) > 0
        enough = int(active.sum()) >= wanted or float(rank[active].sum()) > room
        if enough:
            strength = _lengths(weights, feature, n_features) + 1e6 * (active & before)
            order = strength.argsort(descending=True, stable=True)[: min(wanted, int(active.sum()))]
            return order[rank[order].cumsum(0) <= max(1.0, room)].sort().values
    return active.nonzero().squeeze(1)[:wanted]


def _solved(
    columns: Tensor, overlap: Tensor, start: Tensor, penalties: Tensor, owner: Tensor, config: ScreeningConfig
) -> Tensor:
    """Weights of some columns at a penalty of each feature: (k, n), (k, outputs), (features,) -> (k, outputs)."""
    gram = columns @ columns.t()
    rate = 1 / float(torch.linalg.eigvalsh(gram)[-1].clamp(min=1e-6))
    weights, ahead, momentum = start, start, 1.0
    for _ in range(config.lasso_iterations):
        moved = ahead - rate * (gram @ ahead - overlap)
        length = _lengths(moved, owner, len(penalties))
        kept = (1 - rate * penalties / length.clamp(min=1e-12)).clamp(min=0)[owner]
        new = moved * kept.unsqueeze(1)
        following = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        ahead = new + (momentum - 1) / following * (new - weights)
        change, weights, momentum = float((new - weights).abs().max()), new, following
        if change <= config.lasso_tolerance * float(weights.abs().max()):
            break
    return weights


def _lengths(values: Tensor, feature: Tensor, n_features: int) -> Tensor:
    """The length of each feature's values together: (k, outputs) -> (features,)."""
    return sum_by_owner(values.square().sum(dim=1), feature, n_features).sqrt()
