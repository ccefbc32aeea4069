"""The training of the final predictor: a net on the columns of chosen and required features and nothing else.

Small MLPs trained anew on the chosen columns predict better than the operator, which has to serve every subset
(`fit_predictor`). A net of the user's own is fine-tuned at m* instead (`fine_tune`). `make_predictor` decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from maskrank.core.checkpoint import Checkpoint
from maskrank.core.config import TrainConfig
from maskrank.core.config.predictor import PredictorConfig
from maskrank.core.data.blocks import Blocks
from maskrank.core.data.rows import Rows
from maskrank.core.data.weights import joined_weights
from maskrank.core.engine.adam import Adam
from maskrank.core.engine.encoding import PiecewiseLinearEncoding, bins_per_column
from maskrank.core.engine.predictor import Predictor
from maskrank.core.engine.training_loop import BestMoment, constant, train
from maskrank.core.method.operators import Operator
from maskrank.core.method.tasks import Task, subset_losses
from maskrank.core.predictor.cycles import Listener, Trained, report_progress, train_cycles
from maskrank.core.predictor.ensemble_selection import few_members, greedy_selection
from maskrank.core.predictor.folds import Folds, count_folds, make_folds
from maskrank.core.predictor.members import Members, share_of, start_members
from maskrank.core.predictor.recipes import usable_recipes


@dataclass(frozen=True)
class FittedPredictor:
    """The final predictor.

    Attributes
    ----------
    predictor : Predictor
        (rows, columns) -> (rows, outputs): takes the columns of the chosen features, then of the required ones.
    held_out : Predictor
        The members that did not learn from the validation rows, which may judge them.
    unseen : Tensor (validation rows,) of bool
        Which of these rows had no part in ``held_out`` either: they chose no moment and no weight of its nets.
    """

    predictor: Predictor
    held_out: Predictor
    unseen: Tensor


def make_predictor(
    operator: Operator,
    task: Task,
    rows: Rows,
    validation: Rows,
    subset: Tensor,
    useful: Tensor,
    *,
    config: TrainConfig,
    generator: torch.Generator,
    learn_all: bool,
    callbacks: Sequence[Listener] = (),
    checkpoint: Checkpoint | None = None,
) -> FittedPredictor:
    """New nets on the chosen columns, the operator fine-tuned at m*, or, without recipes, the operator at m* as it is.

    Parameters
    ----------
    operator : Operator
        Trained on where it is one that fine-tunes.
    subset : Tensor (s,)
        m*, the chosen features.
    useful : Tensor (s,) of bool
        Which of them the nets see, and behind them the required features.
    learn_all : bool
        Whether new nets may learn from validation rows too.
    checkpoint : Checkpoint, optional
        Of the fit: the training goes on from it.
    """
    if config.predictor.n_recipes and not operator.fine_tunes:
        return fit_predictor(
            task,
            rows,
            validation,
            subset,
            useful,
            config=config,
            generator=generator,
            learn_all=learn_all,
            callbacks=callbacks,
            checkpoint=checkpoint,
        )
    if config.predictor.n_recipes:
        fine_tune(
            operator,
            task,
            rows,
            validation,
            subset,
            config=config,
            generator=generator,
            callbacks=callbacks,
            checkpoint=checkpoint,
        )
    specialised = operator.specialise(subset)
    return FittedPredictor(specialised, specialised, torch.zeros(len(validation), dtype=torch.bool))


def fit_predictor(
    task: Task,
    rows: Rows,
    validation: Rows,
    subset: Tensor,
    useful: Tensor,
    *,
    config: TrainConfig,
    generator: torch.Generator,
    learn_all: bool = False,
    callbacks: Sequence[Listener] = (),
    checkpoint: Checkpoint | None = None,
) -> FittedPredictor:
    """Train nets of ``config.predictor.n_recipes`` recipes on the chosen columns, and select an ensemble of them.

    Of each net, the running average of its weights is validated every few steps on rows it does not learn from, and
    its best moment is kept. These are the validation rows; with ``learn_all`` nets are cross-fitted: each recipe is
    trained once a fold, so that more rows judge and all rows are learned from. The nets of the first fold, which are
    judged on the validation rows, owe nothing to them then. Of a table too large for that, half of the validation rows
    choose and the others judge. Where too few rows choose, the plain recipes alone are trained, and the better half of
    the nets is averaged with equal weights.

    Parameters
    ----------
    subset : Tensor (s,)
        The chosen features.
    useful : Tensor (s,) of bool
        Which of them the nets see, and behind them the required features.
    learn_all : bool
        Whether nets may learn from validation rows.
    """
    settings = config.predictor
    (x, blocks), (held_out, _) = rows.chosen(subset), validation.chosen(subset)
    x = torch.cat([x, held_out])  # (n, columns)
    y = torch.cat([rows.y, validation.y])
    weights = joined_weights([rows.weights, validation.weights], [len(rows), len(validation)])
    n_folds = count_folds(len(rows), len(validation), settings, rows.groups) if learn_all else 1
    if learn_all and n_folds == 1 and len(validation) >= 2 * settings.min_judging_rows:
        half = min(settings.max_judging_rows, len(validation) // 2)
        settings = replace(settings, max_judging_rows=half)
    folds = make_folds(
        y,
        len(rows),
        n_folds=n_folds,
        config=settings,
        generator=generator,
        groups=rows.groups,
        validation_groups=validation.groups,
    )
    varied = n_folds > 1 or len(validation) >= settings.min_judging_rows
    members = _untrained(task, x[: len(rows)], useful, blocks, folds, varied=varied, config=config, generator=generator)
    trained = train_cycles(
        members,
        task,
        x,
        y,
        folds,
        n_batch=_batch_size(settings, len(rows)),
        config=settings,
        generator=generator,
        weights=weights,
        callbacks=callbacks,
        checkpoint=checkpoint,
    )
    unseen = torch.ones(len(validation), dtype=torch.bool)
    if n_folds == 1:
        unseen[folds.held_out[0].cpu() - len(rows)] = False
    return _selected(trained, task, settings, unseen) if varied else _averaged(trained, settings, unseen)


def fine_tune(
    operator: Operator,
    task: Task,
    rows: Rows,
    validation: Rows,
    subset: Tensor,
    *,
    config: TrainConfig,
    generator: torch.Generator,
    callbacks: Sequence[Listener] = (),
    checkpoint: Checkpoint | None = None,
) -> None:
    """Train the operator on at one subset, in place, and leave it at its best moment on the validation rows."""
    settings, subsets = config.predictor, subset.unsqueeze(0)
    steps, n_batch = sum(settings.cycles), _batch_size(settings, len(rows))
    best = BestMoment(operator)
    best.keep(_validation_loss(operator, task, validation, subsets))

    def loss_of() -> Tensor:
        return subset_losses(operator, task, rows.sample(n_batch, generator=generator), subsets).mean()

    def validate(step: int, loss: Tensor) -> None:
        if step % settings.validate_every == 0 or step == steps:
            best.update(_validation_loss(operator, task, validation, subsets))
            report_progress(callbacks, 0, steps, step, float(loss), best.value)

    rate = settings.fine_tune_rate_share * config.operator_rate
    optimizer = Adam(operator.parameters(), rate=rate)
    loop = None if checkpoint is None else checkpoint.loop("fine-tune", operator, optimizer, best)
    train(optimizer, loss_of, steps=steps, schedule=constant(rate), after=validate, loop=loop)
    best.restore()


def _untrained(
    task: Task,
    x: Tensor,
    useful: Tensor,
    blocks: Blocks,
    folds: Folds,
    *,
    varied: bool,
    config: TrainConfig,
    generator: torch.Generator,
) -> Members:
    """Members of the recipes that the training rows (n, columns) allow."""
    settings = config.predictor
    n_bins = bins_per_column(blocks.n_numeric, len(x), settings) if varied else 0
    recipes = usable_recipes(settings, varied=varied, encoded=n_bins > 0)
    encoded = any(recipe.encoded for recipe in recipes)
    return start_members(
        recipes,
        folds,
        PiecewiseLinearEncoding.fit(x, n_bins, settings, blocks.numeric) if encoded else None,
        useful,
        blocks,
        n_outputs=task.n_outputs,
        activation=config.activation,
        config=settings,
        generator=generator,
    )


def _selected(trained: Trained, task: Task, config: PredictorConfig, unseen: Tensor) -> FittedPredictor:
    """Greedy ensemble selection among the recipes, each at its members' best moments.

    The rows of all folds weight the predictor's nets. For the nets of the first fold, which the validation rows judge,
    the rows of the other folds do.
    """
    members, table = trained.members, trained.table
    with torch.no_grad():
        outputs = members.outputs(members.best, table.held_inputs)  # (recipes, folds, rows, outputs)
    n_folds = outputs.shape[1]

    def weights(folds: slice) -> Tensor:
        judged, y = outputs[:, folds].flatten(1, 2), table.held_y[folds].flatten(0, 1)
        of_rows = None if table.held_weights is None else table.held_weights[folds].flatten()
        picked = greedy_selection(task, judged, y, n_picks=config.n_picks, weights=of_rows)
        return picked.repeat_interleave(n_folds)

    everyone = weights(slice(None))
    first = weights(slice(1, None)) if n_folds > 1 else everyone
    return _weighted(members, everyone, first, unseen, config.max_members)


def _averaged(trained: Trained, config: PredictorConfig, unseen: Tensor) -> FittedPredictor:
    """The better recipes at their best moments, with equal weights; a second cycle has left no others."""
    members = trained.members
    if trained.n_cycles == 1:
        members = members.best_recipes(share_of(config.n_recipes, config.better_share))
    equal = torch.ones_like(members.lowest)
    return _weighted(members, equal, equal, unseen, config.max_members)


def _weighted(members: Members, weight: Tensor, first: Tensor, unseen: Tensor, n_members: int) -> FittedPredictor:
    """The members' best moments with these weights, and those of the first fold with others: (members,) each."""
    few = few_members(weight, int(members.fold.max()) + 1, n_members)
    return FittedPredictor(members.best.weighted(few), members.best.weighted(first * (members.fold == 0)), unseen)


def _batch_size(config: PredictorConfig, n_rows: int) -> int:
    """More rows, larger batches: the number of steps stays. Of few rows a batch holds half, so that batches differ."""
    of_pass = min(config.max_batch, max(config.min_batch, n_rows // config.batches_per_pass))
    return min(of_pass, max(config.few_rows_batch, n_rows // 2))


@torch.no_grad()
def _validation_loss(operator: Operator, task: Task, validation: Rows, subsets: Tensor) -> float:
    operator.eval()
    value = float(subset_losses(operator, task, validation.all(), subsets))
    operator.train()
    return value
