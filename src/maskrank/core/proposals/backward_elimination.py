"""Backward elimination with closed-form models: kernel ridge regression for few rows, ridge regression for many.

Where many features are weakly informative, as genes and pixels are, tests of single features and pairs say little
about which of them go well together. As in recursive feature elimination (Guyon et al. 2002), a model of all features
does. Returns features in elimination order; the survivors are one candidate subset for the tournament.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from maskrank.core import limits
from maskrank.core.config import EliminationConfig
from maskrank.core.data.grouping import joined_groups
from maskrank.core.data.rows import Batch, Rows, take_weights
from maskrank.core.data.weights import joined_weights, mean_of_rows, normalised
from maskrank.core.method.tasks import Task, weighted_mean
from maskrank.core.proposals.kernel_ridge import Inputs, eliminate_by_kernel
from maskrank.core.proposals.ridge import eliminate_by_ridge
from maskrank.core.proposals.statistics import (
    explained_by,
    how_many_fit,
    orthonormal_basis,
    orthonormal_blocks,
    split_features,
    standardised,
    unit_length,
    values_of,
    weighted_rows,
    weighted_scores,
    wilson_hilferty,
    without_empty_rows,
)


def few_rows(rows: Rows, config: EliminationConfig) -> bool:
    """Whether kernel ridge regression is used: fewer rows than columns, and not more than it can take.

    Columns, not features: a ridge regression of more columns than rows fits any target.
    """
    return len(rows) < min(int(rows.blocks.starts[rows.n_features]), config.max_kernel_rows + 1)


@torch.no_grad()
def eliminate(
    task: Task,
    parts: Sequence[Rows],
    size: int,
    *,
    wanted: int,
    config: EliminationConfig,
    generator: torch.Generator,
) -> list[int]:
    """The s survivors, then the features eliminated last: ``wanted`` in all.

    Empty where there are both many rows and more features than a ridge regression can take.

    Parameters
    ----------
    parts : sequence of Rows
        Of the same features; used together. The first, the training rows, chooses the model. The regressions are
        weighted where the rows are.
    """
    batches = _draw_rows(parts, config.max_rows, generator)
    weights = _weights(batches)
    target = _numeric_target(task, torch.cat([batch.y for batch in batches]), config.clip, weights)
    n, d, blocks = len(target), parts[0].n_features, parts[0].blocks
    if few_rows(parts[0], config):
        features = _most_correlated(batches, target, d, int(config.kernel_work / n**2), wanted, config.clip)
        x = _kernel_inputs(batches, torch.cat([features, parts[0].required]), n)
        groups = joined_groups(
            [take_weights(part.groups, batch.index) for part, batch in zip(parts, batches, strict=True)]
        )
        x = replace(x, weights=weights, groups=groups)
        if parts[0].n_required:  # with a high penalty, doubles of them would still be of use
            required = standardised(_values(batches, parts[0].required), config.clip)
            basis = orthonormal_basis(required.t(), min_size=1e-2)[:, : max(1, n // 4)]
            target = target - basis @ (basis.t() @ target)
        exact = len(parts[0]) <= config.max_exact_rows
        order = eliminate_by_kernel(x, target, size, exact=exact, config=config)
    elif d <= config.max_ridge_features:
        features = _most_correlated(batches, target, d, config.max_ridge_features, wanted, config.clip)
        columns, blocks = _regressors(batches, features, config.clip), blocks.only(features)
        if weights is not None:
            target = target * weights.to(target).sqrt().unsqueeze(1)
        if not blocks.is_single:
            columns, blocks = without_empty_rows(orthonormal_blocks(columns, blocks, config.max_block_rank), blocks)
        if parts[0].n_required:
            columns, target = _beside(_regressors(batches, parts[0].required, config.clip), columns, target)
        order = eliminate_by_ridge(columns, target, size, blocks=blocks, ridge=config.ridge, config=config)
    else:
        return []
    return features[order[:wanted]].tolist()


def _weights(batches: Sequence[Batch]) -> Tensor | None:
    """Of all rows, of mean 1; None where they have none: (n,)."""
    weights = joined_weights([batch.weights for batch in batches], [len(batch) for batch in batches])
    return None if weights is None else normalised(weights)


def _regressors(batches: Sequence[Batch], features: Tensor, clip: float) -> Tensor:
    """Standardised columns of some features for a ridge regression, weighted where rows are: (columns, n)."""
    columns, weights = standardised(_values(batches, features), clip), _weights(batches)
    return columns if weights is None else weighted_rows(columns, weights)


def _kernel_inputs(batches: Sequence[Batch], features: Tensor, n: int) -> Inputs:
    """Features of which each makes distances of the same mean square, whatever the number of its columns."""
    blocks = batches[0].blocks.only(features)
    x = unit_length(_values(batches, features)).t() * math.sqrt(n)  # of deviation 1
    if not blocks.is_single:
        x = x / blocks.widths[blocks.feature_of].to(x).sqrt()
    return Inputs(x, blocks, batches[0].n_required)


def _beside(required: Tensor, columns: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Columns and target without what required columns tell of them, which stay in the model: (k, n), (n, outputs)."""
    basis = orthonormal_basis(required.t(), min_size=1e-2)
    return columns - (columns @ basis) @ basis.t(), target - basis @ (basis.t() @ target)


def _draw_rows(parts: Sequence[Rows], max_rows: int, generator: torch.Generator) -> list[Batch]:
    """Rows at random, the same share of each part."""
    total = sum(len(part) for part in parts)
    share = min(1.0, max_rows / total)
    return [
        part.take(torch.randperm(len(part), generator=generator)[: math.ceil(share * len(part))].to(part.device))
        for part in parts
    ]


def _numeric_target(task: Task, y: Tensor, clip: float, weights: Tensor | None) -> Tensor:
    """Standardised indicators of classes, so that all count alike, or numbers: (n, outputs), rows of mean square 1."""
    columns = standardised(task.as_numeric(y).reshape(len(y), -1).double().t(), clip).t()
    if weights is not None:
        columns = columns - weighted_mean(columns, weights)
    size = mean_of_rows(columns.square().sum(dim=1), weights).sqrt().clamp(min=1e-12)
    return (columns / size).float()


def _most_correlated(
    batches: Sequence[Batch], target: Tensor, d: int, max_columns: int, wanted: int, clip: float
) -> Tensor:
    """The features that correlate most with the target, sorted: so many wanted, or those of so many columns: (k,)."""
    features, blocks = torch.arange(d, device=target.device), batches[0].blocks
    if int(blocks.starts[d]) <= max(wanted, max_columns):
        return features
    weights = _weights(batches)
    basis = orthonormal_basis(target if weights is None else weighted_scores(target.t(), weights).t())
    parts = [
        explained_by(basis, standardised(_values(batches, some), clip), blocks.only(some), len(target) // 4)
        for some in split_features(blocks, d, limits.SCREENED // len(target), target.device)
    ]
    explained, rank = (torch.cat(some) for some in zip(*parts, strict=True))
    freedom = basis.shape[1] * rank
    strength = explained if blocks.is_single else wilson_hilferty(len(target) * explained, freedom)
    best = strength.topk(d).indices
    n_features = max(min(wanted, d), how_many_fit(blocks.widths.to(best.device)[best], max_columns))
    return best[:n_features].sort().values


def _values(batches: Sequence[Batch], features: Tensor) -> Tensor:
    """The columns of some features in all rows, each as a row: (columns, n)."""
    return torch.cat([values_of(batch, features) for batch in batches], dim=1)
