"""Algorithm 1 of the paper: alternate training of operator and selector.

What this file is not about: where subsets come from (`exploration`), how the selector is searched (`search`), what a
loss is (`tasks`), when to stop (`stopping`), how the nets are built (`construction`), and what is done with them when
they are trained (the rooms `selection`, `scoring`, `predictor`).

Inside the nets a feature is called by its place in the pool; what goes out has its number (see `data.features`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from maskrank.core.checkpoint import Checkpoint, Loop
from maskrank.core.config import TrainConfig
from maskrank.core.data.features import Features, Pool
from maskrank.core.data.rows import Rows
from maskrank.core.data.weights import mean_of_rows
from maskrank.core.engine.adam import Adam
from maskrank.core.engine.training_loop import update
from maskrank.core.method.exploration import Exploration
from maskrank.core.method.operators import Operator
from maskrank.core.method.search import find_optimal_subset
from maskrank.core.method.selector import Selector
from maskrank.core.method.stopping import EarlyStopping
from maskrank.core.method.tasks import Task, selector_loss, subset_losses
from maskrank.core.recorder import Recorder


@dataclass(frozen=True)
class Feedback:
    """What the operator tells the selector: the batches since the last selector step."""

    subsets: Tensor  # (batches * |M'|, s)
    losses: Tensor  # (batches * |M'|,)
    targets: Tensor  # the losses, centred in each batch where the config says so
    weights: Tensor | None  # (batches * |M'|,)

    @property
    def mean_loss(self) -> float:
        """L_O over these batches."""
        return float(self.losses.mean())

    @property
    def best(self) -> Tensor:
        """m_best: the subset of the lowest loss."""
        return self.subsets[self.targets.argmin()]


_TRAINED = ("operator", "selector", "operator_optimizer", "selector_optimizer")


class DualNetTrainer:
    """The parts of one run, and the steps of Algorithm 1 as its methods; `train_dual_net` puts them in order."""

    def __init__(
        self,
        operator: Operator,
        selector: Selector,
        task: Task,
        rows: Rows,
        validation: Rows,
        *,
        pool: Pool,
        size: int,
        config: TrainConfig,
        exploration: Exploration,
        generator: torch.Generator,
    ) -> None:
        self.operator, self.selector, self.task = operator, selector, task
        self.rows, self.validation, self.pool = rows, validation, pool
        self.size, self.config, self.generator = size, config, generator
        self.exploration = exploration
        self.device = rows.device
        self.operator_optimizer = Adam(
            operator.parameters(), rate=config.operator_rate, nesterov=config.operator_optimizer == "nadam"
        )
        self.selector_optimizer = Adam(selector.parameters(), rate=config.selector_rate)

    def explore(self, n: int) -> Tensor:
        """Random subsets (lines 2 and 9): (n, s)."""
        return self.exploration.subsets(n).to(self.device)

    def neighbours(self, subset: Tensor, n: int, s_p: int) -> Tensor:
        """Subsets that differ from one in s_p features (line 11): (n, s)."""
        return self.exploration.neighbours(subset.cpu(), n, s_p).to(self.device)

    def propose(self, best: Tensor, optimal: Tensor, batches: int) -> Tensor:
        """Exploration and exploitation (lines 9, 11 and 12): M'_{t+1} of so many batches, (batches, |M'|, s).

        Each holds (1 - f)|M'| random subsets, m_best, m_opt, and f|M'| - 2 neighbours of m_opt, in this order.
        """
        n_random, n_near = self._shares()
        random = self.explore(batches * n_random)
        named = torch.stack([best, optimal]).expand(batches, 2, self.size)
        near = self.neighbours(optimal, batches * n_near, self.config.n_perturbed)
        return torch.cat(
            [random.view(batches, n_random, self.size), named, near.view(batches, n_near, self.size)], dim=1
        )

    def weights(self) -> Tensor:
        """w_m of the selector's loss, in the order of `propose`: (|M'|,)."""
        n_random, _ = self._shares()
        weights = torch.ones(self.config.n_subsets, device=self.device)
        weights[n_random] = self.config.weight_best
        weights[n_random + 1] = self.config.weight_optimal
        return weights

    def _shares(self) -> tuple[int, int]:
        """How many subsets of a batch are random, and how many are neighbours of m_opt."""
        n_exploit = max(2, round(self.config.exploit_share * self.config.n_subsets))
        return self.config.n_subsets - n_exploit, n_exploit - 2

    def operator_losses(self, subsets: Tensor) -> Tensor:
        """The loss of each subset on a new batch of rows: (|M'|, s) -> (|M'|,)."""
        batch = self.rows.sample(self.config.batch_size, generator=self.generator)
        return subset_losses(self.operator, self.task, batch, subsets)

    def operator_step(self, subsets: Tensor) -> Tensor:
        """One batch of rows on all subsets (lines 3-4 and 13-14); returns the loss of each subset: (|M'|,)."""
        losses = self.operator_losses(subsets)
        update(self.operator_optimizer, losses.mean())
        return losses.detach()

    def operator_batches(self, candidates: Tensor, weights: Tensor | None) -> Feedback:
        """The operator batches before a selector step, on (batches, |M'|, s) subsets."""
        losses = torch.stack([self.operator_step(subsets) for subsets in candidates])  # (batches, |M'|)
        targets = losses - losses.mean(dim=1, keepdim=True) if self.config.centre_targets else losses
        return Feedback(
            subsets=candidates.flatten(0, 1),
            losses=losses.flatten(),
            targets=targets.flatten(),
            weights=None if weights is None else weights.repeat(len(candidates)),
        )

    def selector_step(self, feedback: Feedback) -> float:
        """The selector learns from the operator's losses (lines 5-6 and 15-16); returns L_S."""
        loss = selector_loss(self.selector(feedback.subsets), feedback.targets, feedback.weights)
        update(self.selector_optimizer, loss)
        return float(loss.detach())

    def find_optimal(self, *, max_rounds: int) -> Tensor:
        """m_opt of the selector as it stands (line 10, Algorithm 2)."""
        start = 0.5 if self.config.search_start == "half" else self.size / self.rows.n_features
        return find_optimal_subset(
            self.selector,
            self.size,
            start=start,
            max_rounds=max_rounds,
            n_candidates=self.config.n_search_candidates,
        )

    def state_dict(self) -> dict[str, Any]:
        """Of both nets and their optimisers, for a checkpoint."""
        return {name: getattr(self, name).state_dict() for name in _TRAINED}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Put both nets and their optimisers into a state."""
        for name in _TRAINED:
            getattr(self, name).load_state_dict(state_dict[name])

    @torch.no_grad()
    def validate(self, optimal: Tensor) -> float:
        """The figure early stopping looks at: m_opt alone, on the validation rows (line 18)."""
        self.operator.eval()
        batch = self.validation.all()
        outputs = self.operator(batch, optimal.unsqueeze(0))
        judge = self.task.loss if self.config.stop_on == "loss" else self.task.error
        self.operator.train()
        return float(mean_of_rows(judge(outputs, batch.y)[0], batch.weights))


def train_dual_net(
    trainer: DualNetTrainer, features: Features, recorder: Recorder, checkpoint: Checkpoint | None = None
) -> Tensor:
    """Algorithm 1. Trains both nets in place and leaves them at the best moment.

    Parameters
    ----------
    checkpoint : Checkpoint, optional
        Of a fit that is to survive the end of its process.

    Returns
    -------
    Tensor (s,)
        m_opt of that moment.
    """
    fit = Checkpoint(recorder) if checkpoint is None else checkpoint
    best = fit.stage("explore", lambda: _phase_one(trainer, recorder, fit.loop("batches", trainer)), trainer)
    optimal = fit.stage("search", lambda: _phase_two(trainer, features, recorder, best, fit), trainer)
    return trainer.pool.at(optimal)


def _phase_one(trainer: DualNetTrainer, recorder: Recorder, loop: Loop) -> Tensor:
    """Lines 1-7: both nets learn from random subsets. Returns m_best."""
    config, batches = trainer.config, trainer.config.selector_every
    loop.resume(None)
    while True:
        random = trainer.explore(batches * config.n_subsets).view(batches, config.n_subsets, -1)  # line 2
        feedback = trainer.operator_batches(random, weights=None)  # lines 3-4
        loss = trainer.selector_step(feedback)  # lines 5-6
        recorder.step("explore", batches, feedback.mean_loss, loss)
        if recorder.batch >= config.phase1_batches:
            return feedback.best
        loop.keep(None)


def _phase_two(
    trainer: DualNetTrainer, features: Features, recorder: Recorder, best: Tensor, checkpoint: Checkpoint
) -> Tensor:
    """Lines 8-23: the selector proposes, the operator answers, until m_opt gets no better."""
    config, batches = trainer.config, trainer.config.selector_every
    weights = trainer.weights()
    optimal = trainer.find_optimal(max_rounds=config.search_rounds)  # line 10
    stopping = EarlyStopping(trainer.operator, trainer.selector, optimal, patience=config.patience)
    loop = checkpoint.loop("batches", trainer, stopping)
    best, optimal, next_validation = loop.resume((best, optimal, recorder.batch))
    while True:
        if recorder.batch >= next_validation:
            next_validation += config.validate_every
            value = trainer.validate(optimal)  # line 18
            recorder.validated(value)
            if stopping.update(value, optimal, recorder.batch):  # line 19
                break
        if recorder.batch >= config.max_batches:
            break
        proposed = trainer.propose(best, optimal, batches)  # lines 9, 11-12
        feedback = trainer.operator_batches(proposed, weights)  # lines 13-14
        loss = trainer.selector_step(feedback)  # lines 15-16
        best = feedback.best  # line 17
        optimal = trainer.find_optimal(max_rounds=config.search_rounds)  # line 10, for the next step
        recorder.step("search", batches, feedback.mean_loss, loss, features.places_of(trainer.pool.at(optimal)))
        loop.keep((best, optimal, next_validation))
    stopping.restore()  # line 20
    return stopping.optimal
