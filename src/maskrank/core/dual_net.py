"""The whole method in one call: nets, training, ranking and predictor, on tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from maskrank.core.config import TrainConfig
from maskrank.core.contest import hold_contest
from maskrank.core.costs import update_by_rows
from maskrank.core.losses import Task
from maskrank.core.members import Refitted
from maskrank.core.operators import MaskedModule, SubsetMLP
from maskrank.core.plan import plan_search
from maskrank.core.polish import polish_selector
from maskrank.core.progress import Callback, History, Recorder
from maskrank.core.ranking import Ranking, rank_features
from maskrank.core.refit import collapse, fine_tune, refit_mlp
from maskrank.core.rows import Rows
from maskrank.core.search import subset_importance
from maskrank.core.selector import Selector
from maskrank.core.training import DualNetTrainer, train_dual_net


@dataclass(frozen=True)
class OwnNet:
    """An operator net of the user's own.

    Attributes
    ----------
    make : callable (width, n_outputs) -> nn.Module
        Its ``forward(x, mask)`` takes the masked features and the mask, both (rows, width).
    columns : Tensor (d,)
        Where the d features that can be chosen stand in the net's input.
    width : int
    """

    make: Callable[[int, int], nn.Module]
    columns: Tensor
    width: int


@dataclass(frozen=True)
class DualNetResult:
    """What a run leaves behind.

    Attributes
    ----------
    ranking : Ranking
    predictor : nn.Module
        (rows, s) -> (rows, outputs): takes the chosen columns alone, in the order of the table.
    judged : nn.Module
        What of it did not learn from the validation rows.
    history : History
    """

    ranking: Ranking
    predictor: nn.Module
    judged: nn.Module
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
        Whether the predictor, when all is decided, may learn from validation rows too.
    """
    device = rows.device
    recorder = Recorder(config.max_batches, callbacks)
    if required is not None:
        config = replace(config, screens=False)
    recorder.begins("screen")
    plan = plan_search(task, rows, size, config=config, generator=generator)
    recorder.learns(plan.summary(rows.n_features))
    tried = plan.tried
    if len(tried) < rows.n_features:
        rows, validation = rows.only(tried), validation.only(tried)
    recorder.call_features((tried if columns is None else torch.as_tensor(columns)[tried]).tolist())
    recorder.spent("screen")
    with _reproducible(generator, when=net is not None):
        operator = build_operator(task, rows.n_features, size, config=config, generator=generator, net=net).to(device)
        selector = build_selector(rows.n_features, size, config=config, generator=generator).to(device)
        trainer = DualNetTrainer(
            operator,
            selector,
            task,
            rows,
            validation,
            size=size,
            config=config,
            exploration=plan.exploration,
            generator=generator,
        )
        optimal = train_dual_net(trainer, recorder)
        recorder.begins("polish")
        optimal = _with_required(polish_selector(trainer, optimal), required)
        recorder.spent("polish")
        recorder.begins("contest")
        found, optimal = optimal, hold_contest(trainer, optimal, plan.hint)
        recorder.learns(f"contest: {int((~torch.isin(optimal, found)).sum())} of {size} features changed")
        recorder.spent("contest")
        recorder.settled(tuple(optimal.tolist()))
        recorder.begins("refit")
        refitted = _make_predictor(trainer, optimal, callbacks, learn_all=learn_all)
        recorder.spent("refit")
    for nets in (refitted.predictor, refitted.judged):
        nets.eval().requires_grad_(False)
    ranking = rank_features(selector, optimal, tried, names)
    return DualNetResult(ranking, refitted.predictor, refitted.judged, recorder.history)


def build_operator(
    task: Task,
    n_features: int,
    size: int,
    *,
    config: TrainConfig,
    generator: torch.Generator,
    net: OwnNet | None = None,
) -> nn.Module:
    """The MLP of the recipe, or the user's own net behind a mask."""
    if net is not None:
        own = net.make(net.width, task.n_outputs)
        _check_net(own, net.width, task.n_outputs)
        return MaskedModule(own, net.columns, net.width)
    if not config.operator_hidden:
        raise ValueError("this preset has no MLP operator: pass operator=, for example a partial of ImageCNN")
    return SubsetMLP(
        n_features,
        task.n_outputs,
        hidden=config.operator_hidden,
        activation=config.activation,
        fan_in=2 * (size if config.init_fan_in == "active" else n_features),
        generator=generator,
        by_rows=update_by_rows(n_features, size, config.operator_hidden[0], config.n_subsets),
    )


@torch.no_grad()
def _check_net(net: nn.Module, width: int, n_outputs: int) -> None:
    """Try a net of the user's own on two rows, so that a misfit is named before any training."""
    if not isinstance(net, nn.Module):
        raise ValueError(f"the operator must make an nn.Module, not {type(net).__name__}")
    if not any(True for _ in net.parameters()):
        raise ValueError(f"the operator's net, {type(net).__name__}, has no parameters to learn")
    net.float().eval()
    try:
        outputs = net(torch.zeros(2, width), torch.ones(2, width))
    except (TypeError, RuntimeError) as error:
        raise ValueError(
            f"the operator's net, {type(net).__name__}, can't be called as net(x, mask) with x and mask of shape "
            f"(2, {width}): {error}"
        ) from error
    net.train()
    if tuple(outputs.shape) != (2, n_outputs):
        raise ValueError(
            f"the operator's net returns outputs of shape {tuple(outputs.shape)} for 2 rows of {width} features; "
            f"this task needs (2, {n_outputs})"
        )


def build_selector(n_features: int, size: int, *, config: TrainConfig, generator: torch.Generator) -> Selector:
    """The selector of the recipe."""
    return Selector(
        n_features,
        hidden=config.selector_hidden,
        activation=config.activation,
        fan_in=size if config.init_fan_in == "active" else n_features,
        generator=generator,
        by_rows=update_by_rows(n_features, size, config.selector_hidden[0], config.selector_every * config.n_subsets),
    )


def _with_required(optimal: Tensor, required: Tensor | None) -> Tensor:
    """The subset with the required features in, and its own first ones for the rest."""
    if required is None:
        return optimal
    required = required.to(optimal.device)
    rest = optimal[~torch.isin(optimal, required)]
    return torch.cat([required, rest[: len(optimal) - len(required)]]).sort().values


def _make_predictor(
    trainer: DualNetTrainer, optimal: Tensor, callbacks: Sequence[Callback], *, learn_all: bool
) -> Refitted:
    importance = subset_importance(trainer.selector, optimal)[optimal]
    config, task, rows, validation = trainer.config, trainer.task, trainer.rows, trainer.validation
    if config.refit_members and isinstance(trainer.operator, SubsetMLP):
        return refit_mlp(
            task,
            rows,
            validation,
            optimal,
            importance,
            config=config,
            generator=trainer.generator,
            learn_all=learn_all,
            callbacks=callbacks,
        )
    if config.refit_members:
        trainer.operator.train()
        fine_tune(
            trainer.operator,
            task,
            rows,
            validation,
            optimal,
            config=config,
            generator=trainer.generator,
            callbacks=callbacks,
        )
    collapsed = collapse(trainer.operator, optimal)
    return Refitted(collapsed, collapsed)


@contextmanager
def _reproducible(generator: torch.Generator, *, when: bool) -> Iterator[None]:
    """A user's own net draws from torch's global state (its start, its dropout): lend it one of ours, then restore."""
    if not when:
        yield
        return
    with torch.random.fork_rng():
        torch.manual_seed(int(torch.randint(2**62, (), generator=generator)))
        yield
