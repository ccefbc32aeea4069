"""The measured scores of the chosen features: a value function on their columns, and its Shapley shares."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from maskrank.core.data.features import FeatureWorth
from maskrank.core.method.training import DualNetTrainer
from maskrank.core.scoring.shapley import Shares
from maskrank.core.scoring.value_function import ValueFunction, fit_value_function


@dataclass(frozen=True)
class MeasuredScores:
    """What the chosen features are worth.

    Attributes
    ----------
    value : ValueFunction
        Of subsets of the chosen features, in the order of the table.
    shares : Shares
        Of these features, in the same order.
    worth : FeatureWorth
        These shares, and which of them are clearly above 0: what the predictor needs to know.
    """

    value: ValueFunction
    shares: Shares
    worth: FeatureWorth


def measure_scores(trainer: DualNetTrainer, optimal: Tensor, *, learn_all: bool) -> MeasuredScores | None:
    """Measure what each chosen feature is worth: (s,). None where that is switched off, or the nets left all bounds.

    Parameters
    ----------
    learn_all : bool
        Whether nets may learn from validation rows; if not, these rows judge, and no others.
    """
    settings, generator = trainer.config.score, trainer.generator
    if not settings.enabled:
        return None
    subset = trainer.pool.places(optimal).unsqueeze(0)
    parts = (trainer.rows, trainer.validation)
    value = fit_value_function(
        trainer.task,
        torch.cat([part.all().columns(subset)[0] for part in parts]),  # (n, s)
        torch.cat([part.y for part in parts]),
        n_training=None if learn_all else len(trainer.rows),
        config=trainer.config,
        generator=generator,
    )
    shares = value.shares(settings, generator)
    if not bool(shares.of_rows.isfinite().all()):
        return None
    supported = shares.values > settings.supported_z * shares.errors
    return MeasuredScores(value, shares, FeatureWorth.of(shares.values, supported))
