"""Where rows are few, every row counts: features that an elimination chose are chosen again with all of them.

The rows held out have told by then how good such a choice is. It is made once more with these rows, as a careful
person does after a validation; the figure stays that of the choice which did not see them.
"""

from __future__ import annotations

import torch
from torch import Tensor

from maskrank.core.config import TrainConfig
from maskrank.core.data.rows import Rows
from maskrank.core.method.construction import build_trainer
from maskrank.core.method.exploration import HintedExploration
from maskrank.core.method.tasks import Task
from maskrank.core.method.training import DualNetTrainer
from maskrank.core.proposals.backward_elimination import eliminate
from maskrank.core.proposals.planning import Hint, with_others
from maskrank.core.proposals.screening import groups_wanted
from maskrank.core.selection.calibration import polish_selector
from maskrank.core.selection.tournament import settle

_BATCHES = 280  # of the operator around the chosen features, from the start


def choose_again(
    task: Task, rows: Rows, validation: Rows, *, size: int, config: TrainConfig, generator: torch.Generator
) -> tuple[Tensor, DualNetTrainer, Tensor]:
    """Eliminate with all rows, and train new nets around what is left, so that its features have scores.

    Returns
    -------
    tried : Tensor (features,)
        As in `Plan`.
    trainer : DualNetTrainer
        Its training and validation rows are parted as before.
    optimal : Tensor (s,)
        m*, among those tried.
    """
    left = eliminate(
        task,
        [rows, validation],
        size,
        wanted=groups_wanted(size, config.proposal.screening),
        config=config.proposal.elimination,
        generator=generator,
    )
    hint = Hint(units=[(j,) for j in left], left=left)
    tried = with_others(hint.features, rows.n_features, generator)
    hint = hint.renamed(tried)
    optimal = torch.tensor(sorted(hint.left[:size]), device=rows.device)
    parts = [part.only(tried) for part in (rows, validation)]
    everything = Rows(torch.cat([part.all().dense() for part in parts]), torch.cat([part.y for part in parts]))
    trainer = build_trainer(
        task,
        everything,
        parts[1],
        size=size,
        config=config,
        exploration=HintedExploration(hint.units, len(tried), size, generator),
        generator=generator,
    )
    settle(trainer, optimal, batches=_BATCHES)
    polish_selector(trainer, optimal, search=False)
    trainer.rows = parts[0]
    return tried, trainer, optimal
