"""Folds for cross-fitting: which rows each copy of a net learns from, and which held-out rows judge it.

The first fold holds out the validation rows. Further folds hold out training rows, each another part of them, so that
over all folds every row is learned from and more rows judge (Stone 1974; Chernozhukov et al. 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from maskrank.core.config.predictor import PredictorConfig
from maskrank.core.data.grouping import count_groups, deal_folds


@dataclass(frozen=True)
class Folds:
    """Row numbers, one line a fold. A fold with fewer rows than another repeats some of its own at random.

    Attributes
    ----------
    learned : Tensor (folds, rows learned from)
    held_out : Tensor (folds, rows held out)
        In the first fold the validation rows, or some of many.
    """

    learned: Tensor
    held_out: Tensor

    def __len__(self) -> int:
        return len(self.held_out)


def count_folds(n_rows: int, n_validation: int, config: PredictorConfig, groups: Tensor | None = None) -> int:
    """How many folds to make: the fewer validation rows, the more, while a fold has some rows to judge by.

    With more folds than the validation rows fit into the training rows, nets learn from more rows.

    Parameters
    ----------
    groups : Tensor (n_rows,) of int, optional
        Of the training rows: a further fold holds out one of them at least, and learns from another.
    """
    if groups is not None:
        n_groups = count_groups(groups)
        wanted = count_folds(n_rows, n_validation, config)
        return min(wanted, n_groups + 1) if n_groups > 1 else 1
    if n_rows + n_validation > config.max_cross_fitted_rows:
        return 1
    most = min(config.max_folds, n_rows // config.min_fold_rows + 1)
    wanted = max(config.min_folds, min(most, -(-config.min_judging_rows // n_validation)))
    return wanted if n_rows >= wanted - 1 else 1  # each fold holds out a row at least


def make_folds(
    y: Tensor,
    n_rows: int,
    *,
    n_folds: int,
    config: PredictorConfig,
    generator: torch.Generator,
    groups: Tensor | None = None,
    validation_groups: Tensor | None = None,
) -> Folds:
    """Hold out the validation rows, which come last; in further folds other rows, no row in two folds.

    A further fold holds out as many rows as there are validation rows, or fewer where they would not suffice.

    Parameters
    ----------
    y : Tensor (n,) or (n, outputs)
        Each fold holds out its share of every class, or of small and large targets, where rows suffice.
    n_rows : int
        Rows before the validation rows; at least one for each further fold.
    groups : Tensor (n_rows,) of int, optional
        Of the training rows; none is held out in part. At least as many as further folds.
    validation_groups : Tensor (n - n_rows,) of int, optional
        Of the validation rows: where these are too many to judge all, whole groups do.
    """
    numbers, n_validation = torch.arange(len(y)), len(y) - n_rows
    every = -(-n_validation // config.max_judging_rows)
    if every == 1 or validation_groups is None:
        held_out = [numbers[n_rows::every]]
    else:
        parts = min(every, count_groups(validation_groups))
        part = deal_folds(validation_groups, y[n_rows:], parts, generator=generator).cpu()
        held_out = [n_rows + (part == 0).nonzero().squeeze(1)]
    if n_folds > 1:
        stride = max(n_folds - 1, n_rows // n_validation)
        if groups is None:
            mixed = torch.randperm(n_rows, generator=generator)
            order = mixed[y.cpu().reshape(len(y), -1)[mixed, 0].argsort(stable=True)]
            held_out += [order[first::stride] for first in range(n_folds - 1)]
        else:
            parts = min(stride, count_groups(groups))
            part = deal_folds(groups, y[:n_rows], parts, generator=generator).cpu()
            held_out += [(part == number).nonzero().squeeze(1) for number in range(n_folds - 1)]
    learned = [numbers[:n_rows], *(numbers[~torch.isin(numbers, rows)] for rows in held_out[1:])]
    return Folds(*(_equally_long(rows, generator).to(y.device) for rows in (learned, held_out)))


def _equally_long(lists: Sequence[Tensor], generator: torch.Generator) -> Tensor:
    """Lists of rows as lines of one length: a shorter one is repeated, the last time with rows drawn at random."""
    longest = max(len(rows) for rows in lists)
    lines = []
    for rows in lists:
        drawn = torch.randperm(len(rows), generator=generator)[: longest % len(rows)]
        lines.append(torch.cat([rows.repeat(longest // len(rows)), rows[drawn]]))
    return torch.stack(lines)
