"""Is there any signal? Held-out predictions against the best constant answer."""

from __future__ import annotations

import torch
from torch import Tensor

from maskrank.core.config import ScoreConfig
from maskrank.core.data.grouping import count_groups
from maskrank.core.data.weights import error_of_mean, mean_of_rows
from maskrank.core.method.tasks import Task


def beats_constant(
    task: Task,
    outputs: Tensor,
    y: Tensor,
    seen: Tensor,
    config: ScoreConfig,
    *,
    weights: Tensor | None = None,
    groups: Tensor | None = None,
    seen_weights: Tensor | None = None,
) -> bool:
    """Whether predictions are better than the best constant answer, beyond the scatter between the rows.

    A one-sided z-test of the mean gain in loss, with the gain of a single row bounded; a handful of rows can't tell.

    Parameters
    ----------
    outputs : Tensor (n, outputs)
        On rows that were not learned from.
    y : Tensor
        Their targets.
    seen : Tensor
        Targets of the rows that were learned from.
    weights, groups : Tensor (n,), optional
        Of these rows; rows of one group vary together, and groups are counted in place of rows.
    seen_weights : Tensor, optional
        Of the rows that were learned from.
    """
    constant = task.constant(seen, seen_weights).expand_as(outputs)
    without, with_features = task.loss(torch.stack([constant, outputs.double()]), y)
    gain = without - with_features  # (n,)
    bound = config.max_row_gain * mean_of_rows(gain.abs(), weights)
    gain = gain.clamp(-bound, bound)  # a few rows should neither make the difference nor hide it
    n = len(gain) if groups is None else count_groups(groups)
    return n >= config.min_rows and bool(
        mean_of_rows(gain, weights) > config.min_z * error_of_mean(gain, weights, groups)
    )
