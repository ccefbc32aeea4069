"""The operator is trained on around one subset, at a rate that falls to 0, before it is judged or read there."""

from __future__ import annotations

from torch import Tensor

from maskrank.core.engine.training_loop import linear_decay, train
from maskrank.core.method.training import DualNetTrainer


def fine_tune_operator(trainer: DualNetTrainer, optimal: Tensor, *, batches: int) -> None:
    """So many operator batches of Phase II with m_best and m_opt fixed: (s,)."""
    config, places = trainer.config, trainer.pool.places(optimal)
    train(
        trainer.operator_optimizer,
        lambda: trainer.operator_losses(trainer.propose(places, places, 1)[0]).mean(),
        steps=min(batches, config.max_batches),
        schedule=linear_decay(config.operator_rate),
    )
