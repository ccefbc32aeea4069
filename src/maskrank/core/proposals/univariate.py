"""Univariate tests: evidence of each single feature.

A column of numbers is tested by its standardised values and by cosines of its ranks, an indicator by its standardised
values alone. A feature of several columns is tested as a whole, besides.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from maskrank.core import limits
from maskrank.core.config import ScreeningConfig
from maskrank.core.data.blocks import Blocks
from maskrank.core.data.rows import Batch
from maskrank.core.proposals.block_tests import BlockTests
from maskrank.core.proposals.statistics import (
    corrected_evidence,
    cosine,
    skewness_corrected,
    split_features,
    standardised,
    values_of,
    wilson_hilferty,
)
from maskrank.core.recorder import counted


def univariate_evidence(
    batch: Batch, d: int, directions: Tensor, config: ScreeningConfig, given: Tensor | None = None
) -> Tensor:
    """Evidence of the best test of each of the first d features: (d,).

    Parameters
    ----------
    directions : Tensor (n, q)
        An orthonormal basis of the target, or of its residual.
    given : Tensor (n, k), optional
        Orthonormal directions that were projected out of the target: what features have beside them is tested.
    """
    n, q = len(batch), directions.shape[1]
    if q == 0:
        return torch.full((d,), -math.log(2 * d), device=directions.device)
    cosines = torch.stack([cosine(n, k, directions.device) for k in range(1, config.n_cosines + 1)])  # (cosines, n)
    both = directions if given is None else torch.cat([directions, given], dim=1)
    parts = []
    runs = split_features(batch.blocks, d, limits.SCREENED // (n * both.shape[1]), directions.device)
    for features in counted(runs, "features"):
        x, blocks = values_of(batch, features), batch.blocks.only(features)
        numeric = blocks.numeric.to(x.device)
        by_rank = both[(x if bool(numeric.all()) else x[numeric]).argsort(dim=1)]  # (numeric, n, q + k)
        curved = torch.matmul(cosines, by_rank).square()  # (numeric, cosines, q + k)
        columns = standardised(x, config.clip)
        linear = (columns @ both).square()  # (some, q + k)
        tests = torch.cat([linear.unsqueeze(1), _spread(curved, numeric)], dim=1)  # (some, 1 + cosines, q + k)
        explained = tests[:, :, :q].sum(dim=2)
        if given is not None:
            explained = explained / (1 - tests[:, :, q:].sum(dim=2)).clamp(min=config.min_new)
        if not bool(numeric.all()):
            indicators = columns[~numeric]
            explained[~numeric, 0] = _explained_by_indicators(indicators, directions, given, config)
        z = wilson_hilferty(n * explained, q)
        best = corrected_evidence(z, tests_of_columns(blocks, d, config.n_cosines).to(z.device)).amax(dim=1)
        parts.append(best if blocks.is_single else _of_features(best, columns, blocks, directions, given, d, config))
    return torch.cat(parts)


def tests_of_columns(blocks: Blocks, d: int, n_cosines: int) -> Tensor:
    """Number of tests that each test of each column is corrected for: (columns, 1 + cosines).

    Each of d features has the same chance of a false discovery. Of a feature of several columns half of it goes to the
    joint test, and the columns share the other half. Of a column of numbers half of its chance goes to the standardised
    values, in front; all cosines share the other half. An indicator has no test of cosines.
    """
    widths = blocks.widths[blocks.feature_of].double()
    n_columns = d * torch.where(widths > 1, 2 * widths, 1.0)
    linear = torch.where(blocks.numeric, 2 * n_columns, n_columns)
    curved = torch.where(blocks.numeric, 2 * n_cosines * n_columns, torch.inf)
    return torch.cat([linear.unsqueeze(1), curved.unsqueeze(1).expand(-1, n_cosines)], dim=1).float()


def _explained_by_indicators(
    columns: Tensor, directions: Tensor, given: Tensor | None, config: ScreeningConfig
) -> Tensor:
    """What standardised indicators explain, corrected for the skewness of rare ones: (k, n) -> (k,)."""
    n, overlaps = len(directions), columns @ directions
    if given is not None:
        new = (1 - (columns @ given).square().sum(dim=1, keepdim=True)).clamp(min=config.min_new)
        overlaps = overlaps / new.sqrt()
    skewness = math.sqrt(n) * torch.outer(columns.pow(3).sum(dim=1), directions.pow(3).sum(dim=0))
    return skewness_corrected(math.sqrt(n) * overlaps, skewness).square().sum(dim=1) / n


def _spread(curved: Tensor, numeric: Tensor) -> Tensor:
    """Values of the numeric columns among all, with zeros for the others: (numeric, ...) -> (columns, ...)."""
    if len(curved) == len(numeric):
        return curved
    spread = curved.new_zeros((len(numeric), *curved.shape[1:]))
    spread[numeric] = curved
    return spread


def _of_features(
    of_columns: Tensor,
    columns: Tensor,
    blocks: Blocks,
    directions: Tensor,
    given: Tensor | None,
    d: int,
    config: ScreeningConfig,
) -> Tensor:
    """Of each feature its best column's evidence, or that of its joint test: (columns,) -> (features,)."""
    owner = blocks.feature_of.to(of_columns.device)
    best = of_columns.new_full((len(blocks),), -torch.inf).scatter_reduce(0, owner, of_columns, "amax")
    joint = BlockTests.of(columns, blocks, config)
    new = joint.basis.square().sum(dim=1)
    if given is not None:
        new = new - (joint.basis @ given).square().sum(dim=1)
    z = joint.z((joint.basis @ directions).square().sum(dim=1), new, directions, len(directions))
    best[joint.places] = best[joint.places].maximum(corrected_evidence(z, 2.0 * d))
    return best
