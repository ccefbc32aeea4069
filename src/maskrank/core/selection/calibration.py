"""After training: the selector learns once more, from losses measured on all training rows
(or on a few thousand of them, where there are more).

In training its targets are losses on a few rows, and most of their scatter is the rows' own. With the operator at
rest, the loss of a subset is one number. Weight decay keeps the selector smooth between the subsets it is shown, so
that its derivative at m* is what exchanging a feature really costs.
"""

from __future__ import annotations

import torch
from torch import Tensor

from maskrank.core.data.rows import Held, Rows
from maskrank.core.engine.adam import Adam
from maskrank.core.method.search import improve_subset
from maskrank.core.method.tasks import selector_loss, subset_losses
from maskrank.core.method.training import DualNetTrainer

_MOST_ROUNDS = 2
_RATE, _DECAY = 3e-2, 1.0
_NEAR_WEIGHT = 10.0  # of a neighbour of m_opt in the selector's loss, against 1 for a random subset
_WORTH_ANOTHER = 0.1  # what a new m_opt must gain, in the spread of its neighbours' losses, to be looked around at
_MOST_ROWS = 2048
_MOST_HELD = 1 << 24  # values of these rows that are copied, where the table itself is not
_VALUES_AT_ONCE = 1 << 20  # of the operator's hidden layers in one forward


def polish_selector(trainer: DualNetTrainer, optimal: Tensor, *, search: bool = True) -> Tensor:
    """Fit the selector to the resting operator around m_opt and search it again, until m_opt stays as good.

    Parameters
    ----------
    search : bool
        Without it m_opt stays, and only the scores are put right.

    Returns
    -------
    Tensor (s,)
        m*.
    """
    config = trainer.config
    if not config.calibration.n_subsets:
        return trainer.find_optimal(max_rounds=config.final_rounds) if search else optimal
    for _ in range(_MOST_ROUNDS):
        near, random = _neighbours(trainer, optimal), trainer.explore(config.calibration.n_subsets // 2)
        subsets = torch.cat([near, random])
        weights = torch.ones(len(subsets), device=subsets.device)
        weights[: len(near)] = _NEAR_WEIGHT
        losses = measured_losses(trainer, subsets)
        _fit(trainer, subsets, losses, weights / weights.mean())
        if not search:
            break
        before, optimal = optimal, _better(trainer, optimal)
        with torch.no_grad():
            gain = -trainer.selector(torch.stack([before, optimal])).diff()
        if float(gain) <= _WORTH_ANOTHER * float(losses[: len(near)].std()):
            break
    return optimal


def _better(trainer: DualNetTrainer, optimal: Tensor) -> Tensor:
    """Of m_opt and what the selector is searched for from there and from anew, the one of the lowest measured loss."""
    rounds = trainer.config.final_rounds
    near = improve_subset(trainer.selector, optimal, max_rounds=rounds)
    found = torch.stack([optimal, near, trainer.find_optimal(max_rounds=rounds)])
    return found[measured_losses(trainer, found).argmin()]


def _neighbours(trainer: DualNetTrainer, optimal: Tensor) -> Tensor:
    """m_opt, and subsets that differ from it in one or in two features."""
    quarter = trainer.config.calibration.n_subsets // 4
    return torch.cat([optimal.unsqueeze(0), *(trainer.neighbours(optimal, quarter, s_p) for s_p in (1, 2))])


def _fit(trainer: DualNetTrainer, subsets: Tensor, losses: Tensor, weights: Tensor) -> None:
    """Train the selector on all subsets at once, with a rate that falls to 0.

    Only features that some subset holds have a gradient, so a small selector of these learns in place of the whole
    one; of the other rows weight decay leaves a known share.
    """
    selector, steps = trainer.selector, trainer.config.calibration.steps
    features, places = torch.unique(subsets, return_inverse=True)
    small = selector.on_features(features)
    targets = losses - (weights * losses).mean()
    optimizer = Adam(small.parameters(), rate=_RATE, decay=_DECAY)
    left = 1.0
    for step in range(steps):
        optimizer.rate = _RATE * (1 - step / steps)
        loss = selector_loss(small(places), targets, weights)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        left *= 1 - optimizer.rate * _DECAY
    selector.take_over(small, features, left)


@torch.no_grad()
def measured_losses(trainer: DualNetTrainer, subsets: Tensor) -> Tensor:
    """Mean loss of each subset over the training rows, at most 2,048 of them: (masks,)."""
    rows, training = trainer.rows, trainer.operator.training
    trainer.operator.eval()
    batch = rows.all() if len(rows) <= _MOST_ROWS else rows.sample(_MOST_ROWS, generator=trainer.generator)
    if not isinstance(rows.values, Held) and len(batch) * rows.n_features <= _MOST_HELD:
        batch = Rows(batch.dense(), batch.y).all()
    at_once = _VALUES_AT_ONCE // max(1, sum(trainer.config.operator_hidden))
    parts = torch.split(subsets, max(1, at_once // len(batch)))
    losses = torch.cat([subset_losses(trainer.operator, trainer.task, batch, part) for part in parts])
    trainer.operator.train(training)
    return losses
