"""Builds the two nets of a run, and the trainer around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from maskrank.core.config import TrainConfig
from maskrank.core.data.features import Pool
from maskrank.core.data.rows import Rows
from maskrank.core.engine.costs import update_by_rows
from maskrank.core.method.exploration import Exploration, GuidedExploration, UniformExploration
from maskrank.core.method.operators import MaskedModule, Operator, SubsetMLP
from maskrank.core.method.selector import Selector
from maskrank.core.method.tasks import Task
from maskrank.core.method.training import DualNetTrainer


@dataclass(frozen=True)
class OwnNet:
    """An operator net of the user's own.

    Attributes
    ----------
    make : callable (width, n_outputs) -> nn.Module
        Its ``forward(x, mask)`` takes the masked columns and the mask, both (rows, width). The mask is 1 for every
        column of a feature that is switched on.
    columns : Tensor (columns,)
        Where each column of the rows, those of the required features included, stands in the net's input.
    width : int
        Of this input.
    """

    make: Callable[[int, int], nn.Module]
    columns: Tensor
    width: int


@dataclass(frozen=True)
class SearchSpace:
    """Which subsets are searched.

    Attributes
    ----------
    pool : Pool
    groups : sequence of tuple of int
        Proposed feature groups, most promising first; none for a uniform exploration.
    size : int
        s.
    """

    pool: Pool
    groups: Sequence[tuple[int, ...]]
    size: int


class LentRandomState:
    """Torch's global random state, on all devices, while it is lent to a net of the user's own."""

    def state_dict(self) -> list[Tensor]:
        """For a checkpoint."""
        return [torch.get_rng_state(), *torch.cuda.get_rng_state_all()]

    def load_state_dict(self, state_dict: list[Tensor]) -> None:
        """Go on from a state."""
        torch.set_rng_state(state_dict[0])
        torch.cuda.set_rng_state_all(state_dict[1:])


@contextmanager
def lent_random_state(generator: torch.Generator, *, when: bool) -> Iterator[tuple[LentRandomState, ...]]:
    """A user's own net draws from torch's global state (its start, its dropout): lend it one of ours, then restore.

    Gives what belongs to the state of the fit meanwhile.
    """
    if not when:
        yield ()
        return
    with torch.random.fork_rng():
        torch.manual_seed(int(torch.randint(2**62, (), generator=generator)))
        yield (LentRandomState(),)


def build_trainer(
    task: Task,
    rows: Rows,
    validation: Rows,
    search: SearchSpace,
    *,
    config: TrainConfig,
    generator: torch.Generator,
    net: OwnNet | None = None,
) -> DualNetTrainer:
    """Both nets, new, and what trains them; of the rows, the features of the pool are kept."""
    pool, size = search.pool, search.size
    rows, validation = pool.of(rows), pool.of(validation)
    operator = build_operator(task, rows, size, config=config, generator=generator, net=net)
    selector = build_selector(len(pool), size, config=config, generator=generator)
    return DualNetTrainer(
        operator.to(rows.device),
        selector.to(rows.device),
        task,
        rows,
        validation,
        pool=pool,
        size=size,
        config=config,
        exploration=_build_exploration(search, config=config, generator=generator),
        generator=generator,
    )


def _build_exploration(search: SearchSpace, *, config: TrainConfig, generator: torch.Generator) -> Exploration:
    guided, pool = config.proposal.exploration, search.pool
    if not search.groups or not guided.enabled:
        return UniformExploration(len(pool), search.size, generator)
    place = {j: i for i, j in enumerate(pool.features.tolist())}
    groups = [tuple(place[j] for j in group) for group in search.groups]
    return GuidedExploration(groups, len(pool), search.size, config=guided, generator=generator)


def build_operator(
    task: Task,
    rows: Rows,
    size: int,
    *,
    config: TrainConfig,
    generator: torch.Generator,
    net: OwnNet | None = None,
) -> Operator:
    """The MLP of the config for the features of some rows, or the user's own net behind a mask."""
    blocks, n_required = rows.blocks, rows.n_required
    if net is not None:
        own = net.make(net.width, task.n_outputs)
        _check_net(own, net.width, task.n_outputs)
        return MaskedModule(own, net.columns, net.width, blocks, n_required)
    if not config.operator_hidden:
        raise ValueError("this preset has no MLP operator: pass operator=, for example a partial of ImageCNN")
    active = rows.active_columns(size)
    every, switched_on = blocks.n_columns + len(blocks), active + size + n_required  # inputs: x⊗m and m
    return SubsetMLP(
        blocks,
        task.n_outputs,
        n_required=n_required,
        hidden=config.operator_hidden,
        activation=config.activation,
        fan_in=switched_on if config.init_fan_in == "active" else every,
        generator=generator,
        by_rows=update_by_rows(blocks.n_columns, active, config.operator_hidden[0], config.n_subsets),
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
    """The selector of the config."""
    return Selector(
        n_features,
        hidden=config.selector_hidden,
        activation=config.activation,
        fan_in=size if config.init_fan_in == "active" else n_features,
        generator=generator,
        by_rows=update_by_rows(n_features, size, config.selector_hidden[0], config.selector_every * config.n_subsets),
    )
