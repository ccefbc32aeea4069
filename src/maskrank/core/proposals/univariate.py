"""Univariate tests: evidence of each single feature, by its standardised column and by cosines of its ranks."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from maskrank.core import limits
from maskrank.core.config import ScreeningConfig
from maskrank.core.data.rows import Batch
from maskrank.core.proposals.statistics import (
    corrected_evidence,
    cosine,
    standardised,
    values_of,
    wilson_hilferty,
)


def univariate_evidence(batch: Batch, d: int, directions: Tensor, config: ScreeningConfig) -> Tensor:
    """Evidence of the best test of each feature: (d,).

    Parameters
    ----------
    directions : Tensor (n, q)
        An orthonormal basis of the target, or of its residual.
    """
    n, q = len(batch), directions.shape[1]
    if q == 0:
        return torch.full((d,), -math.log(2 * d), device=directions.device)
    cosines = torch.stack([cosine(n, k, directions.device) for k in range(1, config.n_cosines + 1)])  # (cosines, n)
    parts = []
    for features in torch.split(torch.arange(d, device=directions.device), max(1, limits.SCREENED // (n * q))):
        x = values_of(batch, features)
        by_rank = directions[x.argsort(dim=1)]  # (some, n, q)
        curved = torch.matmul(cosines, by_rank).square().sum(dim=2)  # (some, cosines)
        linear = (standardised(x, config.clip) @ directions).square().sum(dim=1, keepdim=True)  # (some, 1)
        z = wilson_hilferty(n * torch.cat([linear, curved], dim=1), q)
        parts.append(evidence_of_tests(z, d, config.n_cosines).amax(dim=1))
    return torch.cat(parts)


def evidence_of_tests(z: Tensor, d: int, n_cosines: int) -> Tensor:
    """Evidence of each test of each feature, corrected for all tests of d features: (features, 1 + cosines).

    Half of the chance of a false discovery goes to the standardised column, in front; all cosines share the other.
    """
    n_tests = torch.full((z.shape[1],), 2.0 * n_cosines * d, device=z.device)
    n_tests[0] = 2.0 * d
    return corrected_evidence(z, n_tests)
