"""Features given up one after the other, by what those that are left would lose, without any net.

Where many features tell a little each, as genes and pixels do, single features and pairs say little about which of
them go well together. Two machines that are solved at once do. Of few rows it is a Gaussian kernel machine
(`kernel_machine`), of many rows a ridge regression on the features' lines (`line_machine`).

What is left in the end is a proposal: nets decide whether it is better than m_opt (`contest`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from maskrank.core.data.rows import Batch, Rows
from maskrank.core.proposals.kernel_ridge import eliminate_by_kernel
from maskrank.core.proposals.ridge import eliminate_by_lines
from maskrank.core.proposals.statistics import AT_ONCE, lines_of, orthonormal, unit_length, values_of

_MOST_FEW_ROWS = 768  # that a kernel machine learns from; it takes their third power
_ROWS_OF_TRIALS = 256  # at the most, for deletions and exchanges by trial
_KERNEL_WORK = 1e9  # rows² times features at the most
_MOST_ROWS, _MOST_LINES = 4096, 1024  # of a ridge regression
_LINE_RIDGE = 0.03


def few_rows(rows: Rows) -> bool:
    """Whether a kernel machine looks at them: fewer rows than features, and no more than 768."""
    return len(rows) < min(rows.n_features, _MOST_FEW_ROWS + 1)


@torch.no_grad()
def eliminate(
    task: object, parts: Sequence[Rows], size: int, *, wanted: int, config: object = None, generator: torch.Generator
) -> list[int]:
    """The s features that are left in the end, and behind them those that were given up last: ``wanted`` in all.

    None, where there are many rows of more than 1,024 features.

    Parameters
    ----------
    parts : sequence of Rows
        Of the same features; their rows together are looked at. The first, the training rows, tells how.
    """
    batches = _some_rows(parts, _MOST_ROWS, generator)
    y = torch.cat([batch.y for batch in batches])
    target = _numbers(y)
    n, d = len(y), parts[0].n_features
    if few_rows(parts[0]):
        features = _best_alone(batches, target, most=max(wanted, int(_KERNEL_WORK / n**2)), d=d)
        x = unit_length(_values(batches, features)).t() * math.sqrt(n)  # of deviation 1
        order = eliminate_by_kernel(x, target, size, by_trial=len(parts[0]) <= _ROWS_OF_TRIALS)
    elif d <= _MOST_LINES:
        features = torch.arange(d, device=target.device)
        order = eliminate_by_lines(lines_of(_values(batches, features)), target, size, ridge=_LINE_RIDGE)
    else:
        return []
    return features[order[:wanted]].tolist()


def _some_rows(parts: Sequence[Rows], most: int, generator: torch.Generator) -> list[Batch]:
    """Rows by lot, of each part its share."""
    total = sum(len(part) for part in parts)
    share = min(1.0, most / total)
    return [
        part.take(torch.randperm(len(part), generator=generator)[: math.ceil(share * len(part))].to(part.device))
        for part in parts
    ]


def _numbers(y: Tensor) -> Tensor:
    """Classes as centred zeros and ones, numbers without their outliers: (n, outputs), each row's mean square 1."""
    columns = y.reshape(len(y), -1).double() if y.dtype.is_floating_point else F.one_hot(y).double()
    columns = lines_of(columns.t()).t() if y.dtype.is_floating_point else columns - columns.mean(dim=0)
    size = columns.square().sum(dim=1).mean().sqrt().clamp(min=1e-12)
    return (columns / size).float()


def _best_alone(batches: Sequence[Batch], target: Tensor, *, most: int, d: int) -> Tensor:
    """The features whose lines go best with the target, sorted: (at most ``most``,)."""
    features = torch.arange(d, device=target.device)
    if d <= most:
        return features
    basis = orthonormal(target)
    blocks = torch.split(features, max(1, AT_ONCE // len(target)))
    told = [(lines_of(_values(batches, some)) @ basis).square().sum(dim=1) for some in blocks]
    return torch.cat(told).topk(most).indices.sort().values


def _values(batches: Sequence[Batch], features: Tensor) -> Tensor:
    """Columns of all rows, each as a row: (k, n)."""
    return torch.cat([values_of(batch, features) for batch in batches], dim=1)
