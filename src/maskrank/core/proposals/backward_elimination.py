"""Backward elimination with closed-form models: kernel ridge regression for few rows, ridge regression for many.

Where many features are weakly informative, as genes and pixels are, tests of single features and pairs say little
about which of them go well together. As in recursive feature elimination (Guyon et al. 2002), a model of all features
does. Returns features in elimination order; the survivors are one candidate subset for the tournament.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from maskrank.core import limits
from maskrank.core.config import EliminationConfig
from maskrank.core.data.rows import Batch, Rows
from maskrank.core.method.tasks import Task
from maskrank.core.proposals.kernel_ridge import eliminate_by_kernel
from maskrank.core.proposals.ridge import eliminate_by_ridge
from maskrank.core.proposals.statistics import orthonormal_basis, standardised, unit_length, values_of


def few_rows(rows: Rows, config: EliminationConfig) -> bool:
    """Whether kernel ridge regression is used: fewer rows than features, and not more than it can take."""
    return len(rows) < min(rows.n_features, config.max_kernel_rows + 1)


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
        Of the same features; used together. The first, the training rows, chooses the model.
    """
    batches = _draw_rows(parts, config.max_rows, generator)
    target = _numeric_target(task, torch.cat([batch.y for batch in batches]), config.clip)
    n, d = len(target), parts[0].n_features
    if few_rows(parts[0], config):
        max_features = max(wanted, int(config.kernel_work / n**2))
        features = _most_correlated(batches, target, d, max_features, config.clip)
        x = unit_length(_values(batches, features)).t() * math.sqrt(n)  # of deviation 1
        exact = len(parts[0]) <= config.max_exact_rows
        order = eliminate_by_kernel(x, target, size, exact=exact, config=config)
    elif d <= config.max_ridge_features:
        features = torch.arange(d, device=target.device)
        columns = standardised(_values(batches, features), config.clip)
        order = eliminate_by_ridge(columns, target, size, ridge=config.ridge, config=config)
    else:
        return []
    return features[order[:wanted]].tolist()


def _draw_rows(parts: Sequence[Rows], max_rows: int, generator: torch.Generator) -> list[Batch]:
    """Rows at random, the same share of each part."""
    total = sum(len(part) for part in parts)
    share = min(1.0, max_rows / total)
    return [
        part.take(torch.randperm(len(part), generator=generator)[: math.ceil(share * len(part))].to(part.device))
        for part in parts
    ]


def _numeric_target(task: Task, y: Tensor, clip: float) -> Tensor:
    """Centred class indicators, or standardised numbers: (n, outputs), the mean squared length of a row is 1."""
    columns = task.as_numeric(y).reshape(len(y), -1).double()
    columns = columns - columns.mean(dim=0) if task.discrete else standardised(columns.t(), clip).t()
    size = columns.square().sum(dim=1).mean().sqrt().clamp(min=1e-12)
    return (columns / size).float()


def _most_correlated(batches: Sequence[Batch], target: Tensor, d: int, max_features: int, clip: float) -> Tensor:
    """The features whose standardised columns correlate most with the target, sorted: (at most max_features,)."""
    features = torch.arange(d, device=target.device)
    if d <= max_features:
        return features
    basis = orthonormal_basis(target)
    blocks = torch.split(features, max(1, limits.SCREENED // len(target)))
    explained = [(standardised(_values(batches, some), clip) @ basis).square().sum(dim=1) for some in blocks]
    return torch.cat(explained).topk(max_features).indices.sort().values


def _values(batches: Sequence[Batch], features: Tensor) -> Tensor:
    """Columns of all rows, each as a row: (k, n)."""
    return torch.cat([values_of(batch, features) for batch in batches], dim=1)
