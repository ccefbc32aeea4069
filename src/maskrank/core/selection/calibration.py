"""Calibration of the selector: it learns once more, from losses of the resting operator on all training rows.

In training the selector's targets are losses on a few rows, and most of their scatter is the rows' own. With the
operator at rest the loss of a subset is one number. Weight decay keeps the selector smooth between the subsets it is
shown, so that its derivative at m* is what exchanging a feature really costs.
"""

from __future__ import annotations

import torch
from torch import Tensor

from maskrank.core import limits
from maskrank.core.config import CalibrationConfig
from maskrank.core.data.rows import Held, Rows
from maskrank.core.engine.adam import Adam
from maskrank.core.engine.training_loop import linear_decay, train
from maskrank.core.method.search import improve_subset
from maskrank.core.method.selector import Selector
from maskrank.core.method.tasks import selector_loss, subset_losses
from maskrank.core.method.training import DualNetTrainer


def calibrate_selector(trainer: DualNetTrainer, optimal: Tensor, *, search: bool = True) -> Tensor:
    """Fit the selector to the resting operator around m_opt and search it again, until m_opt stays as good.

    Parameters
    ----------
    optimal : Tensor (s,)
    search : bool
        Without it m_opt stays, and only the scores are put right.

    Returns
    -------
    Tensor (s,)
        m*.
    """
    found = trainer.pool.places(optimal)
    config = trainer.config.calibration
    if not config.n_subsets:
        return trainer.pool.at(trainer.find_optimal(max_rounds=trainer.config.final_rounds)) if search else optimal
    for _ in range(config.max_rounds):
        near, random = _neighbours(trainer, found), trainer.explore(config.n_subsets // 2)
        subsets = torch.cat([near, random])
        weights = torch.ones(len(subsets), device=subsets.device)
        weights[: len(near)] = config.neighbour_weight
        losses = measured_losses(trainer, subsets)
        fit_selector(trainer.selector, subsets, losses, weights / weights.mean(), config)
        if not search:
            break
        before, found = found, _search_again(trainer, found)
        with torch.no_grad():
            gain = -trainer.selector(torch.stack([before, found])).diff()
        if float(gain) <= config.min_gain * float(losses[: len(near)].std()):
            break
    return trainer.pool.at(found)


def _search_again(trainer: DualNetTrainer, optimal: Tensor) -> Tensor:
    """The subset of the lowest measured loss among m_opt and two searches: from m_opt on, and from m_0."""
    config = trainer.config
    fresh = trainer.find_optimal(max_rounds=config.final_rounds)
    if not config.calibration.measure_candidates:
        return fresh
    near = improve_subset(
        trainer.selector, optimal, max_rounds=config.final_rounds, n_candidates=config.n_search_candidates
    )
    found = torch.stack([optimal, near, fresh])
    return found[measured_losses(trainer, found).argmin()]


def _neighbours(trainer: DualNetTrainer, optimal: Tensor) -> Tensor:
    """m_opt, and subsets that differ from it in one or in two features."""
    quarter = trainer.config.calibration.n_subsets // 4
    return torch.cat([optimal.unsqueeze(0), *(trainer.neighbours(optimal, quarter, s_p) for s_p in (1, 2))])


def fit_selector(
    selector: Selector, subsets: Tensor, losses: Tensor, weights: Tensor, config: CalibrationConfig
) -> None:
    """Train the selector on all subsets at once, with a rate that falls to 0.

    Only features that some subset holds have a gradient, so a small selector of these learns in place of the whole
    one; of the other rows weight decay leaves a known share.
    """
    features, places = torch.unique(subsets, return_inverse=True)
    small = selector.on_features(features)
    targets = losses - (weights * losses).mean()
    optimizer = Adam(small.parameters(), rate=config.rate, decay=config.decay)
    schedule = linear_decay(config.rate)
    train(optimizer, lambda: selector_loss(small(places), targets, weights), steps=config.steps, schedule=schedule)
    kept = 1.0
    for step in range(config.steps):
        kept *= 1 - schedule(step, config.steps) * config.decay
    selector.take_over(small, features, kept)


@torch.no_grad()
def measured_losses(trainer: DualNetTrainer, subsets: Tensor) -> Tensor:
    """Mean loss of each subset over the training rows, or some of very many: (masks,)."""
    rows, training = trainer.rows, trainer.operator.training
    max_rows = trainer.config.calibration.max_rows
    trainer.operator.eval()
    batch = rows.all() if len(rows) <= max_rows else rows.sample(max_rows, generator=trainer.generator)
    if not isinstance(rows.values, Held) and len(batch) * rows.blocks.n_columns <= limits.HELD_CALIBRATION:
        batch = Rows(batch.dense(), batch.y, rows.blocks, rows.n_required, batch.weights).all()
    at_once = limits.HIDDEN // max(1, sum(trainer.config.operator_hidden))
    parts = torch.split(subsets, max(1, at_once // len(batch)))
    losses = torch.cat([subset_losses(trainer.operator, trainer.task, batch, part) for part in parts])
    trainer.operator.train(training)
    return losses
