"""One fit: rows of a table and settings in, a ranking and a predictor out.

It does not import scikit-learn, which takes as long as torch: a process that only refits starts in half the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from maskrank.core.checkpoint import Store
from maskrank.core.config import TrainConfig
from maskrank.core.data.features import Features
from maskrank.core.data.rows import Rows
from maskrank.core.engine.costs import step_flops, threads
from maskrank.core.engine.predictor import Predictor
from maskrank.core.method.construction import OwnNet
from maskrank.core.method.count_tasks import CountTask, SurvivalTask
from maskrank.core.method.tasks import Task
from maskrank.core.pipeline import fit_dual_net
from maskrank.core.recorder import Callback, History
from maskrank.core.scoring.ranking import Ranking
from maskrank.core.scoring.size_curve import SizeCurve
from maskrank.core.scoring.subset_predictor import SubsetPredictor
from maskrank.core.sizing import choose_size
from maskrank.estimators.encoding import TrainingRows
from maskrank.estimators.feature_table import FeatureTable
from maskrank.estimators.hazards import CumulativeHazard
from maskrank.estimators.preparation import candidate_features, net_maker, resolve_device, split_rows, torch_threads
from maskrank.estimators.row_groups import split_groups
from maskrank.estimators.scaled_table import ScaledTable, scale_table
from maskrank.estimators.scaling import Array, Columns, Scaling, as_columns
from maskrank.estimators.sources import Source, open_source
from maskrank.parallel.blocks import block_runner

TargetScaling = Scaling | CumulativeHazard


@dataclass(frozen=True)
class Part:
    """Rows of a table and their targets.

    Attributes
    ----------
    source : Source
    rows : ndarray (n,) of int
    target : ndarray (n,) or (n, outputs)
        Class numbers, or floats.
    stratified : bool
        Whether splits keep the shares of the target's values, of the first column's, as the task says.
    weights : ndarray (n,), optional
        What each row counts.
    groups : ndarray (n,) of int, optional
        Rows of one group stay on one side of every split.
    """

    source: Source
    rows: Array
    target: Array
    stratified: bool
    weights: Array | None = None
    groups: Array | None = None

    @classmethod
    def whole(
        cls,
        X: Any,
        target: Array,
        task: Task,
        *,
        rows: Array | None = None,
        weights: Array | None = None,
        groups: Array | None = None,
    ) -> Part:
        """All rows of a table, or these, with a target, a weight and a group each."""
        source = open_source(X, rows)
        rows = np.arange(len(target)) if rows is None else rows
        return cls(source, rows, target, task.stratified, weights, groups)

    @property
    def labels(self) -> Array | None:
        """The classes or events to stratify a split by, as whole numbers; None for numbers."""
        return as_columns(self.target)[:, 0].astype(np.int64) if self.stratified else None

    def take(self, index: Array) -> Part:
        """Some of these rows."""
        weights = None if self.weights is None else self.weights[index]
        groups = None if self.groups is None else self.groups[index]
        return replace(self, rows=self.rows[index], target=self.target[index], weights=weights, groups=groups)

    def hold_out(self, share: float, generator: torch.Generator) -> tuple[Part, Part]:
        """Training and validation rows, stratified by class or event; groups of rows stay on one side."""
        if self.groups is None:
            training, validation = split_rows(len(self.rows), share, labels=self.labels, generator=generator)
        else:
            training, validation = split_groups(self.groups, share, labels=self.labels, generator=generator)
        return self.take(training), self.take(validation)


@dataclass(frozen=True)
class Settings:
    """Everything a fit needs beside its rows.

    Attributes
    ----------
    task : Task
    size : int
        s.
    config : TrainConfig
    table : FeatureTable
    operator, standardize, device
        As the estimators take them.
    standardize_target : bool
        Whether targets that are numbers are standardised, too.
    """

    task: Task
    size: int
    config: TrainConfig
    table: FeatureTable
    operator: Any
    standardize: bool
    standardize_target: bool
    device: Any


@dataclass(frozen=True)
class Prepared:
    """Checked rows, the features that can be chosen, and the scalings learned from the training rows.

    ``features`` are numbers of the table's features: those to choose from, then the required ones.
    """

    settings: Settings
    training: Part
    validation: Part
    features: Array
    table: ScaledTable
    y_scaling: TargetScaling | None


@dataclass(frozen=True)
class Trained:
    """The ranking of all columns, the predictor, and the history of the training.

    ``held_out`` are outputs for the validation rows, of nets that did not learn from them; ``unseen`` says which of
    these rows had no part in these nets at all; ``signal_pvalue`` is None where it was not asked for; ``config`` is
    what ran; ``subset_predictor`` predicts from subsets of the chosen columns, and is None where scores are not
    measured.
    """

    ranking: Ranking
    predictor: Predictor
    held_out: Tensor
    unseen: Tensor
    signal_pvalue: float | None
    history: History
    config: TrainConfig
    curve: SizeCurve | None
    subset_predictor: SubsetPredictor | None


def prepare(settings: Settings, training: Part, validation: Part) -> Prepared:
    """Check the values; find the features to choose from and the scalings.

    Raises
    ------
    ValueError
        A value is infinite or too large, or no feature varies.
    """
    y_scaling = scale_target(settings, training.target, training.weights)
    table = scale_table(
        training.source,
        TrainingRows(
            training.rows,
            _numeric_target(target_tensor(training.target, y_scaling), settings.task),
            training.weights,
            training.groups,
        ),
        settings.table,
        others=[] if validation.source is training.source else [validation.source],
        standardize=settings.standardize,
        config=settings.config.encoding,
    )
    required = np.array(settings.table.required, dtype=np.int64)
    features = np.concatenate([candidate_features(table.varies, settings.size, required), required])
    return Prepared(settings, training, validation, features, table, y_scaling)


def train(
    prepared: Prepared,
    *,
    generator: torch.Generator,
    callbacks: Sequence[Callback] = (),
    test_signal: bool = False,
    store: Store | None = None,
) -> Trained:
    """Run the core's pipeline and rank all features; with the test of whether anything predicts the target."""
    settings, run_blocks = prepared.settings, block_runner(torch.get_num_threads())
    with _threads(settings):
        result = fit_dual_net(
            settings.task,
            scaled_rows(prepared, prepared.training),  # referenced by the core alone, which frees them early
            scaled_rows(prepared, prepared.validation),
            size=settings.size,
            **_core_arguments(prepared),
            run_blocks=run_blocks,
            generator=generator,
            callbacks=callbacks,
            test_signal=test_signal,
            store=store,
        )
    _check_finite(result.ranking, settings.config)
    return Trained(
        ranking=result.ranking,
        predictor=result.predictor,
        held_out=result.held_out,
        unseen=result.unseen,
        signal_pvalue=result.signal_pvalue,
        history=result.history,
        config=result.config,
        curve=result.curve,
        subset_predictor=None if result.measured is None else result.measured.value.predictor,
    )


def find_size(
    prepared: Prepared,
    *,
    generator: torch.Generator,
    callbacks: Sequence[Callback] = (),
    store: Store | None = None,
) -> SizeCurve:
    """The number of features that is enough, up to the size of the settings: ``enough`` of a size curve."""
    settings, run_blocks = prepared.settings, block_runner(torch.get_num_threads())
    with _threads(settings):
        return choose_size(
            settings.task,
            scaled_rows(prepared, prepared.training),
            scaled_rows(prepared, prepared.validation),
            bound=settings.size,
            **_core_arguments(prepared),
            run_blocks=run_blocks,
            generator=generator,
            callbacks=callbacks,
            store=store,
        )


def _core_arguments(prepared: Prepared) -> dict[str, Any]:
    """What every run of the core receives of the table and the settings."""
    settings, features, table = prepared.settings, prepared.features, prepared.table
    return {
        "config": settings.config,
        "features": Features(features, settings.table.names, table.varies, len(settings.table.required)),
        "learn_all": prepared.validation.source is prepared.training.source,
        "net": _own_net(prepared),
    }


def _own_net(prepared: Prepared) -> OwnNet | None:
    """A net of the user's own: its inputs are the columns of all features of the table."""
    make_net = net_maker(prepared.settings.operator)
    if make_net is None:
        return None
    every = prepared.table.blocks(np.arange(len(prepared.table.varies)))
    columns = every.columns_of(torch.from_numpy(prepared.features))
    return OwnNet(make_net, columns, every.n_columns)


def scale_target(settings: Settings, target: Array, weights: Array | None = None) -> TargetScaling | None:
    """What turns a target of numbers into the one that is learned, from the training rows; None for classes.

    Numbers are standardised, counts divided by their mean, and times become cumulative hazards.
    """
    if settings.task.discrete:
        return None
    if isinstance(settings.task, SurvivalTask):
        return CumulativeHazard.learn(*target.T, weights=weights)
    if isinstance(settings.task, CountTask):
        mean = as_columns(target).mean(axis=0)
        return Scaling(np.zeros_like(mean), np.where(mean > 0, mean, 1.0))
    return Columns.learn(as_columns(target)).scaling(enabled=settings.standardize_target)


def target_tensor(target: Array, scaling: TargetScaling | None) -> Tensor:
    """The target as the core takes it: classes (n,), or scaled numbers (n, columns)."""
    if scaling is None:
        return torch.from_numpy(target.astype(np.int64))
    return torch.from_numpy(scaling.apply(as_columns(target)).astype(np.float32))


def _numeric_target(target: Tensor, task: Task) -> Array:
    """The target as columns of numbers: indicators of the classes, of two classes one; or the numbers themselves."""
    columns = np.asarray(task.as_numeric(target).reshape(len(target), -1).double().numpy())
    return columns[:, :1] if task.discrete and task.n_outputs == 1 else columns


def scaled_rows(prepared: Prepared, part: Part) -> Rows:
    """Scaled rows of the features to choose from and of the required ones, as the core takes them."""
    y = target_tensor(part.target, prepared.y_scaling)
    if not bool(y.isfinite().all()):
        raise ValueError("y holds values too large for 32-bit floats: standardize=True, or smaller units")
    features, table, device = prepared.features, prepared.table, resolve_device(prepared.settings.device)
    values = table.values(part.source, part.rows, features, device)
    weights = None if part.weights is None else torch.from_numpy(part.weights).float().to(device)
    groups = None if part.groups is None else torch.from_numpy(part.groups).to(device)
    return Rows(values, y.to(device), table.blocks(features), len(prepared.settings.table.required), weights, groups)


def _threads(settings: Settings) -> AbstractContextManager[None]:
    """The threads that pay off for one training step; a net of the user's own has those that there are."""
    if net_maker(settings.operator) is not None:
        return torch_threads(None)
    flops = step_flops(settings.config, settings.size, settings.task.n_outputs)
    return torch_threads(threads(flops, torch.get_num_threads()))


def _check_finite(ranking: Ranking, config: TrainConfig) -> None:
    if not np.isfinite(ranking.raw_scores).all():
        raise ValueError(
            f"the training diverged (operator_rate={config.operator_rate}, selector_rate="
            f"{config.selector_rate}): try smaller rates, or standardize=True"
        )
