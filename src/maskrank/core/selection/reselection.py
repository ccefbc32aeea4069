"""Reselection on all rows: where rows are few, a subset of backward elimination that won is selected anew.

The validation rows have told by then how good such a choice is. It is made once more with these rows, as is usual
after a validation; the validation figure stays that of the choice which did not see them.
"""

from __future__ import annotations

import torch
from torch import Tensor

from maskrank.core.config import TrainConfig
from maskrank.core.data.features import Pool
from maskrank.core.data.grouping import joined_groups
from maskrank.core.data.rows import Rows
from maskrank.core.data.weights import joined_weights
from maskrank.core.method.construction import SearchSpace, build_trainer
from maskrank.core.method.tasks import Task
from maskrank.core.method.training import DualNetTrainer
from maskrank.core.proposals.backward_elimination import eliminate
from maskrank.core.proposals.proposal import pool_with_random
from maskrank.core.proposals.screening import groups_wanted
from maskrank.core.selection.calibration import calibrate_selector
from maskrank.core.selection.fine_tuning import fine_tune_operator


def reselect(
    task: Task, rows: Rows, validation: Rows, *, size: int, config: TrainConfig, generator: torch.Generator
) -> tuple[DualNetTrainer, Tensor]:
    """Eliminate with all rows, and train new nets around the survivors, so that they have scores.

    Returns
    -------
    trainer : DualNetTrainer
        Its training and validation rows are split as before.
    optimal : Tensor (s,)
        m*.
    """
    wanted, proposal = groups_wanted(size, config.proposal.screening), config.proposal
    order = eliminate(task, [rows, validation], size, wanted=wanted, config=proposal.elimination, generator=generator)
    pool = Pool(pool_with_random(order, rows.n_features, share=proposal.random_share, generator=generator))
    optimal = torch.tensor(sorted(order[:size]), device=rows.device)
    parts = [part.only(pool.features) for part in (rows, validation)]
    values, y = torch.cat([part.all().dense() for part in parts]), torch.cat([part.y for part in parts])
    weights = joined_weights([part.weights for part in parts], [len(part) for part in parts])
    groups = joined_groups([part.groups for part in parts])
    everything = Rows(values, y, parts[0].blocks, rows.n_required, weights, groups)
    search = SearchSpace(pool, [(j,) for j in order], size)
    trainer = build_trainer(task, everything, parts[1], search, config=config, generator=generator)
    fine_tune_operator(trainer, optimal, batches=config.reselection.batches)
    calibrate_selector(trainer, optimal, search=False)
    trainer.rows = parts[0]
    return trainer, optimal
