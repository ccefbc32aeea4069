"""The training of the final predictor: a net on the chosen s columns and nothing else.

Small MLPs trained anew on the chosen columns predict better than the operator, which has to serve every subset
(`fit_predictor`). A net of the user's own is fine-tuned at m* instead (`fine_tune`). `make_predictor` decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from maskrank.core.config import TrainConfig
from maskrank.core.config.predictor import PredictorConfig
from maskrank.core.data.rows import Rows
from maskrank.core.engine.adam import Adam
from maskrank.core.engine.predictor import Predictor
from maskrank.core.engine.training_loop import BestMoment, constant, cosine_annealing, train
from maskrank.core.method.operators import Operator
from maskrank.core.method.tasks import Task, subset_losses
from maskrank.core.predictor.encoding import EncodedRows, PiecewiseLinearEncoding, bins_per_feature
from maskrank.core.predictor.ensemble_selection import greedy_selection
from maskrank.core.predictor.folds import Folds, count_folds, make_folds
from maskrank.core.predictor.members import Members, share_of, start_members
from maskrank.core.predictor.recipes import usable_recipes
from maskrank.core.recorder import Callback, Progress


@dataclass(frozen=True)
class FittedPredictor:
    """The final predictor.

    Attributes
    ----------
    predictor : Predictor
        (rows, s) -> (rows, outputs).
    held_out : Predictor
        The members that did not learn from the validation rows, which may judge them.
    """

    predictor: Predictor
    held_out: Predictor


def make_predictor(
    operator: Operator,
    task: Task,
    rows: Rows,
    validation: Rows,
    subset: Tensor,
    importance: Tensor,
    *,
    config: TrainConfig,
    generator: torch.Generator,
    learn_all: bool,
    callbacks: Sequence[Callback] = (),
) -> FittedPredictor:
    """New nets on the chosen columns, the operator fine-tuned at m*, or, without recipes, the operator at m* as it is.

    Parameters
    ----------
    operator : Operator
        Trained on where it is one that fine-tunes.
    subset : Tensor (s,)
        m*, the chosen features.
    importance : Tensor (s,)
        Their scores.
    learn_all : bool
        Whether new nets may learn from validation rows too.
    """
    if config.predictor.n_recipes and not operator.fine_tunes:
        return fit_predictor(
            task,
            rows,
            validation,
            subset,
            importance,
            config=config,
            generator=generator,
            learn_all=learn_all,
            callbacks=callbacks,
        )
    if config.predictor.n_recipes:
        fine_tune(operator, task, rows, validation, subset, config=config, generator=generator, callbacks=callbacks)
    specialised = operator.specialise(subset)
    return FittedPredictor(specialised, specialised)


def fit_predictor(
    task: Task,
    rows: Rows,
    validation: Rows,
    subset: Tensor,
    importance: Tensor,
    *,
    config: TrainConfig,
    generator: torch.Generator,
    learn_all: bool = False,
    callbacks: Sequence[Callback] = (),
) -> FittedPredictor:
    """Train nets of ``config.predictor.n_recipes`` recipes on the chosen columns, and select an ensemble of them.

    Of each net, the running average of its weights is validated every few steps on rows it does not learn from, and
    its best moment is kept. These are the validation rows; with ``learn_all`` nets are cross-fitted: each recipe is
    trained once a fold, so that more rows judge and all rows are learned from. Where too few rows judge, the plain
    recipes alone are trained, and the better half of the nets is averaged with equal weights.

    The learning rate is annealed to 0 in a cycle; another one begins, with the best recipes alone, where the loss was
    still falling at the end of the first.

    Parameters
    ----------
    subset : Tensor (s,)
        The chosen features.
    importance : Tensor (s,)
        Their scores.
    learn_all : bool
        Whether nets may learn from validation rows.
    """
    settings = config.predictor
    x = torch.cat([part.all().columns(subset.unsqueeze(0))[0] for part in (rows, validation)])  # (n, s)
    y = torch.cat([rows.y, validation.y])
    n_folds = count_folds(len(rows), len(validation), settings) if learn_all else 1
    folds = make_folds(y, len(rows), n_folds=n_folds, config=settings, generator=generator)
    varied = n_folds > 1 or len(validation) >= settings.min_judging_rows
    n_bins = bins_per_feature(len(subset), len(rows), settings) if varied else 0
    recipes = usable_recipes(settings, varied=varied, encoded=n_bins > 0)
    encoded = n_bins > 0 and any(recipe.encoded for recipe in recipes)
    members = start_members(
        recipes,
        folds,
        PiecewiseLinearEncoding.fit(x[: len(rows)], n_bins, settings) if encoded else None,
        importance,
        n_outputs=task.n_outputs,
        activation=config.activation,
        config=settings,
        generator=generator,
    )
    n_batch, finished = _batch_size(settings, len(rows)), 0
    table = _Table.of(members, x, y, folds)
    for cycle, steps in enumerate(settings.cycles):
        if cycle:
            members = members.best_recipes(settings.n_continued)
            table = _Table.of(members, x, y, folds)
        told = _Told(callbacks, finished, sum(settings.cycles))
        losses = _train_cycle(members, task, table, steps, n_batch, config=settings, generator=generator, told=told)
        finished += steps
        if not _still_falling(losses, settings.min_drop if task.discrete else settings.min_drop_regression):
            break
    if varied:
        return _selected(members, task, table, settings)
    return _averaged(members if cycle else members.best_recipes(share_of(settings.n_recipes, settings.better_share)))


def fine_tune(
    operator: Operator,
    task: Task,
    rows: Rows,
    validation: Rows,
    subset: Tensor,
    *,
    config: TrainConfig,
    generator: torch.Generator,
    callbacks: Sequence[Callback] = (),
) -> None:
    """Train the operator on at one subset, in place, and leave it at its best moment on the validation rows."""
    settings, subsets = config.predictor, subset.unsqueeze(0)
    steps, n_batch = sum(settings.cycles), _batch_size(settings, len(rows))
    told = _Told(callbacks, 0, steps)
    best = BestMoment(operator)
    best.update(_validation_loss(operator, task, validation, subsets))

    def loss_of() -> Tensor:
        return subset_losses(operator, task, rows.sample(n_batch, generator=generator), subsets).mean()

    def validate(step: int, loss: Tensor) -> None:
        if step % settings.validate_every == 0 or step == steps:
            best.update(_validation_loss(operator, task, validation, subsets))
            told.progress(step, float(loss), best.value)

    rate = settings.fine_tune_rate_share * config.operator_rate
    optimizer = Adam(operator.parameters(), rate=rate)
    train(optimizer, loss_of, steps=steps, schedule=constant(rate), after=validate)
    best.restore()


@dataclass(frozen=True)
class _Told:
    """Whom to tell of the progress, and how many steps the cycles before have and all together."""

    callbacks: Sequence[Callback]
    before: int
    total: int

    def progress(self, step: int, loss: float, validation: float) -> None:
        for callback in self.callbacks:
            callback(Progress("refit", self.before + step, self.total, loss, 0.0, validation))


@dataclass(frozen=True)
class _Table:
    """All rows as the members see them, and the held-out rows of each fold."""

    inputs: EncodedRows
    y: Tensor  # (n,) or (n, outputs)
    held_inputs: Tensor  # (folds, rows, inputs)
    held_y: Tensor  # (folds, rows, ...)

    @classmethod
    def of(cls, members: Members, x: Tensor, y: Tensor, folds: Folds) -> _Table:
        inputs = EncodedRows(x, members.nets.encoding)
        return cls(inputs, y, inputs.take(folds.held_out), y[folds.held_out])


def _train_cycle(
    members: Members,
    task: Task,
    table: _Table,
    steps: int,
    n_batch: int,
    *,
    config: PredictorConfig,
    generator: torch.Generator,
    told: _Told,
) -> list[float]:
    """One cosine annealing of the learning rate, or less where nothing gets better; the loss after each validation."""
    optimizer = Adam(members.nets.parameters(), rate=config.rate, betas=config.betas)
    patience = max(1, share_of(steps, config.patience_share))
    losses: list[float] = []

    def loss_of() -> Tensor:
        index = members.draw(n_batch, generator)  # (members, batch)
        outputs = members.nets.members(members.add_noise(table.inputs.take(index), generator))
        # One task call sees all members' rows; the factor leaves each member its own mean loss.
        loss = task.loss(outputs.flatten(0, 1).unsqueeze(0), table.y[index].flatten(0, 1)).mean()
        return loss * len(members)

    def after(step: int, loss: Tensor) -> bool:
        members.follow(optimizer.rate, step)
        if step % config.validate_every and step != steps:
            return False
        members.validate(task, table.held_inputs, table.held_y, step)
        losses.append(members.watched_loss)
        told.progress(step, float(loss) / len(members), float(members.lowest.min()))
        return step - members.best_step >= patience

    train(optimizer, loss_of, steps=steps, schedule=cosine_annealing(config.rate), after=after)
    return losses


def _still_falling(losses: Sequence[float], min_drop: float) -> bool:
    """Whether the loss fell by this share in the last third of a cycle."""
    return losses[-1] <= (1 - min_drop) * losses[2 * len(losses) // 3 - 1]


def _selected(members: Members, task: Task, table: _Table, config: PredictorConfig) -> FittedPredictor:
    """Greedy ensemble selection among the recipes, each at its members' best moments."""
    with torch.no_grad():
        outputs = members.outputs(members.best, table.held_inputs)  # (recipes, folds, rows, outputs)
    weight = greedy_selection(task, outputs.flatten(1, 2), table.held_y.flatten(0, 1), n_picks=config.n_picks)
    return _weighted(members, weight.repeat_interleave(outputs.shape[1]))


def _averaged(members: Members) -> FittedPredictor:
    """All members at their best moments, with equal weights."""
    return _weighted(members, torch.ones_like(members.lowest))


def _weighted(members: Members, weight: Tensor) -> FittedPredictor:
    return FittedPredictor(members.best.weighted(weight), members.best.weighted(weight * (members.fold == 0)))


def _batch_size(config: PredictorConfig, n_rows: int) -> int:
    """More rows, larger batches: the number of steps stays."""
    return min(config.max_batch, max(config.min_batch, n_rows // config.batches_per_pass))


@torch.no_grad()
def _validation_loss(operator: Operator, task: Task, validation: Rows, subsets: Tensor) -> float:
    operator.eval()
    value = float(subset_losses(operator, task, validation.all(), subsets))
    operator.train()
    return value
