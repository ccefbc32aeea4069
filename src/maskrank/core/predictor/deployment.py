"""From the trained nets and m* to the final predictor, and to its predictions for the validation rows."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from maskrank.core.checkpoint import Checkpoint
from maskrank.core.engine.predictor import Predictor
from maskrank.core.method.training import DualNetTrainer
from maskrank.core.predictor.training import make_predictor


@dataclass(frozen=True)
class Deployed:
    """The final predictor, and what held-out rows say of it.

    Attributes
    ----------
    predictor : Predictor
        (rows, columns) -> (rows, outputs): takes the columns of the chosen features in the order of the table, then
        those of the required features.
    held_out : Tensor (validation rows, outputs)
        Predictions for the validation rows, by nets that did not learn from them.
    unseen : Tensor (validation rows,) of bool
        Which of these rows had no part in these nets at all, not even in the choice of their moments and weights.
    """

    predictor: Predictor
    held_out: Tensor
    unseen: Tensor


def deploy(
    trainer: DualNetTrainer,
    optimal: Tensor,
    checkpoint: Checkpoint,
    *,
    useful: Tensor | None = None,
    learn_all: bool,
) -> Deployed:
    """Make the predictor on the chosen features: (s,).

    Parameters
    ----------
    checkpoint : Checkpoint
        Of the fit: the training goes on from it, and its recorder tells of it.
    useful : Tensor (s + required,) of bool, optional
        Which of the chosen features, and then of the required ones, the nets see; without, all of them.
    learn_all : bool
        Whether nets may learn from validation rows, too.
    """
    places = trainer.pool.places(optimal)
    if useful is None:
        useful = torch.ones(len(places) + trainer.rows.n_required, dtype=torch.bool)
    fitted = make_predictor(
        trainer.operator,
        trainer.task,
        trainer.rows,
        trainer.validation,
        places,
        useful.to(trainer.device),
        config=trainer.config,
        generator=trainer.generator,
        learn_all=learn_all,
        callbacks=(checkpoint.recorder.tell,),
        checkpoint=checkpoint,
    )
    held_out = _outputs(fitted.held_out, trainer, places)
    return Deployed(fitted.predictor.eval().requires_grad_(False), held_out, fitted.unseen)


@torch.no_grad()
def _outputs(nets: Predictor, trainer: DualNetTrainer, places: Tensor) -> Tensor:
    """The outputs of nets on the chosen columns of the validation rows: (rows, outputs)."""
    nets.eval()
    parts = trainer.validation.all().split(nets.rows_at_once)
    return torch.cat([nets(part.columns(part.with_required(places.unsqueeze(0)))[0]) for part in parts])
