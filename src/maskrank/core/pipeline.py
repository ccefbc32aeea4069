"""The whole method in one call: nets, training, ranking and predictor, on tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from maskrank.core.config import TrainConfig
from maskrank.core.data.rows import Rows
from maskrank.core.engine.predictor import Predictor
from maskrank.core.method.construction import OwnNet, build_trainer
from maskrank.core.method.search import subset_importance
from maskrank.core.method.tasks import Task
from maskrank.core.method.training import DualNetTrainer, train_dual_net
from maskrank.core.predictor.training import FittedPredictor, make_predictor
from maskrank.core.proposals.planning import plan_search
from maskrank.core.recorder import Callback, History, Recorder
from maskrank.core.scoring.ranking import Ranking, rank_features
from maskrank.core.selection.calibration import polish_selector
from maskrank.core.selection.reselection import choose_again
from maskrank.core.selection.tournament import hold_contest


@dataclass(frozen=True)
class DualNetResult:
    """What a run leaves behind.

    Attributes
    ----------
    ranking : Ranking
    predictor : nn.Module
        (rows, s) -> (rows, outputs): takes the chosen columns alone, in the order of the table.
    held_out : Tensor (validation rows, outputs)
        What nets that did not learn from the validation rows say of them, from features chosen without them.
    history : History
    """

    ranking: Ranking
    predictor: nn.Module
    held_out: Tensor
    history: History


def fit_dual_net(
    task: Task,
    rows: Rows,
    validation: Rows,
    *,
    size: int,
    config: TrainConfig,
    generator: torch.Generator,
    names: Sequence[str],
    columns: Any = None,
    required: Tensor | None = None,
    net: OwnNet | None = None,
    learn_all: bool = False,
    callbacks: Sequence[Callback] = (),
) -> DualNetResult:
    """Train both nets, rank the features, and make the predictor on the chosen ones.

    Parameters
    ----------
    size : int
        s, in 1..d-1.
    names : sequence of str
        One for each feature.
    columns : array of int, optional
        By which numbers history and callbacks call the features; 0..d-1 if not given.
    required : Tensor, optional
        At most s features that m* holds in any case.
    net : OwnNet, optional
        None takes the MLP of the recipe.
    learn_all : bool
        Whether the predictor, when all is decided, may learn from validation rows too. Of few rows (see `again`) the
        features are then chosen with these, too; ``held_out`` is of those chosen before.
    """
    recorder = Recorder(config.max_batches, callbacks)
    if required is not None:
        config = config.using(proposal__enabled=False)
    recorder.begins("screen")
    plan = plan_search(task, rows, size, config=config, generator=generator)
    recorder.learns(plan.summary(rows.n_features))
    tried, shortened = plan.tried, plan.shortened(config)
    recorder.max_batches = shortened.max_batches
    recorder.call_features((tried if columns is None else torch.as_tensor(columns)[tried]).tolist())
    recorder.spent("screen")
    with _reproducible(generator, when=net is not None):
        trainer = build_trainer(
            task,
            rows.only(tried) if len(tried) < rows.n_features else rows,
            validation.only(tried) if len(tried) < rows.n_features else validation,
            size=size,
            config=shortened,
            exploration=plan.exploration,
            generator=generator,
            net=net,
        )
        whole = (rows, validation) if learn_all and plan.may_choose_again(rows) else None
        del rows, validation  # of a large table the features that are tried are enough from here on
        optimal = train_dual_net(trainer, recorder)
        recorder.begins("polish")
        optimal = _with_required(polish_selector(trainer, optimal), required)
        recorder.spent("polish")
        recorder.begins("contest")
        found, optimal = optimal, hold_contest(trainer, optimal, plan.hint)
        recorder.learns(f"contest: {int((~torch.isin(optimal, found)).sum())} of {size} features changed")
        recorder.spent("contest")
        if whole is not None and not plan.is_what_was_left(optimal):
            whole = None
        recorder.begins("refit")
        refitted = _make_predictor(trainer, optimal, callbacks, learn_all=learn_all)
        held_out = _answers(refitted.held_out, trainer.validation, optimal)
        recorder.spent("refit")
        if whole is not None:
            recorder.begins("contest")
            tried, trainer, optimal = choose_again(task, *whole, size=size, config=config, generator=generator)
            recorder.call_features((tried if columns is None else torch.as_tensor(columns)[tried]).tolist())
            recorder.learns("every row counts: the features were chosen again with the held-out rows")
            recorder.spent("contest")
            recorder.begins("refit")
            refitted = _make_predictor(trainer, optimal, callbacks, learn_all=True)
            recorder.spent("refit")
        recorder.settled(tuple(optimal.tolist()))
    predictor = refitted.predictor.eval().requires_grad_(False)
    return DualNetResult(rank_features(trainer.selector, optimal, tried, names), predictor, held_out, recorder.history)


def _with_required(optimal: Tensor, required: Tensor | None) -> Tensor:
    """The subset with the required features in, and its own first ones for the rest."""
    if required is None:
        return optimal
    required = required.to(optimal.device)
    rest = optimal[~torch.isin(optimal, required)]
    return torch.cat([required, rest[: len(optimal) - len(required)]]).sort().values


def _make_predictor(
    trainer: DualNetTrainer, optimal: Tensor, callbacks: Sequence[Callback], *, learn_all: bool
) -> FittedPredictor:
    return make_predictor(
        trainer.operator,
        trainer.task,
        trainer.rows,
        trainer.validation,
        optimal,
        subset_importance(trainer.selector, optimal)[optimal],
        config=trainer.config,
        generator=trainer.generator,
        learn_all=learn_all,
        callbacks=callbacks,
    )


@torch.no_grad()
def _answers(nets: Predictor, rows: Rows, subset: Tensor) -> Tensor:
    """The outputs of nets on the chosen columns: (rows, outputs)."""
    nets.eval()
    parts = rows.all().split(nets.rows_at_once)
    return torch.cat([nets(part.columns(subset.unsqueeze(0))[0]) for part in parts])


@contextmanager
def _reproducible(generator: torch.Generator, *, when: bool) -> Iterator[None]:
    """A user's own net draws from torch's global state (its start, its dropout): lend it one of ours, then restore."""
    if not when:
        yield
        return
    with torch.random.fork_rng():
        torch.manual_seed(int(torch.randint(2**62, (), generator=generator)))
        yield
