"""One fit: from some rows of a table and what is wanted of them to a ranking and a predictor.

It knows nothing of scikit-learn, which takes as long to import as torch: a process that only repeats a fit starts in
half the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from maskrank.core.config import TrainConfig
from maskrank.core.data.features import Features
from maskrank.core.data.rows import Rows
from maskrank.core.engine.costs import step_flops, threads
from maskrank.core.method.construction import OwnNet
from maskrank.core.method.tasks import Task
from maskrank.core.pipeline import fit_dual_net
from maskrank.core.recorder import Callback, History
from maskrank.core.scoring.ranking import Ranking
from maskrank.estimators.preparation import candidate_columns, net_maker, resolve_device, split_rows, torch_threads
from maskrank.estimators.scaling import Array, Columns, Scaling
from maskrank.estimators.sources import TOO_LARGE, Source, open_source


@dataclass(frozen=True)
class Part:
    """Some rows of a table, and what is to be learned or predicted for them.

    Attributes
    ----------
    source : Source
    rows : ndarray (n,) of int
    target : ndarray (n,) or (n, outputs)
        Numbers of classes, or floats.
    """

    source: Source
    rows: Array
    target: Array

    @classmethod
    def whole(cls, X: Any, target: Array) -> Part:
        """All rows of a table."""
        return cls(open_source(X), np.arange(len(target)), target)

    @property
    def labels(self) -> Array | None:
        """The classes that a split should keep in proportion; None for numbers."""
        return self.target if self.target.dtype.kind in "iu" else None

    def take(self, index: Array) -> Part:
        """Some of these rows."""
        return Part(self.source, self.rows[index], self.target[index])

    def hold_out(self, share: float, generator: torch.Generator) -> tuple[Part, Part]:
        """Rows to learn from, and a share of them to validate on."""
        training, validation = split_rows(len(self.rows), share, labels=self.labels, generator=generator)
        return self.take(training), self.take(validation)


@dataclass(frozen=True)
class Settings:
    """What is wanted of a fit, whatever the rows.

    Attributes
    ----------
    task : Task
    size : int
        s.
    config : TrainConfig
    operator, standardize, device
        As the estimators take them.
    """

    task: Task
    size: int
    config: TrainConfig
    operator: Any
    standardize: bool
    device: Any


@dataclass(frozen=True)
class Prepared:
    """Rows that were looked at, and what was learned of the columns."""

    settings: Settings
    training: Part
    validation: Part
    candidates: Array
    varies: Array
    x_scaling: Scaling
    y_scaling: Scaling | None


@dataclass(frozen=True)
class Trained:
    """What a fit leaves behind: the ranking of all columns, the predictor, the course of the training.

    ``held_out`` is what nets that know nothing of the validation rows say of them.
    """

    ranking: Ranking
    predictor: nn.Module
    held_out: Tensor
    history: History


def prepare(settings: Settings, training: Part, validation: Part) -> Prepared:
    """Check the values, and learn which columns a subset can be drawn from and how they are scaled.

    Raises
    ------
    ValueError
        A value is not finite or too large, or no column varies.
    """
    columns = training.source.learn(training.rows)
    if validation.source is not training.source:
        validation.source.learn(validation.rows)
    candidates = candidate_columns(columns.varies, settings.size)
    x_scaling = columns.scaling(enabled=settings.standardize)
    if not columns.fits_32_bits(x_scaling):
        raise ValueError(TOO_LARGE)
    y_scaling = scale_target(training.target, standardize=settings.standardize)
    return Prepared(settings, training, validation, candidates, columns.varies, x_scaling, y_scaling)


def train(
    prepared: Prepared, *, generator: torch.Generator, names: Sequence[str], callbacks: Sequence[Callback] = ()
) -> Trained:
    """Train both nets and rank the columns.

    Parameters
    ----------
    names : sequence of str
        Of all columns.
    """
    settings, candidates = prepared.settings, prepared.candidates
    make_net = net_maker(settings.operator)
    with torch_threads(_threads(settings) if make_net is None else None):
        result = fit_dual_net(
            settings.task,
            scaled_rows(
                prepared, prepared.training
            ),  # held by none but the core, which lets go of what it does not need
            scaled_rows(prepared, prepared.validation),
            size=settings.size,
            config=settings.config,
            generator=generator,
            features=Features(candidates, names, prepared.varies),
            required=_required(prepared.varies[candidates], settings.size),
            learn_all=prepared.validation.source is prepared.training.source,
            net=None if make_net is None else OwnNet(make_net, torch.from_numpy(candidates), len(prepared.varies)),
            callbacks=callbacks,
        )
    _check_finite(result.ranking, settings.config)
    return Trained(result.ranking, result.predictor, result.held_out, result.history)


def scale_target(target: Array, *, standardize: bool) -> Scaling | None:
    """The scaling of a target of numbers; None for classes."""
    return None if target.dtype.kind in "iu" else Columns.learn(_columns(target)).scaling(enabled=standardize)


def target_tensor(target: Array, scaling: Scaling | None) -> Tensor:
    """The target as the core takes it: classes (n,), or scaled numbers (n, outputs)."""
    if scaling is None:
        return torch.from_numpy(target.astype(np.int64))
    return torch.from_numpy(scaling.apply(_columns(target)).astype(np.float32))


def scaled_rows(prepared: Prepared, part: Part) -> Rows:
    """Scaled rows of the candidate columns, as the core takes them."""
    y = target_tensor(part.target, prepared.y_scaling)
    if not bool(y.isfinite().all()):
        raise ValueError("y holds values too large for 32-bit floats: standardize=True, or smaller units")
    candidates, device = prepared.candidates, resolve_device(prepared.settings.device)
    return Rows(part.source.values(part.rows, candidates, prepared.x_scaling.take(candidates), device), y.to(device))


def _threads(settings: Settings) -> int:
    """How many threads a training step is worth."""
    flops = step_flops(settings.config, settings.size, settings.task.n_outputs)
    return threads(flops, torch.get_num_threads())


def _required(varies: Array, size: int) -> Tensor | None:
    """The candidates that vary, where there is room for all of them: a constant never takes the place of one."""
    changing = np.flatnonzero(varies)
    return torch.from_numpy(changing) if len(changing) <= size else None


def _check_finite(ranking: Ranking, config: TrainConfig) -> None:
    if not np.isfinite(ranking.raw_scores).all():
        raise ValueError(
            f"the training left the range of numbers (operator_rate={config.operator_rate}, selector_rate="
            f"{config.selector_rate}): try smaller rates, or standardize=True"
        )


def _columns(y: Array) -> Array:
    return y.reshape(-1, 1) if y.ndim == 1 else y
