"""How many features to select: the size within one standard error of the best, before a fit of that size.

The dual net selects as many features as a bound allows; of few, all are taken. Nets trained with random masks measure
what each is worth, the less worthy half is left out, and the others are measured again, until the size that is enough
(see `scoring.size_curve`) is no longer far below their number. Measured among fewer features, the weak ones show.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from maskrank.core.checkpoint import Checkpoint, Store
from maskrank.core.config import TrainConfig
from maskrank.core.data.features import Features
from maskrank.core.data.rows import Rows
from maskrank.core.method.construction import OwnNet
from maskrank.core.method.tasks import Task
from maskrank.core.pipeline import fit_dual_net
from maskrank.core.proposals.top_list import Runner, in_turn
from maskrank.core.recorder import Progress, Recorder
from maskrank.core.scoring.measurement import MeasuredScores, measure_scores
from maskrank.core.scoring.size_curve import SizeCurve
from maskrank.core.stage_values import StageValues


def choose_size(
    task: Task,
    rows: Rows,
    validation: Rows,
    *,
    features: Features,
    bound: int,
    config: TrainConfig,
    generator: torch.Generator,
    net: OwnNet | None = None,
    learn_all: bool = False,
    run_blocks: Runner = in_turn,
    callbacks: Sequence[Callable[[Progress], Any]] = (),
    store: Store | None = None,
) -> SizeCurve:
    """Find the number of features that is enough: the curve of sizes 1..bound, and ``enough`` on it.

    Parameters
    ----------
    bound : int
        The largest size; less than the number of features.
    run_blocks : Runner
        Computes the blocks of a search over very many pairs or triples.
    store : Store, optional
        Keeps what is measured, as that of `fit_dual_net`.
    """
    subset, measured = torch.arange(len(features), device=rows.device), None
    if len(features) > config.score.max_all_features:
        only_scores = config.using(predictor__n_recipes=0)
        widest = fit_dual_net(
            task,
            rows,
            validation,
            features=features,
            size=bound,
            config=only_scores,
            generator=generator,
            net=net,
            learn_all=learn_all,
            run_blocks=run_blocks,
            callbacks=callbacks,
            store=None if store is None else store.within("widest"),
        )
        measured = widest.measured
        subset = torch.from_numpy(np.flatnonzero(widest.ranking.support[features.candidates])).to(rows.device)
    curve: SizeCurve | None = None
    fit = Checkpoint(Recorder(config.max_batches), generator, store, StageValues(task, config, net))
    while True:
        if measured is None:
            measure = partial(measure_scores, task, rows, validation, subset)
            measured = fit.stage("score", partial(measure, learn_all=learn_all, config=config, generator=generator))
        if measured is None:
            raise ValueError("the features can't be scored: the nets' training diverged; try standardize=True")
        curve = measured.curve if curve is None else measured.curve.followed_by(curve)
        enough = min(curve.enough, bound)
        kept = max(2 * enough, len(subset) // 2)
        if kept >= len(subset):
            return curve.up_to(bound, enough=enough)
        subset, measured = _best(subset, measured, kept), None


def _best(subset: Tensor, measured: MeasuredScores, n: int) -> Tensor:
    """The n features of the largest shares, sorted; required ones, measured behind them, are not counted."""
    order = measured.shares.values[: len(subset)].argsort(descending=True, stable=True).to(subset.device)
    return subset[order[:n]].sort().values
